//! Situations in which a skill is not shown: verdict, reason and next step of `explain`, and that
//! the next step, carried out, shows the skill.
//!
//! `explain_situations.txt` holds the situations. Each begins with a line `== name`, then come
//! lines `key: value`, then its files as fixture text: `//- ~/path` is in the home directory, and a
//! line `SKILL` stands for a small valid skill named after its directory; `LONG` are 1,300
//! characters.

mod carry_out;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skills_testkit::Home;

use crate::support::{run, run_json, stderr, stdout};
use carry_out::carry_out;

/// One situation of the table.
#[derive(Debug, Default)]
struct Situation {
    name: String,
    /// The profile of all commands.
    profile: String,
    /// The argument of `explain`; `~` is written as it stands, because a shell may not expand it.
    ask: String,
    /// The expected state; empty if nothing is found.
    state: String,
    /// A part of the verdict's first line.
    reason: String,
    /// The next step, whole; empty if none is printed.
    next: String,
    /// Name under which the profile lists the skill afterwards; empty if it stays hidden.
    seen: String,
    /// Text that the explanation does not contain.
    without: Option<String>,
    /// Files touched in a session before the question.
    touched: Option<String>,
    files: String,
}

/// A home directory with the files of one situation, and the options of its commands.
struct SituationFixture {
    home: Home,
    cwd: PathBuf,
    profile: String,
    session: Option<String>,
}

#[test]
fn next_step_carried_out_shows_the_skill() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/explain_situations.txt");
    let text = std::fs::read_to_string(path).expect("the table can be read");
    let situations = parse(&text);
    assert!(situations.len() >= 40, "{} situations", situations.len());
    let wanted = std::env::var("SITUATION").unwrap_or_default();
    let chosen: Vec<&Situation> =
        situations.iter().filter(|it| it.name.contains(&wanted)).collect();
    let parts = chosen.len().div_ceil(4).max(1);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let workers = chosen.chunks(parts).map(|part| scope.spawn(move || judge_all(part)));
        let workers: Vec<_> = workers.collect();
        workers.into_iter().flat_map(|it| it.join().expect("a worker ends")).collect()
    });
    let n_failed = failures.len();
    assert!(failures.is_empty(), "{n_failed} situations fail:\n{}", failures.join("\n"));
}

fn judge_all(situations: &[&Situation]) -> Vec<String> {
    let judged = situations.iter().filter_map(|it| {
        let fault = judge(it).err()?;
        Some(format!("== {} ({})\n{fault}", it.name, it.profile))
    });
    judged.collect()
}

fn judge(it: &Situation) -> Result<(), String> {
    let home = Home::new();
    let cwd = home.worktree("shop", "");
    lay_out(&home, &it.files);
    let mut fixture = SituationFixture { home, cwd, profile: it.profile.clone(), session: None };
    if let Some(file) = &it.touched {
        fixture.touch(file)?;
    }
    let mut args = args_of(it);
    args.extend(fixture.session.iter().flat_map(|it| ["--session", it]));
    let answer = run_json(&fixture.home, &fixture.cwd, &args);
    let text = fixture.run(&args);
    let lines = || text.lines();
    let verdict = lines().find(|line| "✓✗○·".contains(|it| line.starts_with(it)));
    let next: Vec<&str> = lines().filter_map(|line| line.strip_prefix("Next: ")).collect();
    let redacted = |text: &str| fixture.home.redact(text).replace("~/", "$HOME/");
    let mut faults = Vec::new();
    let state = answer["verdict"]["state"].as_str().unwrap_or_default();
    let mut compare = |what: &str, found: String, expected: &str, is_right: bool| {
        if !is_right {
            faults.push(format!("  {what} is:     {found}\n  expected:    {expected}"));
        }
    };
    compare("state", state.to_owned(), &it.state, state == it.state);
    let reason = redacted(verdict.unwrap_or(&text));
    compare("reason", reason.clone(), &it.reason, reason.contains(&it.reason));
    let said = redacted(next.first().unwrap_or(&""));
    compare("next step", said.clone(), &it.next, said == it.next);
    compare("steps", next.join(" | "), "one", next.len() <= 1);
    let most = said.split(". ").map(|it| it.split_whitespace().count()).max().unwrap_or(0);
    compare("longest sentence", format!("{most} words"), "25 words", most <= 25);
    if let Some(wrong) = &it.without {
        compare("text", redacted(&text), &format!("no `{wrong}`"), !text.contains(wrong));
    }
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    if !it.next.is_empty() {
        let listed = fixture.listed()?;
        let is_needless = it.next.starts_with("Nothing") || it.next.starts_with("Did you mean");
        if listed.contains(&it.seen) && !is_needless && it.state != "active" {
            return Err(format!("  `{}` is listed before the step", it.seen));
        }
        carry_out(&mut fixture, next[0])?;
    }
    if !it.next.is_empty() && it.state == "active" {
        let again = fixture.run(&args_of(it));
        if again.lines().any(|line| Some(line) == verdict) {
            return Err(format!("  the verdict is the same after the step: {again}"));
        }
    }
    let listed = fixture.listed()?;
    if !it.seen.is_empty() && !listed.contains(&it.seen) {
        let again = fixture.run(&args_of(it));
        return Err(format!("  not listed after `{}`: {listed:?}\n{again}", next.join(" | ")));
    }
    Ok(())
}

fn args_of(it: &Situation) -> Vec<&str> {
    vec!["explain", &it.ask, "--profile", &it.profile]
}

impl SituationFixture {
    /// Runs `skillsd` and returns what it prints on both streams.
    fn run(&self, args: &[&str]) -> String {
        let output = run(&self.home, &self.cwd, args);
        format!("{}{}", stdout(&output), stderr(&output))
    }

    /// Returns the names of the skills that the profile shows.
    fn listed(&self) -> Result<Vec<String>, String> {
        let mut args = vec!["list", "--profile", &self.profile];
        args.extend(self.session.iter().flat_map(|it| ["--session", it]));
        let answer = run_json(&self.home, &self.cwd, &args);
        let skills = answer["skills"].as_array().ok_or_else(|| format!("no list: {answer}"))?;
        let names = skills.iter().filter_map(|it: &Value| it["name"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// Reports a file as touched in this fixture's session.
    fn touch(&mut self, file: &str) -> Result<(), String> {
        let path = self.cwd.join(file);
        let parent = path.parent().ok_or("no directory")?;
        std::fs::create_dir_all(parent).map_err(|it| it.to_string())?;
        std::fs::write(&path, "").map_err(|it| it.to_string())?;
        let session = "situation";
        let output = run(
            &self.home,
            &self.cwd,
            &["touch", file, "--session", session, "--profile", &self.profile],
        );
        self.session = Some(session.to_owned());
        output.status.success().then_some(()).ok_or_else(|| stderr(&output))
    }

    /// Returns the path that a sentence names.
    fn path(&self, named: &str) -> PathBuf {
        match named.strip_prefix("~/") {
            Some(below) => self.home.path().join(below),
            None => self.cwd.join(named),
        }
    }
}

fn lay_out(home: &Home, files: &str) {
    let mut text = String::new();
    let mut directory = String::new();
    for line in files.lines() {
        if let Some(path) = line.strip_prefix("//- ") {
            let path = path.replace("~/", "/home/");
            let file = path.split_whitespace().next().unwrap_or_default();
            let dir = file.rsplit('/').nth(1).unwrap_or_default();
            dir.clone_into(&mut directory);
            let _ = writeln!(text, "//- {path}");
        } else if line == "SKILL" {
            let fields = format!("name: {directory}\ndescription: Does {directory}.");
            let _ = writeln!(text, "---\n{fields}\n---\nDo it.");
        } else {
            text += line;
            text.push('\n');
        }
    }
    let user = home.path().to_str().expect("a temporary directory has a plain name");
    let text = text.replace("LONG", &"long ".repeat(260)).replace("$HOME", user);
    home.lay_out(&text);
}

fn parse(text: &str) -> Vec<Situation> {
    let blocks = text.split("\n== ").skip(1);
    let situations = blocks.map(|block| {
        let (name, rest) = block.split_once('\n').expect("a situation has lines");
        let mut it = Situation { name: name.to_owned(), ..Situation::default() };
        let start = rest.find("//- ").unwrap_or(rest.len());
        rest[start..].clone_into(&mut it.files);
        for line in rest[..start].lines().filter(|line| !line.is_empty()) {
            let (key, value) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
            let value = value.to_owned();
            match key {
                "profile" => it.profile = value,
                "ask" => it.ask = value,
                "state" => it.state = value,
                "reason" => it.reason = value,
                "next" => it.next = value,
                "seen" => it.seen = value,
                "without" => it.without = Some(value),
                "touched" => it.touched = Some(value),
                _ => panic!("{name}: unknown key `{key}`"),
            }
        }
        it
    });
    situations.collect()
}
