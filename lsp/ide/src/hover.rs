//! Hover: documentation of the key, value or variable under the cursor.

use std::fmt::Write as _;
use std::path::Path;

use skills_agents::field_table::hooks::{COMMON, GROUP, KINDS, find_event, find_kind};
use skills_agents::field_table::tools::tools;
use skills_agents::field_table::variables::find_variable;
use skills_agents::field_table::{self, ALLOWED_TOOLS, DISALLOWED_TOOLS, KeyKind, Shape};
use skills_agents::profile::{self, Scope};
use skills_render::prompt_listing::{
    ListedSkill, ListingBudget, ListingFormat, write_listing as listing,
};
use skills_syntax::markdown::Body;
use skills_syntax::parse::Document;
use skills_syntax::text::Span;

use super::{arguments, describe};
use crate::cursor_context::{CursorContext, context_at};
use crate::markup::code_block;

/// The hover text of a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// The documented span.
    pub span: Span,
    /// The text, in Markdown.
    pub text: String,
}

/// Approximate number of bytes in a token of English text.
const BYTES_PER_TOKEN: usize = 4;

/// Returns the hover at `offset`, if there is one. Takes the parsed body.
pub fn hover(text: &str, document: &Document, body: &Body, offset: usize) -> Option<Hover> {
    let offset = text.floor_char_boundary(offset);
    if let Some((span, text)) = arguments::hover_text(text, document, body, offset) {
        return Some(Hover { span, text });
    }
    let (span, shown) = match context_at(text, document, offset) {
        CursorContext::Key { path, word, .. } => (word, key(&path, word.slice(text))?),
        CursorContext::Value { path, word, .. } => {
            let whole = match path[..] {
                [key] => describe_description(text, document, key),
                _ => None,
            };
            whole.or_else(|| Some((word, value(&path, word.slice(text))?)))?
        }
        CursorContext::Variable { word } => {
            let name = word.slice(text).trim_matches(['$', '{', '}']);
            (word, describe::variable(find_variable(name)?))
        }
        CursorContext::Empty | CursorContext::Other => return None,
    };
    Some(Hover { span, text: shown })
}

fn key(path: &[&str], name: &str) -> Option<String> {
    match path {
        [] => match field_table::classify_key(name) {
            KeyKind::Field(field) => Some(describe::field(field)),
            KeyKind::Misspelled(field) => Some(format!(
                "No agent reads `{name}`; the field is `{}`.\n\n{}",
                field.key,
                describe::field(field)
            )),
            KeyKind::Unknown => None,
        },
        ["hooks"] => find_event(name).map(describe::event),
        ["hooks", _] => GROUP.iter().find(|it| it.name == name).map(describe::key),
        ["hooks", ..] => {
            let own = KINDS.iter().flat_map(|it| it.keys.iter());
            COMMON.iter().chain(own).find(|it| it.name == name).map(describe::key)
        }
        [field] => {
            let inner = field_table::find(field)?.keys.iter().find(|it| it.name == name)?;
            Some(format!("**`{}`**: {}", inner.name, inner.summary))
        }
        _ => None,
    }
}

fn value(path: &[&str], word: &str) -> Option<String> {
    match path {
        ["hooks", .., "type"] => find_kind(word).map(describe::kind),
        [key] => {
            if [ALLOWED_TOOLS.key, DISALLOWED_TOOLS.key].contains(key) {
                let name = word.split('(').next().unwrap_or_default();
                let known = tools().iter().filter(|it| it.name == name).map(describe::tool);
                let known: Vec<_> = known.collect();
                let known = (!known.is_empty()).then(|| known.join("\n\n"));
                return known.or_else(|| describe::mcp_tool(name));
            }
            let field = field_table::find(key)?;
            // Any value may be a name, so hover documents the field.
            let is_name = field.key == field_table::NAME.key && !word.is_empty();
            let is_answer = field.shape == Shape::Switch && matches!(word, "true" | "false");
            field
                .value(word)
                .map(describe::word)
                .or_else(|| (is_name || is_answer).then(|| describe::field(field)))
        }
        _ => None,
    }
}

/// Returns the size of a description and its entry in each agent's prompt listing.
fn describe_description(text: &str, document: &Document, key: &str) -> Option<(Span, String)> {
    let field =
        field_table::find(key).filter(|it| it.key == "description" && it.shape == Shape::Text)?;
    let frontmatter = document.frontmatter.as_ref()?;
    let entry = frontmatter.get(field.key)?;
    let written = skills_agents::fields::Fields::new(frontmatter, text).text(field)?;
    let characters = written.chars().count();
    let tokens = written.len().div_ceil(BYTES_PER_TOKEN);
    let mut shown =
        format!("{characters} characters, about {tokens} tokens in every skill listing.\n");
    for reader in field.readers {
        if let Some(most) = reader.limit.and_then(|it| it.max).filter(|it| characters > *it) {
            let _ = write!(
                shown,
                "\n- {}: exceeds its limit of {most} characters",
                reader.agent.name()
            );
        }
    }
    let name = skills_agents::fields::Fields::new(frontmatter, text).text(&field_table::NAME);
    let is_hidden = frontmatter
        .get("disable-model-invocation")
        .is_some_and(|it| it.value.as_str() == Some("true"));
    write_listings(
        &name.unwrap_or_else(|| "skill".to_owned()),
        written.trim(),
        is_hidden,
        &mut shown,
    );
    Some((entry.value.span, shown))
}

/// Appends the skill's entry in each agent's prompt listing with its token count. `is_hidden` is
/// true if the skill sets `disable-model-invocation`, which some agents respect.
fn write_listings(name: &str, description: &str, is_hidden: bool, shown: &mut String) {
    const LISTS: [(&str, ListingFormat); 4] = [
        ("claude-code", ListingFormat::Claude),
        ("opencode", ListingFormat::Opencode),
        ("codex", ListingFormat::Codex),
        ("gemini-cli", ListingFormat::Gemini),
    ];
    let path = Path::new("/").join(name).join("SKILL.md");
    let skill = ListedSkill {
        label: None,
        note: None,
        name,
        description,
        when_to_use: None,
        path: &path,
        home: None,
        root: Path::new("/"),
        shown: None,
        scope: Scope::Project,
        is_bundled: false,
        use_score: 0.0,
    };
    for (profile, format) in LISTS {
        let Some(profile) = profile::find(profile) else { continue };
        let agent = &profile.agent;
        if is_hidden && profile.hides_from_model {
            let _ = write!(
                shown,
                "\n**{agent}** does not list it: `disable-model-invocation: true`.\n"
            );
            continue;
        }
        let list =
            |skills: &[ListedSkill<'_>]| listing(format, skills, &ListingBudget::default()).text;
        // The text around the entries is the same for one and two skills, so the difference is one
        // entry.
        let (one, two) =
            (list(std::slice::from_ref(&skill)), list(&[skill.clone(), skill.clone()]));
        let own = two.len().saturating_sub(one.len()).div_ceil(BYTES_PER_TOKEN);
        let entry = elide_middle(one.trim());
        let _ = write!(shown, "\n**{agent}**, {own} tokens:\n\n{}", code_block(&entry));
    }
}

/// Shortens a long text in the middle; listings are truncated at the end, so both ends matter.
fn elide_middle(text: &str) -> String {
    const LONG: usize = 700;
    const END: usize = 200;
    if text.len() <= LONG {
        return text.to_owned();
    }
    let start = text.floor_char_boundary(LONG - END);
    let end = text.ceil_char_boundary(text.len() - END);
    format!("{} […] {}", &text[..start], &text[end..])
}
