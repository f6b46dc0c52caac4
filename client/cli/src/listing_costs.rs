//! Costs of the skills in an agent's listing, for the marks of other lists.

use std::collections::BTreeMap;

use skills_client::ClientError;
use skills_protocol::method::CatalogBudget;
use skills_protocol::wire::{BudgetParams, ListedForm, SkillCost};

use crate::call_context::CallContext;
use crate::server_connection::ServerConnection;
use crate::text::plain;

/// Skills whose costs are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CostScope {
    All,
    /// Skills that the listing does not show whole.
    OnlyCut,
}

/// Returns the costs of an agent's skills by path and name, and a caveat for costs of a listing
/// that is not known.
pub(crate) fn listing_costs(
    server: &mut ServerConnection,
    context: &CallContext,
    scope: CostScope,
) -> Result<(ListingCosts, Option<String>), ClientError> {
    let result = server.call::<CatalogBudget>(&budget_params(context, scope))?;
    let caveat = result.is_assumed.then(|| assumed_listing(&result.agent));
    let skills = result.skills.into_iter();
    Ok((skills.map(|it| ((it.path.clone(), it.name.clone()), it)).collect(), caveat))
}

/// Returns the parameters of the call that [`listing_costs`] makes.
pub(crate) fn budget_params(context: &CallContext, scope: CostScope) -> BudgetParams {
    let only_cut = Some(scope == CostScope::OnlyCut);
    BudgetParams { only_cut, ..context.params() }
}

/// Returns the caveat for costs of a listing that is not known.
pub(crate) fn assumed_listing(agent: &str) -> String {
    format!("skillsd does not know how {} lists skills; the numbers are estimates.", plain(agent))
}

/// Costs of skills by path and name.
pub(crate) type ListingCosts = BTreeMap<(String, String), SkillCost>;

/// Returns the mark of a skill that is not shown whole.
pub(crate) fn cut_mark(shown: ListedForm) -> Option<&'static str> {
    match shown {
        ListedForm::Whole => None,
        ListedForm::Shortened => Some("shortened"),
        ListedForm::Name => Some("name only, no room"),
        ListedForm::NameOnly => Some("name only"),
        ListedForm::Omitted => Some("left out, no room"),
    }
}
