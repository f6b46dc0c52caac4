//! What stands above a skill: who uses it, what hides it, and how many files bring it up.

use super::hints::files;
use crate::catalog::PATHS;
use crate::fields::Fields;
use crate::path::AbsPath;
use crate::rules::{Finding, Subject, Surroundings};
use crate::text::Span;

/// A line of words above a place, which may lead to other files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The line below it.
    pub span: Span,
    /// The words.
    pub title: String,
    /// Where they lead.
    pub targets: Vec<Target>,
}

/// A place that a lens leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The file.
    pub path: AbsPath,
    /// The place in it, as a line and a column from zero in characters; its beginning where no
    /// place is meant.
    pub position: (u32, u32),
}

/// Returns what stands above a skill.
///
/// `users` are the places that name it, where they are known; `findings` are those of the text.
pub fn lenses(
    subject: &Subject<'_>,
    surroundings: &dyn Surroundings,
    users: Option<&[Target]>,
    findings: &[Finding],
) -> Vec<Lens> {
    let Some(frontmatter) = &subject.document.frontmatter else { return Vec::new() };
    let at = |key: &str| frontmatter.get(key).map_or(frontmatter.open, |it| it.key.span);
    let mut lenses = Vec::new();
    if let Some(users) = users.filter(|it| !it.is_empty()) {
        lenses.push(Lens {
            span: at("name"),
            title: format!("used by {}", users.len()),
            targets: users.to_vec(),
        });
    }
    for finding in findings.iter().filter(|it| it.rule.id == "index/shadowed") {
        for related in &finding.related {
            lenses.push(Lens {
                span: at("name"),
                title: format!("shadowed by {}", shown(&related.path)),
                targets: vec![Target { path: related.path.clone(), position: (0, 0) }],
            });
        }
    }
    lenses.dedup();
    lenses.extend(activation(subject, surroundings).map(|title| Lens {
        span: at(PATHS.key),
        title,
        targets: Vec::new(),
    }));
    lenses
}

/// Returns how many files bring the skill up; nothing where its globs say nothing or are unknown.
fn activation(subject: &Subject<'_>, surroundings: &dyn Surroundings) -> Option<String> {
    let frontmatter = subject.document.frontmatter.as_ref()?;
    let globs = Fields::new(frontmatter, subject.text).list(&PATHS);
    let globs: Vec<&str> = globs.iter().map(|it| it.text.trim()).collect();
    if globs.is_empty() {
        return None;
    }
    let counts = globs.iter().filter(|it| !it.starts_with('!')).map(|it| surroundings.matches(it));
    let total = counts.sum::<Option<usize>>()?;
    // A file that two globs match, or that a negation takes out again, is counted once too often.
    let about = if globs.len() > 1 && total > 0 { "at most " } else { "" };
    Some(format!("activates on {about}{}", files(total)))
}

/// Returns the directories and the name of a file, as far as they tell it from others.
fn shown(path: &AbsPath) -> String {
    let parts: Vec<_> = path.iter().rev().take(4).map(|it| it.to_string_lossy()).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assist::tests::with_subject;
    use crate::rules::tests::world::World;

    struct Counted;

    impl Surroundings for Counted {
        fn matches(&self, _: &str) -> Option<usize> {
            Some(12)
        }
    }

    fn titles(text: &str, users: Option<&[Target]>) -> Vec<String> {
        with_subject(text, |subject| {
            let lenses = lenses(subject, &Counted, users, &[]);
            lenses.iter().map(|it| format!("{} | {}", it.span.slice(text), it.title)).collect()
        })
    }

    #[test]
    fn users_and_files_are_counted() {
        let path = AbsPath::new(std::path::Path::new("/w/CLAUDE.md")).unwrap();
        let users = [Target { path, position: (1, 2) }];
        assert_eq!(
            titles("---\nname: a\npaths: src/**\n---\nx\n", Some(&users)),
            ["name | used by 1", "paths | activates on 12 files"]
        );
        assert_eq!(
            titles("---\nname: a\npaths: src/**, docs/**\n---\nx\n", Some(&[])),
            ["paths | activates on at most 24 files"]
        );
        assert_eq!(titles("no skill", None), [""; 0]);
    }

    #[test]
    fn what_hides_a_skill_is_named_and_led_to() {
        let tree = "//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Use it.\n---\nx\n//- /w/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Use it.\n---\nx\n";
        let world = World::new(tree);
        let findings = world.check();
        let text = world.text();
        let titles = with_subject(&text, |subject| {
            let lenses = lenses(subject, &world, None, &findings);
            lenses.into_iter().map(|it| it.title).collect::<Vec<_>>()
        });
        assert_eq!(titles, ["shadowed by .agents/skills/pdf/SKILL.md"]);
    }
}
