//! Reference pages and JSON Schemas, generated from the product's tables.

pub(crate) mod config_page;
mod config_profiles;
pub(crate) mod frontmatter_page;
pub(crate) mod frontmatter_schema;
pub(crate) mod profiles_page;
