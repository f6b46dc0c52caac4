//! Command blocks of a document: their commands, expected output, and where they are run.

/// One fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Line of its fence, counted from 1.
    pub(crate) line: usize,
    /// Runner of the block.
    pub(crate) run: Run,
    pub(crate) commands: Vec<Command>,
}

/// Runner of a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// By these tests.
    Here,
    /// By these tests if this program is installed.
    With(String),
    /// By this file, which contains the command.
    By(String),
    /// Not at all, for this reason.
    Not(String),
}

/// A command, and the output shown below it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) shown: Vec<String>,
}

/// A fenced block of a document.
pub(crate) struct Fenced<'a> {
    /// Line of its fence, counted from 0.
    pub(crate) line: usize,
    /// Text after the opening fence.
    pub(crate) kind: &'a str,
    pub(crate) body: &'a [&'a str],
}

/// Returns the fenced blocks of a document. A longer fence may contain shorter ones.
pub(crate) fn fenced<'a>(lines: &'a [&'a str]) -> Vec<Fenced<'a>> {
    let backticks = |line: &str| line.trim_start().chars().take_while(|c| *c == '`').count();
    let mut found = Vec::new();
    let mut nth = 0;
    while nth < lines.len() {
        let length = backticks(lines[nth]);
        if length < 3 {
            nth += 1;
            continue;
        }
        let closes =
            |line: &&str| backticks(line) >= length && line.trim().chars().all(|c| c == '`');
        let n_lines = lines[nth + 1..].iter().position(closes).expect("a fence is closed");
        let body = &lines[nth + 1..nth + 1 + n_lines];
        found.push(Fenced { line: nth, kind: lines[nth].trim_start().trim_matches('`'), body });
        nth += n_lines + 2;
    }
    found
}

/// Returns the command blocks of a document.
pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let lines: Vec<&str> = document.lines().collect();
    let mut found = Vec::new();
    for Fenced { line, kind, body } in fenced(&lines) {
        let commands = match kind {
            "sh" => script(body),
            "console" => session(body),
            _ => continue,
        };
        // A blank line may separate the comment and the fence.
        let above = lines[..line].iter().rev().find(|it| !it.trim().is_empty());
        found.push(Block { line: line + 1, run: run(above.unwrap_or(&"")), commands });
    }
    found
}

fn run(above: &str) -> Run {
    let comment = above.trim().strip_prefix("<!-- ").and_then(|it| it.strip_suffix(" -->"));
    let comment = comment.unwrap_or_default();
    if let Some(file) = comment.strip_prefix("run by ") {
        Run::By(file.to_owned())
    } else if let Some(program) = comment.strip_prefix("run with ") {
        Run::With(program.to_owned())
    } else if let Some(reason) = comment.strip_prefix("not run: ") {
        Run::Not(reason.to_owned())
    } else {
        Run::Here
    }
}

// Each line is a command, unless the previous one continues.
fn script(body: &[&str]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let mut goes_on = false;
    for line in body.iter().filter(|it| !it.trim().is_empty() && !it.starts_with('#')) {
        if let Some(last) = commands.last_mut().filter(|_| goes_on) {
            last.text = format!("{}\n{line}", last.text);
        } else {
            commands.push(Command { text: (*line).to_owned(), shown: Vec::new() });
        }
        goes_on = line.ends_with(['\\', '|']);
    }
    commands
}

// A command starts with `$ `; the following lines are its output.
fn session(body: &[&str]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for line in body {
        if let Some(text) = line.strip_prefix("$ ") {
            commands.push(Command { text: text.to_owned(), shown: Vec::new() });
        } else if let Some(last) = commands.last_mut() {
            if last.text.ends_with(['\\', '|']) && last.shown.is_empty() {
                last.text = format!("{}\n{line}", last.text);
            } else {
                last.shown.push((*line).to_owned());
            }
        }
    }
    commands
}

/// Returns the first expected line that is missing in the output, if any.
pub(crate) fn missing(shown: &[String], came: &str) -> Option<String> {
    let came: Vec<&str> = came.lines().map(str::trim_end).collect();
    let mut next = 0;
    let mut may_skip = false;
    let shown: Vec<&str> = shown.iter().map(|it| it.trim_end()).collect();
    for line in shown.iter().filter(|it| !it.is_empty()) {
        if is_anything(line) {
            may_skip = true;
            continue;
        }
        let rest = came[next..].iter().filter(|it| !it.is_empty());
        let found = if may_skip {
            came[next..].iter().position(|it| fits(line, it))
        } else {
            let first = rest.clone().next().is_some_and(|it| fits(line, it));
            first.then(|| came[next..].iter().position(|it| !it.is_empty()).unwrap_or(0))
        };
        let Some(found) = found else { return Some((*line).to_owned()) };
        next += found + 1;
        may_skip = false;
    }
    None
}

// A line of only `…`, also as a branch of a tree, matches any number of lines.
fn is_anything(line: &str) -> bool {
    line.trim_matches(|c: char| c.is_whitespace() || "│├└─".contains(c)) == "…"
}

// `…` within a line matches any text.
fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn document_blocks_are_parsed() {
    let document = "```sh\na \\\n  b\n# why\nc\n```\n\n<!-- run by x.sh -->\n```console\n$ d |\n    e\nout\n$ f\n```\n<!-- not run: why -->\n\n```sh\ng\n```\n```json\n{}\n```\n";
    let found = blocks(document);
    let texts =
        |nth: usize| -> Vec<&str> { found[nth].commands.iter().map(|it| &*it.text).collect() };
    assert_eq!(texts(0), ["a \\\n  b", "c"]);
    assert_eq!(texts(1), ["d |\n    e", "f"]);
    assert_eq!(found[1].commands[0].shown, ["out"]);
    assert_eq!(found[1].run, Run::By("x.sh".to_owned()));
    assert_eq!(found[2].run, Run::Not("why".to_owned()));
    assert_eq!(found.len(), 3);
}

#[test]
fn missing_finds_shown_lines_absent_from_output() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let came = "one\n\ntwo  three\nfour\nfive\n";
    for good in ["one\ntwo  three", "one\ntw…ee\nfour", "o…\n…\nfive", "one\n│  └─ …\nfi…", ""]
    {
        assert_eq!(missing(&shown(good), came), None, "{good}");
    }
    for (bad, line) in [("two  three", "two  three"), ("one\nfour", "four"), ("…\nsix", "six")] {
        assert_eq!(missing(&shown(bad), came).as_deref(), Some(line), "{bad}");
    }
}
