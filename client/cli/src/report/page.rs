//! The page of a report: HTML from its facts, without I/O.
//!
//! The templates escape every text for HTML. Styles and the script are part of the page and named
//! in its content security policy by their hashes, which forbids everything else: another script, a
//! style, a request. No text of a repository becomes an address or an identifier, and none an
//! attribute but the names in `data-key`, by which the script sorts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use skills_protocol::wire::{Severity, State};
use skills_syntax::text::grouped;

use super::facts::{
    AgentFacts, Conflict, ConflictKind, FindingFacts, LeftOut, ReferenceFacts, ReportFacts,
    SkillFacts,
};
use super::graph::{Graph, NODE, PlacedNode};
use crate::server_connection::VERSION;
use crate::style::{severity_word, table_mark};
use crate::text::{count, cut, size};

/// Start of each page, which tells reports from other files.
pub(super) const START: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
                                <meta name=\"generator\" content=\"skillsd report\">";

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Number of columns of a node's label.
const LABEL: usize = 27;

/// Number of agents up to which a cell shows a state's word beside its mark.
const MAX_WORDY: usize = 6;

/// Mark of a skill that an agent's listing does not show whole, without a word.
const CUT: &str = "◐";

struct Head<'a> {
    title: &'a str,
    kind: HeadKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HeadKind {
    Words,
    Number,
    /// Written from top to bottom, for one of many narrow columns.
    Tall,
}

const fn words(title: &str) -> Head<'_> {
    Head { title, kind: HeadKind::Words }
}

const fn number(title: &str) -> Head<'_> {
    Head { title, kind: HeadKind::Number }
}

const fn tall(title: &str) -> Head<'_> {
    Head { title, kind: HeadKind::Tall }
}

pub(super) fn render(facts: &ReportFacts) -> String {
    let title = format!("Skills of {}", facts.worktree);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content="skillsd report";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#skills" { "Skip to the skills" }
                header {
                    h1 { (title) }
                    p { (summary(facts)) }
                }
                (navigation())
                main {
                    (agents(&facts.agents))
                    (skills(facts))
                    (left_out(facts))
                    (conflicts(&facts.conflicts))
                    (findings(facts))
                    (references(facts))
                }
                footer {
                    p { "Written by skillsd " (VERSION) "." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Returns the content security policy: the page's own style and script, and nothing else.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn summary(facts: &ReportFacts) -> Markup {
    let parts = [
        count(facts.skills.len() as u64, "skill"),
        count(facts.agents.len() as u64, "agent"),
        count(facts.conflicts.len() as u64, "conflict"),
        count(facts.findings.len() as u64, "finding"),
        count(facts.references.len() as u64, "reference"),
    ];
    html! {
        (parts.join(" · "))
        @if let Some(date) = &facts.date { " · " (date) }
    }
}

fn navigation() -> Markup {
    let sections = [
        ("agents", "Agents"),
        ("skills", "Skills"),
        ("left-out", "Not shown"),
        ("conflicts", "Conflicts"),
        ("findings", "Findings"),
        ("references", "References"),
    ];
    html! {
        nav aria-label="Sections" {
            ul {
                @for (id, title) in sections {
                    li { a href={ "#" (id) } { (title) } }
                }
            }
            form role="search" hidden {
                label for="search" { "Search " }
                input #search type="search" autocomplete="off" placeholder="name, state, rule …";
            }
            span #status .faint role="status" {}
        }
    }
}

/// Renders a section with a table, or a sentence if it has no rows.
fn section(id: &str, title: &str, about: &str, heads: &[Head<'_>], rows: &[Markup]) -> Markup {
    html! {
        section {
            h2 #(id) { (title) }
            p.faint { (prose(about)) }
            @if rows.is_empty() {
                p { "None." }
            } @else {
                (table(title, heads, rows))
            }
        }
    }
}

fn table(title: &str, heads: &[Head<'_>], rows: &[Markup]) -> Markup {
    html! {
        div.scroll role="region" aria-label=(title) tabindex="0" {
            table {
                caption.unseen { (title) }
                thead {
                    tr {
                        @for head in heads {
                            th.number[head.kind == HeadKind::Number] .tall[head.kind == HeadKind::Tall]
                                scope="col" { (head.title) }
                        }
                    }
                }
                tbody { @for row in rows { (row) } }
            }
        }
        p.faint hidden { "No row matches the search." }
    }
}

fn agents(agents: &[AgentFacts]) -> Markup {
    let heads = [
        words("Agent"),
        number("Shown"),
        number("Waiting"),
        number("Left out"),
        number("Listing, characters"),
        number("Listing, tokens"),
        number("Shortened"),
        number("Omitted"),
    ];
    let row = |agent: &AgentFacts| {
        html! {
            tr {
                th scope="row" data-key=(agent.name) {
                    (agent.name)
                    span.path {
                        (agent.profile)
                        @if let Some(caveat) = agent.caveat { ": " (caveat) }
                    }
                }
                td.number { (agent.n_listed) }
                td.number { (agent.n_waiting) }
                td.number { (agent.n_left_out) }
                @if let Some(listing) = &agent.listing {
                    td.number data-key=(listing.chars) { (grouped(listing.chars as u64)) }
                    td.number data-key=(listing.tokens) { (grouped(listing.tokens)) }
                    td.number { (listing.shortened) }
                    td.number { (listing.omitted) }
                } @else {
                    td.number data-key="-1" { "too long" }
                    @for _ in 0..3 { td.number data-key="-1" { "–" } }
                }
            }
        }
    };
    section(
        "agents",
        "Agents",
        "Skills that each agent shows its model, and the size of the listing in its prompt. Tokens are estimated as a quarter of the bytes. Waiting skills are shown once a matching file is touched.",
        &heads,
        &agents.iter().map(row).collect::<Vec<_>>(),
    )
}

fn skills(facts: &ReportFacts) -> Markup {
    let is_wordy = facts.agents.len() <= MAX_WORDY;
    let head = if is_wordy { words } else { tall };
    let agents = facts.agents.iter().map(|it| head(&it.profile));
    let sizes = [number("In the prompt"), number("File")];
    let heads: Vec<Head<'_>> =
        [words("Skill"), words("Source")].into_iter().chain(agents).chain(sizes).collect();
    let row = |(nth, skill): (usize, &SkillFacts)| {
        html! {
            tr id=(skill_id(nth)) {
                th.name scope="row" data-key=(skill.name) {
                    (skill.name)
                    span.path { (skill.path) }
                }
                td { (skill.scope) }
                @for (state, mark) in skill.states.iter().zip(&skill.marks) {
                    (state_cell(*state, *mark, is_wordy))
                }
                @if let Some(n_chars) = skill.n_chars {
                    td.number data-key=(n_chars) { (grouped(n_chars)) " chars" }
                } @else {
                    td.number data-key="-1" { "–" }
                }
                @if let Some(n_bytes) = skill.n_bytes {
                    td.number data-key=(n_bytes) { (size(n_bytes)) }
                } @else {
                    td.number data-key="-1" { "–" }
                }
            }
        }
    };
    let rows: Vec<Markup> = facts.skills.iter().enumerate().map(row).collect();
    let mut about = "State of each skill for each agent, and its entry in the largest listing, as `skillsd budget` counts it. The file is read when it is loaded.".to_owned();
    if !is_wordy {
        let states: BTreeSet<State> =
            facts.skills.iter().flat_map(|it| it.states.iter().flatten().copied()).collect();
        let mut marks: Vec<_> =
            states.iter().map(|it| format!("{} {it}", table_mark(*it))).collect();
        marks.extend([format!("{CUT} not shown whole"), "· not found".to_owned()]);
        let _ = write!(about, " Marks: {}.", marks.join(", "));
    }
    html! {
        (section(
            "skills",
            "Skills",
            &about,
            &heads,
            &rows,
        ))
        (descriptions(&facts.skills))
    }
}

fn descriptions(skills: &[SkillFacts]) -> Markup {
    let row = |(nth, skill): (usize, &SkillFacts)| {
        html! {
            tr {
                th.name scope="row" { a href={ "#" (skill_id(nth)) } { (skill.name) } }
                td.text { (skill.description.as_deref().unwrap_or("–")) }
            }
        }
    };
    section(
        "descriptions",
        "Descriptions",
        "The description by which a model chooses a skill.",
        &["Skill", "Description"].map(words),
        &skills.iter().enumerate().map(row).collect::<Vec<_>>(),
    )
}

fn left_out(facts: &ReportFacts) -> Markup {
    let row = |it: &LeftOut| {
        let skill = &facts.skills[it.skill];
        html! {
            tr {
                th.name scope="row" data-key=(skill.name) {
                    a href={ "#" (skill_id(it.skill)) } { (skill.name) }
                    span.path { (skill.path) }
                }
                (state_cell(Some(it.state), None, true))
                td.text { (it.agents.join(", ")) }
                td.text { (prose(&it.reason)) }
            }
        }
    };
    section(
        "left-out",
        "Not shown",
        "Skills that an agent does not show its model, with the reason.",
        &["Skill", "State", "Agents", "Reason"].map(words),
        &facts.left_out.iter().map(row).collect::<Vec<_>>(),
    )
}

fn conflicts(conflicts: &[Conflict]) -> Markup {
    let row = |it: &Conflict| {
        let effect = match it.kind {
            ConflictKind::Hidden => "the first hides the second",
            ConflictKind::SameFile => "both lead to one file",
            ConflictKind::BothShown => "the model gets both",
        };
        html! {
            tr {
                th.name scope="row" { (it.name) }
                td { span.path { (it.first) } }
                td { span.path { (it.second) } }
                td { (effect) }
                td.text { (it.agents.join(", ")) }
            }
        }
    };
    section(
        "conflicts",
        "Conflicts",
        "Files that claim the same name for one agent.",
        &["Name", "First file", "Second file", "Effect", "Agents"].map(words),
        &conflicts.iter().map(row).collect::<Vec<_>>(),
    )
}

fn findings(facts: &ReportFacts) -> Markup {
    let row = |it: &FindingFacts| {
        let (rank, class) = match it.severity {
            Severity::Error => (0, "bad"),
            Severity::Warning => (1, "waiting"),
            Severity::Info => (2, "faint"),
            Severity::Hint => (3, "faint"),
        };
        html! {
            tr {
                td class={ "words " (class) } data-key=(rank) { (severity_word(it.severity)) }
                td.words { code { (it.rule) } }
                td.text {
                    span.path { (it.place) }
                    (prose(&it.message))
                    @if let Some((line, source)) = &it.source {
                        code.source {
                            span.faint { (line) "  " }
                            (source.before) mark { (source.marked) } (source.behind)
                        }
                    }
                    @if let Some(help) = &it.help { div.faint { (prose(help)) } }
                }
                td { @if it.agents.is_empty() { "all" } @else { (it.agents.join(", ")) } }
            }
        }
    };
    let mut about = format!(
        "{} checked by the rules of `skillsd check`; `skillsd check --explain RULE` describes a rule.",
        count(facts.n_checked, "file")
    );
    if facts.n_unread > 0 {
        let files = count(facts.n_unread, "file");
        let _ = write!(about, " The lines of {files} are left out, because of their size.");
    }
    section(
        "findings",
        "Findings",
        &about,
        &["Severity", "Rule", "Finding", "Agents"].map(words),
        &facts.findings.iter().map(row).collect::<Vec<_>>(),
    )
}

fn references(facts: &ReportFacts) -> Markup {
    let row = |it: &ReferenceFacts| {
        html! {
            tr {
                th.name scope="row" data-key=(it.from) { (it.from) span.path { (it.place) } }
                td { (prose(it.form)) }
                td {
                    @if let Some(skill) = it.skill {
                        a href={ "#" (skill_id(skill)) } { (it.to) }
                    } @else {
                        (it.to)
                    }
                }
            }
        }
    };
    let heads = ["From", "Form", "To"].map(words);
    let rows: Vec<Markup> = facts.references.iter().map(row).collect();
    html! {
        section {
            h2 #references { "References" }
            p.faint { "Skills and other files that name a skill." }
            @if rows.is_empty() {
                p { "None." }
            } @else {
                (picture(&facts.graph))
                (table("References", &heads, &rows))
            }
        }
    }
}

fn picture(graph: &Graph) -> Markup {
    html! {
        div.scroll.picture role="region" aria-label="Graph of references" tabindex="0" {
            svg role="img" aria-label="Arrows from each file to the skills that it names; the table below has the same references."
                width=(graph.width) height=(graph.height)
                viewBox={ "0 0 " (graph.width) " " (graph.height) } {
                defs {
                    marker #arrow viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7"
                        markerHeight="7" orient="auto" {
                        path d="M0 0 L8 4 L0 8 z" {}
                    }
                }
                @for (from, to) in &graph.edges {
                    path d=(curve(&graph.nodes[*from], &graph.nodes[*to])) marker-end="url(#arrow)" {}
                }
                @for node in &graph.nodes { (graph_node(node)) }
            }
        }
        @if graph.n_omitted > 0 {
            p.faint { (count(graph.n_omitted as u64, "file")) " with few references are in the table only." }
        }
    }
}

fn graph_node(node: &PlacedNode) -> Markup {
    html! {
        g {
            title { (node.node.label) }
            rect.file[!node.node.is_skill] x=(node.x) y=(node.y) width=(NODE.0) height=(NODE.1) rx="5" {}
            text x=(node.x + 9) y=(node.y + NODE.1 / 2 + 4) { (cut(&node.node.label, LABEL)) }
        }
    }
}

/// Returns the curve from the right side of a node to the left side of another one.
fn curve(from: &PlacedNode, to: &PlacedNode) -> String {
    let (x1, y1) = (from.x + NODE.0, from.y + NODE.1 / 2);
    let (x2, y2) = (to.x, to.y + NODE.1 / 2);
    let bend = 40;
    format!("M{x1} {y1} C{} {y1} {} {y2} {x2} {y2}", x1 + bend, x2.saturating_sub(bend))
}

/// Renders a sentence with code between backticks.
fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    html! {
        @if parts.len().is_multiple_of(2) {
            (text)
        } @else {
            @for (nth, part) in parts.into_iter().enumerate() {
                @if nth.is_multiple_of(2) { (part) } @else { code { (part) } }
            }
        }
    }
}

/// Renders a state: its mark and, visible if `is_wordy`, its word.
fn state_cell(state: Option<State>, mark: Option<&str>, is_wordy: bool) -> Markup {
    let Some(state) = state else {
        return html! { td.words.faint data-key="~" { "·" span.unseen { " not found" } } };
    };
    let class = match state {
        State::Active | State::Activated => "good",
        State::Conditional | State::Untrusted => "waiting",
        State::Invalid | State::Denied | State::Refused => "bad",
        State::Shadowed | State::Hidden | State::Ignored => "faint",
    };
    let shown = if mark.is_some() && !is_wordy { CUT } else { table_mark(state) };
    html! {
        td class={ "words " (class) } data-key=(state) {
            span aria-hidden="true" { (shown) " " }
            span.unseen[!is_wordy] { (state) @if let Some(mark) = mark { ", " (mark) } }
        }
    }
}

fn skill_id(nth: usize) -> String {
    format!("skill-{}", nth + 1)
}

#[cfg(test)]
mod tests;
