//! Many skills with one name: a few findings name skills, and one counts the rest.

use std::fmt::Write as _;

use crate::testing::Fixture;

/// Returns the findings of the first of these skills.
fn told(paths: impl IntoIterator<Item = (String, &'static str)>) -> Vec<String> {
    let mut fixture = String::new();
    for (path, name) in paths {
        let text = format!("---\nname: {name}\ndescription: Reads. Use when asked.\n---\nRead.\n");
        let _ = write!(fixture, "//- {path}\n{text}");
    }
    let found = Fixture::new(&fixture).check();
    let told = found.iter().filter(|it| it.rule.id.as_str() != "name/directory");
    told.map(|it| {
        let n_related = it.related.len();
        format!("{} +{n_related}: {}", it.rule.id.as_str(), it.diagnostic.message)
    })
    .collect()
}

#[test]
fn shadowing_names_five_skills_and_counts_the_rest() {
    let lost = (0..20).map(|it| (format!("/w/.claude/skills/s{it:02}/SKILL.md"), "same"));
    let won = std::iter::once(("/w/.agents/skills/same/SKILL.md".to_owned(), "same"));
    let told = told(won.chain(lost));
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(
        told[0],
        "index/shadowing +1: Agent Skills clients and opencode show this skill instead of `/w/.claude/skills/s00/SKILL.md`"
    );
    assert_eq!(
        told[5],
        "index/shadowing +0: Agent Skills clients and opencode show this skill instead of 15 more with its name"
    );
}

#[test]
fn duplicate_names_five_skills_and_counts_the_rest() {
    let told = told((0..20).map(|it| (format!("/w/skills/s{it:02}/SKILL.md"), "same")));
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(
        told[0],
        "index/duplicate +1: the skill in the neighbouring directory `s01` is also named `same`"
    );
    assert_eq!(
        told[5],
        "index/duplicate +0: 14 more skills in neighbouring directories are also named `same`"
    );
}

#[test]
fn name_case_names_five_skills_and_counts_the_rest() {
    let others = (0..20).map(|it| (format!("/w/skills/s{it:02}/SKILL.md"), "Same"));
    let one = std::iter::once(("/w/skills/same/SKILL.md".to_owned(), "same"));
    let told = told(one.chain(others));
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(told[0], "name/case +1: another skill has the similar name `Same`");
    assert_eq!(told[5], "name/case +0: 15 more skills have similar names");
}
