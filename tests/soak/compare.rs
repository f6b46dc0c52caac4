//! Comparison of the daemon's lists with the plain reader's, while the disk is quiet.

use std::time::Duration;

use serde_json::{Value, json};
use skills_testkit::Framing;
use skills_testkit::plain::{self, AgentLocation, Skill};

use crate::soak_state::{Dice, SoakState, connect};

/// The time between two quiet points.
const PAUSE: Duration = Duration::from_secs(10);

/// Number of worktrees compared at each quiet point.
const COMPARED: usize = 5;

/// Compares until the run ends.
pub(crate) fn run(soak: &SoakState<'_>) {
    let mut dice = Dice::new(999);
    while soak.is_running() {
        soak.rest(PAUSE);
        soak.attempt(|| {
            let quiet = soak.quiet();
            let mut wire = connect(&soak.home.socket(), Framing::Header);
            for _ in 0..COMPARED {
                let top = soak.top(&mut dice);
                let cwd = if dice.below(3) == 0 { top.join("pkg") } else { top.to_owned() };
                let location = AgentLocation::new(&cwd, soak.home.path());
                for (profile, expected) in [
                    ("agentskills", plain::agentskills(&location)),
                    ("claude-code", plain::claude_code(&location)),
                ] {
                    let result = wire.call("skills/list", &json!({"cwd": cwd, "profile": profile}));
                    let listed: Vec<Skill> = entries(&result).iter().map(skill).collect();
                    soak.count_check();
                    if listed != expected {
                        let message = format!(
                            "{profile} at {}: listed {listed:?}, expected {expected:?}",
                            cwd.display()
                        );
                        soak.wrong(&message);
                    }
                }
            }
            drop(quiet);
        });
    }
}

fn entries(result: &Value) -> &[Value] {
    result["skills"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn skill(entry: &Value) -> Skill {
    let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    Skill { name: text("name"), path: text("path").into(), description: text("description") }
}
