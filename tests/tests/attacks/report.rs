//! Attacks through the page of `skillsd report`: texts that are markup, and a link in its place.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use skills_testkit::Home;

use crate::support::{run, stderr, stdout};

/// Texts that would run a script, load a file or hide a text.
const TEXTS: [&str; 5] = [
    "<script>alert(1)<,script>",
    "\"><img src=x onerror=alert(1)>",
    "' onload='alert(1)",
    "<,title><,style><,svg><iframe src=,,evil.example>",
    "a\u{202e}b\u{200b}c",
];

/// Writes skills whose directory, name, description and body are hostile, and an instruction file.
fn put_skills(top: &Path, texts: [&str; 5]) {
    for (nth, text) in texts.into_iter().enumerate() {
        // A directory's name has no slash.
        let dir = top.join(format!(".claude/skills/{nth}{text}"));
        let text = text.replace(',', "/");
        let quoted = serde_json::to_string(&text).expect("a text");
        fs::create_dir_all(&dir).expect("made");
        let skill = format!(
            "---\nname: {quoted}\ndescription: {quoted}\nmodel: {quoted}\n---\n{text} [x]({text})\n"
        );
        fs::write(dir.join("SKILL.md"), skill).expect("written");
        fs::write(dir.join("not-a-skill.md"), &text).expect("written");
    }
    let named: String = texts.map(|it| format!("Use the `{it}` skill.\n")).concat();
    fs::write(top.join("CLAUDE.md"), named).expect("written");
}

/// Returns the names of the elements and attributes of a page, with their numbers.
fn markup(page: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let page = page.split("</style>").nth(1).expect("the body");
    for tag in page.split("<script>").next().expect("the body").split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        // Values are between double quotes.
        let outside: String = tag.split('"').step_by(2).collect();
        for word in outside.split_whitespace() {
            *found.entry(word.to_owned()).or_default() += 1;
        }
    }
    found
}

#[test]
fn page_has_only_its_own_markup() {
    let home = Home::new();
    let page = |name: &str, texts: [&str; 5]| {
        let top = home.worktree(name, "");
        put_skills(&top, texts);
        let output = run(&home, &top, &["report", "--output", "-"]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let plain = markup(&page("plain", ["one", "two", "three", "four", "five"]));
    let hostile = page("<b>hostile", TEXTS);
    let names: Vec<String> = markup(&hostile).into_keys().collect();
    let expected: Vec<String> = plain.into_keys().collect();
    // A hostile skill may have more findings, but those have the same elements.
    let new: Vec<_> = names.iter().filter(|it| !expected.contains(it)).collect();
    let own = ["mark", "/mark", "code", "/code", "div", "/div", "class="];
    assert!(new.iter().all(|it| own.contains(&it.as_str())), "{new:?}");
    assert_eq!(hostile.matches("<script").count(), 1);
    assert!(hostile.contains("&lt;script&gt;alert(1)"));
    assert!(hostile.contains("\\u{202e}") && !hostile.contains(['\u{202e}', '\u{200b}']));
    let policy = "content=\"default-src 'none'; style-src 'sha256-";
    assert!(hostile.contains(policy) && !hostile.contains("unsafe-inline"));
}

#[test]
fn link_of_the_repository_is_not_written_through() {
    let home = Home::new();
    let top = home.worktree("w", "");
    let outside = home.path().join("mine.html");
    let page = top.join("skillsd-report.html");
    // First to a missing file, then to a report that the user wrote elsewhere.
    symlink(&outside, &page).expect("made");
    let output = run(&home, &top, &["report"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(!outside.exists());
    let output = run(&home, &top, &["report", "--output", outside.to_str().expect("plain")]);
    assert!(output.status.success(), "{}", stderr(&output));
    let written = fs::metadata(&outside).expect("written").modified().expect("a time");
    let output = run(&home, &top, &["report"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    // With `--force` the link itself is replaced.
    assert!(run(&home, &top, &["report", "--force"]).status.success());
    assert!(page.symlink_metadata().expect("there").is_file());
    let after = fs::metadata(&outside).expect("kept").modified().expect("a time");
    assert_eq!(after, written);
}
