//! Nested skill directories, below the working directory: walked after all other roots, with their
//! own rule for name conflicts.

use std::collections::HashSet;
use std::path::Path;

use skills_agents::profile::{NestedConflict, NestedRule, Scope};
use skills_syntax::path::AbsPath;

use super::walker::Walker;
use super::{Candidate, DiscoveryContext, Owner, SearchRoot, SkillState};

/// Row number of a root that has no row in the profile.
pub(super) const NO_RULE: usize = usize::MAX;

/// Walks the nested roots of the session.
pub(super) fn walk(ctx: &DiscoveryContext, walker: &mut Walker<'_>, roots: &mut Vec<SearchRoot>) {
    let NestedRule::OnTouch { walk, .. } = &ctx.profile.nested else { return };
    if ctx.overlay.nested().is_empty() {
        return;
    }
    for path in ctx.overlay.nested() {
        let start = walker.candidates.len();
        walker.set_link_targets(path, false, &holder(ctx, path));
        let (outcome, skips) = walker.root(path, walk, roots.len());
        let candidates = start..walker.candidates.len();
        roots.push(SearchRoot {
            path: path.clone(),
            rule: NO_RULE,
            scope: Scope::Nested,
            owner: Owner::Repository,
            label: None,
            outcome,
            candidates,
            skips,
            origin: String::new(),
            trust_path: None,
            trust_decision: None,
            is_held_back: false,
            withholds_text: false,
            plugin: None,
        });
    }
}

/// Returns true if nested skills win over other skills with the same name.
pub(super) fn wins(ctx: &DiscoveryContext) -> bool {
    matches!(ctx.profile.nested, NestedRule::OnTouch { taken: NestedConflict::Wins, .. })
}

/// Prefixes nested skills whose names are taken with their directory, if the agent does so.
pub(super) fn prefix(ctx: &DiscoveryContext, roots: &[SearchRoot], candidates: &mut [Candidate]) {
    let NestedRule::OnTouch { taken: NestedConflict::Prefixed, .. } = &ctx.profile.nested else {
        return;
    };
    let claims = |it: &Candidate| !it.state.is_out() && it.state != SkillState::Shadowed;
    let is_nested = |it: &Candidate| roots[it.root].scope == Scope::Nested;
    if !candidates.iter().any(is_nested) {
        return;
    }
    let others = candidates.iter().filter(|it| !is_nested(it) && claims(it));
    let mut taken: HashSet<String> = others.map(|it| it.name.clone()).collect();
    for candidate in candidates.iter_mut().filter(|it| is_nested(it) && claims(it)) {
        if !taken.insert(candidate.name.clone()) {
            let dir = holder(ctx, &roots[candidate.root].path);
            let dir = dir.strip_prefix(&ctx.cwd).unwrap_or(&dir).display();
            candidate.name = format!("{dir}:{}", candidate.name);
            taken.insert(candidate.name.clone());
        }
    }
}

/// Returns the directory that contains a nested root: `web` for `web/.claude/skills`.
pub fn holder(ctx: &DiscoveryContext, root: &AbsPath) -> AbsPath {
    let above = |relative: &str| {
        let count = Path::new(relative).components().count();
        root.ends_with(relative).then(|| root.ancestors().nth(count)).flatten()
    };
    let relative = match &ctx.profile.nested {
        NestedRule::OnTouch { relative, .. } => relative.as_slice(),
        NestedRule::Never => &[],
    };
    relative.iter().find_map(|it| above(it)).unwrap_or_else(|| root.clone())
}
