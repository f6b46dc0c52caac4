//! The cost of each skill in a prompt listing, and the form in which the listing shows it.

/// The form in which a listing shows a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListingForm {
    Whole,
    /// With a part of its description.
    Shortened,
    /// By its name: the description did not fit.
    Name,
    /// Not at all: the name did not fit either.
    Omitted,
}

/// The unit of a listing's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingUnit {
    Characters,
    /// Tokens, by the agent's estimate.
    Tokens,
}

/// The budget of a listing, and how much of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingUse {
    /// The unit of both numbers.
    pub unit: ListingUnit,
    /// The agent's budget.
    pub limit: u64,
    /// The part that the shown entries use.
    pub used: u64,
}

/// A skill's entry in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryCost {
    /// The form in which it is shown.
    pub form: ListingForm,
    /// Its number of characters as shown, with its line end.
    pub characters: u64,
    /// The same if nothing were cut.
    pub whole_characters: u64,
    /// Its tokens as shown, by the agent's estimate or, if that is unknown, ours.
    pub tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingCost {
    /// The use of the budget; `None` if the agent has none.
    pub budget: Option<ListingUse>,
    /// The entries, in the order of the skills.
    pub entries: Vec<EntryCost>,
}
