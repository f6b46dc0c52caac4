//! Rename edits equal the found references in random trees: the same places, each of which leads to
//! the skill, and no link is broken by the rename.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use super::rename_skill::apply;
use crate::support::{Dice, run, run_json};

const ROOTS: [&str; 2] = [".claude/skills", ".agents/skills"];

/// Skill directories and names, which may differ.
const SKILLS: [(&str, &str); 5] =
    [("pdf", "pdf"), ("notes", "notes"), ("forms-2", "forms"), ("x", "x"), ("pdf-tools", "pdfs")];

/// Other Markdown files of the worktree.
const TEXTS: [&str; 6] = [
    "CLAUDE.md",
    "docs/AGENTS.md",
    "README.md",
    ".claude/agents/deep/a.md",
    ".claude/commands/c.md",
    "docs/more/guide.md",
];

struct Skill {
    root: &'static str,
    dir: &'static str,
    name: &'static str,
}

impl Skill {
    fn file(&self) -> String {
        format!("{}/{}/SKILL.md", self.root, self.dir)
    }
}

/// Returns the relative path from a file to the top of the worktree.
fn path_to_top(text: &str) -> String {
    "../".repeat(text.matches('/').count())
}

/// Returns a line that refers to a skill, or only looks like it.
fn reference_line(dice: &mut Dice, text: &str, skill: &Skill) -> String {
    let Skill { root, dir, name } = skill;
    let (up, path) = (path_to_top(text), format!("{root}/{dir}"));
    match dice.below(18) {
        0 => format!("Use `/{name} a`."),
        1 => format!("Use the `{name}` skill."),
        2 => format!("Then /{dir}, (or ${name})."),
        3 => format!("First @{path}/SKILL.md and @{up}{path}/references/a.md."),
        4 => format!("At {path}/scripts/x.py:12, `{path}/scripts/x.py:3-4`."),
        5 => format!("See [it]({up}{path}/a%20b.md#h \"{name}\") and [b](<{up}{path}/a b.md>)."),
        6 => format!("[r{}]: {up}{path}/references/a.md '{name}'", dice.below(99)),
        7 => format!("```sh\ncd {path}/ && python ./{path}/scripts/x.py --in={up}{path}/a\n```"),
        8 => format!("In {path}/ or `{path}`, run `python {path}/scripts/x.py`."),
        9 => format!("See `$CLAUDE_PROJECT_DIR/{path}/scripts/x.py` and [top](/{path}/SKILL.md)."),
        10 => format!("Through [here]({up}{path}/../{dir}/SKILL.md) and ./{path}/references/a.md."),
        // The remaining lines refer to no skill.
        11 => format!("See https://x.org/{path}/x.md and other/{path}/SKILL.md."),
        12 => format!("The {dir}/{name} or /{dir}/x, `{name}`, {name}."),
        13 => format!("In {path}2/x.md and {path}-old/SKILL.md, `{path}.md`."),
        14 => format!("<!-- {path}/SKILL.md -->"),
        15 => "🦀 and/or 技能.".to_owned(),
        16 => format!("~/{path}/SKILL.md"),
        _ => format!("🦀 `/{name}`: 技能 @{path}/SKILL.md."),
    }
}

fn tree(dice: &mut Dice, skills: &[Skill]) -> String {
    let mut tree = String::new();
    let break_ = |dice: &mut Dice| if dice.below(4) == 0 { "\r\n" } else { "\n" };
    let mut says = |dice: &mut Dice, text: &str, head: &str| {
        let mut body = head.to_owned();
        for _ in 0..dice.below(7) {
            let skill = &skills[dice.below(skills.len())];
            let _ = write!(body, "{}\n\n", reference_line(dice, text, skill));
        }
        let _ = write!(tree, "//- /{text}\n{}", body.replace('\n', break_(dice)));
        if !tree.ends_with('\n') {
            tree.push('\n');
        }
    };
    for skill in skills {
        let Skill { root, dir, name } = skill;
        let other = &skills[dice.below(skills.len())].name;
        let head = format!(
            "---\nname: {name}\ndescription: Reads it. Use when asked to.\nallowed-tools: Skill({other}) Bash(python {root}/{dir}/scripts/x.py:*)\n---\nSee [a](references/a.md) and `scripts/x.py`.\n\n"
        );
        says(dice, &skill.file(), &head);
        says(dice, &format!("{root}/{dir}/references/a.md"), "[up](../SKILL.md)\n\n");
        says(dice, &format!("{root}/{dir}/scripts/x.py"), "#!/usr/bin/python\n\n");
    }
    for text in TEXTS {
        says(dice, text, "Text.\n\n");
    }
    tree
}

/// Counts the findings of each rule about names and paths.
fn count_broken_links(home: &Home, top: &Path) -> BTreeMap<String, usize> {
    let checked = run_json(home, top, &["check"]);
    let mut found = BTreeMap::new();
    for file in checked["files"].as_array().expect("a list") {
        for finding in file["findings"].as_array().expect("a list") {
            let code = finding["code"].as_str().expect("a text").to_owned();
            if code.starts_with("ref/") || code.starts_with("body/broken") {
                *found.entry(code).or_default() += 1;
            }
        }
    }
    found
}

type Places = BTreeSet<(String, String)>;

fn place(uri: &Value, range: &Value) -> (String, String) {
    (uri.as_str().expect("a text").to_owned(), range.to_string())
}

fn check_seed(seed: usize) {
    let mut dice = Dice::new(seed);
    let home = Home::new();
    let n_skills = 2 + dice.below(SKILLS.len() - 2);
    let skills: Vec<Skill> = SKILLS[..=n_skills]
        .iter()
        .map(|(dir, name)| Skill { root: ROOTS[dice.below(2)], dir, name })
        .collect();
    let top = home.worktree("w", &tree(&mut dice, &skills));
    for Skill { root, dir, .. } in &skills {
        // The fixture format cannot express a name with a space.
        let file = top.join(root).join(dir).join("a b.md");
        fs::write(file, format!("At {root}/{dir}/a.\n")).expect("it can be written");
    }
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let skill = &skills[dice.below(skills.len())];
    let file: PathBuf = top.join(skill.file());
    editor.open(&file);
    // Some files are open in the editor.
    for text in TEXTS.iter().filter(|_| dice.below(3) == 0) {
        editor.open(&top.join(text));
    }
    editor.wait_for(&file, &["yaml/not"], &[]);
    let context = json!({"context": {"includeDeclaration": false}});
    let found = editor.ask("textDocument/references", &file, (1, 7), context).expect("answered");
    let found = found.as_array().expect("a list");
    let named: Places = found.iter().map(|it| place(&it["uri"], &it["range"])).collect();
    assert_eq!(named.len(), found.len(), "each once, seed {seed}");

    let edit = editor.ask("textDocument/rename", &file, (1, 7), json!({"newName": "new-name"}));
    let edit = edit.expect("nothing is in the way");
    let (mut edited, mut offered) = (Places::new(), Places::new());
    for operation in edit["documentChanges"].as_array().expect("a list") {
        for it in operation["edits"].as_array().into_iter().flatten() {
            let place = place(&operation["textDocument"]["uri"], &it["range"]);
            if it["annotationId"].is_null() { &mut edited } else { &mut offered }.insert(place);
        }
    }
    let own = json!({"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 6 + skill.name.len()}});
    assert!(edited.remove(&place(&json!(uri(&file)), &own)), "its own name, seed {seed}");
    let changed: Places = edited.union(&offered).cloned().collect();
    assert_eq!(changed, named, "seed {seed}");

    for (text, range) in &edited {
        let path = PathBuf::from(text.trim_start_matches("file://"));
        if path.extension().is_none_or(|it| it != "md") || text.contains('%') {
            continue;
        }
        editor.open(&path);
        let range: Value = serde_json::from_str(range).expect("it was one");
        let number = |key: &str| u32::try_from(range["start"][key].as_u64().expect("a number"));
        let at = (number("line").expect("few"), number("character").expect("few"));
        let leads = editor.ask("textDocument/definition", &path, at, json!({})).expect("answered");
        assert!(!leads.is_null(), "{text} {range}, seed {seed}");
    }
    let before = count_broken_links(&home, &top);
    apply(&edit);
    assert_eq!(count_broken_links(&home, &top), before, "seed {seed}");
    run(&home, &top, &["stop"]);
}

#[test]
fn rename_edits_equal_references_and_break_nothing() {
    for seed in 1..=12 {
        check_seed(seed);
    }
}
