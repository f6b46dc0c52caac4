//! The leniency load_strategies: what each agent makes of a frontmatter, healthy or not.
//!
//! Agents read the same bytes with different YAML libraries, and when the library refuses them
//! each has its own repair. A [`rung`](crate::profile::Rung) is one such way of reading: a pure
//! function from the text between the `---` lines to another text, or to fields. Every rung says
//! whether it applies and which bytes it changed, and changes nothing but the value it repairs.
//! [`read_as`] climbs the rungs a profile has, in its order, then asks what that agent asks of a
//! name and a description. Nothing here coerces for anybody else: our own reading is
//! [`crate::fields`].

mod block_scalars;
mod dialect;
mod line_fields;
mod load;
mod outcome;
mod quote_values;
mod repair;
mod requirement;
mod validate;

pub use block_scalars::rewrite_as_blocks;
pub use dialect::{Mapping, YamlRefusal, parse_strict};
pub use line_fields::{LineFields, extract_lines};
pub use outcome::{LoadOutcome, LoadVerdict, Remark, load_as, load_for_all_agents};
pub use quote_values::quote_values;
pub use repair::{Change, Repair};

#[cfg(test)]
mod tests;
