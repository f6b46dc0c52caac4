//! What the editors' integrations say of skillsd is what skillsd says: the profiles that VS Code's
//! settings offer and the directories at which the extension wakes up are made from the tables.

use serde_json::{Value, json};
use skills_core::profile::{self, Base, Scope};

use crate::catalog::stale;
use crate::tree::{none, text_of};

const MANIFEST: &str = "editors/vscode/package.json";

/// What wakes the extension up besides the directories of skills.
const ALWAYS: [&str; 3] =
    ["workspaceContains:**/SKILL.md", "onLanguage:markdown", "onLanguage:skill"];

/// Returns the extension's manifest with everything in it that is made from the tables.
fn made(manifest: &str) -> String {
    let mut manifest: Value = serde_json::from_str(manifest).expect("it is JSON");
    manifest["activationEvents"] = activation_events();
    let setting = &mut manifest["contributes"]["configuration"]["properties"]["skillsd.profile"];
    let profiles = profile::builtin();
    setting["enum"] = std::iter::once("").chain(profiles.iter().map(|it| &*it.id)).collect();
    let unset = "What the configuration of skillsd says, else `agentskills`.".to_owned();
    let agents = profiles.iter().map(|it| format!("{} {}", it.agent, it.version));
    setting["enumDescriptions"] = std::iter::once(unset).chain(agents).collect();
    serde_json::to_string_pretty(&manifest).expect("JSON can be written") + "\n"
}

/// Returns when the extension wakes up: where some agent looks for skills of a project.
fn activation_events() -> Value {
    let mut events = ALWAYS.map(str::to_owned).to_vec();
    for root in profile::builtin().iter().flat_map(|it| &it.roots) {
        let is_of_the_project =
            root.scope == Scope::Project && matches!(root.base, Base::Ancestors { .. });
        for relative in root.relative.iter().filter(|_| is_of_the_project) {
            let event = format!("workspaceContains:{relative}");
            if !events.contains(&event) {
                events.push(event);
            }
        }
    }
    json!(events)
}

#[test]
fn what_the_extension_offers_is_made_from_the_tables() {
    let write = std::env::var_os("CI").is_none();
    let made = made(&text_of(MANIFEST));
    none(&stale(MANIFEST, &made, write).into_iter().collect::<Vec<_>>());
}

#[test]
fn a_profile_that_is_not_offered_is_noticed() {
    let manifest = text_of(MANIFEST);
    for gone in ["\"claude-code\",", "\"workspaceContains:.agents/skills\","] {
        assert!(manifest.contains(gone), "{gone}");
        assert_eq!(made(&manifest.replacen(gone, "", 1)), made(&manifest), "{gone}");
    }
}
