//! `textDocument/semanticTokens`: keys, variables, and references to skills.

use skills_agents::references::Reference;
use skills_ide::{Token, TokenKind};
use skills_syntax::text::Span;
use tower_lsp::ls_types::{
    Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens,
    SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions,
};

use crate::analysis::AnalysisContext;
use crate::document::Document;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// The token types; their index is their number on the wire.
const TYPES: [SemanticTokenType; 3] =
    [SemanticTokenType::PROPERTY, SemanticTokenType::VARIABLE, SemanticTokenType::FUNCTION];

/// The modifier bit of keys that no agent reads.
const DEPRECATED: u32 = 1;

/// Returns the legend and options of semantic tokens.
pub(crate) fn options() -> SemanticTokensOptions {
    SemanticTokensOptions {
        legend: SemanticTokensLegend {
            token_types: TYPES.into(),
            token_modifiers: vec![SemanticTokenModifier::DEPRECATED],
        },
        range: Some(true),
        full: Some(SemanticTokensFullOptions::Bool(true)),
        ..SemanticTokensOptions::default()
    }
}

/// Returns the tokens of a skill, or of a range of it; `None` for other documents.
pub(crate) fn semantic_tokens(
    document: &Document,
    range: Option<Range>,
    analysis: &AnalysisContext,
    settings: Settings,
) -> Option<SemanticTokens> {
    if !from_proto::is_skill(document.uri()) {
        return None;
    }
    let requested = range.map(|it| from_proto::span(document, it, settings.encoding));
    let is_requested = |it: &&Token| {
        requested
            .is_none_or(|requested| it.span.start < requested.end && requested.start < it.span.end)
    };
    let is_skill = |it: &&Reference| analysis.snapshot.resolve(it, document.path()).is_some();
    let resolved = document.references().iter().filter(is_skill);
    let resolved: Vec<Span> = resolved.map(|it| it.span).collect();
    let (text, parsed, body) = (document.text(), document.parsed(), document.body());
    let tokens = skills_ide::tokens(text, parsed, body, &resolved);
    let (mut line, mut character) = (0, 0);
    let data = tokens.iter().filter(is_requested).map(|token| {
        let range = to_proto::range(document, token.span, settings.encoding);
        let (start, end) = (range.start, range.end);
        let delta_line = start.line - line;
        let delta_start =
            if delta_line == 0 { start.character - character } else { start.character };
        (line, character) = (start.line, start.character);
        let (token_type, token_modifiers_bitset) = numbers(token.kind);
        SemanticToken {
            delta_line,
            delta_start,
            length: end.character - start.character,
            token_type,
            token_modifiers_bitset,
        }
    });
    Some(SemanticTokens { result_id: None, data: data.collect() })
}

fn numbers(kind: TokenKind) -> (u32, u32) {
    match kind {
        TokenKind::Key => (0, 0),
        TokenKind::UnreadKey => (0, DEPRECATED),
        TokenKind::Variable => (1, 0),
        TokenKind::Reference => (2, 0),
    }
}

#[cfg(test)]
mod tests {
    use tower_lsp::ls_types::Position;

    use super::*;
    use crate::document::Revision;

    fn tokens(range: Option<Range>) -> Vec<[u32; 5]> {
        let uri = "file:///w/SKILL.md".parse().unwrap();
        let text = "---\nname: a\nfoo: 1\n---\n🦀 $ARGUMENTS and $1\n".to_owned();
        let document = Document::new(uri, 1, Revision::default(), text);
        let tokens =
            semantic_tokens(&document, range, &AnalysisContext::default(), Settings::default())
                .unwrap()
                .data;
        let numbers = tokens.iter().map(|it| {
            let SemanticToken { delta_line, delta_start, length, .. } = *it;
            [delta_line, delta_start, length, it.token_type, it.token_modifiers_bitset]
        });
        numbers.collect()
    }

    #[test]
    fn tokens_are_delta_encoded() {
        assert_eq!(
            tokens(None),
            [[1, 0, 4, 0, 0], [1, 0, 3, 0, 1], [2, 3, 10, 1, 0], [0, 15, 2, 1, 0]]
        );
        let line = |line| Position { line, character: 0 };
        assert_eq!(tokens(Some(Range::new(line(2), line(3)))), [[2, 0, 3, 0, 1]]);
    }
}
