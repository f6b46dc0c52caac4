//! The rules of a profile, each with a name, what it says, and how a user sets it.
//!
//! One table ([`RULES`]) gives the keys of `[profiles.NAME]` in a user's configuration, the
//! differences between a profile and its base, and the reference. A rule that is not in it can
//! neither be changed nor differ, so each field of [`Profile`] that decides has its row.

use super::shown::root_lines;
use super::words::{Worded, check_of, check_word, requirement, requirement_word};
use super::{
    Base, DescriptionRule, Duplicates, Empty, Encoding, LinkedWorktrees, LoadStrategy, NameForm,
    NameSource, Nested, Paths, PluginRule, Profile, Reads, RootRule, Scalars, Seeks, Taken, Text,
    Trust, Unreadable, Walk,
};
use crate::fence::Fence;
use crate::library::Library;
use crate::profile::Format;

/// A row of the table: one rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its stable name, and the key that sets it.
    pub name: &'static str,
    /// What it decides; the first line is one sentence.
    pub doc: &'static str,
    /// What values it takes.
    pub kind: RuleKind,
    /// What a profile says, a line for each thing.
    pub lines: fn(&Profile) -> Vec<String>,
    /// Sets it. A value of another kind changes nothing.
    pub set: fn(&mut Profile, Setting),
}

/// What values a rule takes.
#[derive(Clone, Copy, Debug)]
pub enum RuleKind {
    /// One word of these.
    Word(fn() -> Vec<&'static str>),
    /// A list of such words.
    Words(fn() -> Vec<&'static str>),
    /// True or false.
    YesNo,
    /// A list of names or paths.
    Names,
    /// A way of checking names: a word, or `at-most-N`.
    Check,
    /// A list of requirements: see [`requirement`].
    Requirements,
    /// A list of roots.
    Roots,
}

/// A value for a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// For [`RuleKind::Word`] and [`RuleKind::Check`].
    Word(String),
    /// For [`RuleKind::Words`], [`RuleKind::Names`] and [`RuleKind::Requirements`].
    List(Vec<String>),
    /// For [`RuleKind::YesNo`].
    YesNo(bool),
    /// For [`RuleKind::Roots`].
    Roots(Vec<RootRule>),
}

/// Every rule, in the order of the reference.
pub const RULES: &[Rule] = &[
    Rule {
        name: "roots",
        doc: "Where the agent looks, in scan order.",
        kind: RuleKind::Roots,
        lines: |it| it.roots.iter().flat_map(root_lines).collect(),
        set: |it, setting| {
            if let Setting::Roots(roots) = setting {
                it.roots = roots;
            }
        },
    },
    Rule {
        name: "linked_worktrees",
        doc: "What it reads of a project where it works in a linked worktree (`git worktree add`): that alone, or behind it the same directories of the main one.\n\n`alone-against-its-word` is `alone` where the agent's documents say otherwise.",
        kind: RuleKind::Word(LinkedWorktrees::words),
        lines: |it| word(it.linked_worktrees),
        set: |it, setting| put(&mut it.linked_worktrees, &setting),
    },
    Rule {
        name: "environment",
        doc: "The variables that discovery depends on.\n\nThose that a root or a switch names are added by themselves.",
        kind: RuleKind::Names,
        lines: |it| texts(&it.environment),
        set: |it, setting| names(&mut it.environment, setting),
    },
    Rule {
        name: "settings",
        doc: "What counts of the agent's own configuration files, of that which it reads there.\n\nA file of which nothing counts is not read.",
        kind: RuleKind::Words(Reads::words),
        lines: |it| {
            let read = |word: &Reads| it.settings.iter().any(|it| it.reads.contains(word));
            let all = Reads::WORDS.iter().map(|(_, value)| *value);
            all.filter(read).flat_map(word).collect()
        },
        set: |it, setting| {
            if let Setting::List(list) = setting {
                for rule in &mut it.settings {
                    rule.reads.retain(|it| list.iter().any(|word| *word == it.word()));
                }
                it.settings.retain(|it| !it.reads.is_empty());
            }
        },
    },
    Rule {
        name: "sidecar",
        doc: "The file in a skill's directory that says more about it than SKILL.md, as Codex's `agents/openai.yaml` does: one path, or none.",
        kind: RuleKind::Names,
        lines: |it| it.sidecar.iter().map(ToString::to_string).collect(),
        set: |it, setting| {
            if let Setting::List(list) = setting {
                it.sidecar = list.into_iter().next().map(Text::Owned);
            }
        },
    },
    Rule {
        name: "plugins_enabled_only",
        doc: "Whether a plugin of Claude Code counts only where its settings enable it.",
        kind: RuleKind::YesNo,
        lines: |it| it.plugins().take(1).flat_map(|it| yes_no(it.enabled_only)).collect(),
        set: |it, setting| each_plugin_rule(it, |it| put_yes_no(&mut it.enabled_only, &setting)),
    },
    Rule {
        name: "plugins_cache",
        doc: "Whether what lies in Claude Code's cache of plugins counts for itself, before what is installed.",
        kind: RuleKind::YesNo,
        lines: |it| it.plugins().take(1).flat_map(|it| yes_no(it.cache)).collect(),
        set: |it, setting| each_plugin_rule(it, |it| put_yes_no(&mut it.cache, &setting)),
    },
    Rule {
        name: "plugins_prefixed",
        doc: "Whether plugins' names stand before those of their skills.",
        kind: RuleKind::YesNo,
        lines: |it| it.plugins().take(1).flat_map(|it| yes_no(it.prefixed)).collect(),
        set: |it, setting| each_plugin_rule(it, |it| put_yes_no(&mut it.prefixed, &setting)),
    },
    Rule {
        name: "plugins_beside_skills",
        doc: "Whether a directory with a plugin's manifest in a directory of skills is a plugin.",
        kind: RuleKind::YesNo,
        lines: |it| it.plugins().take(1).flat_map(|it| yes_no(it.beside_skills)).collect(),
        set: |it, setting| each_plugin_rule(it, |it| put_yes_no(&mut it.beside_skills, &setting)),
    },
    Rule {
        name: "plugin_manifest",
        doc: "The keys of a plugin's manifest that name more directories of skills, or of commands where the key is `commands`; none for not reading it.",
        kind: RuleKind::Names,
        lines: |it| it.plugins().take(1).flat_map(|it| texts(&it.manifest)).collect(),
        set: |it, setting| {
            each_plugin_rule(it, |it| names(&mut it.manifest, setting.clone()));
        },
    },
    Rule {
        name: "name_source",
        doc: "Where a skill's name is taken from.",
        kind: RuleKind::Word(NameSource::words),
        lines: |it| word(it.name.source),
        set: |it, setting| put(&mut it.name.source, &setting),
    },
    Rule {
        name: "name_scalars",
        doc: "What happens to a name or description that is not text in YAML (`123`, `true`).",
        kind: RuleKind::Word(Scalars::words),
        lines: |it| word(it.name.scalars),
        set: |it, setting| put(&mut it.name.scalars, &setting),
    },
    Rule {
        name: "name_empty",
        doc: "What happens to an empty name.",
        kind: RuleKind::Word(Empty::words),
        lines: |it| word(it.name.empty),
        set: |it, setting| put(&mut it.name.empty, &setting),
    },
    Rule {
        name: "name_form",
        doc: "What is made of a name's characters.",
        kind: RuleKind::Word(NameForm::words),
        lines: |it| word(it.name.form),
        set: |it, setting| put(&mut it.name.form, &setting),
    },
    Rule {
        name: "name_check",
        doc: "Which names are accepted: any, those of small letters, digits and hyphens, those of at most so many characters; or others with a warning.",
        kind: RuleKind::Check,
        lines: |it| vec![check_word(it.name.check)],
        set: |it, setting| {
            if let Setting::Word(word) = setting
                && let Some(check) = check_of(&word)
            {
                it.name.check = check;
            }
        },
    },
    Rule {
        name: "description",
        doc: "What happens to a skill without a description.",
        kind: RuleKind::Word(DescriptionRule::words),
        lines: |it| word(it.description),
        set: |it, setting| put(&mut it.description, &setting),
    },
    Rule {
        name: "one_line",
        doc: "Whether white space in a name and a description is drawn together.",
        kind: RuleKind::YesNo,
        lines: |it| yes_no(it.one_line),
        set: |it, setting| put_yes_no(&mut it.one_line, &setting),
    },
    Rule {
        name: "requires",
        doc: "Other things without which a skill is dropped.\n\n`body`; `text:KEY`, `texts:KEY` or `map-of-texts:KEY`: the field is missing or of that kind; `map-with:KEY/INNER`: it is missing or a map in which INNER is a scalar.",
        kind: RuleKind::Requirements,
        lines: |it| it.requires.iter().map(requirement_word).collect(),
        set: |it, setting| {
            if let Setting::List(list) = setting {
                it.requires = list.iter().filter_map(|it| requirement(it)).collect();
            }
        },
    },
    Rule {
        name: "fence",
        doc: "How the frontmatter is found.",
        kind: RuleKind::Word(Fence::words),
        lines: |it| word(it.fence),
        set: |it, setting| put(&mut it.fence, &setting),
    },
    Rule {
        name: "yaml_library",
        doc: "The YAML library that it is read with.",
        kind: RuleKind::Word(Library::words),
        lines: |it| word(it.library),
        set: |it, setting| put(&mut it.library, &setting),
    },
    Rule {
        name: "repairs",
        doc: "The ways of reading it, in the order in which they are tried.",
        kind: RuleKind::Words(LoadStrategy::words),
        lines: |it| it.ladder.iter().flat_map(|it| word(*it)).collect(),
        set: |it, setting| {
            if let Setting::List(list) = setting {
                it.ladder = list.iter().filter_map(|it| LoadStrategy::of_word(it)).collect();
            }
        },
    },
    Rule {
        name: "unreadable_yaml",
        doc: "What becomes of a file that none of them could read.",
        kind: RuleKind::Word(Unreadable::words),
        lines: |it| word(it.unreadable_yaml),
        set: |it, setting| put(&mut it.unreadable_yaml, &setting),
    },
    Rule {
        name: "duplicates",
        doc: "Who wins when two files claim one name.",
        kind: RuleKind::Word(Duplicates::words),
        lines: |it| word(it.duplicates),
        set: |it, setting| put(&mut it.duplicates, &setting),
    },
    Rule {
        name: "warns_of_duplicates",
        doc: "Whether the winner of a name is told of those that lost it.",
        kind: RuleKind::YesNo,
        lines: |it| yes_no(it.tells_duplicates),
        set: |it, setting| put_yes_no(&mut it.tells_duplicates, &setting),
    },
    Rule {
        name: "paths",
        doc: "By which path a file is known.",
        kind: RuleKind::Word(Paths::words),
        lines: |it| word(it.paths),
        set: |it, setting| put(&mut it.paths, &setting),
    },
    Rule {
        name: "invalid_utf8",
        doc: "How bytes that are not UTF-8 are taken.",
        kind: RuleKind::Word(Encoding::words),
        lines: |it| word(it.bad_utf8),
        set: |it, setting| put(&mut it.bad_utf8, &setting),
    },
    Rule {
        name: "byte_order_mark",
        doc: "How a byte order mark is taken.",
        kind: RuleKind::Word(Encoding::words),
        lines: |it| word(it.bom),
        set: |it, setting| put(&mut it.bom, &setting),
    },
    Rule {
        name: "crlf",
        doc: "How CRLF line ends are taken.",
        kind: RuleKind::Word(Encoding::words),
        lines: |it| word(it.crlf),
        set: |it, setting| put(&mut it.crlf, &setting),
    },
    Rule {
        name: "conditional",
        doc: "Whether `paths:` makes a skill wait for a matching file.",
        kind: RuleKind::YesNo,
        lines: |it| yes_no(it.conditional),
        set: |it, setting| put_yes_no(&mut it.conditional, &setting),
    },
    Rule {
        name: "hides_from_model",
        doc: "Whether `disable-model-invocation` hides a skill from the model.",
        kind: RuleKind::YesNo,
        lines: |it| yes_no(it.hides_from_model),
        set: |it, setting| put_yes_no(&mut it.hides_from_model, &setting),
    },
    Rule {
        name: "nested",
        doc: "The directories of skills that are looked for below the working directory when a file near them is touched; none for never.",
        kind: RuleKind::Names,
        lines: |it| match &it.nested {
            Nested::Never => Vec::new(),
            Nested::OnTouch { relative, .. } => texts(relative),
        },
        set: set_nested,
    },
    Rule {
        name: "nested_skips_ignored",
        doc: "Whether git-ignored ones of them are left out.",
        kind: RuleKind::YesNo,
        lines: |it| match &it.nested {
            Nested::Never => Vec::new(),
            Nested::OnTouch { skip_git_ignored, .. } => yes_no(*skip_git_ignored),
        },
        set: |it, setting| {
            if let Nested::OnTouch { skip_git_ignored, .. } = &mut it.nested {
                put_yes_no(skip_git_ignored, &setting);
            }
        },
    },
    Rule {
        name: "nested_taken",
        doc: "What becomes of a nested skill of a name that another one has: it is kept as `dir:name`, or wins.",
        kind: RuleKind::Word(Taken::words),
        lines: |it| match &it.nested {
            Nested::Never => Vec::new(),
            Nested::OnTouch { taken, .. } => word(*taken),
        },
        set: |it, setting| {
            if let Nested::OnTouch { taken, .. } = &mut it.nested {
                put(taken, &setting);
            }
        },
    },
    Rule {
        name: "requires_trust",
        doc: "Whether a project's skills wait until the user trusts it.",
        kind: RuleKind::YesNo,
        lines: |it| yes_no(it.trust != Trust::NotAsked),
        set: |it, setting| match setting {
            Setting::YesNo(false) => it.trust = Trust::NotAsked,
            Setting::YesNo(true) if it.trust == Trust::NotAsked => {
                it.trust = Trust::Needed { variables: Vec::new() };
            }
            _ => {}
        },
    },
    Rule {
        name: "trust_variables",
        doc: "Variables each of which says with `1` or `true` that the user trusts it.",
        kind: RuleKind::Names,
        lines: |it| match &it.trust {
            Trust::NotAsked => Vec::new(),
            Trust::Needed { variables } => texts(variables),
        },
        set: |it, setting| {
            if let Trust::Needed { variables } = &mut it.trust {
                names(variables, setting);
            }
        },
    },
    Rule {
        name: "output",
        doc: "How the agent writes what it gives its model: loaded skills, the catalog and the tool.",
        kind: RuleKind::Word(Format::words),
        lines: |it| word(it.output),
        set: |it, setting| put(&mut it.output, &setting),
    },
];

impl Rule {
    /// Returns the rule of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        RULES.iter().find(|it| it.name == name)
    }

    /// Returns what two profiles say where they differ: the lines that only one of them has, or
    /// all where only the order differs.
    pub fn difference(&self, base: &Profile, here: &Profile) -> Option<(String, String)> {
        let (was, is) = ((self.lines)(base), (self.lines)(here));
        if was == is {
            return None;
        }
        let without = |all: &[String], others: &[String]| -> Vec<String> {
            all.iter().filter(|it| !others.contains(it)).cloned().collect()
        };
        let (only_was, only_is) = (without(&was, &is), without(&is, &was));
        let same_lines = only_was.is_empty() && only_is.is_empty();
        Some(if same_lines { (said(&was), said(&is)) } else { (said(&only_was), said(&only_is)) })
    }
}

/// Returns lines as one text.
pub(super) fn said(lines: &[String]) -> String {
    if lines.is_empty() { "none".to_owned() } else { lines.join(", ") }
}

fn word<T: Worded>(value: T) -> Vec<String> {
    vec![value.word().to_owned()]
}

fn yes_no(value: bool) -> Vec<String> {
    vec![if value { "yes" } else { "no" }.to_owned()]
}

fn texts(list: &[Text]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn put<T: Worded>(slot: &mut T, setting: &Setting) {
    if let Setting::Word(word) = setting
        && let Some(value) = T::of_word(word)
    {
        *slot = value;
    }
}

fn put_yes_no(slot: &mut bool, setting: &Setting) {
    if let Setting::YesNo(value) = setting {
        *slot = *value;
    }
}

fn names(slot: &mut Vec<Text>, setting: Setting) {
    if let Setting::List(list) = setting {
        *slot = list.into_iter().map(Text::Owned).collect();
    }
}

fn each_plugin_rule(profile: &mut Profile, mut set: impl FnMut(&mut PluginRule)) {
    for root in &mut profile.roots {
        if let Base::Plugins(rule) = &mut root.base {
            set(rule);
        }
    }
}

fn set_nested(profile: &mut Profile, setting: Setting) {
    let Setting::List(list) = setting else { return };
    if list.is_empty() {
        profile.nested = Nested::Never;
        return;
    }
    let found: Vec<Text> = list.into_iter().map(Text::Owned).collect();
    match &mut profile.nested {
        Nested::OnTouch { relative, .. } => *relative = found,
        Nested::Never => {
            // As the profile walks its own roots.
            let walk = profile.walk();
            profile.nested = Nested::OnTouch {
                relative: found,
                walk,
                skip_git_ignored: true,
                taken: Taken::Wins,
            };
        }
    }
}

impl Profile {
    /// Returns how it walks the first of its roots that are directories.
    pub(super) fn walk(&self) -> Walk {
        let first = self.roots.iter().find(|it| it.is_of_skills());
        first.map_or_else(Walk::plain, |it| it.walk.clone())
    }
}

impl RootRule {
    /// Returns whether it names directories of skills by itself.
    pub fn is_of_skills(&self) -> bool {
        let is_named = !matches!(
            self.base,
            Base::Provided(_)
                | Base::Settings
                | Base::Plugins(_)
                | Base::Extensions(_)
                | Base::BuiltIn(_)
        );
        is_named && self.seeks == Seeks::Skills
    }
}
