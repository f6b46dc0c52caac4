//! Lists and texts of each profile, compared with those of the running agents and with the founding
//! documents.

mod founding;
mod recorded;
