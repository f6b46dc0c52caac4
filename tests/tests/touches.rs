//! Touches in a monorepo: discovered directories and activated skills for every built-in profile
//! and variant.
//!
//! `conformance/touches.txt` is the tree. `conformance/touches.PROFILE.txt` records, for each
//! touch, the discovered skill directories and activated skills with their pattern, and the final
//! list. Paths are as the agent names them; repeating a touch adds nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use serde_json::{Value, json};
use skills_agents::profile;
use skills_testkit::{Daemon, Framing, Home, Wire};

const TREE: &str = include_str!("../conformance/touches.txt");

/// Touches, in order and in one session: a path below the worktree unless it starts with a slash,
/// and its purpose.
const TOUCHES: &[(&str, &str)] = &[
    ("README.md", "nothing waits for it"),
    ("deleted/and/gone/Cargo.toml", "not there, and the pattern is bound to the top"),
    ("Cargo.toml", "not there"),
    ("src/main.rs", "a pattern with directories"),
    ("build/out/a.ts", "below what git ignores"),
    ("packages/web/src/index.ts", "a package, the deepest first"),
    ("packages/web/gone/deep/a.css", "not there, in a package that is found"),
    ("packages/web", "a directory"),
    ("linked/src/b.css", "through a link to the package"),
    ("out/a.rs", "through a link out of the worktree"),
    ("/elsewhere/a.rs", "outside"),
    (".git/config", "git's own"),
];

/// Makes all touches from a directory, and renders the results.
fn run_touches(home: &Home, wire: &mut Wire, profile: &str, cwd: &str) -> String {
    let session = format!("{profile} in {cwd}");
    let place = |mut params: Value| {
        params["session"] = json!(session);
        params["cwd"] = json!(home.work().join(cwd));
        params["profile"] = json!(profile);
        params
    };
    let mut text = format!("in {cwd}\n");
    for (path, what) in TOUCHES {
        let path = match path.strip_prefix('/') {
            Some(outside) => home.work().join(outside),
            None => home.work().join("w").join(path),
        };
        let shown = home.redact(path.to_str().unwrap());
        writeln!(text, "  touch {shown} ({what})").unwrap();
        let touch = place(json!({"paths": [path]}));
        let touched = wire.call("session/touch", &touch);
        for found in touched["discovered"].as_array().unwrap() {
            writeln!(text, "    found {}", home.redact(found["dir"].as_str().unwrap())).unwrap();
            for skill in found["skills"].as_array().unwrap() {
                writeln!(text, "      {} {}", skill["state"].as_str().unwrap(), name_of(skill))
                    .unwrap();
            }
        }
        for skill in touched["activated"].as_array().unwrap() {
            let pattern = skill["matched"]["pattern"].as_str().unwrap();
            writeln!(text, "    activated {} by {pattern}", name_of(skill)).unwrap();
        }
        let again = wire.call("session/touch", &touch);
        assert_eq!(
            (&again["discovered"], &again["activated"]),
            (&json!([]), &json!([])),
            "{again}"
        );
    }
    let list = wire.call("skills/list", &place(json!({})));
    // Built-in skills are not affected by touches.
    let own = list["skills"].as_array().unwrap().iter().filter(|it| it["scope"] != "bundled");
    for skill in own {
        let (state, path) = (skill["state"].as_str().unwrap(), skill["path"].as_str().unwrap());
        writeln!(text, "  {state} {} {}", name_of(skill), home.redact(path)).unwrap();
    }
    text
}

fn name_of(skill: &Value) -> &str {
    skill["name"].as_str().unwrap()
}

#[test]
fn touches_match_recordings_for_every_profile() {
    let home = Home::new();
    home.lay_out(TREE);
    let daemon = Daemon::start(&home, Path::new(env!("CARGO_BIN_EXE_test-skillsd")));
    let mut wire = daemon.connect(Framing::Header);
    for profile in profile::builtin() {
        let id = &*profile.id;
        let text =
            ["w", "w/packages/web"].map(|cwd| run_touches(&home, &mut wire, id, cwd)).concat();
        let file = format!("../conformance/touches.{id}.txt");
        expect_file![file].assert_eq(&text);
        // Relative paths are refused as ambiguous.
        let relative = json!({"session": "r", "cwd": home.work().join("w"), "profile": id,
            "paths": ["src/main.rs"]});
        let refused = wire.try_call("session/touch", &relative).unwrap_err();
        assert_eq!(refused.code, -32602, "{refused}");
    }
    // A profile without a recording has just created one; a recording without a profile is an
    // error.
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    for entry in fs::read_dir(dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let id = name.strip_prefix("touches.").and_then(|it| it.strip_suffix(".txt"));
        assert!(id.is_none_or(|id| profile::find(id).is_some()), "{name}");
    }
}
