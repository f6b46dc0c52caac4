//! From the client's terms to ours: capabilities to settings, positions to bytes.
//!
//! The only file that reads lines and columns. Nothing is refused: a position that is not in the
//! text is the nearest one that is, as the protocol wants it.

use std::path::Path;

use serde_json::Value;
use skills_agents::command;
use skills_agents::references::is_instruction_file;
use skills_discovery::levels::Level;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{Position as BytePosition, Span};
use tower_lsp::ls_types::{
    ClientCapabilities, CodeActionClientCapabilities, DidChangeWatchedFilesParams,
    InitializeParams, Position, PositionEncodingKind, Range, ResourceOperationKind,
    TextDocumentContentChangeEvent, Uri, WorkspaceClientCapabilities,
};

use crate::document::{Document, Edit};
use crate::handlers::code_lens::SHOW;
use crate::settings::{Encoding, Features, Refreshes, Settings};
use crate::tasks::watching;
use crate::workspace::{AllEditorSettings, EditorSettings};

/// The file name that makes a text a skill.
const SKILL_FILE: &str = "SKILL.md";

/// Resolves what the client can do.
pub(crate) fn settings(capabilities: &ClientCapabilities) -> Settings {
    let offered =
        capabilities.general.as_ref().and_then(|general| general.position_encodings.as_deref());
    let text = capabilities.text_document.as_ref();
    let symbols = text.and_then(|text| text.document_symbol.as_ref());
    let folds = text.and_then(|text| text.folding_range.as_ref());
    let items = text.and_then(|text| text.completion.as_ref()?.completion_item.as_ref());
    let actions = text.and_then(|text| text.code_action.as_ref());
    let workspace = capabilities.workspace.as_ref();
    let edits = workspace.and_then(|it| it.workspace_edit.as_ref());
    let edits = edits.filter(|it| it.document_changes == Some(true));
    let operations = edits.and_then(|it| it.resource_operations.as_deref()).unwrap_or_default();
    Settings {
        encoding: encoding(offered.unwrap_or_default()),
        pulls_diagnostics: text.is_some_and(|text| text.diagnostic.is_some()),
        nested_symbols: symbols
            .is_some_and(|symbols| symbols.hierarchical_document_symbol_support == Some(true)),
        snippets: items.is_some_and(|items| items.snippet_support == Some(true)),
        max_folds: folds.and_then(|folds| folds.range_limit).map(|limit| limit as usize),
        creates_files: operations.contains(&ResourceOperationKind::Create),
        renames_files: operations.contains(&ResourceOperationKind::Rename),
        action_literals: actions.is_some_and(|it| it.code_action_literal_support.is_some()),
        applies_edits: workspace.and_then(|it| it.apply_edit).unwrap_or_default(),
        resolves_actions: actions.is_some_and(resolves),
        shows_disabled: actions.is_some_and(|it| it.disabled_support == Some(true)),
        refreshes: workspace.map(refreshes).unwrap_or_default(),
        shows_references: knows(capabilities, SHOW),
        shows_documents: capabilities
            .window
            .as_ref()
            .and_then(|it| it.show_document.as_ref())
            .is_some_and(|it| it.support),
        shows_progress: capabilities
            .window
            .as_ref()
            .and_then(|it| it.work_done_progress)
            .unwrap_or_default(),
        registers_watchers: workspace
            .and_then(|it| it.did_change_watched_files.as_ref()?.dynamic_registration)
            .unwrap_or_default(),
        watches_below: workspace
            .and_then(|it| it.did_change_watched_files.as_ref()?.relative_pattern_support)
            .unwrap_or_default(),
        has_configuration: workspace.and_then(|it| it.configuration).unwrap_or_default(),
        features: Features::default(),
    }
}

/// Whether the client says that it knows a command: `{"experimental": {"commands": {"commands":
/// [...]}}}`, as clients of other servers do.
fn knows(capabilities: &ClientCapabilities, command: &str) -> bool {
    let commands =
        capabilities.experimental.as_ref().and_then(|it| it.pointer("/commands/commands"));
    commands.and_then(Value::as_array).is_some_and(|them| them.iter().any(|it| it == command))
}

fn resolves(actions: &CodeActionClientCapabilities) -> bool {
    let lazily = actions.resolve_support.as_ref();
    actions.code_action_literal_support.is_some()
        && actions.data_support == Some(true)
        && lazily.is_some_and(|it| it.properties.iter().any(|it| it == "edit"))
}

fn refreshes(workspace: &WorkspaceClientCapabilities) -> Refreshes {
    let WorkspaceClientCapabilities { diagnostics, code_lens, inlay_hint, semantic_tokens, .. } =
        workspace;
    let said = |it: Option<bool>| it.unwrap_or_default();
    Refreshes {
        diagnostics: said(diagnostics.as_ref().and_then(|it| it.refresh_support)),
        code_lens: said(code_lens.as_ref().and_then(|it| it.refresh_support)),
        inlay_hints: said(inlay_hint.as_ref().and_then(|it| it.refresh_support)),
        semantic_tokens: said(semantic_tokens.as_ref().and_then(|it| it.refresh_support)),
    }
}

/// Reads what the user wants to see: `{"inlayHints": true, "codeLens": false}`, also below
/// `features`. What is not said stays as it is usually.
pub(crate) fn features(options: &Value) -> Features {
    let switch = |name: &str, usual: bool| {
        let said = options.get("features").and_then(|it| it.get(name)).or(options.get(name));
        said.and_then(Value::as_bool).unwrap_or(usual)
    };
    let usual = Features::default();
    Features {
        inlay_hints: switch("inlayHints", usual.inlay_hints),
        code_lens: switch("codeLens", usual.code_lens),
    }
}

/// Reads what the configuration's keys `check.*` say, also without `check`: `{"profiles": ["codex"],
/// "rules": {"name/*": "off"}, "paths": {"vendor/**": {"*": "off"}}}`. What cannot be read is left
/// out, as what is not said.
pub(crate) fn wishes(options: &Value) -> AllEditorSettings {
    let said = |name: &str| options.get("check").and_then(|it| it.get(name)).or(options.get(name));
    let profiles = said("profiles").and_then(Value::as_array).into_iter().flatten();
    let profiles = profiles.filter_map(Value::as_str).map(str::to_owned);
    let paths = said("paths").and_then(Value::as_object).into_iter().flatten();
    let globs = paths.map(|(glob, rules)| (Some(glob), Some(rules)));
    let mut levels = Vec::new();
    for (glob, rules) in std::iter::once((None, said("rules"))).chain(globs) {
        for (rule, level) in rules.and_then(Value::as_object).into_iter().flatten() {
            let level = level.as_str().and_then(Level::read);
            // Of others the user is told, see [`crate::options`].
            if let Some(level) = level.filter(|_| skills_lint::is_known(rule)) {
                levels.push(EditorSettings { glob: glob.cloned(), rule: rule.clone(), level });
            }
        }
    }
    AllEditorSettings { profiles: profiles.collect(), levels }
}

/// Reads what the editor calls its own conversations: `{"session": "editor-7"}`.
pub(crate) fn conversation(options: &Value) -> Option<String> {
    options.get("session").and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned)
}

/// Returns the directories that the client works in.
pub(crate) fn folders(params: &InitializeParams) -> Vec<AbsPath> {
    let named = params.workspace_folders.iter().flatten();
    let mut folders: Vec<_> = named.filter_map(|it| path(&it.uri)).collect();
    #[expect(deprecated, reason = "older clients say it in this way alone")]
    if folders.is_empty() {
        folders.extend(params.root_uri.as_ref().and_then(path));
    }
    folders
}

/// Returns whether a note tells of files that count. What git keeps for itself comes and goes with
/// every command of git, and nothing speaks of it.
pub(crate) fn tells_of_files(params: &DidChangeWatchedFilesParams) -> bool {
    params.changes.iter().any(|it| !is_of_git(&it.uri))
}

/// Returns whether a note tells of files whose change may change what is said; of what is no file of
/// the disk nobody can tell, so it may.
pub(crate) fn tells_of_ours(params: &DidChangeWatchedFilesParams) -> bool {
    let is_ours = |it: &Uri| it.to_file_path().is_none_or(|it| watching::is_ours(&it));
    let mut changes = params.changes.iter().map(|it| &it.uri);
    changes.any(|it| !is_of_git(it) && is_ours(it))
}

fn is_of_git(uri: &Uri) -> bool {
    uri.path().as_str().contains("/.git/")
}

/// Returns the path of an address on the disk.
pub(crate) fn path(uri: &Uri) -> Option<AbsPath> {
    AbsPath::new(&uri.to_file_path()?).ok()
}

/// Chooses UTF-8, which is how texts are kept, where the client offers it.
fn encoding(offered: &[PositionEncodingKind]) -> Encoding {
    let offers = |kind: &PositionEncodingKind| offered.contains(kind);
    if offers(&PositionEncodingKind::UTF8) {
        Encoding::Utf8
    } else if offers(&PositionEncodingKind::UTF32) && !offers(&PositionEncodingKind::UTF16) {
        Encoding::Utf32
    } else {
        Encoding::Utf16
    }
}

/// Returns the byte that a position is at.
pub(crate) fn offset(document: &Document, position: Position, encoding: Encoding) -> usize {
    let Position { line, character } = position;
    let (text, lines) = (document.text(), document.lines());
    match encoding {
        Encoding::Utf8 => {
            let offset = lines.offset(BytePosition { line, column: character });
            text.floor_char_boundary(offset)
        }
        Encoding::Utf16 => lines.utf16_offset(text, line, character),
        Encoding::Utf32 => lines.line(line).map_or(text.len(), |line| {
            let mut characters = line.slice(text).char_indices();
            characters.nth(character as usize).map_or(line.end, |(at, _)| line.start + at)
        }),
    }
}

/// Returns the bytes of a range; one that ends before it starts is empty at its start.
pub(crate) fn span(document: &Document, range: Range, encoding: Encoding) -> Span {
    let [start, end] = [range.start, range.end].map(|it| offset(document, it, encoding));
    Span::new(start, end)
}

/// Returns the edit of one content change, whose range is about `document`.
pub(crate) fn edit(
    document: &Document,
    change: TextDocumentContentChangeEvent,
    encoding: Encoding,
) -> Edit {
    let text = change.text;
    match change.range {
        Some(range) => Edit::Part { span: span(document, range, encoding), text },
        None => Edit::All { text },
    }
}

/// Returns whether a text is a SKILL.md, by its file name alone, or a command, by where it lies.
pub(crate) fn is_skill(uri: &Uri) -> bool {
    let path = uri.path().decode().to_bytes();
    path.rsplit(|&byte| byte == b'/').next() == Some(SKILL_FILE.as_bytes()) || is_command(uri)
}

/// Returns whether a text is a command.
pub(crate) fn is_command(uri: &Uri) -> bool {
    let path = uri.path().decode().to_bytes();
    command::is_command(Path::new(&*String::from_utf8_lossy(&path)))
}

/// Returns whether something may be wrong with a text: with a skill, also one whose file's name is
/// in the wrong case, a command, or instructions that speak of skills.
pub(crate) fn is_checked(uri: &Uri) -> bool {
    let path = uri.path().decode().to_bytes();
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let is_meant = name.eq_ignore_ascii_case(SKILL_FILE.as_bytes());
    is_meant || is_skill(uri) || uri.to_file_path().is_some_and(|it| is_instruction_file(&it))
}

/// Returns the name of the directory that is a skill's own, where its address tells.
pub(crate) fn directory(uri: &Uri) -> Option<String> {
    let path = uri.to_file_path().filter(|it| !command::is_command(it))?;
    Some(path.parent()?.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::session::Revision;

    #[track_caller]
    fn check_encoding(capabilities: Value, expected: Encoding) {
        let capabilities = serde_json::from_value(capabilities).unwrap();
        assert_eq!(settings(&capabilities).encoding, expected);
    }

    #[test]
    fn utf8_is_chosen_where_offered_and_utf16_otherwise() {
        let offer = |kinds: &[&str]| json!({"general": {"positionEncodings": kinds}});
        check_encoding(offer(&["utf-32", "utf-16", "utf-8"]), Encoding::Utf8);
        check_encoding(offer(&["utf-32", "utf-16"]), Encoding::Utf16);
        check_encoding(offer(&["utf-32"]), Encoding::Utf32);
        check_encoding(offer(&["utf-7"]), Encoding::Utf16);
        check_encoding(offer(&[]), Encoding::Utf16);
        check_encoding(json!({"general": {}}), Encoding::Utf16);
        check_encoding(json!({}), Encoding::Utf16);
    }

    #[test]
    fn what_a_client_does_not_say_it_cannot_do() {
        let settings = |text: Value| {
            super::settings(&serde_json::from_value(json!({"textDocument": text})).unwrap())
        };
        assert_eq!(settings(json!({})), Settings::default());
        assert!(settings(json!({"diagnostic": {}})).pulls_diagnostics);
        let symbols = json!({"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}});
        assert!(settings(symbols).nested_symbols);
        assert_eq!(settings(json!({"foldingRange": {"rangeLimit": 9}})).max_folds, Some(9));
        let edits = json!({"documentChanges": true, "resourceOperations": ["create"]});
        let capabilities = json!({"workspace": {"workspaceEdit": edits}});
        let settings = super::settings(&serde_json::from_value(capabilities).unwrap());
        assert!(settings.creates_files && !settings.renames_files);
    }

    #[test]
    fn what_the_user_does_not_say_is_as_usual() {
        assert_eq!(features(&Value::Null), Features::default());
        let all = Features { inlay_hints: true, code_lens: false };
        assert_eq!(features(&json!({"inlayHints": true, "codeLens": false})), all);
        assert_eq!(features(&json!({"features": {"inlayHints": true, "codeLens": false}})), all);
        assert_eq!(features(&json!({"inlayHints": "yes"})), Features::default());
    }

    #[test]
    fn wishes_are_read_and_what_is_none_is_left_out() {
        let read = wishes(&json!({"profiles": ["codex", 3], "rules": {"name/*": "off", "x": "y"}}));
        assert_eq!(read.profiles, ["codex"]);
        let off = |glob: Option<&str>, rule: &str| EditorSettings {
            glob: glob.map(str::to_owned),
            rule: rule.to_owned(),
            level: Level::Off,
        };
        assert_eq!(read.levels, [off(None, "name/*")]);
        let check = json!({"rules": {"name/*": "off"}, "paths": {"v/**": {"*": "off"}, "w": 3}});
        let read = wishes(&json!({"check": check}));
        assert_eq!(read.levels, [off(None, "name/*"), off(Some("v/**"), "*")]);
        assert_eq!(wishes(&Value::Null), AllEditorSettings::default());
    }

    #[test]
    fn an_editor_may_name_its_conversations() {
        assert_eq!(conversation(&json!({"session": "a"})), Some("a".to_owned()));
        assert_eq!(conversation(&json!({"session": ""})), None);
        assert_eq!(conversation(&json!({"session": 3})), None);
    }

    /// Checks the bytes before a column of the second line of a text.
    #[track_caller]
    fn check(encoding: Encoding, character: u32, expected: &str) {
        const LINE: &str = "a\u{E9}漢🦀e\u{301}z";
        let text = format!("\u{FEFF}0\r\n{LINE}\r\n2");
        let start = text.find(LINE).unwrap();
        let uri = "file:///a".parse().unwrap();
        let document = Document::new(uri, 1, Revision::default(), text);
        let offset = offset(&document, Position { line: 1, character }, encoding);
        assert_eq!(&document.text()[start..offset], expected);
    }

    #[test]
    fn columns_count_what_was_agreed() {
        use Encoding::{Utf8, Utf16, Utf32};
        for (bytes, units, characters, before) in [
            (0, 0, 0, ""),
            (1, 1, 1, "a"),
            (3, 2, 2, "aé"),
            (6, 3, 3, "aé漢"),
            (10, 5, 4, "aé漢🦀"),
            (11, 6, 5, "aé漢🦀e"),
            (13, 7, 6, "aé漢🦀e\u{301}"),
            (14, 8, 7, "aé漢🦀e\u{301}z"),
            // Past the line is its end, before the line end.
            (15, 9, 8, "aé漢🦀e\u{301}z"),
            (u32::MAX, u32::MAX, u32::MAX, "aé漢🦀e\u{301}z"),
        ] {
            check(Utf8, bytes, before);
            check(Utf16, units, before);
            check(Utf32, characters, before);
        }
    }

    #[test]
    fn inside_a_character_is_its_start() {
        check(Encoding::Utf8, 2, "a");
        check(Encoding::Utf8, 5, "aé");
        check(Encoding::Utf8, 8, "aé漢");
        check(Encoding::Utf16, 4, "aé漢");
    }

    #[test]
    fn a_mark_at_the_start_of_a_text_is_a_character_of_its_first_line() {
        let uri = "file:///a".parse().unwrap();
        let document = Document::new(uri, 1, Revision::default(), "\u{FEFF}0\n".to_owned());
        let at = |character, encoding| offset(&document, Position { line: 0, character }, encoding);
        assert_eq!([at(3, Encoding::Utf8), at(1, Encoding::Utf16), at(1, Encoding::Utf32)], [3; 3]);
    }

    #[test]
    fn a_skill_is_known_by_its_file_name() {
        for (uri, expected) in [
            ("file:///w/SKILL.md", true),
            ("file:///w%20x/%E6%8A%80/SKILL.md", true),
            ("file:///w/%53KILL.md", true),
            ("untitled:SKILL.md", true),
            ("file:///w/skill.md", false),
            ("file:///w/SKILL.md/other", false),
            ("file:///w/XSKILL.md", false),
            ("file:///w/README.md?SKILL.md", false),
            ("file:///w/.claude/commands/git/push.md", true),
            ("file:///w/commands/push.md", false),
        ] {
            assert_eq!(is_skill(&uri.parse().unwrap()), expected, "{uri}");
        }
        // What is wrong with it is its name.
        assert!(is_checked(&"file:///w/skill.md".parse().unwrap()));
        assert!(!is_checked(&"file:///w/skills.md".parse().unwrap()));
    }
}
