//! The page of a worktree with ordinary and with hostile texts.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect;
use skills_protocol::wire::{
    CheckFinding, CheckResult, CheckedFile, Entry, ProfileName, SkillReference, SnapshotEntry,
    SnapshotProfile, SnapshotResult, SnapshotSkill,
};

use super::super::facts::{self, AgentAnswers, Answers};
use super::*;
use crate::listing_costs::ListingCosts;
use crate::tests::sample::{in_state, list, range, shop, skill, terminal};

const WORKTREE: &str = "/home/ann/shop";

/// Texts that would run a script, load a file, or hide text if they were not escaped.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></style></svg><iframe src=//evil.example>",
    "-->]]>{{7*7}}<!--",
    "a\u{202e}b\u{200b}c\u{1b}[31md\u{0}",
    "&lt;b&gt; &#60;i&#62;",
];

fn snapshot(skills: &[Entry]) -> SnapshotResult {
    let file = |it: &Entry| SnapshotSkill {
        path: it.path.clone(),
        path_encoding: None,
        file: None,
        name: it.name.clone(),
        description: it.description.clone(),
        paths: Vec::new(),
        hash: None,
    };
    let place = |(nth, it): (usize, &Entry)| SnapshotEntry {
        skill: u32::try_from(nth).expect("few"),
        name: it.name.clone(),
        prefix: String::new(),
        description: None,
        name_only: false,
        state: it.state,
        reason: it.reason.clone(),
        claim_position: 0,
        winner: (it.state == State::Shadowed).then_some(0),
        same_file: false,
    };
    let profile = SnapshotProfile {
        profile: "codex".into(),
        unique: true,
        skills: skills.iter().enumerate().map(place).collect(),
        roots: Vec::new(),
        listing_budget: None,
        longest_description: None,
    };
    SnapshotResult {
        clock: "c".into(),
        health: Vec::new(),
        fresh: true,
        next_cursor: None,
        worktree: WORKTREE.into(),
        home: Some("/home/ann".into()),
        path_encoding: None,
        skills: skills.iter().map(file).collect(),
        profiles: vec![profile],
        others: Vec::new(),
        own_profiles: None,
        levels: Vec::new(),
    }
}

fn answers(skills: Vec<Entry>) -> Answers {
    Answers {
        snapshot: snapshot(&skills),
        agents: vec![AgentAnswers {
            profile: "codex".into(),
            list: list(skills),
            listing: None,
            costs: ListingCosts::new(),
        }],
        check: CheckResult {
            clock: "c".into(),
            health: Vec::new(),
            profiles: vec![ProfileName {
                profile: "codex".into(),
                agent: "Codex".into(),
                confidence: None,
            }],
            reason: None,
            checked: 3,
            files: Vec::new(),
            next_cursor: None,
            left_alone: Vec::new(),
        },
        references: Vec::new(),
        sizes: BTreeMap::new(),
        sources: BTreeMap::new(),
        n_unread: 0,
    }
}

fn finding(code: &str, message: &str) -> CheckFinding {
    CheckFinding {
        code: code.into(),
        href: None,
        severity: Severity::Warning,
        message: message.into(),
        help: Some(message.into()),
        profiles: vec![code.into()],
        range: range(2, 3, 5),
        tag: None,
        related: Vec::new(),
        fixes: Vec::new(),
    }
}

fn reference(name: &str, path: &str) -> SkillReference {
    SkillReference {
        name: name.into(),
        path: path.into(),
        path_encoding: None,
        form: "listed".into(),
        range: range(3, 1, 4),
    }
}

fn page(answers: &Answers) -> String {
    render(&facts::collect(answers, None, &terminal(None)))
}

/// Returns the tags of a page, each up to its first attribute, outside of style and script.
fn tags(page: &str) -> BTreeSet<&str> {
    let page = page.split("</style>").nth(1).expect("a style");
    let page = page.split("<script>").next().expect("a body");
    page.split('<').skip(1).filter_map(|it| it.split([' ', '>']).next()).collect()
}

/// Returns the texts of the rows of the table in a section.
fn rows(page: &str, id: &str) -> String {
    let section = page.split(&format!("<h2 id=\"{id}\">")).nth(1).expect("the section");
    let section = section.split("</section>").next().expect("its end");
    let body = section.split("<tbody>").nth(1).and_then(|it| it.split("</tbody>").next());
    let body = body.unwrap_or_default();
    let mut text = String::new();
    for row in body.split("<tr").skip(1) {
        let cells = row.split("</td>").flat_map(|it| it.split("</th>"));
        let cells = cells.map(|cell| {
            let parts = cell.split('<').filter_map(|it| it.split_once('>')).map(|(_, it)| it);
            parts.filter(|it| !it.trim().is_empty()).collect::<Vec<_>>().join(" ")
        });
        let cells: Vec<String> = cells.filter(|it| !it.is_empty()).collect();
        text += &cells.join(" | ");
        text.push('\n');
    }
    text
}

#[test]
fn page_starts_with_the_mark_of_a_report() {
    assert!(page(&answers(Vec::new())).starts_with(START));
}

#[test]
fn tables_show_states_reasons_and_conflicts() {
    let mut skills = shop().skills;
    for it in skills.iter_mut().filter(|it| it.root.contains(".claude")) {
        it.path = it.path.replace(".agents", ".claude");
    }
    let page = page(&answers(skills));
    expect![[r#"
        Codex codex | 3 | 1 | 2 | too long | – | – | –
    "#]]
    .assert_eq(&rows(&page, "agents"));
    expect![[r#"
        accessibility .agents/skills/accessibility/SKILL.md | project | ✓  active | – | –
        changelog .claude/skills/changelog/SKILL.md | project | ✗  invalid | – | –
        commit .agents/skills/commit/SKILL.md | project | ✓  active | – | –
        commit .claude/skills/commit/SKILL.md | project | =  shadowed | – | –
        database-migration .agents/skills/database-migration/SKILL.md | project | ○  conditional | – | –
        pdf .agents/skills/pdf/SKILL.md | user | ✓  active | – | –
    "#]].assert_eq(&rows(&page, "skills"));
    expect![[r#"
        changelog .claude/skills/changelog/SKILL.md | ✗  invalid | codex | description  is missing (SKILL.md:1:1)
        commit .claude/skills/commit/SKILL.md | =  shadowed | codex | .agents/skills/commit/SKILL.md  has the same name and comes first
        database-migration .agents/skills/database-migration/SKILL.md | ○  conditional | codex | no file that matches  migrations/**  was touched yet
    "#]].assert_eq(&rows(&page, "left-out"));
    expect![[r#"
        commit | .agents/skills/commit/SKILL.md | .claude/skills/commit/SKILL.md | the first hides the second | codex
    "#]].assert_eq(&rows(&page, "conflicts"));
}

#[test]
fn findings_have_their_source_and_references_their_skill() {
    let mut answers = answers(vec![skill("deploy", "Ships."), skill("test", "Tests.")]);
    let path = format!("{WORKTREE}/.agents/skills/test/SKILL.md");
    answers.check.files = vec![CheckedFile {
        path: path.clone(),
        path_encoding: None,
        hash: None,
        findings: vec![finding("a/b", "`/home/ann/shop/x` and `/home/ann/y` are bad")],
        fix_all: None,
    }];
    answers.sources = BTreeMap::from([(path.clone(), "---\nab<u>ef\n".to_owned())]);
    answers.references = vec![
        reference("test", "/home/ann/shop/CLAUDE.md"),
        reference("deploy", &path),
        reference("test", &path),
    ];
    let page = page(&answers);
    expect![[r#"
        warning | a/b | .agents/skills/test/SKILL.md:2:3 x  and  ~/y  are bad 2   ab &lt;u&gt;ef x  and  ~/y  are bad | a/b
    "#]].assert_eq(&rows(&page, "findings"));
    expect![[r#"
        CLAUDE.md CLAUDE.md:3 | in the field  skills | test
        test .agents/skills/test/SKILL.md:3 | in the field  skills | deploy
    "#]]
    .assert_eq(&rows(&page, "references"));
    assert_eq!(page.matches("<rect").count(), 3);
    assert_eq!(page.matches("marker-end").count(), 2);
}

#[test]
fn hostile_texts_add_no_markup() {
    let with = |text: &str| {
        let mut entry = skill("pdf", text);
        entry.name = text.to_owned();
        entry.path = format!("{WORKTREE}/.agents/skills/{text}/SKILL.md");
        entry.dir = format!("{WORKTREE}/.agents/skills/{text}");
        let hidden = in_state(entry.clone(), State::Shadowed, text);
        let mut answers =
            answers(vec![entry.clone(), Entry { path: format!("/o/{text}"), ..hidden }]);
        answers.agents[0].profile = text.to_owned();
        answers.snapshot.profiles[0].profile = text.to_owned();
        answers.snapshot.worktree = format!("{WORKTREE}{text}");
        answers.check.files = vec![CheckedFile {
            path: entry.path.clone(),
            path_encoding: None,
            hash: None,
            findings: vec![finding(text, text)],
            fix_all: None,
        }];
        answers.sources = BTreeMap::from([(entry.path.clone(), format!("---\n{text}\n"))]);
        answers.references =
            vec![reference(text, "/home/ann/shop/CLAUDE.md"), reference("x", &entry.path)];
        render(&facts::collect(&answers, Some(text), &terminal(None)))
    };
    let plain = with("plain");
    for text in HOSTILE {
        let page = with(text);
        assert_eq!(tags(&page), tags(&plain), "{text}");
        assert_eq!(page.matches('<').count(), plain.matches('<').count(), "{text}");
        assert_eq!(page.matches('"').count(), plain.matches('"').count(), "{text}");
        assert!(!page.contains("http://") && !page.contains("https://"), "{text}");
        let hidden = |it: char| it.is_control() && it != '\n' || "\u{202e}\u{200b}".contains(it);
        assert!(!page.contains(hidden), "{text}");
    }
}

#[test]
fn no_element_has_an_attribute_twice() {
    let page = page(&answers(shop().skills));
    let body = page.split("</style>").nth(1).expect("a body");
    for tag in body.split("<script>").next().expect("a body").split('<') {
        let tag = tag.split('>').next().unwrap_or_default();
        assert!(tag.matches(" class=").count() < 2, "{tag}");
    }
}

#[test]
fn equal_answers_make_an_equal_page() {
    assert_eq!(page(&answers(shop().skills)), page(&answers(shop().skills)));
}
