//! `textDocument/completion` and `completionItem/resolve`: what may be written at a place.
//!
//! Which items there are is [`skills_ide`]'s to say. Their documentation is long and seldom
//! looked at, so it comes when the client asks for an item's.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use skills_ide::{Completion, FileKind, Suggestion, SuggestionKind};
use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{
    CompletionItem, CompletionItemKind, CompletionResponse, CompletionTextEdit, Documentation,
    InsertTextFormat, MarkupContent, MarkupKind, Position, Range, TextEdit,
};

use crate::analysis::AnalysisContext;
use crate::document::Document;
use crate::handlers::hover;
use crate::settings::Settings;
use crate::snapshot::{OverlaySnapshot, Skill};
use crate::{from_proto, to_proto};

/// Returns what may be written at a position: the skills where one may be named and, in a skill,
/// what the catalog offers and the files that there are.
pub(crate) fn completion(
    document: &Document,
    position: Position,
    scene: &AnalysisContext,
    settings: Settings,
) -> Option<CompletionResponse> {
    let offset = from_proto::offset(document, position, settings.encoding);
    let mut items = skills(document, offset, scene, settings);
    if from_proto::is_skill(document.uri()) {
        items.extend(offered(document, offset, settings).into_iter().flatten());
        items.extend(paths(document, offset, scene, settings).into_iter().flatten());
    }
    (!items.is_empty()).then_some(CompletionResponse::Array(items))
}

/// Returns the skills that may be named at a place.
fn skills(
    document: &Document,
    offset: usize,
    scene: &AnalysisContext,
    settings: Settings,
) -> Vec<CompletionItem> {
    let word = skills_ide::mention::name_at(document.text(), document.parsed(), offset);
    let Some(word) = word else { return Vec::new() };
    let range = to_proto::range(document, word, settings.encoding);
    let others = scene.overlaid.skills.iter().filter(|it| document.path() != Some(&it.path));
    // Of those that share a name, the one that it means.
    let meant = others.filter(|it| scene.overlaid.meant(&it.name) == Some(*it));
    let item = |skill: &Skill| CompletionItem {
        label: skill.name.clone(),
        kind: Some(CompletionItemKind::REFERENCE),
        detail: Some(skill.path.display().to_string()),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, skill.name.clone()))),
        data: Some(json!({"skill": skill.path.to_string_lossy()})),
        ..CompletionItem::default()
    };
    meant.map(item).collect()
}

/// Returns what the catalog offers at a place of a skill.
fn offered(document: &Document, offset: usize, settings: Settings) -> Option<Vec<CompletionItem>> {
    let directory = from_proto::directory(document.uri());
    let written = if from_proto::is_command(document.uri()) {
        FileKind::Command
    } else {
        FileKind::Skill(directory.as_deref())
    };
    let found = skills_ide::complete(document.text(), offset, written)?;
    Some(items(document, &found, settings))
}

/// Returns the paths that may be written at a place of a skill.
fn paths(
    document: &Document,
    offset: usize,
    scene: &AnalysisContext,
    settings: Settings,
) -> Option<Vec<CompletionItem>> {
    let found = skills_ide::complete_paths(document.text(), document.parsed(), offset, scene)?;
    Some(items(document, &found, settings))
}

fn items(document: &Document, found: &Completion, settings: Settings) -> Vec<CompletionItem> {
    let range = to_proto::range(document, found.span, settings.encoding);
    let items = found.items.iter().enumerate();
    items.map(|(rank, it)| item(it, rank, range, settings)).collect()
}

fn item(item: &Suggestion, rank: usize, range: Range, settings: Settings) -> CompletionItem {
    let (text, format) = match &item.snippet {
        Some(snippet) if settings.snippets => (snippet, InsertTextFormat::SNIPPET),
        Some(_) | None => (&item.text, InsertTextFormat::PLAIN_TEXT),
    };
    CompletionItem {
        label: item.label.clone(),
        kind: Some(kind(item.kind)),
        detail: (!item.detail.is_empty()).then(|| item.detail.clone()),
        // Clients sort by letters, and we by what is likely.
        sort_text: Some(format!("{rank:04}")),
        filter_text: Some(item.label.clone()),
        insert_text_format: Some(format),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, text.clone()))),
        data: Some(json!(word(item.kind))),
        ..CompletionItem::default()
    }
}

/// Adds to an item what is to be said of it. `places` are what is seen from each.
pub(crate) fn resolve(
    item: CompletionItem,
    places: &[(AbsPath, Arc<OverlaySnapshot>)],
) -> CompletionItem {
    let path = item.data.as_ref().and_then(|it| it.get("skill")?.as_str());
    let path = path.and_then(|it| AbsPath::new(Path::new(it)).ok());
    let skill = path.and_then(|path| {
        places.iter().find_map(|(_, it)| Some(hover::describe(it.at(&path)?, it)))
    });
    if let Some(value) = skill {
        let markup = MarkupContent { kind: MarkupKind::Markdown, value };
        return CompletionItem {
            documentation: Some(Documentation::MarkupContent(markup)),
            ..item
        };
    }
    let kind = item.data.as_ref().and_then(|it| it.as_str()).and_then(unword);
    let told = kind.and_then(|it| skills_ide::documentation(it, &item.label));
    let documentation = told.map(|value| {
        Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
    });
    CompletionItem { documentation: documentation.or(item.documentation), ..item }
}

fn kind(kind: SuggestionKind) -> CompletionItemKind {
    match kind {
        SuggestionKind::Field | SuggestionKind::Key => CompletionItemKind::PROPERTY,
        SuggestionKind::Value => CompletionItemKind::VALUE,
        SuggestionKind::Tool => CompletionItemKind::FUNCTION,
        SuggestionKind::Event => CompletionItemKind::EVENT,
        SuggestionKind::Variable => CompletionItemKind::VARIABLE,
        SuggestionKind::File => CompletionItemKind::SNIPPET,
        SuggestionKind::Path => CompletionItemKind::FILE,
    }
}

const KINDS: [SuggestionKind; 8] = [
    SuggestionKind::Field,
    SuggestionKind::Key,
    SuggestionKind::Value,
    SuggestionKind::Tool,
    SuggestionKind::Event,
    SuggestionKind::Variable,
    SuggestionKind::File,
    SuggestionKind::Path,
];

/// Returns how a kind is told to the client, which hands it back.
fn word(kind: SuggestionKind) -> &'static str {
    match kind {
        SuggestionKind::Field => "field",
        SuggestionKind::Key => "key",
        SuggestionKind::Value => "value",
        SuggestionKind::Tool => "tool",
        SuggestionKind::Event => "event",
        SuggestionKind::Variable => "variable",
        SuggestionKind::File => "file",
        SuggestionKind::Path => "path",
    }
}

fn unword(text: &str) -> Option<SuggestionKind> {
    KINDS.into_iter().find(|it| word(*it) == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Revision;

    fn items(text: &str, line: u32, character: u32, snippets: bool) -> Vec<CompletionItem> {
        let uri = "file:///w/.claude/skills/pdf/SKILL.md".parse().unwrap();
        let document = Document::new(uri, 1, Revision::default(), text.to_owned());
        let settings = Settings { snippets, ..Settings::default() };
        match completion(
            &document,
            Position { line, character },
            &AnalysisContext::default(),
            settings,
        ) {
            Some(CompletionResponse::Array(items)) => items,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn edit(item: &CompletionItem) -> (Range, &str) {
        match &item.text_edit {
            Some(CompletionTextEdit::Edit(edit)) => (edit.range, &edit.new_text),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_item_replaces_the_word_under_the_cursor() {
        let items = items("---\nname: pdf\nmod\n---\n", 2, 1, false);
        let model = items.iter().find(|it| it.label == "model").unwrap();
        let (range, text) = edit(model);
        assert_eq!((range.start.character, range.end.character), (0, 3));
        assert_eq!(text, "model: ");
    }

    #[test]
    fn snippets_are_for_clients_that_take_them() {
        let plain = items("", 0, 0, false);
        assert!(!edit(&plain[0]).1.contains("${"), "{plain:?}");
        let snippets = items("", 0, 0, true);
        assert!(edit(&snippets[0]).1.contains("${1:pdf}"), "{snippets:?}");
        assert_eq!(snippets[0].insert_text_format, Some(InsertTextFormat::SNIPPET));
    }

    #[test]
    fn an_empty_command_is_begun_as_one() {
        let uri = "file:///w/.claude/commands/release.md".parse().unwrap();
        let document = Document::new(uri, 1, Revision::default(), String::new());
        let place = Position::default();
        let found = completion(&document, place, &AnalysisContext::default(), Settings::default());
        let Some(CompletionResponse::Array(items)) = found else { panic!("{found:?}") };
        assert_eq!((items.len(), &*items[0].label), (1, "command"));
    }

    #[test]
    fn documentation_comes_when_it_is_asked_for() {
        let items = items("---\n\n---\n", 1, 0, true);
        assert!(items.iter().all(|it| it.documentation.is_none()));
        let resolved = resolve(items[0].clone(), &[]);
        assert!(resolved.documentation.is_some());
        let unknown = CompletionItem { label: "x".into(), ..CompletionItem::default() };
        assert_eq!(resolve(unknown.clone(), &[]), unknown);
    }
}
