//! The budget of a prompt listing, and the rendered listing with its counts.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingBudget {
    /// The model's context size in tokens, if known.
    pub context_tokens: Option<u64>,
    /// The budget in characters; overrides the agent's own rule.
    pub characters: Option<u64>,
    /// The share of the context, if the agent's settings give one.
    pub fraction: Option<f64>,
    /// The maximum length of a description, if the agent's settings give one.
    pub longest: Option<usize>,
    /// True if an empty list renders the agent's sentence instead of nothing.
    pub empty_text: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptListing {
    /// The text for the model; empty if there are no skills.
    pub text: String,
    /// The number of listed skills.
    pub n_listed: usize,
    /// The number of shortened descriptions.
    pub n_shortened: usize,
    /// The number of omitted skills.
    pub n_omitted: usize,
}
