//! The row of Qoder.

use crate::fence::Fence;
use crate::profile::row::{all_provided, present, root, texts, usual, variable};
use crate::profile::{
    AncestorStop, DescriptionRule, DuplicatePolicy, EncodingPolicy, LoadStrategy, NameRule,
    NameSource, OnInvalidYaml, PathIdentity, Profile, Requirement, RootBase, ScalarRule, Scope,
    WalkRule, settings,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| Frontmatter that is not valid YAML is read by lines, with rules that were not isolated. | Name and description are taken from their lines. | The program's text is not readable. |
| Its bundled skills, its plugins and workflows add skills. | They are not listed. | Only directories, files and settings are measured. |
| Touching a file below the working directory adds the skills in directories near it. | It does not. | The order of these skills was not measured. |
| The list and loaded skills have Qoder's form. | They have the standard's. | Only discovery and loading are measured. |
";

/// Qoder CLI 1.1.52: run.
pub(super) fn profile() -> Profile {
    let walk = WalkRule {
        max_depth: Some(4),
        hidden: true,
        skipped: texts(&["node_modules"]),
        ..WalkRule::plain()
    };
    let project = RootBase::Ancestors { stop: AncestorStop::Cwd };
    // The last wins, so skills from elsewhere come before the agent's own, and the project's before
    // the user's.
    let roots = [
        root(project, &[".agents/skills", ".qoder/skills"], Scope::Project, &walk),
        root(RootBase::Home, &[".agents/skills"], Scope::User, &walk),
        root(variable("QODER_CONFIG_DIR", ".qoder"), &["skills"], Scope::User, &walk),
    ];
    let usual = usual("qoder", "Qoder", "1.1.52");
    Profile {
        deviations: DEVIATIONS,
        own: ".qoder/skills".into(),
        environment: texts(&["HOME", "QODER_CONFIG_DIR"]),
        presence: Some(present(("QODER_CONFIG_DIR", ".qoder", ""), "qodercli", &[".qoder"])),
        settings: settings::qoder(),
        roots: all_provided().into_iter().rev().chain(roots).collect(),
        name: NameRule { source: NameSource::Directory, scalars: ScalarRule::Refuse, ..usual.name },
        description: DescriptionRule::BlankElseFirstBodyLine,
        requires: vec![Requirement::Content],
        fence: Fence::Prefix,
        library: YamlLibrary::JsYaml4,
        load_strategies: vec![LoadStrategy::Strict, LoadStrategy::InvalidLines],
        unreadable_yaml: OnInvalidYaml::EmptyMetadata,
        duplicates: DuplicatePolicy::LastWins,
        // Measured: a link to a skill that another directory has is left out.
        paths: PathIdentity::FirstFile,
        bom: EncodingPolicy::AsBody,
        conditional: true,
        hides_from_model: true,
        ..usual
    }
}
