//! The rows of the table of profiles.
//!
//! Each statement carries its evidence: the agent's version stands in the row, and where a
//! rule of a row has another source it says so beside it.

use super::{
    Base, DescriptionRule, Duplicates, Encoding, Evidence, Links, NameCheck, NameRule, NameSource,
    Nested, Profile, RootRule, Rung, Scalars, Scope, Stop, Text, Unreadable, Walk,
};

/// Directories that every cross-client listing looks for below a project level.
const PROJECT_ROOTS: [&str; 8] = [
    ".agents/skills",
    ".claude/skills",
    ".opencode/skills",
    ".opencode/skill",
    ".codex/skills",
    ".gemini/skills",
    ".github/skills",
    ".cursor/skills",
];

fn texts(list: &[&'static str]) -> Vec<Text> {
    list.iter().map(|it| Text::Borrowed(it)).collect()
}

/// The cross-client default: the union that the open standard's client guide describes.
pub(super) fn agentskills() -> Profile {
    // Standard at commit 69ef37e and its client guide: a depth of 4 to 6 levels, `.git` and
    // `node_modules` skipped, project over user, first found within a scope.
    let walk = Walk {
        max_depth: Some(6),
        root_skill: false,
        hidden: false,
        skipped: texts(&["node_modules"]),
        reserved: Vec::new(),
        into_skills: false,
        directory_links: Links::Always,
        file_links: true,
    };
    let root = |base, relative: &[&'static str], scope| RootRule {
        base,
        relative: texts(relative),
        scope,
        walk: walk.clone(),
    };
    Profile {
        id: "agentskills".into(),
        agent: "Agent Skills standard".into(),
        version: "69ef37e".into(),
        evidence: Evidence::Standard,
        environment: texts(&["HOME", "XDG_CONFIG_HOME"]),
        roots: vec![
            root(Base::Ancestors { stop: Stop::Worktree }, &PROJECT_ROOTS, Scope::Project),
            root(Base::Additional, &PROJECT_ROOTS, Scope::Additional),
            root(Base::Home, &PROJECT_ROOTS, Scope::User),
            root(
                Base::Variable { name: "XDG_CONFIG_HOME".into(), below_home: ".config".into() },
                &["opencode/skills", "opencode/skill", "agents/skills"],
                Scope::User,
            ),
        ],
        name: NameRule {
            source: NameSource::Field,
            scalars: Scalars::Text,
            check: NameCheck::StandardWarn,
        },
        description: DescriptionRule::Required,
        ladder: vec![Rung::Strict, Rung::Quote, Rung::PerKey],
        unreadable_yaml: Unreadable::Drop,
        duplicates: Duplicates::FirstWins,
        bad_utf8: Encoding::Drop,
        bom: Encoding::Accept,
        crlf: Encoding::Accept,
        conditional: true,
        hides_from_model: true,
        nested: Nested::OnTouch {
            relative: texts(&PROJECT_ROOTS),
            walk: walk.clone(),
            skip_git_ignored: true,
        },
        needs_trust: false,
    }
}

/// Claude Code: documentation to September 2026, change log to 2.1.240.
pub(super) fn claude_code() -> Profile {
    let walk = Walk {
        // `skills/<name>/SKILL.md` and nothing deeper.
        max_depth: Some(1),
        root_skill: false,
        hidden: false,
        skipped: Vec::new(),
        reserved: texts(&["synced"]),
        into_skills: false,
        directory_links: Links::Always,
        file_links: true,
    };
    let root = |base, relative: &[&'static str], scope| RootRule {
        base,
        relative: texts(relative),
        scope,
        walk: walk.clone(),
    };
    Profile {
        id: "claude-code".into(),
        agent: "Claude Code".into(),
        version: "2.1.240".into(),
        evidence: Evidence::Documentation,
        environment: texts(&["HOME", "CLAUDE_CONFIG_DIR"]),
        roots: vec![
            root(Base::Absolute("/etc/claude-code".into()), &[".claude/skills"], Scope::Managed),
            root(
                Base::Variable { name: "CLAUDE_CONFIG_DIR".into(), below_home: ".claude".into() },
                &["skills"],
                Scope::User,
            ),
            root(Base::Ancestors { stop: Stop::Worktree }, &[".claude/skills"], Scope::Project),
            root(Base::Additional, &[".claude/skills"], Scope::Additional),
        ],
        name: NameRule {
            source: NameSource::Directory,
            scalars: Scalars::Text,
            check: NameCheck::Any,
        },
        description: DescriptionRule::ElseFirstBodyLine,
        ladder: vec![Rung::Strict, Rung::Quote],
        unreadable_yaml: Unreadable::EmptyMetadata,
        duplicates: Duplicates::FirstWins,
        bad_utf8: Encoding::Accept,
        bom: Encoding::Accept,
        crlf: Encoding::Accept,
        conditional: true,
        hides_from_model: true,
        nested: Nested::OnTouch {
            relative: texts(&[".claude/skills"]),
            walk: walk.clone(),
            skip_git_ignored: true,
        },
        needs_trust: false,
    }
}
