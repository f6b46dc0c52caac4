//! A daemon that accepts connections and never answers: it is reported, timed out and replaced by
//! the in-process fallback.

use std::fs;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use skills_testkit::Home;
use skills_testkit::fixture::write_skill;

use crate::editor::client::{Editor, full_capabilities};
use crate::mcp::client::{Agent, ToolOutput};
use crate::support::{Live, run, stderr, stdout};

const TREE: &str = "//- /.agents/skills/report-writer/SKILL.md\n---\nname: report-writer\ndescription: Writes reports. Use when asked for one.\n---\nb\n\
     //- /.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nb\n\
     //- /CLAUDE.md\nUse the `report-writr` skill.\n";

/// A daemon stopped by `SIGSTOP`; it is continued on drop, so that it can exit.
pub(crate) struct HungDaemon {
    live: Live,
    pub(crate) top: PathBuf,
}

impl HungDaemon {
    pub(crate) fn new() -> Self {
        let live = Live::start();
        let top = live.home.worktree("w", TREE);
        Self { live, top }
    }

    fn pid(&self) -> Pid {
        let pid = i32::try_from(self.live.daemon.pid()).expect("a process");
        Pid::from_raw(pid).expect("a process")
    }

    pub(crate) fn hang(&self) {
        kill_process(self.pid(), Signal::STOP).expect("our child");
    }

    pub(crate) fn home(&self) -> &Home {
        &self.live.home
    }
}

impl Drop for HungDaemon {
    fn drop(&mut self) {
        // Fails if the process has already exited.
        let _ = kill_process(self.pid(), Signal::CONT);
    }
}

#[test]
fn command_names_the_hung_daemon_and_times_out() {
    let hung = HungDaemon::new();
    hung.hang();
    let pid = hung.live.daemon.pid();
    let said = stderr(&run(hung.home(), &hung.top, &["list", "--timeout", "1"]));
    assert!(!said.contains("note:"), "it is told before anybody would ask: {said}");
    let output = run(hung.home(), &hung.top, &["list", "--timeout", "3"]);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    for expected in [
        format!(
            "note: waiting for the daemon (process {pid}), which has not answered yet; times out after 3 s"
        ),
        format!(
            "error: the daemon (process {pid}) accepted the call but did not answer within 3 s"
        ),
        format!("`skillsd stop` to end process {pid}"),
    ] {
        assert!(said.contains(&expected), "{expected}: {said}");
    }
    let output = run(hung.home(), &hung.top, &["list", "--no-daemon"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn check_runs_without_a_hung_daemon() {
    let hung = HungDaemon::new();
    hung.hang();
    for (args, seconds) in [(vec!["check", "--timeout", "1"], 1), (vec!["check", "--summary"], 2)] {
        let output = run(hung.home(), &hung.top, &args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stderr(&output));
        assert!(stdout(&output).contains("ref/unknown"), "{args:?}: {}", stdout(&output));
        let note = format!(
            "note: the daemon has not answered for {seconds} s, so this command runs without it"
        );
        assert_eq!(stderr(&output).matches(&note).count(), 1, "{}", stderr(&output));
    }
}

#[test]
fn editor_is_answered_while_the_daemon_hangs() {
    let hung = HungDaemon::new();
    let mut editor = Editor::start(hung.home(), &[], &[&hung.top], full_capabilities());
    let doc = hung.top.join("CLAUDE.md");
    editor.open(&doc);
    editor.wait_for(&doc, &["ref/"], &["ref/unknown"]);
    // The daemon hangs during the session, and changes are still seen.
    hung.hang();
    write_skill(&hung.top.join(".agents/skills/report-writr"), "report-writr", "Use when asked.");
    editor.save(&doc, "Use the `report-writr` skill.\n");
    editor.wait_for(&doc, &["ref/"], &[]);
    drop(editor);
    // The daemon hangs from the start.
    let other = hung.top.join("AGENTS.md");
    fs::write(&other, "Use the `report-wrter` skill.\n").expect("it can be written");
    let mut editor = Editor::start(hung.home(), &[], &[&hung.top], full_capabilities());
    editor.open(&other);
    editor.wait_for(&other, &["ref/"], &["ref/unknown"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_agent_is_answered_while_the_daemon_hangs() {
    let hung = HungDaemon::new();
    hung.hang();
    let agent = Agent::start(hung.home(), &hung.top, &[]).await;
    let said = agent.call("skill", json!({"name": "pdf"})).await;
    assert!(matches!(&said, ToolOutput::Text(_)), "{said:?}");
    agent.end().await;
}
