//! Code lenses: references to a skill, skills that shadow it, and the files that activate it.

use skills_agents::field_table::PATHS;
use skills_agents::fields::Fields;
use skills_lint::{Finding, FsContext, RuleId, Subject};
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use super::hints::files;

/// A line of text shown above a span, with an optional link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The span below the lens.
    pub span: Span,
    /// The text.
    pub title: String,
    /// The target of a click.
    pub target: LensTarget,
}

/// The target of a code lens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LensTarget {
    /// The references to the skill.
    Users,
    /// A file.
    File(AbsPath),
    /// No target; the lens is text only.
    None,
}

/// Returns the lenses of a skill.
///
/// `n_users` is the number of references to the skill, if known; `findings` are those of its text.
pub fn lenses(
    subject: &Subject<'_>,
    fs: &dyn FsContext,
    n_users: Option<usize>,
    findings: &[Finding],
) -> Vec<Lens> {
    let Some(frontmatter) = &subject.document.frontmatter else { return Vec::new() };
    let at = |key: &str| frontmatter.get(key).map_or(frontmatter.open, |it| it.key.span);
    let mut lenses = Vec::new();
    if let Some(count) = n_users.filter(|it| *it > 0) {
        let title = format!("used by {count}");
        lenses.push(Lens { span: at("name"), title, target: LensTarget::Users });
    }
    for finding in findings.iter().filter(|it| it.rule.id == RuleId::IndexShadowed) {
        for related in &finding.related {
            lenses.push(Lens {
                span: at("name"),
                title: format!("shadowed by {}", shown(&related.path)),
                target: LensTarget::File(related.path.clone()),
            });
        }
    }
    lenses.dedup();
    lenses.extend(activation(subject, fs).map(|title| Lens {
        span: at(PATHS.key),
        title,
        target: LensTarget::None,
    }));
    lenses
}

/// Returns the activation text, or `None` without globs or if a match count is unknown.
fn activation(subject: &Subject<'_>, fs: &dyn FsContext) -> Option<String> {
    let frontmatter = subject.document.frontmatter.as_ref()?;
    let globs = Fields::new(frontmatter, subject.text).list(&PATHS);
    let globs: Vec<&str> = globs.iter().map(|it| it.text.trim()).collect();
    if globs.is_empty() {
        return None;
    }
    let counts = globs.iter().filter(|it| !it.starts_with('!')).map(|it| fs.matches(it));
    let total = counts.sum::<Option<usize>>()?;
    // The sum counts files twice that two globs match, and files that a negated glob excludes.
    let about = if globs.len() > 1 && total > 0 { "at most " } else { "" };
    Some(format!("activates on {about}{}", files(total)))
}

/// Returns the last four path components, enough to tell skills apart.
fn shown(path: &AbsPath) -> String {
    let parts: Vec<_> = path.iter().rev().take(4).map(|it| it.to_string_lossy()).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use skills_lint::testing::Fixture;

    use super::*;
    use crate::tests::with_subject;

    struct Counted;

    impl FsContext for Counted {
        fn matches(&self, _: &str) -> Option<usize> {
            Some(12)
        }
    }

    fn titles(text: &str, n_users: Option<usize>) -> Vec<String> {
        with_subject(text, |subject| {
            let lenses = lenses(subject, &Counted, n_users, &[]);
            lenses.iter().map(|it| format!("{} | {}", it.span.slice(text), it.title)).collect()
        })
    }

    #[test]
    fn lenses_count_references_and_activating_files() {
        assert_eq!(
            titles("---\nname: a\npaths: src/**\n---\nx\n", Some(1)),
            ["name | used by 1", "paths | activates on 12 files"]
        );
        assert_eq!(
            titles("---\nname: a\npaths: src/**, docs/**\n---\nx\n", Some(0)),
            ["paths | activates on at most 24 files"]
        );
        assert_eq!(titles("no skill", None), [""; 0]);
    }

    #[test]
    fn shadowed_skill_links_to_the_skill_that_shadows_it() {
        let tree = "//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Use it.\n---\nx\n//- /w/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Use it.\n---\nx\n";
        let world = Fixture::new(tree);
        let findings = world.check();
        let text = world.text();
        let titles = with_subject(&text, |subject| {
            let lenses = lenses(subject, &world, None, &findings);
            lenses.into_iter().map(|it| it.title).collect::<Vec<_>>()
        });
        assert_eq!(titles, ["shadowed by .agents/skills/pdf/SKILL.md"]);
    }
}
