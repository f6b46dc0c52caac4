//! Plugins that Claude Code's own commands installed: our listing and commands equal its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::agent_fixture::{CLAUDE_ENVIRONMENT, claude_code, finish};
use crate::claude::{Entry, Tree};
use crate::claude_trees::{Both, difference_at};

/// Runs `claude plugin` with these words.
#[track_caller]
fn plugin(program: &Path, tree: &Tree, top: &Path, words: &[&str]) {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(tree.environment(top)).envs(CLAUDE_ENVIRONMENT);
    // With a key, these commands wait for the service.
    command.env_remove("ANTHROPIC_API_KEY");
    command.arg("plugin").args(words).current_dir(top.join(&tree.cwd)).stdin(Stdio::null());
    let output = finish(&mut command);
    assert!(output.status.success(), "{words:?}: {output:?}");
}

fn file(path: &str, text: impl Into<String>) -> (String, Entry) {
    (path.to_owned(), Entry::File(text.into()))
}

fn json_file(path: &str, value: &Value) -> (String, Entry) {
    file(path, value.to_string())
}

fn skill(dir: &str) -> (String, Entry) {
    let text = format!("---\ndescription: of {dir}\n---\nBody of {dir}: $ARGUMENTS\n");
    file(&format!("m/{dir}/SKILL.md"), text)
}

/// Returns a marketplace in `m` whose plugins declare their skills in all ways.
fn marketplace() -> Tree {
    let plugins = json!([
        {"name": "one", "source": "./one"},
        {"name": "two", "source": "./two", "skills": ["./more"]},
        {"name": "three", "source": "./three", "strict": false,
            "skills": ["./skills/x", "./skills/y"]},
        {"name": "four", "source": "./four"},
        {"name": "five", "source": "./five"},
        {"name": "six", "source": "./six"},
        {"name": "seven", "source": "./seven", "strict": false, "commands": ["./run.md"]},
        {"name": "nine", "source": "./nine", "commands": ["./run.md"]},
        {"name": "ten", "source": "./ten", "commands": ["./entry.md"]},
        {"name": "eleven", "source": "./other"},
        {"name": "twelve", "source": "./twelve"},
        {"name": "thirteen", "source": "./thirteen", "skills": ["./none"]},
        {"name": "fourteen", "source": "./fourteen", "skills": ["./more/m"]},
        {"name": "fifteen", "source": "./fifteen"},
        {"name": "sixteen", "source": "./sixteen"},
        {"name": "seventeen", "source": "./seventeen"},
    ]);
    let offer = json!({"name": "market", "owner": {"name": "o"}, "plugins": plugins});
    let mut entries = vec![
        file("w/.git/HEAD", "ref: refs/heads/main\n"),
        ("h".to_owned(), Entry::Dir),
        json_file("m/.claude-plugin/marketplace.json", &offer),
        file("m/one/commands/c.md", "---\nname: Other\ndescription: a command\n---\nC $1\n"),
        file("m/one/commands/sub/d.md", "Only a body\n"),
        file("m/two/skills/bare/SKILL.md", "No description\n"),
        file("m/four/commands/no.md", "---\ndescription: no\n---\nNo.\n"),
        file("m/four/cmds/yes.md", "---\ndescription: yes\n---\nYes.\n"),
        file("m/six/SKILL.md", "---\nname: root\ndescription: at the top\n---\nRoot.\n"),
        file("m/seven/run.md", "---\ndescription: one file\n---\nRun.\n"),
        file("m/nine/run.md", "---\ndescription: one more\n---\nRun.\n"),
        file("m/nine/commands/c.md", "---\ndescription: usual\n---\nRun.\n"),
        file("m/ten/entry.md", "---\ndescription: of the entry\n---\nRun.\n"),
        file("m/ten/own.md", "---\ndescription: of the manifest\n---\nRun.\n"),
        file("m/ten/commands/c.md", "---\ndescription: usual\n---\nRun.\n"),
        file("m/other/SKILL.md", "---\nname: 7\ndescription: number\n---\nRoot.\n"),
        file("m/twelve/SKILL.md", "---\nname: A B\ndescription: beside skills\n---\nRoot.\n"),
        file("m/thirteen/SKILL.md", "---\nname: A B\ndescription: two words\n---\nRoot.\n"),
        file("m/fourteen/more/m/SKILL.md", "---\nname: own\ndescription: d\n---\nIt.\n"),
        file("m/fifteen/SKILL.md", "---\nname: fifteen:own\ndescription: own\n---\nRoot.\n"),
        file("m/sixteen/SKILL.md", "No frontmatter\n"),
        file("m/seventeen/SKILL.md", "---\nname: top\ndescription: top\n---\nRoot.\n"),
    ];
    for (name, more) in [
        ("one", json!({})),
        ("two", json!({})),
        ("four", json!({"commands": ["./cmds"]})),
        ("five", json!({"skills": "./extra/"})),
        ("six", json!({})),
        ("nine", json!({})),
        ("ten", json!({"commands": ["./own.md"]})),
        ("other", json!({"name": "eleven"})),
        ("twelve", json!({})),
        ("thirteen", json!({})),
        ("fourteen", json!({})),
        ("fifteen", json!({})),
        ("sixteen", json!({})),
        ("seventeen", json!({"skills": "./more"})),
    ] {
        let mut manifest = json!({"name": name, "version": "1.0.0"});
        manifest.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entries.push(json_file(&format!("m/{name}/.claude-plugin/plugin.json"), &manifest));
    }
    entries.extend(
        [
            "one/skills/a", "one/skills/b", "two/skills/a", "two/more/m", "three/skills/x",
            "three/skills/y", "three/skills/z", "four/skills/f", "five/extra/e", "five/skills/s",
            "twelve/skills/t", "seventeen/more/x",
        ]
        .map(skill),
    );
    Tree::plain(entries)
}

#[test]
fn plugins_installed_by_claude_code_give_the_same_skills() {
    let Some(program) = claude_code() else { return };
    let tree = marketplace();
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    tree.lay_out(&top);
    let market = top.join("m");
    plugin(&program, &tree, &top, &["marketplace", "add", market.to_str().unwrap()]);
    let mut both = Both::start_with_home(&top.join(tree.home));
    let mut faults = Vec::new();
    let mut compare = |step: &str| {
        faults.extend(
            difference_at(&mut both, &program, &tree, &top).map(|it| format!("{step}:\n{it}")),
        );
    };
    for (name, scope) in [
        ("one", "user"),
        ("two", "project"),
        ("three", "local"),
        ("four", "user"),
        ("five", "user"),
        ("six", "user"),
        ("seven", "user"),
    ] {
        let key = format!("{name}@market");
        plugin(&program, &tree, &top, &["install", &key, "--scope", scope]);
        compare(name);
    }
    let more = ["nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"];
    for name in more.into_iter().chain(["seventeen"]) {
        plugin(&program, &tree, &top, &["install", &format!("{name}@market")]);
    }
    compare("the others");
    // Moves the skills of a plugin out of it, and leaves a link.
    let skills = top.join(tree.home).join(".claude/plugins/cache/market/one/1.0.0/skills");
    fs::rename(&skills, top.join("outside")).unwrap();
    std::os::unix::fs::symlink(top.join("outside"), &skills).unwrap();
    compare("skills behind a link out of the plugin");
    plugin(&program, &tree, &top, &["disable", "five@market"]);
    compare("five disabled");
    plugin(&program, &tree, &top, &["uninstall", "four@market"]);
    compare("four uninstalled");
    both.stop();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
