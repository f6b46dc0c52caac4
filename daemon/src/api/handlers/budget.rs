//! `catalog/budget`: the cost of each skill in an agent's prompt listing, and the skills that
//! are cut.

use skills_discovery::discover::{Candidate, ReasonRule};
use skills_engine::View;
use skills_engine::cancel::Cancel;
use skills_protocol::path::encoding_of;
use skills_protocol::wire::{self, BudgetParams, BudgetResult, Contextual, ListedForm};
use skills_render::prompt_listing::{
    EntryCost, ListingBudget, ListingForm, ListingFormat, ListingUnit, listing_cost,
    whole_entry_cost, write_listing,
};
use skills_syntax::text::grouped;

use crate::api::handlers::catalog::{fits, listed_candidates};
use crate::api::parts::QueryParts;
use crate::api::session::UseCounts;
use crate::convert::from_wire::format;
use crate::convert::to_wire;
use crate::request::RequestContext;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::run_fallible_blocking;

pub(crate) async fn budget(call: MethodCall<QueryParts, BudgetParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let RequestContext { config, view, .. } = parts.resolver.resolve(&peer, context).await?;
    let (word, own) = (params.format.as_deref(), &view.ctx.profile);
    let format = format::catalog(word, own, &config.profiles)?;
    let room = format::listing_budget(&view, params.context_tokens, params.budget_chars, None);
    let only_cut = params.only_cut == Some(true);
    let uses = parts.sessions.uses().await;
    let n_candidates = view.resolution.candidates.len();
    let make = move |_: &Cancel| {
        let result = result(&view, format, &room, &uses, only_cut);
        let answer = Answer::new(&result)?;
        fits(&config, answer.len(), result.skills.len(), TOO_LONG)?;
        Ok(answer)
    };
    if n_candidates <= FEW {
        return run_fallible_blocking(move || make(&Cancel::default())).await;
    }
    parts.heavy.run(&peer, make).await
}

/// Number of candidates up to which the costs take less time than starting a thread for them.
const FEW: usize = 200;

/// Hint for an answer that exceeds the message limit.
const TOO_LONG: &str = "Ask with `onlyCut`, or in a directory with fewer skills.";

fn result(
    view: &View,
    format: ListingFormat,
    room: &ListingBudget,
    uses: &UseCounts,
    only_cut: bool,
) -> BudgetResult {
    let (candidates, skills): (Vec<_>, Vec<_>) = listed_candidates(view, uses).into_iter().unzip();
    let cost = listing_cost(format, &skills, room);
    let text = write_listing(format, &skills, room).text;
    let (budget, costs): (_, Vec<_>) = if let Some(cost) = cost {
        let costs = candidates.iter().zip(&cost.entries);
        let costs = costs.map(|(it, cost)| skill_cost(it, cost));
        (cost.budget, costs.filter(|it| !only_cut || it.shown != ListedForm::Whole).collect())
    } else {
        let costs = candidates.iter().zip(&skills);
        let costs = costs.filter(|(it, _)| !only_cut || it.name_only);
        let cost = |it| whole_entry_cost(format, it, room);
        (None, costs.map(|(it, skill)| skill_cost(it, &cost(skill))).collect())
    };
    BudgetResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        profile: view.ctx.profile.id.to_string(),
        agent: view.ctx.profile.agent.to_string(),
        count: skills.len() as u64,
        characters: text.chars().count() as u64,
        tokens: format.estimate_tokens(&text),
        budget: budget.map(|it| wire::ListingBudget {
            unit: match it.unit {
                ListingUnit::Characters => wire::BudgetUnit::Characters,
                ListingUnit::Tokens => wire::BudgetUnit::Tokens,
            },
            limit: it.limit,
            used: it.used,
        }),
        skills: costs,
        is_assumed: !view.ctx.profile.knows_listing()
            && format == ListingFormat::of(view.ctx.profile.output),
    }
}

fn listed_form(candidate: &Candidate, form: ListingForm) -> ListedForm {
    match form {
        ListingForm::Whole if candidate.name_only => ListedForm::NameOnly,
        ListingForm::Whole => ListedForm::Whole,
        ListingForm::Shortened => ListedForm::Shortened,
        ListingForm::Name => ListedForm::Name,
        ListingForm::Omitted => ListedForm::Omitted,
    }
}

fn skill_cost(candidate: &Candidate, cost: &EntryCost) -> wire::SkillCost {
    let path_encoding = encoding_of([&*candidate.path]);
    let body = |it: &skills_agents::skill::SkillRecord| {
        it.facts.size.saturating_sub(it.head.len() as u64).div_ceil(4)
    };
    wire::SkillCost {
        name: candidate.name.clone(),
        path: to_wire::path(&candidate.path, path_encoding),
        path_encoding,
        shown: listed_form(candidate, cost.form),
        characters: cost.characters,
        whole_characters: cost.whole_characters,
        tokens: cost.tokens,
        loaded_tokens: candidate.record().filter(|_| !candidate.is_built_in()).map(body),
    }
}

/// A listed skill that is not shown whole, in words.
pub(super) struct CutSkill {
    pub(super) summary: String,
    pub(super) next: String,
}

/// Describes how the listing of the view's agent shows a skill; `None` if it shows it whole.
pub(super) fn describe_cut(
    view: &View,
    candidate: &Candidate,
    uses: &UseCounts,
) -> Option<CutSkill> {
    let (name, agent) = (&candidate.name, &view.ctx.profile.agent);
    let format = ListingFormat::of(view.ctx.profile.output);
    let all = result(view, format, &ListingBudget::default(), uses, false);
    let path_encoding = encoding_of([&*candidate.path]);
    let path = to_wire::path(&candidate.path, path_encoding);
    let shown = all.skills.iter().find(|it| it.name == *name && it.path == path)?.shown;
    let n_same = all.skills.iter().filter(|it| it.shown == shown).count();
    let of = format!("{n_same} of {}", all.count);
    let limit = all.budget.map_or(String::new(), |it| format!("{} {}", grouped(it.limit), it.unit));
    let longest = longest(&all);
    let shorten = || match &*longest {
        [] => "Shorten descriptions; `skillsd budget` shows the longest.".to_owned(),
        [one] => format!("Shorten the description of `{one}`, the longest."),
        [first, second] => {
            format!("Shorten the descriptions of `{first}` and `{second}`, the longest.")
        }
        [first, second, rest @ ..] => format!(
            "Shorten the descriptions of `{first}`, `{second}` and {} more; `skillsd budget` shows the longest.",
            rest.len()
        ),
    };
    let (summary, next) = match shown {
        ListedForm::Whole => return None,
        ListedForm::Shortened => (
            format!("{agent} shortens the description of `{name}`: {of} are too long for it."),
            shorten(),
        ),
        ListedForm::Name => (
            format!(
                "{agent} lists `{name}` by name only: its description did not fit; {of} did not; the listing is limited to {limit}."
            ),
            shorten(),
        ),
        ListedForm::NameOnly => (
            format!("{agent} lists `{name}` by name only, because its settings say so."),
            candidate
                .notes
                .iter()
                .find(|it| it.rule == ReasonRule::SettingsNameOnly)
                .map_or_else(String::new, |it| it.next.clone()),
        ),
        ListedForm::Omitted => (
            format!(
                "{agent} leaves `{name}` out of its listing: {of} do not fit; the listing is limited to {limit}."
            ),
            "Remove or hide skills; `skillsd budget` shows what each costs.".to_owned(),
        ),
    };
    Some(CutSkill { summary, next })
}

/// Returns the names of the longest entries that make room for all others if they are cut to
/// [`SHORT`] characters.
fn longest(all: &BudgetResult) -> Vec<&str> {
    let whole: u64 = all.skills.iter().map(|it| it.whole_characters).sum();
    let limit = all.budget.as_ref().map_or(whole, |it| match it.unit {
        wire::BudgetUnit::Characters => it.limit,
        // The estimate of every agent with such a limit.
        wire::BudgetUnit::Tokens => it.limit.saturating_mul(4),
    });
    let mut skills: Vec<_> = all.skills.iter().collect();
    skills.sort_by_key(|it| std::cmp::Reverse(it.whole_characters));
    let mut excess = whole.saturating_sub(limit);
    let is_needed = |it: &&wire::SkillCost| {
        let needed = excess > 0 && it.whole_characters > SHORT;
        excess = excess.saturating_sub(it.whole_characters.saturating_sub(SHORT));
        needed
    };
    skills.into_iter().take_while(is_needed).map(|it| &*it.name).collect()
}

/// Length of a short entry in a listing, in characters.
const SHORT: u64 = 100;
