//! Ways around `require_trust`, and trust that covers more than the user was shown.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Home;
use skills_testkit::fixture::write_skill;

use super::names::trust;
use crate::support::{Live, entry};

const UNTRUSTED: i64 = -32004;

const SHADOWED: &str = "//- /.claude/skills/shadowed/SKILL.md
---
name: shadowed
description: d
---
secret
//- /.claude/skills/shadowed/notes.md
secret
//- /.claude/skills/hidden/SKILL.md
---
name: hidden
description: d
disable-model-invocation: true
---
secret
//- /.claude/skills/hidden/notes.md
secret
//- /.claude/skills/off/SKILL.md
---
name: off
description: d
---
secret
//- /.claude/skills/off/notes.md
secret
";

/// A worktree with a skill that one of the user shadows, a hidden one and one that is switched off,
/// and a daemon that requires trust.
fn required() -> (Live, PathBuf) {
    let home = configured("require_trust = true\nrun.scripts = true\nrun.shell = true\n");
    write_skill(&home.path().join(".claude/skills/shadowed"), "shadowed", "d");
    let settings = r#"{"skillOverrides": {"off": "off"}}"#;
    fs::write(home.path().join(".claude/settings.json"), settings).expect("written");
    let top = home.worktree("w", SHADOWED);
    (Live::start_in(home), top)
}

fn configured(config: &str) -> Home {
    let home = Home::new();
    fs::create_dir_all(home.config_dir().join("skillsd")).expect("made");
    fs::write(home.config_dir().join("skillsd/config.toml"), config).expect("written");
    home
}

/// Returns the code of the error that a call ends with; 0 for none.
fn code(live: &mut Live, method: &str, params: &Value) -> i64 {
    live.wire.try_call(method, params).err().map_or(0, |error| error.code)
}

/// Returns the parameters of calls about the skill in a directory.
fn of(top: &Path, dir: &str, more: &Value) -> Value {
    let path = top.join(".claude/skills").join(dir).join("SKILL.md");
    let mut params = json!({"cwd": top, "profile": "claude-code", "path": path, "by": "user"});
    params.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
    params
}

#[test]
fn shadowed_and_hidden_skills_of_an_untrusted_worktree_are_not_given_away() {
    let (mut live, top) = required();
    let all = live.list_all(&top, "claude-code");
    let ours = "w/.claude/skills/shadowed/SKILL.md";
    assert_eq!(entry(&all, ours)["state"], "shadowed");
    assert_eq!(entry(&all, "hidden/SKILL.md")["state"], "untrusted");
    for name in ["shadowed", "hidden"] {
        assert_eq!(
            code(&mut live, "skills/load", &of(&top, name, &json!({}))),
            UNTRUSTED,
            "{name}"
        );
    }
    for name in ["shadowed", "hidden", "off"] {
        for relative in ["SKILL.md", "notes.md"] {
            let params = of(&top, name, &json!({"relative": relative}));
            assert_eq!(code(&mut live, "skills/read", &params), UNTRUSTED, "{name} {relative}");
        }
        let params = of(&top, name, &json!({}));
        assert_eq!(code(&mut live, "skills/resources", &params), UNTRUSTED, "{name}");
    }
    trust(&mut live, &top);
    for name in ["shadowed", "hidden"] {
        assert_eq!(code(&mut live, "skills/load", &of(&top, name, &json!({}))), 0, "{name}");
        let params = of(&top, name, &json!({"relative": "notes.md"}));
        assert_eq!(code(&mut live, "skills/read", &params), 0, "{name}");
    }
}

#[test]
fn shadowed_skill_of_a_folder_that_gemini_does_not_trust_is_not_given_away() {
    let home = Home::new();
    let text = "//- /.gemini/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\nsecret\n\
                //- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\nsecret\n";
    let top = home.worktree("w", text);
    let mut live = Live::start_in(home);
    for entry in live.list_all(&top, "gemini-cli") {
        let Some(path) = entry["path"].as_str().filter(|it| it.ends_with("a/SKILL.md")) else {
            continue;
        };
        let params = json!({"cwd": top, "profile": "gemini-cli", "path": path});
        assert_eq!(code(&mut live, "skills/load", &params), UNTRUSTED, "{path}");
    }
}

#[test]
fn variable_of_a_client_does_not_trust_where_the_user_requires_trust() {
    let home = configured("require_trust = true\n");
    let text = "//- /.gemini/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\nsecret\n";
    let top = home.worktree("w", text);
    let mut live = Live::start_in(home);
    let environment = json!({"HOME": live.home.path(), "GEMINI_CLI_TRUST_WORKSPACE": "true"});
    let asked = json!({"cwd": top, "profile": "gemini-cli", "name": "a",
        "environment": environment, "include": ["all"]});
    let list = live.wire.call("skills/list", &asked);
    assert_eq!(entry(&crate::support::entries(&list), "a/SKILL.md")["state"], "untrusted");
    assert_eq!(code(&mut live, "skills/load", &asked), UNTRUSTED);
    let explained = live.wire.call("skills/explain", &asked);
    let next = explained["verdict"]["next"].as_str().expect("advice");
    assert!(next.contains("skillsd trust") && !next.contains("GEMINI_CLI_TRUST"), "{next}");
}
