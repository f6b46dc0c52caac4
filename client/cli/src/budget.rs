//! `skillsd budget`: the cost of each skill in the agents' prompt listings, the skills that are
//! cut, and those to shorten first.

use std::fmt::Write as _;

use clap::Args;
use skills_protocol::method::CatalogBudget;
use skills_protocol::wire::{BudgetParams, BudgetResult, BudgetUnit, ListedForm, SkillCost};
use skills_syntax::text::grouped;

use crate::call_context::{CallContext, SessionFlag};
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::heading;
use crate::listing_costs::{assumed_listing, cut_mark};
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{count, cut, join_or_stack, plain, width, wrap};

#[derive(Debug, Clone, Args)]
pub struct BudgetArgs {
    /// Size of the model's context in tokens
    #[arg(long = "context", value_name = "TOKENS")]
    context_tokens: Option<u64>,
    /// Budget of the listing in characters [default: the agent's own rule]
    #[arg(long = "budget", value_name = "CHARACTERS")]
    budget_chars: Option<u64>,
    #[command(flatten)]
    session: SessionFlag,
}

/// Maximum number of skills that are named for shortening.
const MAX_NAMED: usize = 5;

/// Maximum width of the column of names in a terminal.
const WIDEST_NAME: usize = 32;

pub(super) fn run(cx: &CommandContext<'_>, args: &BudgetArgs) -> Result<Exit, CommandError> {
    let mut context = CallContext::from_args(cx.global, None)?.with_session(&args.session);
    let mut server = ServerConnection::open_reading(cx)?;
    heading::drop_missing_session(cx, &mut server, &mut context);
    let params = |context: &CallContext| BudgetParams {
        context_tokens: args.context_tokens,
        budget_chars: args.budget_chars,
        ..context.params()
    };
    let several = context.wants_several_profiles();
    if cx.global.json && !several {
        let text = server.call_text::<CatalogBudget>(&params(&context))?;
        cx.terminal.print(&format!("{text}\n"))?;
        return Ok(Exit::Fine);
    }
    if !several {
        let detected = heading::detect(&mut server, &context)?;
        let Some(profiles) = heading::several(&detected) else {
            let result = server.call::<CatalogBudget>(&params(&context))?;
            let counted = Some(count(result.count, "skill"));
            let heading = heading::render_one(&detected, counted, cx.terminal);
            cx.terminal.print(&format!("{heading}\n{}", render(&result, cx.terminal)))?;
            cx.terminal.print_health(&result.health);
            return Ok(Exit::Fine);
        };
        let text = heading::render_present(&detected, None, cx.terminal);
        cx.terminal.print(&text)?;
        return print_all(cx, &mut server, &profiles, |it| params(&context.with_profile(it)));
    }
    let profiles = heading::selected(&mut server, &context)?;
    if cx.global.json {
        let mut texts = Vec::new();
        for profile in profiles {
            let params = params(&context.with_profile(&profile));
            texts.push((profile, server.call_text::<CatalogBudget>(&params)?));
        }
        cx.terminal.print(&heading::by_profile(&texts))?;
        return Ok(Exit::Fine);
    }
    print_all(cx, &mut server, &profiles, |it| params(&context.with_profile(it)))
}

/// Prints the costs for each profile under its own heading.
fn print_all(
    cx: &CommandContext<'_>,
    server: &mut ServerConnection,
    profiles: &[String],
    params: impl Fn(&str) -> BudgetParams,
) -> Result<Exit, CommandError> {
    let mut health = Vec::new();
    for (nth, profile) in profiles.iter().enumerate() {
        let result = server.call::<CatalogBudget>(&params(profile))?;
        let name = heading::agent_name(&result.profile, &result.agent);
        let title = join_or_stack(&[name, count(result.count, "skill")], cx.terminal.width);
        let gap = if nth == 0 && cx.global.profile.is_some() { "" } else { "\n" };
        let title = paint(style::HEADING, title);
        cx.terminal.print(&format!("{gap}{title}\n{}", render(&result, cx.terminal)))?;
        for it in result.health {
            if !health.contains(&it) {
                health.push(it);
            }
        }
    }
    cx.terminal.print_health(&health);
    Ok(Exit::Fine)
}

fn render(result: &BudgetResult, terminal: &Terminal) -> String {
    let mut text = String::new();
    let mut line = |words: &str| {
        for line in wrap(words, terminal.width) {
            let _ = writeln!(text, "{line}");
        }
    };
    let size = format!(
        "{}, about {}",
        count(result.characters, "character"),
        count(result.tokens, "token")
    );
    match &result.budget {
        Some(it) => line(&format!(
            "The listing has {size}; its entries use {} of {} {}.",
            grouped(it.used),
            grouped(it.limit),
            it.unit
        )),
        None => line(&format!("The listing has {size}; no limit of the agent is known.")),
    }
    if result.is_assumed {
        line(&assumed_listing(&result.agent));
    }
    let shown = |form| result.skills.iter().filter(|it| it.shown == form).count();
    for (form, what) in [
        (ListedForm::Omitted, "left out, because their names do not fit"),
        (ListedForm::Name, "listed by name only, because their descriptions do not fit"),
        (ListedForm::Shortened, "listed with a shortened description"),
        (ListedForm::NameOnly, "listed by name only, because settings say so"),
    ] {
        let n_shown = shown(form);
        if n_shown > 0 {
            let all = count(result.count, "skill");
            line(&format!("{} of {all}: {what}.", grouped(n_shown as u64)));
        }
    }
    if !result.skills.is_empty() {
        text.push('\n');
        push_table(result, terminal, &mut text);
    }
    push_advice(result, terminal, &mut text);
    text
}

/// Writes a row for each skill, the largest first.
fn push_table(result: &BudgetResult, terminal: &Terminal, text: &mut String) {
    let mut skills: Vec<&SkillCost> = result.skills.iter().collect();
    skills.sort_by_key(|it| std::cmp::Reverse(it.whole_characters));
    let names = skills.iter().map(|it| width(&plain(&it.name))).max().unwrap_or(0);
    // The other columns take 42, and a mark 20.
    let room = terminal.width.map(|it| it.saturating_sub(42).clamp(12, WIDEST_NAME));
    let names = names.clamp(5, room.unwrap_or(usize::MAX));
    let head = format!(
        "{:names$}  {:>10}  {:>7}  {:>13}",
        "skill", "characters", "tokens", "tokens loaded"
    );
    let _ = writeln!(text, "{}", paint(style::FAINT, head));
    for skill in skills {
        let name = cut(&plain(&skill.name), names);
        let name = crate::text::pad(&name, names);
        let loaded = skill.loaded_tokens.map_or("-".to_owned(), grouped);
        let (characters, tokens) = (grouped(skill.characters), grouped(skill.tokens));
        let row = format!("{characters:>10}  {tokens:>7}  {loaded:>13}");
        let mark = cut_mark(skill.shown).map(|it| match skill.shown {
            ListedForm::NameOnly => it.to_owned(),
            _ => format!("{it}, {} whole", grouped(skill.whole_characters)),
        });
        let taken = names + 2 + width(&row) + 2;
        let line = format!("{}  {row}", paint(style::NAME, name));
        match mark {
            None => {
                let _ = writeln!(text, "{line}");
            }
            Some(mark) if terminal.width.is_some_and(|it| taken + width(&mark) > it) => {
                let _ = writeln!(text, "{line}\n  {}", paint(style::WAITING, mark));
            }
            Some(mark) => {
                let _ = writeln!(text, "{line}  {}", paint(style::WAITING, mark));
            }
        }
    }
}

/// Names the longest skill and others whose entries take more than an equal share of the limit, if
/// some do not fit.
fn push_advice(result: &BudgetResult, terminal: &Terminal, text: &mut String) {
    let is_cut = |it: &&SkillCost| !matches!(it.shown, ListedForm::Whole | ListedForm::NameOnly);
    let Some(budget) = result.budget.filter(|_| result.skills.iter().any(|it| is_cut(&it))) else {
        return;
    };
    let share = budget.limit / result.count.max(1);
    let cost = |it: &SkillCost| match budget.unit {
        BudgetUnit::Characters => it.whole_characters,
        // An estimate, because the daemon only counts the tokens of the entry as shown.
        BudgetUnit::Tokens => it.whole_characters.div_ceil(4),
    };
    let mut longest: Vec<_> = result.skills.iter().collect();
    longest.sort_by_key(|it| std::cmp::Reverse(it.whole_characters));
    let named = longest.iter().enumerate().take(MAX_NAMED);
    let named = named.filter(|(nth, it)| *nth == 0 || cost(it) >= share);
    let named = named.map(|(_, it)| format!("`{}` ({})", plain(&it.name), grouped(cost(it))));
    let advice = format!(
        "Shorten first: {}. An equal share has {} {}.",
        named.collect::<Vec<_>>().join(", "),
        grouped(share),
        budget.unit
    );
    text.push('\n');
    for line in wrap(&advice, terminal.width) {
        let _ = writeln!(text, "{line}");
    }
}
