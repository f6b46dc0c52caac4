//! Runs the rules of all families on a text.

use super::finding::Finding;
use super::settings::Settings;
use super::skillsd::UNKNOWN_RULE;
use super::subject::Cx;
use super::{
    body, command, description, dropped, field, hooks, index, name, paths, reference, security,
    suppress, tools, yaml,
};

/// Returns the findings of a text, in text order. Their fixes are not verified.
pub(super) fn unverified(cx: &Cx<'_>, settings: &Settings<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(fault) = cx.fs.fault() {
        // An unreadable file has no known text, so no other rule can run.
        index::report_unreadable(cx, fault, &mut found);
        settings.apply_levels(cx.path, &mut found);
        return found;
    }
    if yaml::encoding::is_utf16(cx.text) {
        // Every other rule would report the same fault again.
        yaml::encoding::report_utf16(cx, &mut found);
        settings.apply_levels(cx.path, &mut found);
        return found;
    }
    found.extend(run_rules(cx));
    if !cx.is_instructions && !cx.fs.is_linked_text() {
        dropped::check(cx, &mut found);
    }
    let suppressions = suppress::suppressions(cx);
    suppress::apply(&suppressions, &mut found);
    for (name, span) in suppress::unknown(&suppressions) {
        found.push(Finding::new(
            &UNKNOWN_RULE,
            *span,
            format!("unknown rule `{name}` in a suppression comment"),
        ));
    }
    for finding in &mut found {
        cx.attribute(finding);
        cx.lower(finding);
    }
    settings.apply_levels(cx.path, &mut found);
    found.sort_by_key(|it| (it.diagnostic.span, it.diagnostic.severity));
    found
}

/// Returns the findings of all rules, before suppressions and levels apply.
pub(super) fn run_rules(cx: &Cx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    if cx.fs.is_linked_text() {
        // The `body` rules report its links in the skill.
        reference::check_names(cx, &mut found);
        return found;
    }
    if cx.is_instructions {
        // Rules about skills do not apply to the rest of an instruction file.
        reference::check_links(cx, &mut found);
    } else if cx.is_page {
        if ["name", "description"].into_iter().all(|it| cx.entry(it).is_some()) {
            index::check_page(cx, &mut found);
            let mut told = Vec::new();
            security::check(cx, &mut told);
            // A page can quote what it warns of, so nothing is changed unasked.
            found.extend(told.into_iter().map(Finding::into_drafts));
        }
        return found;
    } else {
        yaml::check(cx, &mut found);
        if cx.is_command {
            command::check(cx, &mut found);
        } else {
            name::check(cx, &mut found);
            index::check(cx, &mut found);
        }
        description::check(cx, &mut found);
        field::check(cx, &mut found);
        tools::check(cx, &mut found);
        paths::check(cx, &mut found);
        hooks::check(cx, &mut found);
        body::check(cx, &mut found);
        security::check(cx, &mut found);
    }
    reference::check(cx, &mut found);
    found
}
