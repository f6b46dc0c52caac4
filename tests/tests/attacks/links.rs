//! Attacks with links out of a skill: to secrets, to other worktrees, to files that fixes would
//! write.

#[path = "../e2e/editor/client.rs"]
#[expect(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
mod client;

mod checking;
mod reading;
mod swaps;
mod writing;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Framing;
use skills_testkit::fixture::lay_out;

use crate::support::{Live, entry, run};

/// The secret that no answer may contain.
const SECRET: &str = "ghp_0123456789abcdefSECRET";

/// A worktree with an ordinary skill, and secrets outside of it: `HOME/.git-credentials`,
/// `HOME/notes/private.md` and `HOME/vault/key/SKILL.md`.
struct Victim {
    live: Live,
    top: PathBuf,
}

impl Victim {
    /// Lays out a worktree with the attacker's `text` in it.
    #[track_caller]
    fn new(text: &str) -> Victim {
        let live = Live::start();
        let home = live.home.path();
        lay_out(home, &format!("//- /.git-credentials\nhttps://bob:{SECRET}@git.example\n"));
        lay_out(home, &format!("//- /notes/private.md\n# Plan {SECRET}\n\nIt is {SECRET}.\n"));
        let skill = format!(
            "//- /vault/key/SKILL.md\n---\nname: key\ndescription: {SECRET}\n---\n{SECRET}\n"
        );
        lay_out(home, &skill);
        let good = "//- /.claude/skills/good/SKILL.md\n---\nname: good\ndescription: Is fine.\n---\nFine.\n";
        let top = live.home.worktree("w", &format!("{good}{text}"));
        Victim { live, top }
    }

    /// Creates a link in the worktree to a path below HOME.
    #[track_caller]
    fn link(&self, at: &str, target: &str) {
        let at = self.top.join(at);
        fs::create_dir_all(at.parent().expect("it is in the worktree")).expect("made");
        std::os::unix::fs::symlink(self.live.home.path().join(target), at).expect("made");
    }

    fn trust(&self) {
        let mut consent = self.live.daemon.connect_consent(Framing::Lines);
        consent.call("trust/set", &json!({"dir": self.top, "trusted": true}));
    }

    /// Returns the entry of a file in the list of all states.
    #[track_caller]
    fn entry(&mut self, path: &str) -> Value {
        let all = self.live.list_all(&self.top, "claude-code");
        entry(&all, path).clone()
    }

    /// Returns the explanation of a file.
    #[track_caller]
    fn explain(&mut self, path: &str) -> String {
        let path = self.top.join(path);
        let params = json!({"cwd": self.top, "profile": "claude-code", "path": path});
        self.live.wire.call("skills/explain", &params).to_string()
    }

    /// Calls every method about a path, and asserts that no answer contains the secret.
    #[track_caller]
    fn assert_no_answer_leaks(&mut self, name: &str, path: &str) {
        let (top, file) = (self.top.clone(), self.top.join(path));
        let calls = [
            ("skills/list", json!({"include": ["all"]})),
            ("skills/get", json!({"name": name})),
            ("skills/get", json!({"path": file})),
            ("skills/load", json!({"name": name})),
            ("skills/load", json!({"path": file, "by": "user"})),
            ("skills/read", json!({"path": file, "relative": "SKILL.md"})),
            ("skills/read", json!({"name": name, "relative": "SKILL.md"})),
            ("skills/read", json!({"name": "good", "relative": format!("../{name}/SKILL.md")})),
            ("skills/resources", json!({"path": file})),
            ("skills/search", json!({"query": SECRET, "include": ["all"]})),
            ("skills/check", json!({})),
            ("skills/check", json!({"paths": [file]})),
            ("skills/explain", json!({"path": file})),
            ("skills/explain", json!({"name": name})),
            ("skills/references", json!({})),
            ("skills/references", json!({"name": name})),
            ("index/snapshot", json!({})),
            ("catalog/render", json!({})),
            ("catalog/tool", json!({})),
        ];
        for profile in ["claude-code", "agentskills", "opencode", "codex", "gemini-cli"] {
            for (method, params) in &calls {
                let mut params = params.clone();
                params["cwd"] = json!(top);
                params["profile"] = json!(profile);
                let answer = match self.live.wire.try_call(method, &params) {
                    Ok(answer) => answer.to_string(),
                    Err(error) => {
                        assert_ne!(error.code, -32601, "{method} is no method");
                        format!("{error:?}")
                    }
                };
                assert!(!answer.contains(SECRET), "{profile}: {method} {params}: {answer}");
            }
        }
        for args in [
            &["list", "--all"][..],
            &["check"],
            &["explain", name],
            &["show", name],
            &["load", name],
        ] {
            let output = run(&self.live.home, &top, args);
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert!(!text.contains(SECRET), "{args:?}: {text}");
        }
    }
}

/// Returns the files of a directory with their content.
fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for item in fs::read_dir(dir).expect("there").flatten() {
        let path = item.path();
        if path.is_file() {
            found.push((path.clone(), fs::read(path).expect("readable")));
        }
    }
    found.sort();
    found
}
