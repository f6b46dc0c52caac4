//! Work of the language server, in its own process. The floor of a figure is the same work on a
//! quarter of the size, and the bar limits the larger one: what grows faster than its input shows
//! as a ratio above four.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Daemon, Home};

use crate::table::{Bar, Figure, Table, median};

/// Skills of a large worktree, and of a real one.
const MANY: usize = 3_000;
const SOME: usize = 181;

/// Keys of a long frontmatter.
const KEYS: usize = 500;

/// Length of a long text.
const LONG: usize = 1 << 20;

/// A clock tick of `/proc/PID/stat`, which counts the processor time of all threads.
const TICK: Duration = Duration::from_millis(10);

/// The number of letters after which a request about a long text is measured.
const N_REQUESTS: u32 = 40;

/// The processor time after which a measurement ends, and the most rounds of one.
const ENOUGH: Duration = Duration::from_secs(1);
const MOST_ROUNDS: u32 = 300;

/// Time for which a client waits without anything to do.
const IDLE: Duration = Duration::from_secs(10);

const TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) fn measure(table: &mut Table) {
    let ms = |amount: u32| Bar::Limit(f64::from(amount) / 1e3);
    let home = Home::new();
    let few = worktree(&home, SOME / 4);
    let keys = |n: usize| lines(n, |it| format!("unknown-{it}: x"));
    let [floor, measured] = [KEYS / 4, KEYS].map(|it| letter(&home, &few, &text(&keys(it), "x\n")));
    table.add(Figure::time("a letter beside 500 unknown keys", floor, measured, ms(10)));
    let anchors = |n: usize| lines(n, |it| format!("unknown-{it}: &a{it} x"));
    let [floor, measured] =
        [KEYS / 4, KEYS].map(|it| letter(&home, &few, &text(&anchors(it), "x\n")));
    table.add(Figure::time("a letter beside 500 anchors", floor, measured, ms(10)));

    let [floor, measured] = [LONG / 4, LONG].map(|it| long_text(&home, &few, it));
    let bars = [15, 3, 3, 2, 2];
    for ((name, floor), ((_, measured), bar)) in
        floor.into_iter().zip(measured.into_iter().zip(bars))
    {
        table.add(Figure::time(&format!("text of 1 MiB: {name}"), floor, measured, ms(bar)));
    }

    let some = worktree(&home, SOME);
    let [floor, measured] = [&few, &some].map(|it| letter_in_name(&home, it));
    table.add(Figure::time("a letter in `name` with 181 open", floor, measured, ms(10)));

    let quarter = worktree(&home, MANY / 4);
    let many = worktree(&home, MANY);
    let [floor, measured] = [&quarter, &many].map(|it| open_all(&home, it));
    table.add(Figure::time("3,000 documents opened", floor, measured, Bar::Limit(10.0)));

    let [floor, measured] = [&quarter, &many].map(|it| pull_all(&home, it));
    table.add(Figure::time("3,000 documents opened and pulled", floor, measured, Bar::Limit(10.0)));
    let [floor, measured] = [&quarter, &many].map(|it| disk_change(&home, it));
    let name = "change on the disk until a held pull tells it, among 3,000 skills";
    table.add(Figure::time(name, floor, measured, Bar::Limit(1.0)));

    let (floor, measured) = (searches(&home, &some), searches(&home, &many));
    for ((name, floor), (_, measured)) in floor.into_iter().zip(measured) {
        let name = format!("{name} among 3,000 skills, beside 181");
        table.add(Figure::time(&name, floor, measured, ms(40)));
    }

    let name = "client that polls 3,000 unchanged skills, beside 0.1 % of a core";
    table.add(Figure::time(name, IDLE / 1000, idle(&home, &many), Bar::Times(1.0)));

    let [floor, measured] = [&quarter, &many].map(|it| check(&home, it));
    table.add(Figure::time(
        "skillsd check of 3,000 skills, warm",
        floor,
        measured,
        Bar::Limit(1.5),
    ));
}

/// Creates a worktree of skills that mention each other, each with a finding.
fn worktree(home: &Home, n_skills: usize) -> PathBuf {
    let top = home.worktree(&format!("e{n_skills}"), "");
    for index in 0..n_skills {
        let name = format!("skill-{index:04}");
        let dir = top.join(".claude/skills").join(&name);
        let file = write_skill(&dir, &name, "Does one thing. Use it when the thing is needed.");
        let mut text = fs::read_to_string(&file).expect("it was written");
        let other = (index + 1) % n_skills;
        let _ =
            write!(text, "\nSee the `skill-{other:04}` skill and [a page](references/no.md).\n");
        fs::write(&file, text).expect("it can be written");
    }
    top
}

fn lines(n_lines: usize, line: impl Fn(usize) -> String) -> String {
    let lines: Vec<String> = (0..n_lines).map(|it| line(it) + "\n").collect();
    lines.concat()
}

fn text(keys: &str, body: &str) -> String {
    let description = "Does one thing. Use it when the thing is needed.";
    format!("---\nname: skill-0000\ndescription: {description}\n{keys}---\n\n{body}")
}

/// A text with sections, and with links and mentions on one line of ten, as in a long real skill;
/// the other lines are prose.
fn long_body(n_bytes: usize) -> String {
    let mut body = String::new();
    for section in 0.. {
        if body.len() >= n_bytes {
            break;
        }
        let _ = write!(body, "## Section {section}\n\n");
        for line in 0..20 {
            let (page, skill) = (section % 50, section % 10);
            let _ = if line % 10 == 0 {
                writeln!(
                    body,
                    "Line {line} of [it](references/a{page}.md#h{line}), `skill-000{skill}`, /skill-000{skill}, scripts/run{line}.py."
                )
            } else {
                writeln!(
                    body,
                    "Compare the numbers of the report with those of last year, and note each difference."
                )
            };
        }
    }
    body
}

fn first_skill(top: &Path) -> PathBuf {
    top.join(".claude/skills/skill-0000/SKILL.md")
}

/// Returns the processor time of a letter in the body until its diagnostics are published.
fn letter(home: &Home, top: &Path, text: &str) -> Duration {
    let mut editor = Editor::start(home, top, false);
    let path = first_skill(top);
    editor.open(&path, text);
    let line = text.lines().count() - 1;
    editor.rounds(|it| it.type_letter(&path, line))
}

/// Returns the processor time of requests about a text of this length, each after its diagnostics
/// are published, with the name of each.
fn long_text(home: &Home, top: &Path, n_bytes: usize) -> Vec<(&'static str, Duration)> {
    let mut editor = Editor::start(home, top, false);
    let path = first_skill(top);
    let text = text("", &long_body(n_bytes));
    editor.open(&path, &text);
    let half = text.len() / 2;
    let half = half + text[half..].find("\nLine ").expect("a line with links") + 1;
    let line = text[..half].matches('\n').count();
    let column = |part: &str| text.lines().nth(line).and_then(|it| it.find(part)).expect(part) + 3;
    let document = json!({"textDocument": {"uri": uri(&path)}});
    let at = |part: &str| {
        let position = json!({"line": line, "character": column(part)});
        json!({"textDocument": {"uri": uri(&path)}, "position": position})
    };
    let here = json!({"line": line, "character": 0});
    let range = json!({"start": here, "end": here});
    let actions = json!({"textDocument": {"uri": uri(&path)}, "range": range, "context": {"diagnostics": []}});
    let letter = editor.rounds(|it| it.type_letter(&path, line + 30));
    let requests = [
        ("documentLink", "textDocument/documentLink", document),
        ("definition of a skill", "textDocument/definition", at("/skill-")),
        ("codeAction", "textDocument/codeAction", actions),
        ("hover", "textDocument/hover", at("/skill-")),
    ];
    let mut times = vec![("a letter", letter)];
    for (name, method, params) in requests {
        // The first answer may wait for facts about the disk.
        assert_ne!(editor.request(method, &params), Value::Null, "{method}");
        // The time of a letter varies by more than that of a request, so it is not subtracted.
        let mut taken = Duration::ZERO;
        for _ in 0..N_REQUESTS {
            editor.type_letter(&path, line + 30);
            editor.wait_until_quiet();
            let before = editor.thread_time();
            editor.request(method, &params);
            taken += editor.thread_time().saturating_sub(before);
        }
        assert!(taken > Duration::ZERO, "the kernel reports no processor time of threads");
        times.push((name, taken / N_REQUESTS));
    }
    times
}

/// Returns the processor time of a letter in the name of a skill while all skills are open.
fn letter_in_name(home: &Home, top: &Path) -> Duration {
    let mut editor = Editor::start(home, top, false);
    editor.open_all(top);
    let path = first_skill(top);
    editor.rounds(|it| it.type_letter(&path, 1))
}

/// Returns the processor time of opening all skills.
fn open_all(home: &Home, top: &Path) -> Duration {
    let mut editor = Editor::start(home, top, false);
    let before = editor.cpu();
    editor.open_all(top);
    editor.cpu().saturating_sub(before)
}

/// Returns the processor time of opening all skills and requesting the diagnostics of each.
fn pull_all(home: &Home, top: &Path) -> Duration {
    let mut editor = Editor::start(home, top, true);
    let before = editor.cpu();
    let files = skill_files(top);
    for file in &files {
        editor.send_open(file, &fs::read_to_string(file).expect("it was written"));
    }
    let mut waiting: HashSet<u64> = HashSet::new();
    for file in &files {
        let params = json!({"textDocument": {"uri": uri(file)}});
        waiting.insert(editor.begin("textDocument/diagnostic", &params));
    }
    while !waiting.is_empty() {
        let message = editor.receive();
        if let Some(id) = message["id"].as_u64().filter(|_| message.get("method").is_none()) {
            waiting.remove(&id);
        }
    }
    editor.cpu().saturating_sub(before)
}

/// Returns the time from a change of one skill on the disk until a held pull reports it.
fn disk_change(home: &Home, top: &Path) -> Duration {
    let mut editor = Editor::start(home, top, true);
    let path = first_skill(top);
    let text = fs::read_to_string(&path).expect("it was written");
    let mut known: HashMap<String, Value> = HashMap::new();
    // Returns a report, and the id of the next pull.
    let mut answer = |editor: &mut Editor, id: u64| {
        let report = editor.answer("workspace/diagnostic", id);
        for item in report["items"].as_array().into_iter().flatten() {
            let uri = item["uri"].as_str().unwrap_or_default().to_owned();
            known.insert(uri, item["resultId"].clone());
        }
        let previous = known.iter().map(|(uri, id)| json!({"uri": uri, "value": id}));
        let params = json!({"previousResultIds": previous.collect::<Value>()});
        (report.to_string(), editor.begin("workspace/diagnostic", &params))
    };
    let first = editor.begin("workspace/diagnostic", &json!({"previousResultIds": []}));
    let (_, mut held) = answer(&mut editor, first);
    let mut times = Vec::new();
    for round in 0..5 {
        std::thread::sleep(IDLE);
        // The finding is new in each round.
        let key = format!("description{round}");
        fs::write(&path, text.replacen("description", &key, 1)).expect("it can be written");
        let begin = Instant::now();
        loop {
            let (report, next) = answer(&mut editor, held);
            held = next;
            if report.contains(&key) {
                break;
            }
        }
        times.push(begin.elapsed());
    }
    fs::write(&path, text).expect("it can be written");
    median(times)
}

/// Returns the response time of searches for the mentions of a skill, with the name of each.
fn searches(home: &Home, top: &Path) -> Vec<(&'static str, Duration)> {
    let mut editor = Editor::start(home, top, false);
    let path = first_skill(top);
    editor.open(&path, &fs::read_to_string(&path).expect("it was written"));
    let with = |more: Value| {
        let position = json!({"line": 1, "character": 8});
        let mut params = json!({"textDocument": {"uri": uri(&path)}, "position": position});
        if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
            params.extend(more);
        }
        params
    };
    let directory = path.parent().expect("a directory");
    let renamed =
        json!({"oldUri": uri(directory), "newUri": uri(&directory.with_file_name("other"))});
    let requests = [
        (
            "references",
            "textDocument/references",
            with(json!({"context": {"includeDeclaration": true}})),
        ),
        ("codeLens", "textDocument/codeLens", with(json!({}))),
        ("rename", "textDocument/rename", with(json!({"newName": "other"}))),
        ("willRenameFiles", "workspace/willRenameFiles", json!({"files": [renamed]})),
    ];
    let time = |(name, method, params): (&'static str, &str, Value)| {
        editor.request(method, &params);
        let times = (0..30).map(|_| {
            let begin = Instant::now();
            assert_ne!(editor.request(method, &params), Value::Null, "{method}");
            begin.elapsed()
        });
        (name, median(times.collect()))
    };
    requests.into_iter().map(time).collect()
}

/// Returns the processor time of a held pull while nothing changes.
fn idle(home: &Home, top: &Path) -> Duration {
    let mut editor = Editor::start(home, top, true);
    let report = editor.request("workspace/diagnostic", &json!({"previousResultIds": []}));
    let previous: Vec<Value> = report["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| json!({"uri": it["uri"], "value": it["resultId"]}))
        .collect();
    assert!(previous.len() >= MANY, "{} reports", previous.len());
    editor.begin("workspace/diagnostic", &json!({"previousResultIds": previous}));
    // The window begins soon, so that a second look at the tree after the first answer counts.
    std::thread::sleep(Duration::from_secs(1));
    let before = editor.cpu();
    std::thread::sleep(IDLE);
    editor.cpu().saturating_sub(before)
}

/// Returns the run time of `skillsd check` beside a running daemon.
fn check(home: &Home, top: &Path) -> Duration {
    let program = env!("CARGO_BIN_EXE_test-skillsd");
    let _daemon = Daemon::start(home, program);
    let run = || {
        let begin = Instant::now();
        let mut command = home.command(program);
        command.arg("check").current_dir(top).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().expect("the program can be run");
        begin.elapsed()
    };
    run();
    median((0..5).map(|_| run()).collect())
}

fn skill_files(top: &Path) -> Vec<PathBuf> {
    let skills = fs::read_dir(top.join(".claude/skills")).expect("a directory");
    skills.map(|it| it.expect("an entry").path().join("SKILL.md")).collect()
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A client of `skillsd lsp`.
struct Editor {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
    versions: HashMap<PathBuf, i64>,
    /// The version of the last published diagnostics.
    published: HashMap<String, i64>,
}

impl Editor {
    fn start(home: &Home, top: &Path, pulls: bool) -> Self {
        let mut command = home.command(env!("CARGO_BIN_EXE_test-skillsd"));
        command.args(["lsp", "--no-daemon"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("the program can be run");
        let input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output)
                && sender.send(message).is_ok()
            {}
        });
        let (versions, published) = (HashMap::new(), HashMap::new());
        let mut editor = Self { child, input, messages, last_id: 0, versions, published };
        let edits =
            json!({"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]});
        let mut document = json!({"codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix"]}},
            "dataSupport": true,
            "resolveSupport": {"properties": ["edit"]},
        }});
        if pulls {
            document["diagnostic"] = json!({});
        }
        let capabilities = json!({"textDocument": document, "workspace": {"workspaceEdit": edits}});
        let folders = json!([{"uri": uri(top), "name": "w"}]);
        let params =
            json!({"processId": null, "workspaceFolders": folders, "capabilities": capabilities});
        editor.request("initialize", &params);
        editor.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let sent = write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len());
        sent.and_then(|()| self.input.flush()).expect("it reads");
    }

    fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer(method, id)
    }

    fn answer(&mut self, method: &str, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                assert_eq!(message.get("error"), None, "{method}");
                return message["result"].clone();
            }
        }
    }

    /// Reads the next message, answers it if it is a request, and notes published diagnostics.
    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(TIMEOUT).expect("a message arrives");
        if message.get("method").is_some() && message.get("id").is_some() {
            self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": null}));
        }
        if message["method"] == "textDocument/publishDiagnostics" {
            let (uri, version) = (&message["params"]["uri"], &message["params"]["version"]);
            let uri = uri.as_str().unwrap_or_default().to_owned();
            self.published.insert(uri, version.as_i64().unwrap_or_default());
        }
        message
    }

    fn wait_for(&mut self, path: &Path) {
        let version = self.versions[path];
        while self.published.get(&uri(path)) != Some(&version) {
            self.receive();
        }
    }

    fn send_open(&mut self, path: &Path, text: &str) {
        self.versions.insert(path.to_owned(), 1);
        let item = json!({"uri": uri(path), "languageId": "markdown", "version": 1, "text": text});
        let params = json!({"textDocument": item});
        self.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params}));
    }

    fn open(&mut self, path: &Path, text: &str) {
        self.send_open(path, text);
        self.wait_for(path);
    }

    /// Opens all skills of a worktree, and waits for the diagnostics of each.
    fn open_all(&mut self, top: &Path) {
        let files = skill_files(top);
        for file in &files {
            self.send_open(file, &fs::read_to_string(file).expect("it was written"));
        }
        for file in &files {
            self.wait_for(file);
        }
    }

    /// Types a letter after the first seven of a line, and waits for the diagnostics.
    fn type_letter(&mut self, path: &Path, line: usize) {
        let version = self.versions.get_mut(path).expect("it is open");
        *version += 1;
        let at = json!({"line": line, "character": if line == 1 { 7 } else { 0 }});
        let change = json!({"range": {"start": at, "end": at}, "text": "x"});
        let document = json!({"uri": uri(path), "version": *version});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        self.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}));
        self.wait_for(path);
    }

    /// Returns the mean processor time of a round.
    fn rounds(&mut self, mut round: impl FnMut(&mut Self)) -> Duration {
        round(self);
        let before = self.cpu();
        let mut n_rounds = 0;
        loop {
            round(self);
            n_rounds += 1;
            let taken = self.cpu().saturating_sub(before);
            if taken >= ENOUGH || n_rounds == MOST_ROUNDS {
                return taken / n_rounds;
            }
        }
    }

    /// Waits until the server does nothing for a moment.
    fn wait_until_quiet(&self) {
        let mut before = self.thread_time();
        loop {
            std::thread::sleep(Duration::from_millis(2));
            let now = self.thread_time();
            if now == before {
                return;
            }
            before = now;
        }
    }

    /// Returns the processor time of the server's threads that still run. More exact than
    /// [`Self::cpu`], but a thread's time is lost when it ends.
    fn thread_time(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let tasks = tasks.expect("the server runs").flatten();
        let times = tasks.filter_map(|it| {
            let stat = fs::read_to_string(it.path().join("schedstat")).ok()?;
            stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
        });
        times.sum()
    }

    /// Returns the processor time of the server.
    fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.expect("the server runs");
        // The name in parentheses may contain blanks.
        let fields: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: u32 = fields[11..13].iter().map(|it| it.parse().unwrap_or(0)).sum();
        TICK * ticks
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // Both fail if the process has already exited, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(output: &mut BufReader<impl std::io::Read>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        length = line.trim_end().strip_prefix("Content-Length: ")?.parse().ok()?;
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
