//! Paths in the arguments of git commands, which may also contain revisions.

use super::operands::parse;
use super::table::{CommandRow, OperandShape, has};
use super::walk::Walk;
use super::word::Word;

/// Options of git itself that take a value.
const OWN: &str = "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path";

/// Returns the options of a git command that take a value other than a path.
fn valued(command: &str) -> &'static str {
    match command {
        "grep" => "-A -B -C -O -e -m --max-depth --threads --max-count --context",
        "commit" | "tag" | "merge" | "notes" | "stash" => {
            "-m -C -c -t -u --author --date --message --reuse-message --reedit-message --fixup --cleanup"
        }
        "log" | "show" | "diff" | "rev-list" | "shortlog" | "whatchanged" | "blame"
        | "annotate" => {
            "-n -L -S -G -U -O --author --committer --since --until --after --before --format --grep \
             --max-count --pretty --abbrev --unified --diff-filter --date"
        }
        "clone" | "fetch" | "pull" => "-b -o -j --depth --branch --origin --upload-pack",
        "checkout" | "switch" | "worktree" | "branch" => "-b -B -c -C --orphan --sort --contains",
        "restore" => "-s --source",
        _ => "",
    }
}

/// Analyses `git WORDS`.
pub(super) fn run(walk: &mut Walk<'_>, words: &[Word]) {
    let mut at = 0;
    let mut directory: Option<Word> = None;
    while let Some(word) = words.get(at).filter(|word| word.start().starts_with('-')) {
        let option = word.start();
        let takes = has(OWN, &option);
        let value = words.get(at + 1).filter(|_| takes);
        if option == "-C" || option == "--work-tree" {
            directory = value.cloned();
        } else if let Some((_, value)) = word.split('=').filter(|(n, _)| n.start() == "--work-tree")
        {
            directory = Some(value);
        }
        at += 1 + usize::from(takes);
    }
    let Some((command, rest)) = words.get(at..).and_then(<[Word]>::split_first) else { return };
    walk.in_subshell(|walk| {
        if let Some(directory) = &directory {
            walk.touch(directory);
            walk.change_directory(Some(directory));
        }
        subcommand(walk, &command.start(), rest);
    });
}

fn subcommand(walk: &mut Walk<'_>, command: &str, rest: &[Word]) {
    let paths = match command {
        "commit" | "tag" => "-F --file",
        "grep" => "-f",
        "archive" | "format-patch" | "bundle" => "-o --output",
        _ => "",
    };
    let row = CommandRow {
        names: "",
        valued: valued(command),
        paths,
        dirs: "",
        shape: OperandShape::Git,
    };
    let parsed = parse(&row, rest);
    walk.option_paths(&parsed);
    let n = parsed.before_dashes.unwrap_or(parsed.operands.len());
    let (before, after) = parsed.operands.split_at(n);
    match command {
        "show" | "diff" | "log" | "difftool" | "whatchanged" | "shortlog" | "rev-list"
        | "cat-file" | "blame" | "annotate" | "stash" | "reset" | "rev-parse" | "ls-tree"
        | "archive" => {
            for word in before {
                touch_revision_or_path(walk, word, parsed.before_dashes.is_none());
            }
            walk.touch_all(after);
        }
        "add" | "stage" | "check-ignore" | "check-attr" | "hash-object" | "ls-files" | "status"
        | "apply" | "am" | "diff-files" | "update-index" | "commit" | "rm" | "mv" | "restore"
        | "clean" => walk.touch_all(&parsed.operands),
        "checkout" => {
            walk.touch_all(after);
            if parsed.before_dashes.is_none() {
                walk.guess(before);
            }
        }
        "grep" => {
            let skip = usize::from(!parsed.is_given("-e -f")).min(before.len());
            // Revisions may come between the pattern and `--`.
            if parsed.before_dashes.is_none() {
                walk.guess(&before[skip..]);
            }
            walk.touch_all(after);
            if parsed.operands.len() <= skip {
                walk.touch_text(".");
            }
        }
        "worktree" => {
            let is_of_path =
                before.first().is_some_and(|word| has("add move remove repair", &word.start()));
            if is_of_path {
                walk.touch_all(before.get(1..2).unwrap_or_default());
            }
        }
        "clone" => walk.touch_all(before.get(1..2).unwrap_or_default()),
        "init" => walk.touch_all(before.get(..1).unwrap_or_default()),
        _ => walk.touch_all(after),
    }
}

// `REV:path`, `REV:./path`, or a path between revisions.
fn touch_revision_or_path(walk: &mut Walk<'_>, word: &Word, may_be_path: bool) {
    match word.split(':') {
        Some((_, path)) => match path.path(None) {
            Some(path) if path.starts_with("./") || path.starts_with("../") => {
                walk.touch_text(&path);
            }
            Some(path) if !path.is_empty() => walk.touch_from_top(&path),
            _ => {}
        },
        // `a..b`, `origin/main` and `feature/x` are revisions; a name with an extension is a file.
        None if may_be_path => {
            let text = word.start();
            let has_ending = text.rsplit('/').next().is_some_and(|name| name.contains('.'));
            if has_ending && !text.contains("..") && word.looks_like_path() {
                walk.touch(word);
            }
        }
        None => {}
    }
}
