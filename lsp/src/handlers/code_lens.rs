//! `textDocument/codeLens`: who uses a skill, what hides it, how many files bring it up.

use skills_ide::LensTarget;
use tower_lsp::ls_types::{CodeLens, Command, Location, Range, Uri};

use crate::analysis::AnalysisContext;
use crate::document::Document;
use crate::handlers::execute_command::open;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// What a client calls that shows places in its own way: a name of ours, because the arguments of
/// a client's own command are its own types. It says that it knows it.
pub(crate) const SHOW: &str = "skillsd.showReferences";

/// Returns the lines above a skill; nothing for other texts, or where nobody wants them.
///
/// `users` are the places that name the skill, where they are known.
pub(crate) fn code_lens(
    document: &Document,
    scene: &AnalysisContext,
    users: Option<&[Location]>,
    settings: Settings,
) -> Option<Vec<CodeLens>> {
    if !settings.features.code_lens || !from_proto::is_skill(document.uri()) {
        return None;
    }
    let findings = document.findings(scene);
    let n_users = users.map(<[Location]>::len);
    let lenses = document.as_subject(|it| skills_ide::lenses(it, scene, n_users, &findings));
    let shown = lenses.into_iter().map(|lens| {
        let range = to_proto::range(document, lens.span, settings.encoding);
        let places = match &lens.target {
            LensTarget::Users => users.unwrap_or_default().to_vec(),
            LensTarget::File(path) => {
                let uri = Uri::from_file_path(&**path);
                uri.map(|it| Location::new(it, Range::default())).into_iter().collect()
            }
            LensTarget::None => Vec::new(),
        };
        let command = command(lens.title, document, range, &places, settings);
        CodeLens { range, command: Some(command), data: None }
    });
    Some(shown.collect())
}

/// Returns what the client does when the words are chosen: what it can do best.
fn command(
    title: String,
    document: &Document,
    range: Range,
    places: &[Location],
    settings: Settings,
) -> Command {
    match places {
        [] => Command { title, ..Command::default() },
        places if settings.shows_references => {
            let arguments = serde_json::json!([document.uri(), range.start, places]);
            let arguments = arguments.as_array().cloned();
            Command { title, command: SHOW.to_owned(), arguments }
        }
        [first, ..] if settings.shows_documents => open(title, first),
        // Words alone call nothing.
        _ => Command { title, ..Command::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Revision;

    fn lens(settings: Settings) -> serde_json::Value {
        let uri = "file:///w/SKILL.md".parse().unwrap();
        let text = "---\nname: a\n---\nBody\n".to_owned();
        let document = Document::new(uri, 1, Revision::default(), text);
        let at = tower_lsp::ls_types::Position::new(3, 4);
        let users = [Location::new("file:///w/CLAUDE.md".parse().unwrap(), Range::new(at, at))];
        let lenses =
            code_lens(&document, &AnalysisContext::default(), Some(&users), settings).unwrap();
        assert_eq!(lenses[0].range.start.line, 1);
        serde_json::to_value(lenses[0].command.as_ref().unwrap()).unwrap()
    }

    #[test]
    fn a_lens_leads_to_its_places_as_well_as_the_client_can() {
        let both =
            Settings { shows_references: true, shows_documents: true, ..Settings::default() };
        let shown = lens(both);
        assert_eq!((&shown["title"], &shown["command"]), (&"used by 1".into(), &SHOW.into()));
        let place = &shown["arguments"][2][0];
        assert_eq!(place["uri"], "file:///w/CLAUDE.md");
        assert_eq!(place["range"]["start"]["line"], 3);

        let opened = lens(Settings { shows_documents: true, ..Settings::default() });
        assert_eq!(opened["command"], "skillsd.open");
        assert_eq!(opened["arguments"][0]["uri"], "file:///w/CLAUDE.md");

        assert_eq!(lens(Settings::default())["command"], "");
    }
}
