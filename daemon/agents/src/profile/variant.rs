//! Variants: agents as the founding documents of this project describe them, and older versions.
//!
//! A variant is its agent's row plus a table of differences with their sources. A test compares
//! every rule, so nothing can differ without an entry in the table.

use std::sync::Arc;

use super::rule::ProfileRule;
use super::{
    AncestorStop, DescriptionRule, DuplicatePolicy, EncodingPolicy, Evidence, FieldForm,
    LinkedWorktrees, NestedConflict, NestedRule, Profile, Provider, RULES, RootBase, RootContent,
    RuleDifference, Text,
};
use crate::profile::OutputFormat;

/// A row of a variant's table: a rule that differs, with the source.
struct VariantRow {
    rule: &'static str,
    source: &'static str,
    change: fn(&mut Profile),
}

/// The version of the founding documents' variants, since the agents have changed.
const FOUNDING: &str = "founding documents";

/// pi 0.74.2, which is still widely installed: run, and its source.
const PI: &[VariantRow] = &[
    VariantRow {
        rule: "requires",
        source: "pi 0.74.2, run: a name that is a number or a list ends the reading of the file.",
        change: |it| it.requires.push(FieldForm::TextOrNull.of("name")),
    },
    VariantRow {
        rule: "byte_order_mark",
        source: "pi 0.74.2, run: it finds no frontmatter behind a byte order mark, so no description.",
        change: |it| it.bom = EncodingPolicy::Drop,
    },
];

const OPENCODE: &[VariantRow] = &[
    VariantRow {
        rule: "roots",
        source: "Founding notes on opencode's source: directories, `skills.paths` and `skills.urls` are the only sources; no skill is built in.",
        change: |it| it.roots.retain(|root| !matches!(root.base, RootBase::BuiltIn(_))),
    },
    VariantRow {
        rule: "description",
        source: "Founding notes on opencode's source: `name` and `description` are both required strings.",
        change: |it| it.description = DescriptionRule::Present,
    },
    VariantRow {
        rule: "duplicates",
        source: "Founding notes on opencode's source: of skills with one name, the last one read wins.",
        change: |it| it.duplicates = DuplicatePolicy::LastWins,
    },
    VariantRow {
        rule: "output",
        source: "Founding notes on opencode's source: locations and base directories are `file://` URLs, and the tool's description holds the list.",
        change: |it| it.output = OutputFormat::OpencodeFounding,
    },
];

const CLAUDE_CODE: &[VariantRow] = &[
    VariantRow {
        rule: "roots",
        source: "Founding notes on Claude Code: bundled skills first; managed, then user, then project directories up to HOME, then added ones, then commands; of plugins the commands first, and skills of any depth as `plugin:namespace:skill`.",
        change: |it| {
            // Commands of plugins come first.
            it.roots.sort_by_key(|root| match (&root.base, root.root_content) {
                (RootBase::Provided(Provider::Bundled), _) => 0,
                (RootBase::Plugins(_), RootContent::Commands) => 2,
                (RootBase::Plugins(_), RootContent::Skills) => 3,
                (RootBase::Provided(_), _) => 4,
                _ => 1,
            });
            for root in &mut it.roots {
                match &mut root.base {
                    RootBase::Ancestors { stop } => *stop = AncestorStop::Home,
                    // A plugin's skills may be in deeper directories, with namespaces.
                    RootBase::Plugins(_) => root.walk.max_depth = None,
                    _ => {}
                }
            }
        },
    },
    VariantRow {
        rule: "linked_worktrees",
        source: "Founding notes on Claude Code: the project directories are those from the working directory up to HOME.",
        change: |it| it.linked_worktrees = LinkedWorktrees::Alone,
    },
    VariantRow {
        rule: "plugin_manifest",
        source: "Founding notes on Claude Code: `skillsPath` and `skillsPaths` in the manifest.",
        change: |it| {
            for root in &mut it.roots {
                if let RootBase::Plugins(rule) = &mut root.base {
                    rule.manifest =
                        ["skillsPath", "skillsPaths", "commands"].map(Text::Borrowed).into();
                }
            }
        },
    },
    VariantRow {
        rule: "description",
        source: "Founding notes on Claude Code: the field, else the first heading, else the name.",
        change: |it| it.description = DescriptionRule::ElseFirstHeading,
    },
    VariantRow {
        rule: "nested_taken",
        source: "Founding notes on Claude Code: a skill found below the working directory wins its name.",
        change: |it| {
            if let NestedRule::OnTouch { taken, .. } = &mut it.nested {
                *taken = NestedConflict::Wins;
            }
        },
    },
    VariantRow {
        rule: "output",
        source: "Founding notes on Claude Code: `${ARG1}`-style arguments too, descriptions cut at 250 characters, a listing between `<system-reminder>` tags in which all skills share the budget equally, and its tool's description.",
        change: |it| it.output = OutputFormat::ClaudeFounding,
    },
];

pub(super) fn rows(agents: &[Arc<Profile>]) -> Vec<Profile> {
    let of = |id: &str| agents.iter().find(|it| it.id == id);
    let documented = |table| ("founding", FOUNDING, Evidence::Documentation, table);
    let made = [
        ("claude-code", documented(CLAUDE_CODE)),
        ("opencode", documented(OPENCODE)),
        ("pi", ("0.74", "0.74.2", Evidence::Run, PI)),
    ];
    made.into_iter().filter_map(|(id, it)| Some(variant(of(id)?, it))).collect()
}

fn variant(
    base: &Arc<Profile>,
    (name, version, evidence, table): (&str, &'static str, Evidence, &[VariantRow]),
) -> Profile {
    let mut profile = Profile {
        id: format!("{}@{name}", base.id).into(),
        version: version.into(),
        evidence,
        base: Some(Arc::clone(base)),
        ..(**base).clone()
    };
    for row in table {
        (row.change)(&mut profile);
    }
    let source = |rule: &ProfileRule| {
        let row = table.iter().find(|it| it.rule == rule.name);
        row.map_or("", |it| it.source).into()
    };
    profile.differences = differences(base, &profile, source);
    profile
}

/// Returns every rule in which two profiles differ. `source` gives the source of each difference.
pub(super) fn differences(
    base: &Profile,
    here: &Profile,
    source: impl Fn(&ProfileRule) -> super::Text,
) -> Vec<RuleDifference> {
    let differing = RULES.iter().filter_map(|rule| {
        let (was, is) = rule.difference(base, here)?;
        Some(RuleDifference { rule: rule.name, base: was, here: is, source: source(rule) })
    });
    differing.collect()
}

#[cfg(test)]
mod tests {
    use super::super::{agents, builtin, find};
    use super::*;

    #[test]
    fn variant_differences_match_the_variant_table() {
        for (id, table) in [
            ("claude-code@founding", CLAUDE_CODE),
            ("opencode@founding", OPENCODE),
            ("pi@0.74", PI),
        ] {
            let variant = find(id).unwrap();
            let found: Vec<_> = variant.differences.iter().map(|it| it.rule).collect();
            let stated: Vec<_> = table.iter().map(|it| it.rule).collect();
            assert_eq!(found, stated, "{id}");
            assert!(variant.differences.iter().all(|it| it.source.ends_with('.')), "{id}");
        }
    }

    #[test]
    fn variant_without_differences_equals_its_base() {
        for variant in builtin().iter().filter(|it| it.base.is_some()) {
            let base = variant.base.as_ref().unwrap();
            let mut other = (**variant).clone();
            for row in &variant.differences {
                copy_rule(row.rule, base, &mut other);
            }
            other.id = base.id.clone();
            other.version = base.version.clone();
            other.evidence = base.evidence;
            other.base = None;
            other.differences = Vec::new();
            assert_eq!(other, **base);
        }
        assert_eq!(agents().count() + 3, builtin().len());
    }

    fn copy_rule(rule: &str, base: &Profile, other: &mut Profile) {
        match rule {
            "requires" => other.requires.clone_from(&base.requires),
            "byte_order_mark" => other.bom = base.bom,
            "roots" | "plugin_manifest" => other.roots.clone_from(&base.roots),
            "duplicates" => other.duplicates = base.duplicates,
            "description" => other.description = base.description,
            "warns_of_duplicates" => other.warns_of_duplicates = base.warns_of_duplicates,
            "linked_worktrees" => other.linked_worktrees = base.linked_worktrees,
            "output" => other.output = base.output,
            "nested_taken" => other.nested.clone_from(&base.nested),
            other => panic!("`{other}` is not known here"),
        }
    }
}
