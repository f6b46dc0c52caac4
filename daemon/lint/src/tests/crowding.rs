//! Many skills of one name: what is told of them is what somebody reads.

use std::fmt::Write as _;

use crate::testing::World;

/// Returns what the rules say of the first of these skills.
fn told(paths: impl IntoIterator<Item = (String, &'static str)>) -> Vec<String> {
    let mut fixture = String::new();
    for (path, name) in paths {
        let text = format!("---\nname: {name}\ndescription: Reads. Use when asked.\n---\nRead.\n");
        let _ = write!(fixture, "//- {path}\n{text}");
    }
    let found = World::new(&fixture).check();
    let told = found.iter().filter(|it| it.rule.id != "name/directory");
    told.map(|it| {
        let n_related = it.related.len();
        format!("{} +{n_related}: {}", it.rule.id, it.diagnostic.message)
    })
    .collect()
}

#[test]
fn of_many_that_lose_the_first_are_named_and_the_others_counted() {
    let lost = (0..20).map(|it| (format!("/w/.claude/skills/s{it:02}/SKILL.md"), "same"));
    let won = std::iter::once(("/w/.agents/skills/same/SKILL.md".to_owned(), "same"));
    let told = told(won.chain(lost));
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(
        told[0],
        "index/shadowing +1: clients of the standard and opencode show this skill and not `/w/.claude/skills/s00/SKILL.md`"
    );
    assert_eq!(
        told[5],
        "index/shadowing +0: clients of the standard and opencode show this skill and not 15 more of its name"
    );
}

#[test]
fn of_many_side_by_side_the_first_are_named_and_the_others_counted() {
    let told = told((0..20).map(|it| (format!("/w/skills/s{it:02}/SKILL.md"), "same")));
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(
        told[0],
        "index/duplicate +1: the skill in `s01` beside it is called `same` as well"
    );
    assert_eq!(told[5], "index/duplicate +0: 14 more skills beside it are called `same` as well");
}

#[test]
fn of_many_that_are_called_almost_the_same_the_first_are_named_and_the_others_counted() {
    let others = (0..20).map(|it| (format!("/w/skills/s{it:02}/SKILL.md"), "Same"));
    let one = std::iter::once(("/w/skills/same/SKILL.md".to_owned(), "same"));
    let told = told(one.chain(others));
    assert_eq!(told.len(), 6, "{told:#?}");
    assert_eq!(told[0], "name/case +1: another skill is called `Same`");
    assert_eq!(told[5], "name/case +0: 15 more skills are called much the same");
}
