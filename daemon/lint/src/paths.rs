//! Rules `paths/*`: problems with the globs of the files that a skill is for.

use std::ffi::OsStr;

use skills_agents::field_table::{Agent, CLAUDE_SKILLS, Citation, GIT_IGNORE, PATHS};
use skills_agents::fields::SpannedText;
use skills_agents::hooks::shorten_matcher;
use skills_discovery::activate::{self, PatternBudget, PatternError};
use skills_syntax::diagnostic::Severity;
use skills_syntax::text::Span;

use super::finding::Finding;
use super::rule::{Family, Rule};
use super::rule_id::RuleId;
use super::subject::Cx;

const SOURCES: &[&Citation] = &[&CLAUDE_SKILLS, &GIT_IGNORE];

const PASSING: &str = "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: src/**/*.rs\n---\nRead the file.\n//- /w/src/main.rs\nfn main() {}\n";

/// Values that most rules of this family share.
const FAMILY: Family = Family {
    severity: Severity::Warning,
    whole_file: false,
    agents: &[Agent::ClaudeCode, Agent::VsCode],
    sources: SOURCES,
    passing: PASSING,
};

pub(super) static GLOB: Rule = FAMILY.rule(
    RuleId::PathsGlob,
    "The glob never matches.",
    "The glob activates the skill for no file.",
    "Close the bracket or escape it with a backslash, and write paths without `./`.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: 'src/[a-z'\n---\nRead the file.\n",
)
.severity(Severity::Error);

pub(super) static NOTHING: Rule = FAMILY.rule(
    RuleId::PathsNothing,
    "The glob matches no file in this worktree.",
    "The skill stays hidden until a matching file is touched.",
    "Correct the glob, unless the files do not exist yet.",
    "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: scr/**/*.rs\n---\nRead the file.\n//- /w/src/main.rs\nfn main() {}\n",
)
.severity(Severity::Information);

pub(super) static EVERYTHING: Rule = FAMILY.rule(
    RuleId::PathsEverything,
    "The glob matches every file.",
    "It only hides the skill until the first file is touched.",
    "Remove `paths`, or name the files that the skill is for.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: '**/*'\n---\nRead the file.\n",
)
.severity(Severity::Information);

pub(super) static ABSOLUTE: Rule = FAMILY.rule(
    RuleId::PathsAbsolute,
    "The glob is an absolute path or leaves the worktree.",
    "Agents match globs against paths relative to the session's working directory. This glob matches none of them.",
    "Write the path relative to the directory in which the agent starts.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: ../other/*.rs\n---\nRead the file.\n",
);

pub(super) static BACKSLASH: Rule = FAMILY.rule(
    RuleId::PathsBackslash,
    "A backslash is used as a directory separator.",
    "In a glob, a backslash escapes the next character.",
    "Use `/` on every system.",
    "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: src\\parser\\*.rs\n---\nRead the file.\n//- /w/src/parser/pdf.rs\nfn read() {}\n",
)
.fixable();

pub(super) static BRACES: Rule = FAMILY.rule(
    RuleId::PathsBraces,
    "Some agents do not expand these braces.",
    "All agents expand alternatives separated by commas. Some take ranges, single words and nested braces literally.",
    "List the alternatives, separated by commas.",
    "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: page{1..9}.pdf\n---\nRead the file.\n//- /w/page1.pdf\n%PDF\n",
)
.fixable();

pub(super) static NEGATION: Rule = FAMILY.rule(
    RuleId::PathsNegation,
    "The negated glob excludes nothing, or everything.",
    "`!` excludes files that an earlier glob matches. It has no effect without such a glob, or if a glob matches the file's directory. If it matches every file, nothing is left.",
    "Put it after the glob that it restricts, and let that glob match files: `src/**/*.ts` instead of `src/`.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: ['!src/gen/**']\n---\nRead the file.\n",
);

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    if !cx.applies_to(&[Agent::ClaudeCode, Agent::AgentSkills]) {
        return;
    }
    let globs = Globs::new(cx.items(&PATHS));
    let mut budget = PatternBudget::default();
    out.extend((0..globs.items.len()).filter_map(|at| check_glob(cx, &globs, at, &mut budget)));
}

/// The globs of a text, and the positions of positive and negated ones.
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

/// Maximum number of globs that are compared with each other.
const MAX_COMPARED: usize = 32;

/// Returns the finding of one glob; each has at most one, since a malformed glob also matches
/// nothing.
fn check_glob(
    cx: &Cx<'_>,
    globs: &Globs,
    at: usize,
    budget: &mut PatternBudget,
) -> Option<Finding> {
    let item = &globs.items[at];
    let text = item.text.trim();
    let span = item.span;
    let checked = budget.check(text);
    if let Err(error @ (PatternError::Long(_) | PatternError::Many)) = &checked {
        let message = format!("`{}` never matches: it {error}", shorten_matcher(text));
        return Some(Finding::new(&GLOB, span, message));
    }
    if text.starts_with('!') && globs.first_positive.is_none_or(|it| it >= at) {
        let message = format!("`{text}` excludes files, but no earlier glob includes any");
        return Some(Finding::new(&NEGATION, span, message));
    }
    let glob = text.strip_prefix('!').unwrap_or(text);
    if is_outside(glob) {
        let message = format!("`{text}` matches no path inside the worktree");
        return Some(Finding::new(&ABSOLUTE, span, message));
    }
    if let Some(better) = backslashes(glob) {
        let message = format!("`\\` does not separate directories in `{text}`");
        let finding = Finding::new(&BACKSLASH, span, message);
        return Some(add_rewrite(cx, finding, glob, &better));
    }
    if let Some((what, inner)) = odd_braces(glob) {
        return Some(report_braces(cx, item, what, inner));
    }
    if let Err(error) = checked {
        return Some(never_matches(cx, item, glob, &error));
    }
    let is_everything = activate::matches_all(glob);
    if text.starts_with('!') {
        return if is_everything && globs.last_positive.is_none_or(|it| it < at) {
            let message = format!("`{text}` excludes everything that the earlier globs match");
            Some(Finding::new(&NEGATION, span, message))
        } else {
            ineffective_negation(&globs.items, at)
        };
    }
    if is_everything {
        // A later negation can make it match less than everything.
        let is_all = globs.last_negative.is_none_or(|it| it < at);
        let message = format!("`{text}` matches every file");
        return is_all.then(|| Finding::new(&EVERYTHING, span, message));
    }
    // An agent matches globs from the directory in which it starts: the top of the worktree, or
    // that of a nested skill.
    let is_unmatched = |glob: &str| cx.fs.matches(glob) == Some(0);
    if !is_unmatched(glob) || from_own_directory(cx, glob).is_some_and(|it| !is_unmatched(&it)) {
        return None;
    }
    Some(Finding::new(&NOTHING, span, format!("`{text}` matches no file in this worktree")))
}

/// Returns the glob as it is written at the top of the worktree, for an agent that starts in the
/// directory of a nested skill: the one that holds `.claude`, for example.
fn from_own_directory(cx: &Cx<'_>, glob: &str) -> Option<String> {
    let dir = cx.path?.parent()?;
    let parts: Vec<_> = dir.iter().map(OsStr::to_str).collect();
    let below = &parts[parts.len().checked_sub(cx.fs.depth()?)?..];
    let end = below.iter().rposition(|it| it.is_some_and(|it| it.starts_with('.')))?;
    let own: Vec<&str> = below[..end].iter().copied().collect::<Option<_>>()?;
    let is_literal = |it: &&str| !it.contains(['*', '?', '[', '{', '\\']);
    let is_nested = !own.is_empty() && own.iter().all(is_literal);
    is_nested.then(|| format!("/{}/{}", own.join("/"), glob.trim_start_matches('/')))
}

/// Reports braces with the content `inner` that some agents do not expand.
fn report_braces(cx: &Cx<'_>, item: &SpannedText, what: &str, inner: &str) -> Finding {
    let message = format!("some agents do not expand {what} in `{}`", item.text.trim());
    let finding = Finding::new(&BRACES, item.span, message);
    let braces = format!("{{{inner}}}");
    let written = item.span.slice(cx.text);
    match expanded(inner) {
        Some(better) if written.matches(&braces).count() == 1 => {
            let at = item.span.start + written.find(&braces).unwrap_or_default();
            let place = Span::new(at, at + braces.len());
            finding.fix(format!("Change to `{better}`"), place, better)
        }
        Some(_) | None => finding,
    }
}

/// Reports a glob that cannot match any path.
fn never_matches(cx: &Cx<'_>, item: &SpannedText, glob: &str, error: &PatternError) -> Finding {
    let text = item.text.trim();
    let finding = Finding::new(&GLOB, item.span, format!("`{text}` never matches: it {error}"));
    if *error != PatternError::Dots {
        return finding;
    }
    if glob.contains(['{', '\\']) {
        return finding;
    }
    let names: Vec<&str> = glob.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    // Without a slash before its end, the glob would match at any depth.
    let start = if names.len() == 1 { "/" } else { "" };
    let end = if glob.ends_with('/') { "/" } else { "" };
    let better = format!("{start}{}{end}", names.join("/"));
    if names.is_empty() || activate::matches_all(&better) {
        return finding.help("If the skill is for every file, remove `paths`.");
    }
    add_rewrite(cx, finding, glob, &better)
}

/// Reports a negation that another glob makes ineffective.
fn ineffective_negation(globs: &[SpannedText], at: usize) -> Option<Finding> {
    if globs.len() > MAX_COMPARED {
        return None;
    }
    let texts: Vec<&str> = globs.iter().map(|it| it.text.trim()).collect();
    let by = activate::overruling_pattern(&texts, at)?;
    let (text, other) = (texts[at], texts[by]);
    let why = if by < at {
        format!("`{other}` matches the whole directory")
    } else {
        format!("the later glob `{other}` includes the files again")
    };
    Some(Finding::new(&NEGATION, globs[at].span, format!("`{text}` excludes nothing: {why}")))
}

/// Adds a fix that replaces the glob, if the source contains it unescaped.
fn add_rewrite(cx: &Cx<'_>, finding: Finding, glob: &str, better: &str) -> Finding {
    let span = finding.diagnostic.span;
    let written = span.slice(cx.text);
    if !written.contains(glob) {
        return finding;
    }
    finding.fix(format!("Change to `{better}`"), span, written.replacen(glob, better, 1))
}

/// Returns the glob with `/` instead of backslashes that separate names.
fn backslashes(glob: &str) -> Option<String> {
    let separates = glob.match_indices('\\').any(|(at, _)| {
        glob[at + 1..].starts_with(|it: char| it.is_ascii_alphanumeric() || it == '*' || it == '.')
            && at > 0
            && !glob[..at].ends_with('/')
    });
    // An escaped backslash is one backslash.
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

/// Returns the problem with the braces of a glob and the text inside the first such braces.
fn odd_braces(glob: &str) -> Option<(&'static str, &str)> {
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, letter) in glob.char_indices() {
        match letter {
            '{' if depth > 0 => return Some(("nested braces", "")),
            '{' => {
                depth += 1;
                start = at + 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                let inner = &glob[start..at];
                if inner.contains("..") && !inner.contains(',') {
                    return Some(("the range in braces", inner));
                }
                if !inner.contains(',') {
                    return Some(("the braces around a single word", inner));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns a form that every agent expands, instead of a range or a single word in braces.
fn expanded(inner: &str) -> Option<String> {
    /// Longer lists are not generated.
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
