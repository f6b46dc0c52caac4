//! `paths/*`: the globs that say which files a skill is about.

use skills_agents::field_table::{Agent, CLAUDE_SKILLS, Citation, GIT_IGNORE, PATHS};
use skills_agents::fields::SpannedText;
use skills_agents::hooks::shorten_matcher;
use skills_discovery::activate::{self, Budget, PatternError};
use skills_syntax::diagnostic::Severity;
use skills_syntax::text::Span;

use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, found};

const fn rule(
    id: &'static str,
    severity: Severity,
    what: &'static str,
    why: &'static str,
    repair: &'static str,
    failing: &'static str,
) -> Rule {
    let rule = Rule::new(id, severity, what, why, repair);
    rule.agents(&[Agent::ClaudeCode, Agent::VsCode]).sources(SOURCES).texts(failing, WELL)
}

const SOURCES: &[&Citation] = &[&CLAUDE_SKILLS, &GIT_IGNORE];

const WELL: &str = "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: src/**/*.rs\n---\nRead the file.\n//- /w/src/main.rs\nfn main() {}\n";

pub(super) static RULES: [Rule; 7] = [
    rule(
        "paths/glob",
        Severity::Error,
        "The glob can never match.",
        "It brings the skill into sight for no file at all.",
        "Close the bracket or put a backslash before it, and write paths without `./`.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: 'src/[a-z'\n---\nRead the file.\n",
    ),
    rule(
        "paths/nothing",
        Severity::Information,
        "The glob matches no file of this worktree.",
        "The skill stays out of sight until such a file is touched.",
        "Correct the glob, unless the files are still to come.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: scr/**/*.rs\n---\nRead the file.\n//- /w/src/main.rs\nfn main() {}\n",
    ),
    rule(
        "paths/everything",
        Severity::Information,
        "The glob matches every file.",
        "It restricts nothing but hides the skill until the first file is touched.",
        "Remove `paths`, or name the files that the skill is about.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: '**/*'\n---\nRead the file.\n",
    ),
    rule(
        "paths/absolute",
        Severity::Warning,
        "The glob is an absolute path, or leads out of the worktree.",
        "Globs are compared with paths from the directory that the session was started in; this one matches none of them.",
        "Write the path from the top of the worktree.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: ../other/*.rs\n---\nRead the file.\n",
    ),
    rule(
        "paths/backslash",
        Severity::Warning,
        "A backslash stands where `/` separates directories.",
        "In a glob it takes the meaning of the next character away.",
        "Write `/`, on every system.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: src\\parser\\*.rs\n---\nRead the file.\n//- /w/src/parser/pdf.rs\nfn read() {}\n",
    )
    .fixable(),
    rule(
        "paths/braces",
        Severity::Warning,
        "Braces of a form that is not expanded.",
        "Alternatives with commas are expanded; ranges, single words and braces in braces are taken as they are written by some agents.",
        "Write the alternatives out.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: page{1..9}.pdf\n---\nRead the file.\n//- /w/page1.pdf\n%PDF\n",
    )
    .fixable(),
    rule(
        "paths/negation",
        Severity::Warning,
        "The negation takes nothing out, or everything.",
        "`!` takes files out again that a glob before it has matched. It cannot where there is none, or where a directory that the file lies in is matched; and when it matches every file, nothing is left.",
        "Put it behind the glob that it restricts, and let that one match files: `src/**/*.ts` in place of `src/`.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: ['!src/gen/**']\n---\nRead the file.\n",
    ),
];

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    if ![Agent::ClaudeCode, Agent::AgentSkills].into_iter().any(|it| cx.concerns(it)) {
        return;
    }
    let globs = Globs::new(cx.items(&PATHS));
    let mut budget = Budget::default();
    out.extend((0..globs.items.len()).filter_map(|at| glob(cx, &globs, at, &mut budget)));
}

/// The globs of a text, and which of them put files in.
struct Globs {
    items: Vec<SpannedText>,
    first_positive: Option<usize>,
    last_positive: Option<usize>,
    last_negative: Option<usize>,
}

impl Globs {
    fn new(items: Vec<SpannedText>) -> Self {
        let is_positive = |it: &SpannedText| !it.text.starts_with('!');
        Self {
            first_positive: items.iter().position(is_positive),
            last_positive: items.iter().rposition(is_positive),
            last_negative: items.iter().rposition(|it| !is_positive(it)),
            items,
        }
    }
}

/// Of how many globs it is found out what they make of each other: each is held against all.
const MOST_COMPARED: usize = 32;

/// Each glob has at most one finding: what is malformed matches nothing as well.
fn glob(cx: &Cx<'_>, globs: &Globs, at: usize, budget: &mut Budget) -> Option<Finding> {
    let item = &globs.items[at];
    let text = item.text.trim();
    let span = item.span;
    let checked = budget.check(text);
    if let Err(error @ (PatternError::Long(_) | PatternError::Many)) = &checked {
        let message = format!("`{}` can never match: it {error}", shorten_matcher(text));
        return Some(found("paths/glob", span, message));
    }
    if text.starts_with('!') && globs.first_positive.is_none_or(|it| it >= at) {
        let message = format!("`{text}` takes files out, and no glob before it has put any in");
        return Some(found("paths/negation", span, message));
    }
    let glob = text.strip_prefix('!').unwrap_or(text);
    if is_outside(glob) {
        let message =
            format!("`{text}` is compared with paths inside the worktree and matches none");
        return Some(found("paths/absolute", span, message));
    }
    if let Some(better) = backslashes(glob) {
        let message = format!("`\\` separates no directories in `{text}`");
        let finding = found("paths/backslash", span, message);
        return Some(rewritten(cx, finding, glob, &better));
    }
    if let Some((what, inner)) = odd_braces(glob) {
        let finding = found("paths/braces", span, format!("{what} in `{text}`"));
        let written = span.slice(cx.text);
        let braces = format!("{{{inner}}}");
        return Some(match written_out(inner) {
            Some(better) if written.matches(&braces).count() == 1 => {
                let at = span.start + written.find(&braces).unwrap_or_default();
                let place = Span::new(at, at + braces.len());
                finding.fix(format!("Write `{better}`"), place, better)
            }
            Some(_) | None => finding,
        });
    }
    if let Err(error) = checked {
        return Some(never(cx, item, glob, &error));
    }
    let is_everything = activate::matches_all(glob);
    if text.starts_with('!') {
        return if is_everything && globs.last_positive.is_none_or(|it| it < at) {
            let message = format!("`{text}` takes out all that the globs before it match");
            Some(found("paths/negation", span, message))
        } else {
            overruled(&globs.items, at)
        };
    }
    if is_everything {
        // What is taken out again makes it less than everything.
        let is_all = globs.last_negative.is_none_or(|it| it < at);
        let message = format!("`{text}` matches every file");
        return is_all.then(|| found("paths/everything", span, message));
    }
    if cx.surroundings.matches(glob) != Some(0) {
        return None;
    }
    Some(found("paths/nothing", span, format!("`{text}` matches no file of this worktree")))
}

/// A glob that matches no path that there could be.
fn never(cx: &Cx<'_>, item: &SpannedText, glob: &str, error: &PatternError) -> Finding {
    let text = item.text.trim();
    let finding = found("paths/glob", item.span, format!("`{text}` can never match: it {error}"));
    if *error != PatternError::Dots {
        return finding;
    }
    if glob.contains(['{', '\\']) {
        return finding;
    }
    let names: Vec<&str> = glob.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    // Without a slash before the end it would count at any depth.
    let start = if names.len() == 1 { "/" } else { "" };
    let end = if glob.ends_with('/') { "/" } else { "" };
    let better = format!("{start}{}{end}", names.join("/"));
    if names.is_empty() || activate::matches_all(&better) {
        return finding.help("Remove `paths` where the skill is about every file.");
    }
    rewritten(cx, finding, glob, &better)
}

/// A negation that another glob keeps from taking anything out.
fn overruled(globs: &[SpannedText], at: usize) -> Option<Finding> {
    if globs.len() > MOST_COMPARED {
        return None;
    }
    let texts: Vec<&str> = globs.iter().map(|it| it.text.trim()).collect();
    let by = activate::overruling(&texts, at)?;
    let (text, other) = (texts[at], texts[by]);
    let why = if by < at {
        format!("`{other}` matches the directory that it is about, with all that is in it")
    } else {
        format!("`{other}` behind it puts the same in again")
    };
    Some(found("paths/negation", globs[at].span, format!("`{text}` takes nothing out: {why}")))
}

/// Adds the fix that writes a glob otherwise, where it stands as it is.
fn rewritten(cx: &Cx<'_>, finding: Finding, glob: &str, better: &str) -> Finding {
    let span = finding.diagnostic.span;
    let written = span.slice(cx.text);
    if !written.contains(glob) {
        return finding;
    }
    finding.fix(format!("Write `{better}`"), span, written.replacen(glob, better, 1))
}

/// Returns the glob with `/` where backslashes separate names.
fn backslashes(glob: &str) -> Option<String> {
    let separates = glob.match_indices('\\').any(|(at, _)| {
        glob[at + 1..].starts_with(|it: char| it.is_ascii_alphanumeric() || it == '*' || it == '.')
            && at > 0
            && !glob[..at].ends_with('/')
    });
    // Where a backslash escapes itself, two of them are one.
    separates.then(|| glob.replace("\\\\", "\\").replace('\\', "/"))
}

fn is_outside(glob: &str) -> bool {
    let drive = glob.as_bytes().get(1) == Some(&b':') && glob.as_bytes()[0].is_ascii_alphabetic();
    let homes = ["/home/", "/Users/", "/etc/", "/tmp/", "/var/", "/usr/", "/opt/", "~/"];
    drive
        || homes.iter().any(|it| glob.starts_with(it))
        || glob.split('/').any(|it| it == "..")
        || glob.contains("://")
}

/// Returns what is odd about the braces of a glob, and what stands between the first such.
fn odd_braces(glob: &str) -> Option<(&'static str, &str)> {
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, letter) in glob.char_indices() {
        match letter {
            '{' if depth > 0 => return Some(("braces in braces", "")),
            '{' => {
                depth += 1;
                start = at + 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                let inner = &glob[start..at];
                if inner.contains("..") && !inner.contains(',') {
                    return Some(("a range in braces", inner));
                }
                if !inner.contains(',') {
                    return Some(("braces around a single word", inner));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns what every agent expands in place of a range or a single word in braces.
fn written_out(inner: &str) -> Option<String> {
    /// A longer list is written better by hand, and otherwise.
    const MOST: u32 = 20;
    let Some((from, to)) = inner.split_once("..") else {
        let is_word = inner.chars().all(|it| it.is_alphanumeric() || "._-".contains(it));
        return (is_word && !inner.is_empty()).then(|| inner.to_owned());
    };
    let number = |it: &str| it.parse::<u32>().ok().filter(|_| !it.starts_with('0') || it == "0");
    let (from, to) = (number(from)?, number(to)?);
    if from >= to || to - from >= MOST {
        return None;
    }
    let all: Vec<String> = (from..=to).map(|it| it.to_string()).collect();
    Some(format!("{{{}}}", all.join(",")))
}
