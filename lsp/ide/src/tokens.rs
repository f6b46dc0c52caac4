//! Semantic tokens for keys, variables and skill references.

use skills_agents::field_table::variables::find_variable;
use skills_agents::field_table::{self, KeyKind};
use skills_syntax::markdown::Body;
use skills_syntax::parse::{Document, Entry, Value, ValueKind};
use skills_syntax::text::Span;

use super::arguments;

/// A span and its token kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// The span; never crosses a line end.
    pub span: Span,
    /// The kind.
    pub kind: TokenKind,
}

/// The kind of a semantic token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TokenKind {
    /// A key that some agent reads, or a key nested below one.
    Key,
    /// A key that no agent reads.
    UnreadKey,
    /// A variable that an agent substitutes.
    Variable,
    /// A reference to an existing skill.
    Reference,
}

/// Returns the tokens sorted by position; they do not overlap. Takes the parsed body.
///
/// `references` are the spans of the references that resolve to a skill.
pub fn tokens(text: &str, document: &Document, body: &Body, references: &[Span]) -> Vec<Token> {
    let mut tokens = Vec::new();
    for entry in document.frontmatter.iter().flat_map(|it| &it.entries) {
        let kind = match field_table::classify_key(&entry.key.text) {
            KeyKind::Field(_) => TokenKind::Key,
            KeyKind::Misspelled(_) | KeyKind::Unknown => TokenKind::UnreadKey,
        };
        key(text, entry, kind, &mut tokens);
    }
    let variables = variables(text, document, body, document.body);
    tokens.extend(variables.into_iter().map(|span| Token { span, kind: TokenKind::Variable }));
    let references = references.iter().map(|it| Token { span: *it, kind: TokenKind::Reference });
    tokens.extend(references.filter(|it| !it.span.slice(text).contains('\n')));
    tokens.sort_by_key(|it| (it.span, it.kind));
    let mut end = 0;
    tokens.retain(|it| {
        let fits = it.span.start >= end && !it.span.is_empty();
        end = if fits { it.span.end } else { end };
        fits
    });
    tokens
}

fn key(text: &str, entry: &Entry, kind: TokenKind, tokens: &mut Vec<Token>) {
    if !entry.key.span.slice(text).contains('\n') {
        tokens.push(Token { span: entry.key.span, kind });
    }
    nested(text, &entry.value, kind, tokens);
}

fn nested(text: &str, value: &Value, kind: TokenKind, tokens: &mut Vec<Token>) {
    match &value.kind {
        ValueKind::Mapping { entries, .. } => {
            for entry in entries {
                key(text, entry, kind, tokens);
            }
        }
        ValueKind::Sequence { items, .. } => {
            for item in items {
                nested(text, item, kind, tokens);
            }
        }
        ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {}
    }
}

/// Returns the spans of the variables that an agent substitutes in whole lines of the body, in no
/// order.
pub(super) fn variables(text: &str, document: &Document, body: &Body, within: Span) -> Vec<Span> {
    let written = within.slice(text);
    let mut found = arguments::placeholder_spans(text, document, body, within);
    for (at, _) in written.match_indices("${") {
        let inner = &written[at + 2..];
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let name = &inner[..inner.find(|it| !is_name(it)).unwrap_or(inner.len())];
        let is_known = find_variable(name).is_some_and(|it| it.braces);
        if is_known && inner[name.len()..].starts_with('}') && !written[..at].ends_with('\\') {
            found.push(Span::new(at, at + name.len() + 3).moved(within.start));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_agents::skill::parse;

    use super::*;

    #[track_caller]
    fn check(text: &str, references: &[&str], expected: &Expect) {
        let place = |it: &&str| {
            let at = text.find(*it).unwrap();
            Span::new(at, at + it.len())
        };
        let references: Vec<Span> = references.iter().map(place).collect();
        let document = parse(text);
        let body = Body::new(text, document.body);
        let shown = tokens(text, &document, &body, &references)
            .iter()
            .map(|it| format!("{:?} {}\n", it.kind, it.span.slice(text)))
            .collect::<Vec<_>>();
        expected.assert_eq(&shown.concat());
    }

    #[test]
    fn keys_variables_and_references_are_highlighted() {
        check(
            "---\nname: a\nfoo: 1\nhooks:\n  Stop:\n    - matcher: x\narguments: [file]\n---\nRun ${CLAUDE_SKILL_DIR}/x $file $ARGUMENTS $1 $HOME \\$1 ${ARGUMENTS and `/other`.\n",
            &["other"],
            &expect![[r#"
                Key name
                UnreadKey foo
                Key hooks
                Key Stop
                Key matcher
                Key arguments
                Variable ${CLAUDE_SKILL_DIR}
                Variable $file
                Variable $ARGUMENTS
                Variable $1
                Reference other
            "#]],
        );
    }

    #[test]
    fn variables_are_highlighted_without_frontmatter() {
        check(
            "Use $ARGUMENTS.\n",
            &[],
            &expect![[r#"
            Variable $ARGUMENTS
        "#]],
        );
    }
}
