//! The row of Qwen Code.

use crate::fence::Fence;
use crate::field_table::Agent;
use crate::profile::row::{present, provided, root, texts, usual_of, variable};
use crate::profile::{
    AncestorStop, LoadStrategy, NameCheck, NameRule, OutputFormat, Profile, Provider, Requirement,
    RootBase, ScalarRule, Scope, WalkRule, prompts, settings,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| A line ends at a carriage return alone, too. | Not there. | No editor writes such files any more. |
| Its bundled skills, its extensions and `skills.directories` add skills. | They are not listed. | Only directories and files are measured. |
| Its own skills take room in the list; with fewer of them there is more. | The room of all of them is taken. | Which ones are switched off is not read. |
";

/// Qwen Code 0.24.4: run, and its source.
pub(super) fn profile() -> Profile {
    // `skills/<name>/SKILL.md` and nothing deeper.
    let walk = WalkRule { max_depth: Some(1), hidden: true, ..WalkRule::plain() };
    let root = |base, relative: &[&'static str], scope| root(base, relative, scope, &walk);
    let usual = usual_of(Agent::QwenCode);
    Profile {
        deviations: DEVIATIONS,
        own: ".qwen/skills".into(),
        environment: texts(&["HOME", "QWEN_HOME"]),
        run_variable: Some("QWEN_CODE".into()),
        presence: Some(present(("QWEN_HOME", ".qwen", ""), "qwen", &[".qwen"])),
        settings: settings::qwen_code(),
        roots: vec![
            root(
                RootBase::Ancestors { stop: AncestorStop::Cwd },
                &[".qwen/skills", ".agents/skills"],
                Scope::Project,
            ),
            root(variable("QWEN_HOME", ".qwen"), &["skills"], Scope::User),
            root(RootBase::Home, &[".agents/skills"], Scope::User),
            provided(Provider::Remote),
            provided(Provider::Mcp),
            provided(Provider::Bundled),
        ],
        name: NameRule { scalars: ScalarRule::Text, check: NameCheck::Word, ..usual.name },
        requires: vec![
            Requirement::ListOrNull("paths".into()),
            Requirement::ListOrNull("allowedTools".into()),
            Requirement::TextOrNull("model".into()),
        ],
        fence: Fence::BareLines,
        library: YamlLibrary::NpmYamlAsText,
        load_strategies: vec![LoadStrategy::Strict, LoadStrategy::ColonLines],
        conditional: true,
        hides_from_model: true,
        output: OutputFormat::Template(&prompts::qwen_code::PROMPTS),
        ..usual
    }
}
