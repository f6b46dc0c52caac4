//! `rules/describe`: descriptions of lint rules with their consequences and remedies.

use skills_discovery::levels;
use skills_lint::Rule;
use skills_protocol::error::{RpcError, shortened};
use skills_protocol::wire::{RulesDescribeParams, RulesDescribeResult};
use skills_syntax::suggest::nearest;

use crate::api::parts::QueryParts;
use crate::convert::to_wire;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::run_fallible_blocking;
use crate::rules_page;

/// Minimum similarity of a rule id suggested for an unknown one.
const MIN_SIMILARITY: f64 = 0.6;

pub(crate) async fn describe(call: MethodCall<QueryParts, RulesDescribeParams>) -> Outcome {
    let MethodCall { params, .. } = call;
    if let Some(unknown) = params.rules.iter().find(|it| !skills_lint::is_known(it)) {
        return Err(unknown_rule(unknown));
    }
    let is_asked = |it: &&&Rule| {
        params.rules.is_empty()
            || params.rules.iter().any(|name| levels::names(name, it.id.as_str()))
    };
    let page = run_fallible_blocking(|| Ok(rules_page::address())).await?;
    let asked = skills_lint::rules().iter().filter(is_asked);
    let rules = asked.map(|it| to_wire::rule(it, page.as_deref())).collect();
    Answer::new(&RulesDescribeResult { rules })
}

/// Returns the error for an unknown rule, with a suggestion.
pub(super) fn unknown_rule(name: &str) -> RpcError {
    let all = skills_lint::rules().iter().map(|it| it.id.as_str());
    // The family is often left out.
    let short = |it: &&Rule| it.id.as_str().ends_with(&format!("/{name}"));
    let short = skills_lint::rules().iter().copied().find(|it| short(it)).map(|it| it.id.as_str());
    let meant = short.or_else(|| nearest(name, all, MIN_SIMILARITY).first().copied());
    let family = format!("{}/*", name.trim_end_matches('/'));
    let meant = if skills_lint::is_known(&family) { Some(&*family) } else { meant };
    let name = shortened(name);
    let message = match meant {
        Some(meant) => format!("there is no rule `{name}`; did you mean `{meant}`?"),
        None => format!("there is no rule `{name}`"),
    };
    RpcError::invalid_params(message)
        .with_param("params.rules")
        .with_hint("Name a rule as `skillsd check` prints it, or a family such as `yaml/*`.")
}
