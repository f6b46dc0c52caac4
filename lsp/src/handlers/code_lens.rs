//! `textDocument/codeLens`: who uses a skill, what hides it, how many files bring it up.

use skills_core::assist::{self, Target};
use tower_lsp::ls_types::{CodeLens, Command, Location, Position, Range, Uri};

use crate::document::Document;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// What a client calls that shows the places of a lens; one that does not know it shows words.
const SHOW: &str = "skillsd.showReferences";

/// Returns the lines above a skill; nothing for other texts, or where nobody wants them.
///
/// `users` are the places that name the skill, where they are known.
pub(crate) fn code_lens(
    document: &Document,
    scene: &Scene,
    users: Option<&[Target]>,
    settings: Settings,
) -> Option<Vec<CodeLens>> {
    if !settings.features.code_lens || !from_proto::is_skill(document.uri()) {
        return None;
    }
    let findings = document.findings(scene);
    let lenses = document.as_subject(|it| assist::lenses(it, scene, users, &findings));
    let shown = lenses.into_iter().map(|lens| {
        let range = to_proto::range(document, lens.span, settings.encoding);
        let targets: Vec<Location> = lens.targets.iter().filter_map(location).collect();
        let arguments = serde_json::json!([document.uri(), range.start, targets]);
        let has_targets = !targets.is_empty();
        let command = Command {
            title: lens.title,
            // Words alone call nothing.
            command: if has_targets { SHOW.to_owned() } else { String::new() },
            arguments: arguments.as_array().filter(|_| has_targets).cloned(),
        };
        CodeLens { range, command: Some(command), data: None }
    });
    Some(shown.collect())
}

fn location(target: &Target) -> Option<Location> {
    let (line, character) = target.position;
    let at = Position { line, character };
    Some(Location::new(Uri::from_file_path(&*target.path)?, Range::new(at, at)))
}

#[cfg(test)]
mod tests {
    use skills_core::path::AbsPath;

    use super::*;
    use crate::session::Revision;

    #[test]
    fn a_lens_leads_to_its_places() {
        let uri = "file:///w/SKILL.md".parse().unwrap();
        let text = "---\nname: a\n---\nBody\n".to_owned();
        let document = Document::new(uri, 1, Revision::default(), text);
        let path = AbsPath::new(std::path::Path::new("/w/CLAUDE.md")).unwrap();
        let users = [Target { path, position: (3, 4) }];
        let lenses =
            code_lens(&document, &Scene::default(), Some(&users), Settings::default()).unwrap();
        let lens = serde_json::to_value(&lenses).unwrap()[0].clone();
        assert_eq!(lens["range"]["start"]["line"], 1);
        assert_eq!(lens["command"]["title"], "used by 1");
        let place = &lens["command"]["arguments"][2][0];
        assert_eq!(
            (&place["uri"], &place["range"]["start"]["line"]),
            (&"file:///w/CLAUDE.md".into(), &3.into())
        );
    }
}
