//! `textDocument/documentHighlight`: arguments and skill names.

use skills_agents::references::reference_at;
use skills_syntax::text::Span;
use tower_lsp::ls_types::{DocumentHighlight, DocumentHighlightKind, Position};

use super::definition::argument;
use crate::document::Document;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// Returns the declaration and all uses of the argument at a position, or all mentions of the skill
/// at that position; `None` elsewhere.
pub(crate) fn document_highlight(
    document: &Document,
    position: Position,
    settings: Settings,
) -> Option<Vec<DocumentHighlight>> {
    let offset = from_proto::offset(document, position, settings.encoding);
    let highlight = |span: Span, kind: DocumentHighlightKind| DocumentHighlight {
        range: to_proto::range(document, span, settings.encoding),
        kind: Some(kind),
    };
    if let Some(argument) = argument(document, offset) {
        let declared = argument.declared.map(|it| highlight(it, DocumentHighlightKind::WRITE));
        let uses = argument.uses.into_iter().map(|it| highlight(it, DocumentHighlightKind::READ));
        return Some(declared.into_iter().chain(uses).collect());
    }
    let references = document.references();
    let resolved = reference_at(references, offset)?;
    let same = references.iter().filter(|it| it.name == resolved.name);
    Some(same.map(|it| highlight(it.span, DocumentHighlightKind::READ)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Revision;

    #[track_caller]
    fn check(text: &str, line: u32, character: u32, expected: &[(u32, u32)]) {
        let uri = "file:///w/.claude/skills/pdf/SKILL.md".parse().unwrap();
        let document = Document::new(uri, 1, Revision::default(), text.to_owned());
        let found =
            document_highlight(&document, Position { line, character }, Settings::default());
        let starts = found.unwrap_or_default().into_iter().map(|it| it.range.start);
        let starts: Vec<_> = starts.map(|it| (it.line, it.character)).collect();
        assert_eq!(starts, expected);
    }

    const SKILL: &str = "---\nname: a\narguments: [issue, branch]\n---\nFix $issue on $branch, or $0; see /pdf, `/pdf`.\n";

    #[test]
    fn argument_declaration_and_uses_are_highlighted() {
        check(SKILL, 4, 5, &[(2, 12), (4, 4), (4, 26)]);
        check(SKILL, 2, 20, &[(2, 19), (4, 14)]);
    }

    #[test]
    fn mentions_of_the_same_skill_are_highlighted() {
        check(SKILL, 4, 35, &[(4, 35), (4, 42)]);
        check(SKILL, 4, 1, &[]);
    }
}
