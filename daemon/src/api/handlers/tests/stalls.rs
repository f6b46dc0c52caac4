//! No call on large inputs keeps a worker of the runtime busy, so that it delays no other call.

use std::sync::Mutex;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::*;

/// Processor time between two turns of a task that counts as long. Release builds take 5 ms or less
/// for it; builds without optimisation take some 20 times as long.
const LONG: Duration = Duration::from_millis(100);

/// Takes turns with all tasks of the runtime, which has one thread, and measures the longest wait
/// in processor time, which other programs do not change.
async fn measure_waits(longest: Arc<Mutex<Duration>>) {
    let mut before = processor_time();
    loop {
        tokio::task::yield_now().await;
        let now = processor_time();
        let mut longest = longest.lock().unwrap();
        *longest = now.saturating_sub(before).max(*longest);
        before = now;
    }
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

#[tokio::test]
async fn no_call_on_large_inputs_computes_long_on_a_worker() {
    let mut rig = Rig::new(&[]);
    for nth in 0..600 {
        let description = "what to do when asked about it. ".repeat(10);
        let paths = if nth % 3 == 0 { "paths: [\"src/**/*.rs\", \"*.md\"]\n" } else { "" };
        let text = format!("---\nname: s{nth}\ndescription: {description}\n{paths}---\nBody.\n");
        rig.write(&format!("w/.claude/skills/s{nth}/SKILL.md"), &text);
    }
    let fields = (0..3000).map(|nth| format!("  key-{nth}: value")).collect::<Vec<_>>();
    let body = "Read `file.md` and run !`ls $ARGUMENTS`.\n".repeat(3000);
    let text =
        format!("---\nname: s7\ndescription: d\nmetadata:\n{}\n---\n{body}", fields.join("\n"));
    rig.write("w/.claude/skills/s7/SKILL.md", &text);
    // The longest text and arguments that are rendered on a worker.
    let short = "!`ls $ARGUMENTS`\n".repeat(16 * 1024 / 17 - 5);
    let text = format!("---\nname: s8\ndescription: d\n---\n{short}");
    rig.write("w/.claude/skills/s8/SKILL.md", &text);
    let longest = Arc::<Mutex<Duration>>::default();
    tokio::spawn(measure_waits(Arc::clone(&longest)));
    let many = |it: &dyn Fn(usize) -> String| (0..1000).map(it).collect::<Vec<_>>();
    let environment: std::collections::BTreeMap<_, _> =
        (0..500).map(|nth| (format!("NAME_{nth}"), "value".repeat(100))).collect();
    let params = json!({
        "name": "s7", "relative": "SKILL.md", "query": "do when asked", "subscription": "1",
        "session": "s", "permission": "skill", "pattern": "s*", "id": "1", "reply": "once",
        "event": "Stop", "ok": true, "include": ["all"], "environment": environment,
        "patterns": many(&|nth| format!("src/*/{nth}/**/*.rs")),
        "paths": many(&|nth| rig.path(&format!("w/src/{nth}/a.rs"))),
        "args": "word ".repeat(2_000), "profile": "claude-code",
    });
    let mut names: Vec<_> = METHODS.iter().filter(|it| !it.grants).map(|it| it.name).collect();
    names.sort_by_key(|it| match *it {
        "session/open" => 0,
        "session/close" => 2,
        "server/shutdown" => 3,
        _ => 1,
    });
    let short = json!({"name": "s8", "args": "word ".repeat(51), "profile": "claude-code"});
    let calls = names.iter().map(|it| (*it, &params)).chain([("skills/load", &short)]);
    let mut long = Vec::new();
    for (method, params) in calls.filter(|it| it.0 != "server/shutdown") {
        // No answer of the last view is kept.
        rig.write("w/.claude/skills/s0/SKILL.md", &skill("s0", &format!("x: {method}\n")));
        *longest.lock().unwrap() = Duration::ZERO;
        // An error is an answer too: some parameters do not fit each method.
        let is_ok = rig.try_call(method, params.clone()).await.is_ok();
        let taken = *longest.lock().unwrap();
        if taken > LONG {
            long.push(format!("{method} {taken:?} ({is_ok})"));
        }
    }
    assert!(long.is_empty(), "these calls keep a worker busy: {long:?}");
}
