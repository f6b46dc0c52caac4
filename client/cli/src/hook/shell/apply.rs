//! Evaluation of one command: splits its words into options and operands, and records its paths.

use super::git;
use super::operands::{ParsedOperands, parse};
use super::table::{CommandRow, OperandShape, UNKNOWN, has, row_of};
use super::walk::{Walk, is_file_test};
use super::word::Word;

impl Walk<'_> {
    /// Evaluates a command given as words; `document` is its standard input, if known.
    pub(super) fn run(&mut self, words: &[Word], document: Option<&str>) {
        let Some((name, rest)) = words.split_first() else { return };
        let whole = name.text().unwrap_or_default();
        if whole.contains('/') {
            let is_system = ["/usr/", "/bin/", "/sbin/"].iter().any(|dir| whole.starts_with(dir));
            if !is_system {
                self.touch(name);
            }
        }
        let base = whole.rsplit('/').next().unwrap_or_default();
        let row = row_of(base).unwrap_or(&UNKNOWN);
        match row.shape {
            // These shapes parse their own words.
            OperandShape::Find => self.find(rest),
            OperandShape::Prefix(_) | OperandShape::Runner(_) => self.prefix(row, rest, document),
            OperandShape::Shell => self.shell(row, rest, document),
            OperandShape::Test => self.test_words(rest),
            OperandShape::Git => git::run(self, rest),
            OperandShape::Pairs => self.pairs(rest),
            OperandShape::Patch => {
                let given = rest.first().and_then(Word::text);
                self.patch(given.as_deref().or(document).unwrap_or_default());
            }
            OperandShape::Eval => {
                let texts: Vec<String> = rest.iter().map(Word::start).collect();
                self.text(&texts.join(" "));
            }
            OperandShape::Popd => self.go_back(),
            _ => self.operands(row, &parse(row, rest)),
        }
    }

    fn operands(&mut self, row: &CommandRow, parsed: &ParsedOperands) {
        self.option_paths(parsed);
        let operands = parsed.operands.as_slice();
        let after = |n: usize| operands.get(n..).unwrap_or_default();
        match row.shape {
            OperandShape::Paths => self.touch_all(operands),
            OperandShape::Listing => self.or_here(operands),
            OperandShape::Pattern(given) => {
                let paths = after(usize::from(!parsed.is_given(given)));
                // awk accepts assignments between its files.
                paths.iter().filter(|word| !is_assignment(word)).for_each(|it| self.touch(it));
            }
            OperandShape::Grep(given) => {
                let paths = after(usize::from(!parsed.is_given(given)));
                let is_grep = row.names.starts_with("grep");
                let is_deep = !is_grep || parsed.is_given("-r -R --recursive");
                if !paths.is_empty() || (is_deep && !self.is_piped()) {
                    self.or_here(paths);
                }
            }
            OperandShape::Skip(n) => self.touch_all(after(n)),
            OperandShape::Copies => {
                operands.iter().filter(|it| !is_remote(it)).for_each(|it| self.touch(it));
            }
            OperandShape::Script(given) => {
                let script = operands.first().filter(|_| !parsed.is_given(given));
                self.touch_all(script.map(std::slice::from_ref).unwrap_or_default());
                self.guess(after(usize::from(script.is_some())));
            }
            OperandShape::Guess => self.guess(operands),
            OperandShape::Tar => self.tar(parsed),
            OperandShape::Cd => {
                let to = operands.first();
                if to.is_some_and(|to| to.start() == "-") {
                    self.go_back();
                    return;
                }
                if let Some(to) = to.filter(|to| to.text().is_some()) {
                    self.touch(to);
                }
                match to {
                    Some(to) => self.change_directory(Some(to)),
                    None => self.go_home(),
                }
            }
            // The other shapes are handled in `run` or have no paths.
            _ => {}
        }
    }

    /// Records the paths that are values of options.
    pub(super) fn option_paths(&mut self, parsed: &ParsedOperands) {
        self.touch_all(&parsed.paths);
    }

    /// Records every word as a path.
    pub(super) fn touch_all(&mut self, words: &[Word]) {
        for word in words {
            self.touch(word);
        }
    }

    /// Records the words that look like paths.
    pub(super) fn guess(&mut self, words: &[Word]) {
        for word in words.iter().filter(|word| word.looks_like_path()) {
            // `tests/a.py::name`, `src/a.rs:12`.
            let is_place = |rest: &str| {
                rest.starts_with(':') || rest.starts_with(|c: char| c.is_ascii_digit())
            };
            match word.split(':') {
                Some((path, rest)) if is_place(&rest.start()) => self.touch(&path),
                _ => self.touch(word),
            }
        }
    }

    fn or_here(&mut self, words: &[Word]) {
        self.touch_all(words);
        if words.is_empty() {
            self.touch_text(".");
        }
    }

    // `sudo -u me cmd`, `env A=b cmd`, `timeout 5 cmd`, `xargs -n1 cmd`, `uv run cmd`.
    fn prefix(&mut self, row: &CommandRow, rest: &[Word], document: Option<&str>) {
        let (n, words) = match row.shape {
            OperandShape::Prefix(n) => (n, ""),
            OperandShape::Runner(words) => (1, words),
            _ => return,
        };
        let start = command_start(row, rest);
        let options = parse(row, &rest[..start]);
        self.option_paths(&options);
        let command = &rest[start..];
        if !words.is_empty() && !command.first().is_some_and(|first| has(words, &first.start())) {
            self.guess(command);
            return;
        }
        let mut command = &command[n.min(command.len())..];
        // `uv run --with x python a.py`: skips options of the runner.
        if !words.is_empty() {
            command = &command[command_start(row, command)..];
        }
        // `watch 'cat a'`.
        if let [only] = command
            && only.start().contains(' ')
        {
            self.text(&only.start());
            return;
        }
        self.in_subshell(|walk| {
            if let Some(directory) = &options.directory {
                walk.change_directory(Some(directory));
            }
            walk.nested(command, document);
        });
    }

    // A runner executes a bare `a.py`.
    fn nested(&mut self, command: &[Word], document: Option<&str>) {
        let is_known = command.first().is_some_and(|name| row_of(&name.start()).is_some());
        let is_script = command
            .first()
            .is_some_and(|name| !name.start().contains('/') && name.looks_like_path());
        if is_script && !is_known {
            self.touch(&command[0]);
        }
        self.run(command, document);
    }

    fn shell(&mut self, row: &CommandRow, rest: &[Word], document: Option<&str>) {
        let parsed = parse(row, rest);
        let is_text =
            parsed.given.iter().any(|option| !option.starts_with("--") && option.ends_with('c'));
        match (parsed.operands.split_first(), document) {
            (Some((text, _)), _) if is_text => {
                let text = text.start();
                self.in_subshell(|walk| walk.text(&text));
            }
            (Some((script, arguments)), _) => {
                self.touch(script);
                self.guess(arguments);
            }
            (None, Some(document)) => self.in_subshell(|walk| walk.text(document)),
            (None, None) => {}
        }
    }

    fn find(&mut self, rest: &[Word]) {
        const EXPRESSIONS: &str = "( ) ! ,";
        let is_expression = |word: &Word| {
            let text = word.start();
            text.starts_with('-') || has(EXPRESSIONS, &text)
        };
        // `-L`, `-H` and `-P` come before the directories.
        let flags = rest.iter().take_while(|word| has("-L -H -P -E", &word.start())).count();
        let rest = &rest[flags..];
        let n = rest.iter().position(is_expression).unwrap_or(rest.len());
        self.or_here(&rest[..n]);
        let mut at = n;
        while at < rest.len() {
            match rest[at].start().as_str() {
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let command = &rest[at + 1..];
                    let ends = |word: &Word| has("; +", &word.start());
                    let length = command.iter().position(ends).unwrap_or(command.len());
                    let is_file = |word: &&Word| word.start().contains("{}");
                    let command: Vec<Word> =
                        command[..length].iter().filter(|word| !is_file(word)).cloned().collect();
                    // Without `{}` the command would seem to read the working directory.
                    let lists = command.first().and_then(|name| row_of(&name.start()));
                    let is_bare = lists.is_some_and(|row| {
                        matches!(row.shape, OperandShape::Grep(_) | OperandShape::Listing)
                    });
                    if !is_bare {
                        self.in_subshell(|walk| walk.run(&command, None));
                    }
                    at += length + 1;
                }
                "-newer" | "-anewer" | "-cnewer" | "-samefile" | "-fprint" | "-fprintf"
                | "-fls" => {
                    self.touch_all(rest.get(at + 1..at + 2).unwrap_or_default());
                    at += 1;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn test_words(&mut self, words: &[Word]) {
        for pair in words.windows(2) {
            if is_file_test(&pair[0].start()) {
                self.touch(&pair[1]);
            }
        }
    }

    fn pairs(&mut self, words: &[Word]) {
        for (name, value) in words.iter().filter_map(|word| word.split('=')) {
            if has("if of", &name.start()) {
                self.touch(&value);
            }
        }
    }

    fn tar(&mut self, parsed: &ParsedOperands) {
        let mut operands = parsed.operands.as_slice();
        let mut letters: String = parsed
            .given
            .iter()
            .filter(|option| !option.starts_with("--"))
            .map(|it| &it[1..])
            .collect();
        // The old form: `tar czf a.tgz dir`.
        if let Some((first, rest)) = operands.split_first()
            && letters.is_empty()
            && parsed.given.is_empty()
        {
            letters = first.start();
            operands = rest;
        }
        let creates = letters.contains(['c', 'r', 'u']) || parsed.is_given("--create --append");
        let takes_file = letters.contains('f');
        if let Some((archive, rest)) = operands.split_first().filter(|_| takes_file) {
            self.touch(archive);
            operands = rest;
        }
        if creates {
            self.touch_all(operands);
        }
    }
}

/// Returns the index of the command that a prefix runs.
fn command_start(row: &CommandRow, words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.start();
        if text == "--" {
            return at + 1;
        }
        let is_option = text.starts_with('-') && text.len() > 1;
        if !is_option && !is_assignment(word) {
            break;
        }
        let takes = row.is_valued(&text);
        at += 1 + usize::from(is_option && takes);
    }
    at.min(words.len())
}

fn is_assignment(word: &Word) -> bool {
    let name = word.split('=').map(|(name, _)| name.start());
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

fn is_remote(word: &Word) -> bool {
    let text = word.start();
    text.split_once(':').is_some_and(|(host, _)| !host.contains('/') && !host.is_empty())
}
