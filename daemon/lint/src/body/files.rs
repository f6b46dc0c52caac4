//! Files that a body names: in links, in backticks, in commands.

use skills_syntax::markdown::link_path;
use skills_syntax::suggest;
use skills_syntax::text::Span;

use super::super::subject::Cx;
use super::super::surroundings::Look;
use super::super::{Finding, Offer, found};

/// Directories that the standard and its tools give a meaning to.
const OWN: [&str; 4] = ["scripts/", "references/", "assets/", "templates/"];

/// Files beside a skill that are there for people.
const FOR_PEOPLE: [&str; 10] = [
    "LICENSE",
    "LICENCE",
    "README",
    "NOTICE",
    "CHANGELOG",
    "CONTRIBUTING",
    "package",
    "requirements",
    "pyproject",
    "agents/openai",
];

/// How alike a path has to be to one that there is.
const ALIKE: f64 = 0.8;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    for link in &cx.body().links {
        self::link(cx, *link, out);
        backslashes(cx, "body/broken-link", *link, out);
    }
    for code in &cx.body().codes {
        path(cx, *code, out);
        backslashes(cx, "body/broken-path", *code, out);
    }
    for fence in &cx.body().fences {
        scripts(cx, fence.content, out);
    }
    unreferenced(cx, out);
}

/// Returns the path without `.` and `..`, and whether it leaves the directory.
fn normal(path: &str) -> (String, bool) {
    let mut parts: Vec<&str> = Vec::new();
    let mut leaves = false;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => {
                parts.pop();
            }
            ".." => {
                leaves = true;
                parts.push("..");
            }
            part => parts.push(part),
        }
    }
    (parts.join("/"), leaves)
}

fn link(cx: &Cx<'_>, span: Span, out: &mut Vec<Finding>) {
    let written = span.slice(cx.text);
    let Some(path) = link_path(written) else { return };
    let (normal, leaves) = normal(&path);
    // A word alone is as often a placeholder as a file.
    if !normal.contains(['/', '.']) || normal.is_empty() {
        return;
    }
    match cx.surroundings.look(&normal) {
        Some(Look::Missing) => {
            let message = format!("there is no `{normal}`");
            out.push(meant(cx, found("body/broken-link", span, message), span, &path, &normal));
        }
        Some(_) if leaves => {
            out.push(found("body/escape", span, format!("`{normal}` lies outside the skill")));
        }
        Some(_) | None => {}
    }
}

fn path(cx: &Cx<'_>, span: Span, out: &mut Vec<Finding>) {
    let written = span.slice(cx.text);
    let name = written.strip_prefix("./").unwrap_or(written);
    let is_file = |it: &str| {
        let last = it.rsplit('/').next().unwrap_or_default();
        let extension = last.rsplit_once('.').map_or("", |(_, it)| it);
        (1..=5).contains(&extension.len())
            && it.chars().all(|it| it.is_ascii_alphanumeric() || "/._-".contains(it))
    };
    if !OWN.iter().any(|it| name.starts_with(it)) || !is_file(name) {
        return;
    }
    let (normal, leaves) = normal(name);
    if leaves || cx.surroundings.look(&normal) != Some(Look::Missing) {
        return;
    }
    // Where the skill has no such directory, the path is most often one of the user's project.
    let dir = &normal[..normal.find('/').map_or(0, |at| at)];
    if !matches!(cx.surroundings.look(dir), Some(Look::Directory)) {
        return;
    }
    let message = format!("there is no `{normal}` in the skill");
    out.push(meant(cx, found("body/broken-path", span, message), span, name, &normal));
}

/// A file of the skill that is spelled as on Windows: elsewhere there is none of that name.
fn backslashes(cx: &Cx<'_>, id: &'static str, span: Span, out: &mut Vec<Finding>) {
    let written = span.slice(cx.text);
    let is_path = |it: char| it.is_ascii_alphanumeric() || "\\._-".contains(it);
    if !written.contains('\\') || !written.contains('.') || !written.chars().all(is_path) {
        return;
    }
    let slashed = written.replace('\\', "/");
    let (normal, _) = normal(&slashed);
    if matches!(cx.surroundings.look(&normal), Some(Look::File { .. })) {
        let message = format!("there is no `{written}` but on Windows, where it is `{normal}`");
        let fix = format!("Write `{slashed}`");
        out.push(found(id, span, message).fix(fix, span, slashed));
    }
}

/// Adds the file that was probably meant.
fn meant(cx: &Cx<'_>, finding: Finding, span: Span, path: &str, normal: &str) -> Finding {
    if let Some(beside) = normal.strip_prefix("../") {
        return another_skill(cx, finding, span, beside);
    }
    let files = cx.surroundings.files().unwrap_or_default();
    let alike = suggest::nearest(normal, files.iter().map(String::as_str), ALIKE);
    let [meant] = alike[..] else { return finding };
    let written = span.slice(cx.text);
    let Some(at) = written.find(path) else { return finding };
    let span = Span::new(span.start + at, span.start + at + path.len());
    finding.meant(span, meant)
}

/// Adds the skill beside this one that was probably meant, where the same file is there.
fn another_skill(cx: &Cx<'_>, finding: Finding, span: Span, beside: &str) -> Finding {
    let (dir, rest) = beside.split_once('/').unwrap_or((beside, ""));
    let names = cx.company().directories();
    let [meant] = suggest::nearest(dir, names, ALIKE)[..] else { return finding };
    let path = format!("../{meant}/{rest}");
    let is_there =
        matches!(cx.surroundings.look(path.trim_end_matches('/')), Some(it) if it != Look::Missing);
    match span.slice(cx.text).find(&format!("../{dir}")) {
        Some(at) if is_there => {
            let start = span.start + at + "../".len();
            finding.meant(Span::new(start, start + dir.len()), meant)
        }
        Some(_) | None => finding,
    }
}

/// Looks at scripts that a block of code runs by their path.
fn scripts(cx: &Cx<'_>, content: Span, out: &mut Vec<Finding>) {
    let mut at = content.start;
    while at < content.end {
        let line = cx.line(at);
        let written = line.slice(cx.text);
        let command = written.trim_start().trim_start_matches("$ ");
        let start = line.end - command.len();
        let program = command.split([' ', '\t', ';', '|', '&']).next().unwrap_or_default();
        let path =
            program.strip_prefix("${CLAUDE_SKILL_DIR}/").or_else(|| program.strip_prefix("./"));
        let path = path.unwrap_or(program);
        // PowerShell looks at the name alone.
        if path.starts_with("scripts/")
            && path.rsplit_once('.').is_none_or(|(_, extension)| extension != "ps1")
            && let Some(Look::File { executable: false, script: true }) = cx.surroundings.look(path)
        {
            let span = Span::new(start, start + program.len());
            let finding =
                found("body/not-executable", span, format!("`{path}` cannot be executed"));
            out.push(finding.offer(Offer::MakeExecutable(path.to_owned())));
        }
        at = skills_syntax::text::after_line_end(cx.text, line.end).max(at + 1);
    }
}

/// Returns the files of a skill of which its body says nothing, of those that are there for a model.
pub fn unnamed<'a>(files: &'a [String], body: &str) -> Vec<&'a String> {
    let is_named = |file: &str| {
        let name = file.rsplit('/').next().unwrap_or(file);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let mut dirs = file.match_indices('/').map(|(at, _)| &file[..at]);
        body.contains(name)
            || (stem.len() > 3 && body.contains(stem))
            || dirs.any(|it| body.contains(&format!("{it}/")) || body.contains(&format!("`{it}`")))
    };
    let is_for_people = |file: &str| {
        FOR_PEOPLE.iter().any(|it| file.starts_with(it))
            || file.split('/').any(|it| it.starts_with('.') || it == "tests" || it == "evals")
    };
    // What one file of the skill names, another may lead to: only whole directories are told.
    let own = |file: &&String| OWN.iter().any(|it| file.starts_with(it));
    let told = files.iter().filter(own);
    told.filter(|it| !is_for_people(it) && !is_named(it) && !it.ends_with("__init__.py")).collect()
}

fn unreferenced(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(files) = cx.surroundings.files() else { return };
    let unnamed = unnamed(files, cx.document.body.slice(cx.text));
    let Some(first) = unnamed.first() else { return };
    let message = match unnamed.len() {
        1 => format!("nothing in the body names `{first}`"),
        2 => format!("nothing in the body names `{first}` and one more file"),
        more => format!("nothing in the body names `{first}` and {} more files", more - 1),
    };
    let name = cx.entry("name").map(|it| it.value.span).filter(|it| !it.is_empty());
    out.push(found("body/unreferenced-file", name.unwrap_or_else(|| cx.opening()), message));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_plain() {
        assert_eq!(normal("./a/../b//c.md"), ("b/c.md".to_owned(), false));
        assert_eq!(normal("a/../../b"), ("../b".to_owned(), true));
    }
}
