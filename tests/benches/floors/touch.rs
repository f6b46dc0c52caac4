//! Time of a touch that activates nothing, compared with a worktree without conditional skills: the
//! difference is the cost of conditional skills.

use std::fs;

use serde_json::json;
use skills_testkit::{Daemon, Home};

use crate::call::{Echo, compare};
use crate::table::{Bar, Figure, Table};

/// Number of conditional skills, and the additional seconds that a touch may take for them.
const WAITING: [(usize, f64); 2] = [(1_000, 25e-6), (10_000, 150e-6)];

pub(crate) fn measure(table: &mut Table) {
    let home = Home::new();
    let echo = Echo::start(home.runtime_dir().join("echo.sock"));
    let _daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
    for (n_skills, more) in WAITING {
        let [without, with] = [0, n_skills].map(|n_waiting| {
            let top = home.worktree(&format!("touched-{n_skills}-{n_waiting}"), "");
            for index in 0..n_waiting {
                let dir = top.join(format!(".claude/skills/skill-{index:05}"));
                fs::create_dir_all(&dir).expect("a directory can be made");
                fs::write(dir.join("SKILL.md"), skill(index)).expect("a file can be written");
            }
            let session = format!("bench-{n_skills}-{n_waiting}");
            let params = json!({
                "cwd": top, "profile": "claude-code", "session": session,
                "paths": [top.join("src/deep/in/the/tree/file.xyz")], "freshness": "cached",
            });
            let (_, touched) = compare(&home.socket(), &echo, "session/touch", &params, 20);
            touched
        });
        let name = format!("session/touch, {n_skills} skills wait, beside none");
        table.add(Figure::time(&name, without, with, Bar::Plus(more)));
    }
}

/// Returns a skill conditional on one to five patterns that never match.
fn skill(index: usize) -> String {
    let patterns = (0..=index % 5).map(|it| match it % 3 {
        0 => format!("src/module-{index}/**/*.rs"),
        1 => format!("*.kind{index}"),
        _ => format!("packages/p{index}/"),
    });
    let patterns: Vec<_> = patterns.collect();
    format!(
        "---\nname: skill-{index:05}\ndescription: Waits for files of its own.\npaths: {}\n---\nBody.\n",
        serde_json::to_string(&patterns).expect("texts are JSON")
    )
}
