//! `textDocument/codeLens`: usages of a skill, the skill that shadows it, and files that activate
//! it.

use skills_ide::LensTarget;
use tower_lsp::ls_types::{CodeLens, Command, Location, Range, Uri};

use crate::analysis::AnalysisContext;
use crate::document::Document;
use crate::handlers::execute_command::open;
use crate::settings::{SHOW_REFERENCES, Settings};
use crate::{from_proto, to_proto};

/// Returns the code lenses of a skill; `None` for other documents, or if lenses are disabled.
///
/// `usages` are the locations that mention the skill, if known.
pub(crate) fn code_lens(
    document: &Document,
    analysis: &AnalysisContext,
    usages: Option<&[Location]>,
    settings: Settings,
) -> Option<Vec<CodeLens>> {
    if !settings.features.code_lens || !from_proto::is_skill(document.uri()) {
        return None;
    }
    let findings = document.unverified_findings(analysis);
    let n_usages = usages.map(<[Location]>::len);
    let lenses = document.as_subject(|it| skills_ide::lenses(it, analysis, n_usages, &findings));
    let shown = lenses.into_iter().map(|lens| {
        let range = to_proto::range(document, lens.span, settings.encoding);
        let locations = match &lens.target {
            LensTarget::Users => usages.unwrap_or_default().to_vec(),
            LensTarget::File(path) => {
                let uri = Uri::from_file_path(&**path);
                uri.map(|it| Location::new(it, Range::default())).into_iter().collect()
            }
            LensTarget::None => Vec::new(),
        };
        let command = command(lens.title, document, range, &locations, settings);
        CodeLens { range, command: Some(command), data: None }
    });
    Some(shown.collect())
}

/// Returns the command of a lens: the best one that the client supports.
fn command(
    title: String,
    document: &Document,
    range: Range,
    locations: &[Location],
    settings: Settings,
) -> Command {
    match locations {
        [] => Command { title, ..Command::default() },
        locations if settings.shows_references => {
            let arguments = serde_json::json!([document.uri(), range.start, locations]);
            let arguments = arguments.as_array().cloned();
            Command { title, command: SHOW_REFERENCES.to_owned(), arguments }
        }
        [first, ..] if settings.shows_documents => open(title, first),
        // A lens without a command is only text.
        _ => Command { title, ..Command::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Revision;

    fn lens(settings: Settings) -> serde_json::Value {
        let uri = "file:///w/SKILL.md".parse().unwrap();
        let text = "---\nname: a\n---\nBody\n".to_owned();
        let document = Document::new(uri, 1, Revision::default(), text);
        let at = tower_lsp::ls_types::Position::new(3, 4);
        let usages = [Location::new("file:///w/CLAUDE.md".parse().unwrap(), Range::new(at, at))];
        let lenses =
            code_lens(&document, &AnalysisContext::default(), Some(&usages), settings).unwrap();
        assert_eq!(lenses[0].range.start.line, 1);
        serde_json::to_value(lenses[0].command.as_ref().unwrap()).unwrap()
    }

    #[test]
    fn code_lens_command_depends_on_client_capabilities() {
        let both =
            Settings { shows_references: true, shows_documents: true, ..Settings::default() };
        let shown = lens(both);
        assert_eq!(
            (&shown["title"], &shown["command"]),
            (&"used by 1".into(), &SHOW_REFERENCES.into())
        );
        let location = &shown["arguments"][2][0];
        assert_eq!(location["uri"], "file:///w/CLAUDE.md");
        assert_eq!(location["range"]["start"]["line"], 3);

        let opened = lens(Settings { shows_documents: true, ..Settings::default() });
        assert_eq!(opened["command"], "skillsd.open");
        assert_eq!(opened["arguments"][0]["uri"], "file:///w/CLAUDE.md");

        assert_eq!(lens(Settings::default())["command"], "");
    }
}
