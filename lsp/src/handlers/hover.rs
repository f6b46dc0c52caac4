//! `textDocument/hover`: skill names, globs, and frontmatter.

use std::fmt::Write as _;

use skills_agents::field_table;
use skills_agents::fields::Fields;
use skills_discovery::discover::SkillState;
use skills_ide::markup;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;
use tower_lsp::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::analysis::AnalysisContext;
use crate::document::Document;
use crate::settings::Settings;
use crate::snapshot::{OverlaySnapshot, SkillEntry};
use crate::{from_proto, to_proto};

/// Returns the hover at a position: for a skill name, for a glob in a skill, or for an entry of the
/// field table; `None` elsewhere.
pub(crate) fn hover(
    document: &Document,
    position: Position,
    analysis: &AnalysisContext,
    settings: Settings,
) -> Option<Hover> {
    let offset = from_proto::offset(document, position, settings.encoding);
    let (span, value) = match hover_skill(document, offset, analysis) {
        Some(found) => found,
        None if from_proto::is_skill(document.uri()) => {
            if let Some(found) = hover_glob(document, offset, analysis) {
                found
            } else {
                let (text, parsed) = (document.text(), document.parsed());
                let found = skills_ide::hover(text, parsed, document.body(), offset)?;
                (found.span, found.text)
            }
        }
        None => return None,
    };
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(to_proto::range(document, span, settings.encoding)),
    })
}

fn hover_skill(
    document: &Document,
    offset: usize,
    analysis: &AnalysisContext,
) -> Option<(Span, String)> {
    let Some(reference) = document.reference_at(offset) else {
        // A skill's own `name` refers to the skill too.
        let name = &document.parsed().frontmatter.as_ref()?.get("name")?.value;
        let is_there = name.span.start <= offset && offset <= name.span.end;
        let skill = analysis.snapshot.at(document.path().filter(|_| is_there)?)?;
        return Some((name.span, describe(skill, &analysis.snapshot)));
    };
    let (skill, _) = analysis.snapshot.resolve(&reference, document.path())?;
    Some((reference.span, describe(skill, &analysis.snapshot)))
}

/// Returns the number of files that the glob under the cursor matches, and the first of them.
fn hover_glob(
    document: &Document,
    offset: usize,
    analysis: &AnalysisContext,
) -> Option<(Span, String)> {
    let frontmatter = document.parsed().frontmatter.as_ref()?;
    let globs = Fields::new(frontmatter, document.text()).list(&field_table::PATHS);
    let glob = globs.iter().find(|it| it.span.start <= offset && offset <= it.span.end)?;
    let found = analysis.glob_matches(&glob.text)?;
    let mut text = match found.count? {
        0 => "Matches no files in this worktree.".to_owned(),
        1 => "Matches 1 file in this worktree.".to_owned(),
        count => format!("Matches {count} files in this worktree."),
    };
    for file in &found.files {
        let _ = write!(text, "\n- {}", markup::inline_code(file));
    }
    if found.count.is_some_and(|it| it > found.files.len()) && !found.files.is_empty() {
        text.push_str("\n- …");
    }
    Some((glob.span, text))
}

/// Returns the Markdown for a skill: its description, its state for each agent, and its path.
pub(crate) fn describe(skill: &SkillEntry, snapshot: &OverlaySnapshot) -> String {
    let mut text = format!("**{}**", markup::escape(&skill.name));
    if let Some(description) = skill.description.as_deref().filter(|it| !it.is_empty()) {
        let _ = write!(text, "\n\n{}", markup::escape(description));
    }
    let states = states(&skill.path, snapshot);
    if !states.is_empty() {
        text.push('\n');
        for (state, agents, reason) in states {
            // A reason may quote the file, within backticks that the file can close.
            let reason = reason.map(|it| it.replace("](", "]\\(").replace('\n', " "));
            let reason = reason.map(|it| format!(" ({it})")).unwrap_or_default();
            let _ = write!(text, "\n- {}: {}{reason}", state.name(), agents.join(", "));
        }
    }
    let path = skill.path.display().to_string();
    let _ = write!(text, "\n\n{}", markup::inline_code(&path));
    text
}

/// Returns the states of a skill, each with its profiles and reason.
fn states<'a>(
    path: &'a AbsPath,
    snapshot: &'a OverlaySnapshot,
) -> Vec<(SkillState, Vec<String>, Option<&'a str>)> {
    let mut states: Vec<(SkillState, Vec<String>, Option<&str>)> = Vec::new();
    for (ranking, ranked) in snapshot.rankings_of(path) {
        let agent = ranking.profile.id.to_string();
        let reason = ranked.reason.as_deref();
        match states.iter_mut().find(|it| it.0 == ranked.state && it.2 == reason) {
            Some((_, agents, _)) => agents.push(agent),
            None => states.push((ranked.state, vec![agent], reason)),
        }
    }
    states
}
