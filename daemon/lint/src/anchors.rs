//! Anchors of headings in a text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use skills_syntax::markdown::{Body, heading_anchor};
use skills_syntax::text::Span;

use super::expression::expression;

/// A heading in any block, or an element's id.
static ANCHORS: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r#"(?m)^[\s>*+\d.)-]*#{1,6}[ \t]+(?P<title>.*)|\b(?:id|name)\s*=\s*["']?(?P<id>[^"'\s>]+)"#,
    )
});

/// Maximum length in bytes of an anchor that a text gives itself in `{#…}`, with its brace.
const MAX_OWN_ANCHOR: usize = 256;

/// Anchors by their letters and digits. Several may have the same letters: `form-fields` and
/// `form_fields`.
pub(super) type Anchors = BTreeMap<String, BTreeSet<String>>;

pub(super) fn anchors(text: &str, body: &Body, part: Span) -> Anchors {
    let mut anchors = Anchors::new();
    let mut add = |it: String| anchors.entry(letters(&it)).or_default().insert(it);
    let written = part.slice(text);
    for found in ANCHORS.captures_iter(written) {
        let title = found.name("title").or_else(|| found.name("id"));
        let title = title.map_or("", |it| it.as_str());
        add(slug(title));
        // In code, or with an underscore, `<name>` is text and no tag.
        if title.contains('<') {
            add(slug(&title.replace('<', "")));
        }
    }
    for (at, _) in written.match_indices("{#") {
        let rest = &written[at + 2..];
        let rest = &rest[..rest.floor_char_boundary(MAX_OWN_ANCHOR)];
        if let Some((own, _)) = rest.split_once('}').filter(|(own, _)| !own.contains('{')) {
            let own = own.split([' ', '\n']).next().unwrap_or_default();
            add(own.to_owned());
        }
    }
    // Titles that are underlined.
    for heading in &body.headings {
        add(slug(heading.title.slice(text)));
    }
    anchors
}

/// Returns the anchor that GitHub makes of a title.
fn slug(title: &str) -> String {
    static TARGETS: LazyLock<Regex> =
        LazyLock::new(|| expression(r"\]\([^)]*\)|<[^>]*>|\{#[^}]*\}"));
    let title = TARGETS.replace_all(title, "");
    heading_anchor(title.trim().trim_end_matches('#').trim_end())
}

/// Returns false if an anchor of a heading certainly does not exist.
pub(super) fn may_lead_to_heading(target: &str, anchors: &Anchors) -> bool {
    let key = letters(target);
    let numbered = target.rsplit_once('-').filter(|(_, it)| it.parse::<u32>().is_ok());
    let is_known = |it: &str| anchors.contains_key(it);
    let is_special = key.is_empty()
        || target.contains(['/', '=', '{', '<', '$', ':'])
        || ["top", "anchor", "section", "heading", "link"].contains(&&*key)
        || ["fn", "L", "user-content"].iter().any(|it| target.starts_with(it));
    is_special || is_known(&key) || numbered.is_some_and(|(it, _)| is_known(&letters(it)))
}

/// Returns the letters and digits of an anchor, in lower case.
pub(super) fn letters(anchor: &str) -> String {
    anchor.to_lowercase().chars().filter(|it| it.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angle_brackets_of_a_title_are_text_or_a_tag() {
        let text = "## Heading `<feature>.md`\n## skipped <KEY_ID>: No key\n## Two <b>words</b>\n";
        let whole = Span::new(0, text.len());
        let anchors = anchors(text, &Body::new(text, whole), whole);
        for anchor in ["heading-featuremd", "skipped-key_id-no-key", "two-words"] {
            assert!(may_lead_to_heading(anchor, &anchors), "{anchor}: {anchors:?}");
        }
    }

    #[test]
    fn own_anchors_end_within_their_limit() {
        let text = format!("## One {{#own}}\n{{#{}}}\n{}", "x".repeat(300), "{#a".repeat(40_000));
        let whole = Span::new(0, text.len());
        let anchors = anchors(&text, &Body::new(&text, whole), whole);
        assert_eq!(anchors.values().flatten().collect::<Vec<_>>(), ["one", "own"]);
    }
}
