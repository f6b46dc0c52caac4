//! Suppression by comments and by configured levels.

use std::path::Path;

use skills_discovery::levels::{ConfiguredLevels, Level, is_glob};
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::apply;
use skills_syntax::path::AbsPath;

use crate::testing::Fixture;
use crate::{Settings, is_known};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = Fixture::new(text).check();
    let ids: Vec<_> = found.iter().map(|it| it.rule.id.as_str()).collect();
    assert_eq!(ids, expected, "{text}");
}

fn front(lines: &str) -> String {
    format!("---\nname: pdf\ndescription: Reads. Use when asked.\n{lines}---\nRead.\n")
}

#[test]
fn comment_suppresses_its_key_or_the_next() {
    check(&front("priority: 1\ncolor: red\n"), &["field/unknown"; 2]);
    check(&front("priority: 1 # skillsd-ignore: field/unknown\ncolor: red\n"), &["field/unknown"]);
    check(&front("# skillsd-ignore: field/unknown\npriority: 1\ncolor: red\n"), &["field/unknown"]);
    check(&front("# skillsd-ignore: field/*, name/case -- ours\npriority: 1\n"), &[]);
    check(&front("# skillsd-ignore: name/case\npriority: 1\n"), &["field/unknown"]);
}

#[test]
fn comment_suppresses_one_list_item() {
    let tools = |lines: &str| front(&format!("allowed-tools:\n{lines}"));
    check(&tools("  - Raed # skillsd-ignore: tools/unknown\n  - Wirte\n"), &["tools/unknown"]);
    check(&tools("  # skillsd-ignore: tools/unknown\n  - Raed\n  - Wirte\n"), &["tools/unknown"]);
    check(&front("allowed-tools: # skillsd-ignore: tools/*\n  - Raed\n  - Wirte\n"), &[]);
    check(&front("allowed-tools: [Raed, Wirte] # skillsd-ignore: tools/*\n"), &[]);
    check(
        &front("allowed-tools: [\n  Raed, # skillsd-ignore: tools/*\n  Wirte]\n"),
        &["tools/unknown"],
    );
    check(
        &front("paths:\n  - /etc/x # skillsd-ignore: paths/absolute\n  - /etc/y\n"),
        &["paths/absolute"],
    );
    let group = |matcher: &str| {
        format!(
            "    - matcher: {matcher}\n      hooks:\n        - type: command\n          command: x\n"
        )
    };
    let hooks = |groups: &[&str]| {
        let groups: String = groups.iter().map(|it| group(it)).collect();
        front(&format!("hooks:\n  PreToolUse:\n{groups}"))
    };
    check(&hooks(&["\"[a\"", "\"[b\""]), &["hooks/matcher"; 2]);
    let ignored = "\"[a\" # skillsd-ignore: hooks/matcher";
    check(&hooks(&[ignored, "\"[b\""]), &["hooks/matcher"]);
}

#[test]
fn body_comment_suppresses_its_line_or_the_next() {
    let body = |text: &str| front("").replace("Read.\n", text);
    check(&body("[a](a.md)\n"), &["body/broken-link"]);
    check(&body("[a](a.md) <!-- skillsd-ignore body/broken-link -->\n"), &[]);
    check(
        &body("<!-- skillsd-ignore body/broken-link -->\n\n[a](a.md)\n[b](b.md)\n"),
        &["body/broken-link"],
    );
    check(&body("<!-- skillsd-ignore: body/* -->\n```sh\n./scripts/a\n"), &[]);
    check(
        &body("> <!-- skillsd-ignore body/broken-link -->\n>\n> [a](a.md)\n> [b](b.md)\n"),
        &["body/broken-link"],
    );
}

#[test]
fn comment_in_or_behind_a_table_row_suppresses_its_row() {
    let head = front("").replace("Read.\n", "| a | b |\n|---|---|\n");
    let comment = "<!-- skillsd-ignore body/broken-link -->";
    for row in [
        format!("| x | [x](gone.md) | {comment}\n"),
        format!("| x | [x](gone.md) {comment} |\n"),
        format!("| x | [x](gone.md) |{comment}  \n"),
    ] {
        check(&format!("{head}{row}"), &[]);
        check(&format!("{head}{row}| y | [y](gone.md) |\n"), &["body/broken-link"]);
    }
    let text = format!("{head}| x | [x](gone.md) |\n| y | z |\n");
    let found = Fixture::new(&text).check();
    let fix = Fixture::new(&text).suppression(&found[0]).expect("it is offered");
    assert_eq!(
        apply(&text, &fix.edits),
        format!("{head}| x | [x](gone.md) {comment} |\n| y | z |\n")
    );
    // In a fence, it is an example.
    let text =
        front("").replace("Read.\n", &format!("```md\n| [x](a) | {comment}\n```\n[x](gone.md)\n"));
    check(&text, &["body/broken-link"]);
}

#[test]
fn whole_file_finding_is_suppressed_from_anywhere() {
    let head = "---\nname: pdf\n# skillsd-ignore: description/missing\nlicense: MIT\n---\nRead.\n";
    check(head, &[]);
    let body = "---\nname: pdf\n---\nRead.\n\n<!-- skillsd-ignore description/missing -->\n";
    check(body, &[]);
}

#[test]
fn unknown_rule_in_a_comment_is_reported() {
    check(
        &front("# skillsd-ignore: field/unkown\npriority: 1\n"),
        &["skillsd/unknown-rule", "field/unknown"],
    );
    assert!(is_known("field/*") && is_known("*") && is_known("name/case"));
    assert!(!is_known("fields/*") && !is_known("name") && !is_known("name/"));
}

#[test]
fn levels_are_set_by_rule_family_and_path() {
    let text = front("priority: 1\nauthor: me\n");
    let run = |levels: ConfiguredLevels| {
        let settings = Settings { levels, ..Settings::default() };
        let found = Fixture::new(&text).check_with(&settings);
        found.iter().map(|it| (it.rule.id.as_str(), it.diagnostic.severity)).collect::<Vec<_>>()
    };
    let mut levels = ConfiguredLevels::default();
    levels.set("field/*", Level::Off);
    assert_eq!(run(levels.clone()), []);
    levels.set("field/unknown", Level::As(Severity::Error));
    assert_eq!(run(levels.clone()), [("field/unknown", Severity::Error)]);
    let top = AbsPath::new(Path::new("/w")).unwrap();
    levels.set_for(&top, "other/**", "*", Level::Off);
    assert_eq!(run(levels.clone()).len(), 1);
    levels.set_for(&top, "skills/**", "*", Level::Off);
    assert_eq!(run(levels), []);
    assert!(is_glob("a/**") && !is_glob("a/[b"));
    assert_eq!(Level::WORDS.iter().filter_map(|it| Level::read(it)).count(), Level::WORDS.len());
}

#[test]
fn too_many_notice_can_be_suppressed() {
    let keys: Vec<String> = (0..150).map(|it| format!("unknown{it}: x\n")).collect();
    let keys = keys.concat();
    let last = |comment: &str, level: Option<Level>| {
        let mut levels = ConfiguredLevels::default();
        if let Some(level) = level {
            levels.set("skillsd/*", level);
        }
        let settings = Settings { levels, ..Settings::default() };
        let shown = Fixture::new(&front(&format!("{comment}{keys}"))).shown(&settings);
        let last = shown.last().expect("there are some");
        (shown.len(), last.rule.id.as_str(), last.diagnostic.severity)
    };
    let told = (101, "skillsd/too-many", Severity::Information);
    assert_eq!(last("", None), told);
    assert_eq!(last("# skillsd-ignore: skillsd/too-many\n", None).0, 100);
    assert_eq!(last("", Some(Level::Off)).0, 100);
    let error = Level::As(Severity::Error);
    assert_eq!(last("", Some(error)), (101, "skillsd/too-many", Severity::Error));
}

#[test]
fn suppression_fix_removes_each_finding_of_the_examples_and_adds_none() {
    let mut without = Vec::new();
    for rule in crate::rules() {
        let fixture = || Fixture::new(rule.failing);
        let found = fixture().check();
        for finding in found.iter().filter(|it| it.rule.id == rule.id) {
            let Some(fix) = fixture().suppression(finding) else {
                without.push(rule.id.as_str());
                continue;
            };
            let text = apply(&fixture().text(), &fix.edits);
            let left = fixture().with_text(&text).check();
            assert!(left.len() < found.len(), "{}: {text}", rule.id);
            assert_eq!(fix.title, format!("Suppress `{}` here", rule.id));
        }
    }
    // Without a valid frontmatter there is no place for the comment.
    assert_eq!(
        without,
        [
            "yaml/unclosed-frontmatter",
            "yaml/missing-opening",
            "yaml/text-before-frontmatter",
            "yaml/odd-closing",
            "yaml/not-a-mapping",
            "security/frontmatter-code",
            "index/dropped",
            "index/unreadable",
            "skillsd/unknown-rule",
        ]
    );
}

#[test]
fn suppression_fix_is_near_its_finding() {
    let suppressed = |text: &str, id: &str| {
        let found = Fixture::new(text).check();
        let finding = found.iter().find(|it| it.rule.id.as_str() == id).expect("it is found");
        let fix = Fixture::new(text).suppression(finding).expect("it is offered");
        apply(text, &fix.edits)
    };
    let tools = |lines: &str| front(&format!("allowed-tools:\n{lines}"));
    assert_eq!(
        suppressed(&tools("  - Read\n  - Raed\n"), "tools/unknown"),
        tools("  - Read\n  # skillsd-ignore: tools/unknown\n  - Raed\n")
    );
    let body = |text: &str| front("").replace("Read.\n", text);
    assert_eq!(
        suppressed(&body("- [a](a.md)  \n- b\n"), "body/broken-link"),
        body("- [a](a.md) <!-- skillsd-ignore body/broken-link -->  \n- b\n")
    );
    assert_eq!(
        suppressed(&body("- a\n\n  ```sh\n  awk '{print $1}'\n  ```\n"), "body/code-argument"),
        body(
            "- a\n\n  <!-- skillsd-ignore body/code-argument -->\n  ```sh\n  awk '{print $1}'\n  ```\n"
        )
    );
    assert_eq!(
        suppressed(&body("> ```sh\n> awk '{print $1}'\n> ```\n"), "body/code-argument"),
        body("> <!-- skillsd-ignore body/code-argument -->\n> ```sh\n> awk '{print $1}'\n> ```\n")
    );
    // A comment above the marker of a list would split the list.
    let text = body("- a\n- ```sh\n  awk '{print $1}'\n  ```\n");
    let found = Fixture::new(&text).check();
    let finding = found.iter().find(|it| it.rule.id.as_str() == "body/code-argument");
    assert!(Fixture::new(&text).suppression(finding.expect("it is found")).is_none());
}
