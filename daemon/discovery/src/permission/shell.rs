//! Claude Code's rules about its shell tool, applied to the commands and scripts of skills.
//!
//! A rule matches a command if it matches the whole of it or one of its parts. Parts are cut at
//! every operator, even within quotes, and compared without assignments, wrappers and quotes before
//! them, so that a rule that denies rather matches too much.

use super::{Action, MAX_PATTERN_BYTES, Rule, wildcard};

/// Name of the agent's shell tool in its rules.
pub const SHELL_TOOL: &str = "Bash";

/// Maximum length of a command that is compared, in bytes; every rule matches a longer one.
const MAX_COMMAND_BYTES: usize = 16 * 1024;

/// Maximum words before a program, such as `sudo` and `A=1`; every rule matches a command with
/// more.
const LEADING_WORDS: usize = 32;

/// Programs that run the command in their arguments.
const WRAPPERS: [&str; 16] = [
    "builtin", "command", "doas", "env", "exec", "ionice", "nice", "nohup", "setsid", "stdbuf",
    "sudo", "then", "time", "timeout", "xargs", "do",
];

/// Words of the shell before a command.
const KEYWORDS: [&str; 6] = ["!", "if", "elif", "else", "while", "until"];

/// Returns the rule that decides about commands: the first that denies one of them, else the first
/// that asks; `None` if no rule matches.
pub fn shell_rule<'a>(rules: &'a [Rule], commands: &[String]) -> Option<&'a Rule> {
    if rules.is_empty() || commands.is_empty() {
        return None;
    }
    let parts: Option<Vec<_>> = commands.iter().map(|it| parts(it)).collect();
    let is_met = |rule: &Rule| match &parts {
        Some(parts) => parts.iter().flatten().any(|it| matches(&rule.pattern, it)),
        None => true,
    };
    let matching = |action| rules.iter().find(|it| it.action == action && is_met(it));
    matching(Action::Deny).or_else(|| matching(Action::Ask))
}

/// Returns the texts that rules are compared with; `None` if the command exceeds a limit.
fn parts(command: &str) -> Option<Vec<String>> {
    if command.len() > MAX_COMMAND_BYTES {
        return None;
    }
    let whole = command.trim();
    let mut parts = vec![whole.to_owned()];
    let is_operator = |it: char| ";&|()<>`\n\r{}".contains(it);
    for part in whole.split(is_operator).map(str::trim).filter(|it| !it.is_empty()) {
        let plain: String = part.chars().filter(|it| !"\"'\\$".contains(*it)).collect();
        for text in [part, &plain] {
            let words: Vec<_> = text.split_whitespace().collect();
            let start = command_start(&words);
            if start > LEADING_WORDS {
                return None;
            }
            for from in 0..=start.min(words.len().saturating_sub(1)) {
                parts.push(words[from..].join(" "));
            }
            if let Some((program, rest)) = words.get(start..).and_then(<[_]>::split_first)
                && let Some((_, name)) = program.rsplit_once('/')
            {
                parts.push([&[name], rest].concat().join(" "));
            }
        }
    }
    Some(parts)
}

/// Returns the index of the word that names the program, behind assignments, wrappers and their
/// options.
fn command_start(words: &[&str]) -> usize {
    let is_assignment = |it: &str| {
        it.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        })
    };
    let mut is_wrapped = false;
    let mut start = 0;
    for word in words {
        let name = word.rsplit('/').next().unwrap_or(word);
        let is_wrapper = WRAPPERS.contains(&name);
        is_wrapped |= is_wrapper;
        let is_option = word.starts_with('-') || word.starts_with(|it: char| it.is_ascii_digit());
        if !(is_assignment(word)
            || is_wrapper
            || KEYWORDS.contains(word)
            || (is_wrapped && is_option))
        {
            break;
        }
        start += 1;
    }
    start
}

/// Returns whether a rule such as `Bash(git push:*)` matches a command.
fn matches(rule: &str, command: &str) -> bool {
    let rest = rule.strip_prefix(SHELL_TOOL).unwrap_or(rule);
    // A rule that is not closed denies every command.
    let Some(pattern) = rest.strip_prefix('(').and_then(|it| it.strip_suffix(')')) else {
        return true;
    };
    let pattern = pattern.trim();
    if pattern.is_empty() || pattern == "*" || pattern.len() > MAX_PATTERN_BYTES {
        return true;
    }
    if let Some(prefix) = pattern.strip_suffix(":*") {
        let after = command.strip_prefix(prefix);
        return after.is_some_and(|it| it.is_empty() || it.starts_with(char::is_whitespace))
            || (prefix.contains('*') && wildcard::matches(&format!("{prefix} *"), command));
    }
    wildcard::matches(pattern, command)
}

#[cfg(test)]
mod tests {
    use skills_syntax::path::AbsPath;
    use skills_syntax::text::LineColumn;

    use super::*;
    use crate::permission::{Author, SourceLocation};

    fn rule(action: Action, pattern: &str) -> Rule {
        let file = AbsPath::new("/s.json".as_ref()).unwrap();
        let source = SourceLocation { file, at: LineColumn { line: 1, column: 1 } };
        Rule { author: Author::Agent, agent: None, pattern: pattern.into(), action, source }
    }

    fn is_denied(pattern: &str, command: &str) -> bool {
        shell_rule(&[rule(Action::Deny, pattern)], &[command.to_owned()]).is_some()
    }

    #[test]
    fn shell_rule_matches_whole_commands_prefixes_and_wildcards() {
        for (pattern, command, expected) in [
            ("Bash", "ls", true),
            ("Bash()", "ls", true),
            ("Bash(*)", "ls", true),
            ("Bash(ls", "date", true),
            ("Bash(ls)", "ls", true),
            ("Bash(ls)", "ls -l", false),
            ("Bash(git push:*)", "git push origin", true),
            ("Bash(git push:*)", "git push", true),
            ("Bash(git push:*)", "git pushy", false),
            ("Bash(git push *)", "git push", true),
            ("Bash(git * main)", "git push origin main", true),
            ("Bash(rm *)", "rmdir x", false),
        ] {
            assert_eq!(is_denied(pattern, command), expected, "{pattern} {command}");
        }
    }

    #[test]
    fn denied_command_is_found_in_every_part_of_a_line() {
        for command in [
            "true && rm -rf x",
            "true; rm x",
            "echo $(rm x)",
            "echo `rm x`",
            "A=1 B=2 rm x",
            "timeout 5 rm x",
            "env -i A=1 rm x",
            "sudo nice -n 3 rm x",
            "/bin/rm x",
            "r\"m\" x",
            "\\rm x",
            "if true; then rm x; fi",
            "(cd x && rm y)",
            "true |& rm x",
            "true\nrm x",
            "bash -c 'true; rm x'",
        ] {
            assert!(is_denied("Bash(rm *)", command), "{command}");
            assert!(is_denied("Bash(rm:*)", command), "{command}");
        }
        assert!(!is_denied("Bash(rm *)", "echo arm x && git log"));
    }

    #[test]
    fn parts_of_a_command_grow_with_its_length_only() {
        let bytes = |text: &str| parts(text).unwrap().iter().map(String::len).sum::<usize>();
        let leading = format!("{}rm x; ", "sudo ".repeat(LEADING_WORDS));
        let (once, ten_times) = (bytes(&leading), bytes(&leading.repeat(10)));
        assert!(ten_times <= 11 * once, "{once} {ten_times}");
        for word in ["sudo ", "A=1 ", "env -i "] {
            let command = |n_words: usize| format!("{}rm x", word.repeat(n_words));
            assert!(is_denied("Bash(rm:*)", &command(LEADING_WORDS / 2)));
            assert!(!is_denied("Bash(git:*)", &command(LEADING_WORDS / 2)));
            assert!(is_denied("Bash(git:*)", &command(LEADING_WORDS + 1)));
        }
    }

    #[test]
    fn deny_comes_before_ask() {
        let rules = [rule(Action::Ask, "Bash"), rule(Action::Deny, "Bash(rm:*)")];
        let of = |command: &str| shell_rule(&rules, &[command.to_owned()]).map(|it| it.action);
        assert_eq!((of("rm x"), of("ls")), (Some(Action::Deny), Some(Action::Ask)));
    }
}
