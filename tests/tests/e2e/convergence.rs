//! Random file operations: the live list always equals the list of a process that reads the disk
//! afresh.
//!
//! Several processes (this one, two shells, git) change the tree in batches. After each batch the
//! `synced` list of all states, with reasons and hashes, is compared with `skillsd list
//! --no-daemon`, which watches nothing. There are four modes: plain; with overflows of the
//! watcher's queue, caused by more changes than it holds while the daemon is stopped; with a
//! lowered watch limit, in a user namespace; and with the daemon killed and restarted.
//!
//! `SKILLSD_TEST_OPERATIONS` sets the number of operations for each mode, `SKILLSD_TEST_SEED` the
//! random seed. A mode that this machine cannot run (no user namespaces) is reported and skipped;
//! the engine's own convergence test covers it without one.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use skills_testkit::fixture::{skill_text, write_skill};
use skills_testkit::{Daemon, Framing, Home};

use crate::support::{Dice, Live, env_number, exe, run_json};

/// Maximum number of operations between two comparisons.
const BATCH: usize = 40;

/// The lowered watch limit; fewer than the trees need.
const FEW_WATCHES: usize = 24;

/// Number of operations between two progress lines of a long run.
const STAGE: usize = 10_000;

/// Enough event pairs to overflow the watcher's queue on any known system.
const TOO_MANY_RENAMES: usize = 20_000;

const ROOTS: [&str; 6] = [
    ".agents/skills",
    ".claude/skills",
    ".opencode/skill",
    "pkg/.agents/skills",
    "pkg/.claude/skills",
    "pkg/deep/.agents/skills",
];
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const PROFILES: [&str; 4] = ["agentskills", "claude-code", "opencode", "codex"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Plain,
    Overflow,
    FewWatches,
    Killed,
}

/// A shell process that changes the tree concurrently with the others.
struct Shell {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start(top: &Path) -> Self {
        let mut child = Command::new("sh")
            .current_dir(top)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell can be run");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, input, output }
    }

    /// Starts a command line without waiting for it.
    fn begin(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the shell reads");
    }

    /// Waits until all started commands have finished.
    fn finish(&mut self) {
        writeln!(self.input, "echo done").expect("the shell reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the shell answers");
        assert_eq!(line, "done\n");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Both fail if the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The tree under change and the processes that change it.
struct ChangingTree {
    top: PathBuf,
    dice: Dice,
    shells: [Shell; 2],
    n_done: usize,
    history: Vec<String>,
}

impl ChangingTree {
    fn dir(&mut self) -> String {
        let root = ROOTS[self.dice.below(ROOTS.len())];
        let nested = self.dice.below(5) == 0;
        let name = NAMES[self.dice.below(NAMES.len())];
        if nested { format!("{root}/group/{name}") } else { format!("{root}/{name}") }
    }

    fn text(&mut self) -> String {
        let name = NAMES[self.dice.below(NAMES.len())];
        match self.dice.below(6) {
            0 => format!("---\nname: {name}\n---\n"),
            1 => format!("---\nname: {name}\ndescription: d\npaths: src/**\n---\n"),
            _ => skill_text(name, &format!("text {}", self.n_done)),
        }
    }

    /// Runs a batch of operations, some of them concurrently.
    fn batch(&mut self, live: &Live) {
        for _ in 0..=self.dice.below(BATCH) {
            self.n_done += 1;
            let said = match self.dice.below(40) {
                0 => self.git(live),
                1..=15 => self.by_shell(),
                _ => self.by_hand(),
            };
            self.history.push(said);
        }
        self.shells.iter_mut().for_each(Shell::finish);
        let old = self.history.len().saturating_sub(2 * BATCH);
        self.history.drain(..old);
    }

    fn git(&mut self, live: &Live) -> String {
        // Most of these fail at times because of concurrent changes, and leave partial results.
        let what: &[&str] = match self.dice.below(4) {
            0 => &["checkout", "-q", "-f", "one"],
            1 => &["checkout", "-q", "-f", "two"],
            2 => &["stash", "-q", "-u"],
            _ => &["stash", "pop", "-q"],
        };
        let mut git = live.home.command("git");
        let git = git.current_dir(&self.top).args(what).stdout(Stdio::null()).stderr(Stdio::null());
        let status = git.status().expect("git can be run");
        format!("git {what:?}: {status}")
    }

    fn by_shell(&mut self) -> String {
        let (dir, other) = (self.dir(), self.dir());
        let text = self.text();
        let line = match self.dice.below(7) {
            0..=2 => format!("mkdir -p {dir} && printf '%s' '{text}' > {dir}/SKILL.md"),
            3 => format!("printf '%s' '{text}' > {dir}/new && mv {dir}/new {dir}/SKILL.md"),
            4 => format!("rm -rf {dir}"),
            5 => format!("mv -T {dir} {other}"),
            _ => format!("cp -r {dir} {other}"),
        };
        let shell = self.dice.below(2);
        self.shells[shell].begin(&line);
        format!("shell {shell}: {}", line.replace('\n', "\\n"))
    }

    fn by_hand(&mut self) -> String {
        let (dir, other) = (self.dir(), self.dir());
        let (dir, other) = (self.top.join(dir), self.top.join(other));
        let file = dir.join("SKILL.md");
        let what = self.dice.below(13);
        // Impossible operations are ignored.
        let _ = match what {
            0..=2 => fs::create_dir_all(&dir).and_then(|()| fs::write(&file, self.text())),
            3 => {
                let new = dir.join(".SKILL.md.swp");
                fs::write(&new, self.text()).and_then(|()| fs::rename(&new, &file))
            }
            4 => fs::remove_file(&file),
            5 => fs::remove_dir_all(&dir).or_else(|_| fs::remove_file(&dir)),
            6 => fs::rename(&dir, &other),
            7 => fs::rename(dir.parent().expect("a root"), other.parent().expect("a root")),
            8 => symlink(&other, &dir),
            9 => {
                let target = self.top.join("elsewhere.md");
                let _ = fs::write(&target, self.text());
                fs::remove_file(&file).and_then(|()| symlink(&target, &file))
            }
            10 => {
                let mode = [0o000, 0o644][self.dice.below(2)];
                fs::set_permissions(&file, Permissions::from_mode(mode))
            }
            11 => {
                let mode = [0o300, 0o755][self.dice.below(2)];
                fs::set_permissions(&dir, Permissions::from_mode(mode))
            }
            _ => fs::remove_dir_all(self.top.join(ROOTS[self.dice.below(ROOTS.len())])),
        };
        format!("{what} {} {}", dir.display(), other.display())
    }
}

fn commit_two_branches(home: &Home, top: &Path) {
    for branch in ["one", "two"] {
        home.git(top, &["checkout", "-q", "-b", branch]);
        for name in ["a", "g", branch] {
            write_skill(&top.join(".agents/skills").join(name), name, &format!("on {branch}"));
        }
        home.git(top, &["add", "-A"]);
        home.git(top, &["commit", "-q", "-m", branch]);
    }
}

/// Starts the daemon for a mode, or returns `None` if this machine does not support it.
fn start_daemon(mode: Mode, home: &Home) -> Option<Daemon> {
    if mode != Mode::FewWatches {
        return Some(Daemon::start(home, exe()));
    }
    // Runs the program through a script that lowers the limit in its own namespace.
    let script = home.work().join("few-watches");
    let enter = "unshare --user --map-root-user sh -c";
    let lower = format!("echo {FEW_WATCHES} > /proc/sys/user/max_inotify_watches");
    let text = format!(
        "#!/bin/sh\nexec {enter} '{lower} && exec \"$0\" \"$@\"' {} \"$@\"\n",
        exe().display()
    );
    fs::write(&script, text).expect("a script can be written");
    fs::set_permissions(&script, Permissions::from_mode(0o755)).expect("it is ours");
    let try_out = format!("{enter} '{lower}'");
    let can = Command::new("sh").args(["-c", &try_out]).stderr(Stdio::null()).status();
    can.is_ok_and(|it| it.success()).then(|| Daemon::start(home, &script))
}

#[expect(clippy::print_stdout, reason = "the summary of a run is what it is for")]
fn converge(mode: Mode) {
    let home = Home::new();
    let top = home.worktree("w", "//- /pkg/deep/x\n");
    commit_two_branches(&home, &top);
    let Some(daemon) = start_daemon(mode, &home) else {
        println!("skipped: this system has no user namespaces to lower the limit in");
        return;
    };
    let mut live = Live { wire: daemon.connect(Framing::Header), daemon, home };
    let seed = env_number("SKILLSD_TEST_SEED").unwrap_or(0x00c0_ffee) + mode as usize;
    let shells = [Shell::start(&top), Shell::start(&top)];
    let mut disk = ChangingTree {
        top: top.clone(),
        dice: Dice::new(seed),
        shells,
        n_done: 0,
        history: Vec::new(),
    };
    let wanted = env_number("SKILLSD_TEST_OPERATIONS").unwrap_or(2000);
    let (mut n_compared, mut n_special, mut n_stages) = (0, 0, 0);
    while disk.n_done < wanted {
        let special = disk.dice.below(8) == 0;
        if special && mode == Mode::Overflow {
            overflow(&live, &mut disk);
            n_special += 1;
        } else {
            disk.batch(&live);
        }
        if special && mode == Mode::Killed {
            let Live { daemon, home, .. } = live;
            daemon.kill();
            // Changes made in between are on disk when the next daemon starts.
            disk.history.push("killed".to_owned());
            live = Live::start_in(home);
            n_special += 1;
        }
        assert_equals_fresh_read(&mut live, &mut disk, mode, seed);
        n_compared += 1;
        if disk.n_done / STAGE > n_stages {
            n_stages += 1;
            println!("{mode:?}: {} operations so far, {n_compared} comparisons", disk.n_done);
        }
    }
    let status = live.wire.call("server/status", &json!({}));
    let n_lost = status["rebuilds"]["files"]["causes"]["lost"].as_u64().unwrap_or_default();
    let health = status["worktrees"][0]["health"].to_string();
    match mode {
        Mode::Plain | Mode::Killed => assert!(!health.contains("watch-limit"), "{status:#}"),
        Mode::Overflow => assert!(n_lost > 0, "the queue never overflowed: {status:#}"),
        Mode::FewWatches => assert!(health.contains("watch-limit"), "{status:#}"),
    }
    println!(
        "{mode:?}: {} operations, {n_compared} comparisons, {n_special} special, no difference",
        disk.n_done
    );
}

/// Makes more changes than the watcher's queue holds while the daemon is stopped.
fn overflow(live: &Live, disk: &mut ChangingTree) {
    let pid = i32::try_from(live.daemon.pid()).ok().and_then(Pid::from_raw).expect("it runs");
    kill_process(pid, Signal::STOP).expect("it is our child");
    // The worktree's top is always watched.
    let (one, two) = (disk.top.join("one"), disk.top.join("two"));
    fs::write(&one, "").expect("a file can be written");
    for _ in 0..TOO_MANY_RENAMES / 2 {
        fs::rename(&one, &two).and_then(|()| fs::rename(&two, &one)).expect("it is there");
    }
    disk.batch(live);
    kill_process(pid, Signal::CONT).expect("it is our child");
}

/// Compares the live list with a fresh read.
#[track_caller]
fn assert_equals_fresh_read(live: &mut Live, disk: &mut ChangingTree, mode: Mode, seed: usize) {
    let profile = PROFILES[disk.dice.below(PROFILES.len())];
    let cwd = disk.top.join("pkg/deep");
    fs::create_dir_all(&cwd).expect("the directory can be made");
    let place = json!({"cwd": cwd, "profile": profile, "include": ["all"]});
    let mine = live.wire.call("skills/list", &place)["skills"].clone();
    let args = ["list", "--all", "--no-daemon", "--profile", profile];
    let theirs = run_json(&live.home, &cwd, &args)["skills"].clone();
    let show = |skills: &Value, than: &Value| {
        let than = than.as_array().cloned().unwrap_or_default();
        let skills = skills.as_array().cloned().unwrap_or_default();
        skills.into_iter().filter(|it| !than.contains(it)).collect::<Vec<_>>()
    };
    assert!(
        mine == theirs,
        "{mode:?} seed {seed} after {} operations, {profile}:\nonly live: {:#?}\nonly read: {:#?}\n{:#?}",
        disk.n_done,
        show(&mine, &theirs),
        show(&theirs, &mine),
        disk.history,
    );
}

#[test]
fn live_list_equals_a_fresh_read() {
    converge(Mode::Plain);
}

#[test]
fn live_list_equals_a_fresh_read_after_queue_overflows() {
    converge(Mode::Overflow);
}

#[test]
fn live_list_equals_a_fresh_read_with_few_watches() {
    converge(Mode::FewWatches);
}

#[test]
fn live_list_equals_a_fresh_read_after_daemon_kills() {
    converge(Mode::Killed);
}
