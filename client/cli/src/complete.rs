//! `skillsd __complete`: names for completion scripts: skills, sessions, rules, profiles,
//! worktrees, agents with hooks.
//!
//! The scripts of `skillsd completions` complete commands and options by themselves, and ask this
//! command for names. It asks a running daemon and never starts one; without a daemon it has the
//! rules and profiles. A person waits for it, so it fails silently and within a time limit.
//!
//! Names come from files that anyone may have written. Names with control or invisible characters
//! are left out, because they cannot be shown as they are, and so are those that look like options.

mod position;

use std::os::unix::net::UnixStream;
use std::time::Duration;

use clap::{Arg, Args, FromArgMatches as _, ValueEnum};
use skills_client::blocking::{BlockingConnection, set_timeout};
use skills_client::spawn::connect;
use skills_client::{ClientError, environment};
use skills_protocol::method::{ProfilesDetect, SessionList, SkillsList, WorktreeList};
use skills_protocol::wire::{Include, ListParams, SessionListParams, WorktreeListParams};

use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::global::{ALL_PROFILES, EVERY_PROFILE, GlobalArgs};
use crate::heading::several;
use crate::hook;
use crate::text::plain;
use position::{ArgumentAt, argument_at};

/// Time limit for connecting, and for the answer.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum length of a description in characters.
const MAX_DESCRIPTION_CHARS: usize = 80;

#[derive(Debug, Clone, Args)]
pub struct CompleteArgs {
    shell: Shell,
    /// For bash the line before the cursor and `COMP_WORDBREAKS`; for zsh and fish the words before
    /// the cursor, without quotes
    #[arg(last = true)]
    words: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    /// GNU bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

/// The names that an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameKind {
    /// Skills that the agent lists.
    ListedSkills,
    /// Skills in any state.
    Skills,
    Sessions,
    Rules,
    Profiles,
    Worktrees,
    HookAgents,
}

/// A name with its description, which may be empty.
type Name = (String, String);

pub(super) fn run(cx: &CommandContext<'_>, args: &CompleteArgs) -> Result<Exit, CommandError> {
    // A script shows nothing for a failure.
    let text = candidates(cx, args).unwrap_or_default();
    cx.terminal.print(&text)?;
    Ok(Exit::Fine)
}

/// Adds the names to a completion script, before its first function with the given heading.
pub(super) fn extend_script(shell: Shell, script: &str, program: &mut clap::Command) -> String {
    let in_function = |names: &str| {
        let heading = "_skillsd() {\n";
        let called = format!("{}{heading}    _skillsd_names && return\n", names.trim_start());
        script.replacen(heading, &called, 1)
    };
    match shell {
        Shell::Bash => in_function(include_str!("complete/names.bash")),
        Shell::Zsh => in_function(include_str!("complete/names.zsh")),
        Shell::Fish => {
            program.build();
            let mut options: Vec<_> = long_options(program);
            options.sort_unstable();
            options.dedup();
            let lines = options.iter().map(|long| {
                format!("complete -c skillsd -l {long} -r -f -a '(__skillsd_print_names)'\n")
            });
            [script, include_str!("complete/names.fish"), &lines.collect::<String>()].concat()
        }
    }
}

fn long_options(command: &clap::Command) -> Vec<String> {
    let own = command.get_arguments().filter(|it| kind(command.get_name(), it).is_some());
    let own = own.filter_map(|it| it.get_long().map(str::to_owned));
    own.chain(command.get_subcommands().flat_map(long_options)).collect()
}

/// Returns the names that an argument of a command takes.
fn kind(command: &str, argument: &Arg) -> Option<NameKind> {
    let value = argument.get_value_names().and_then(<[_]>::first)?;
    let last = command.rsplit(' ').next().unwrap_or_default();
    match (value.as_str(), last) {
        ("NAME|PATH", "load") | ("NAME", "disable") => Some(NameKind::ListedSkills),
        ("NAME|PATH", _) | ("NAME", "enable" | "unlink") => Some(NameKind::Skills),
        ("NAME", "check" | "request") if command.starts_with("permission") => {
            Some(NameKind::ListedSkills)
        }
        ("SESSION", _) | ("ID", "mcp") => Some(NameKind::Sessions),
        ("RULE", _) => Some(NameKind::Rules),
        ("PROFILE", _) => Some(NameKind::Profiles),
        ("AGENT", "hook") => Some(NameKind::HookAgents),
        ("DIR", "trust") => Some(NameKind::Worktrees),
        ("DIR", _) if argument.get_long() == Some("cwd") => Some(NameKind::Worktrees),
        _ => None,
    }
}

fn candidates(cx: &CommandContext<'_>, args: &CompleteArgs) -> Option<String> {
    let (line, breaks) = match (args.shell, &args.words[..]) {
        (Shell::Bash, [line, breaks]) => (Some(BashWord::from_line(line)), &**breaks),
        (Shell::Bash, _) => return None,
        (Shell::Zsh | Shell::Fish, _) => (None, ""),
    };
    let words = line.as_ref().map_or(&args.words, |it| &it.words);
    let mut program = (cx.binary.definition)();
    program.build();
    let ArgumentAt { command, argument, value } = argument_at(&program, words)?;
    let kind = kind(&command, argument)?;
    let names = names(cx, kind, &global(&program, words)).ok()?;
    // Values of `--profile` may be lists.
    let kept = match kind {
        NameKind::Profiles => value.rfind(',').map_or("", |at| &value[..=at]),
        _ => "",
    };
    let is_shown = |(name, _): &Name| plain(name) == *name && !name.starts_with('-');
    let shown = names.into_iter().filter(is_shown);
    let shown = shown.map(|(name, about)| (format!("{kept}{name}"), about));
    let lines = shown.filter_map(|(name, about)| {
        if let Some(word) = &line {
            let name = name.starts_with(value).then_some(&*name)?;
            return Some(format!("{}\n", word.complete(name, value, breaks)?));
        }
        let about: String = plain(&about).chars().take(MAX_DESCRIPTION_CHARS).collect();
        Some(format!("{name}\t{about}\n"))
    });
    Some(lines.collect())
}

/// Returns the global options in a command line that is not finished.
fn global(program: &clap::Command, words: &[String]) -> GlobalArgs {
    let program = program.clone().ignore_errors(true);
    let matches = program.try_get_matches_from(&words[..words.len() - 1]);
    matches.ok().and_then(|it| GlobalArgs::from_arg_matches(&it).ok()).unwrap_or_default()
}

fn names(
    cx: &CommandContext<'_>,
    kind: NameKind,
    global: &GlobalArgs,
) -> Result<Vec<Name>, CommandError> {
    Ok(match kind {
        NameKind::Rules => (cx.binary.rules)(),
        NameKind::Profiles => {
            let groups = [ALL_PROFILES, EVERY_PROFILE].map(str::to_owned);
            let all = groups.into_iter().chain((cx.binary.profiles)());
            all.map(|it| (it, String::new())).collect()
        }
        NameKind::ListedSkills | NameKind::Skills => {
            let global =
                GlobalArgs { profile_variables: cx.global.profile_variables, ..global.clone() };
            let context = CallContext::from_args(&global, None)?.single_profile()?;
            let mut connection = connection()?;
            let detected = connection.call::<ProfilesDetect>(&context.params())?;
            let profiles = several(&detected).unwrap_or_else(|| vec![detected.profile]);
            let mut names: Vec<Name> = Vec::new();
            for profile in profiles {
                let mut params: ListParams = context.with_profile(&profile).params();
                if kind == NameKind::Skills {
                    params.include = vec![Include::All];
                }
                let list = connection.call::<SkillsList>(&params)?.skills.into_iter();
                names.extend(list.map(|it| (it.name, it.description.unwrap_or_default())));
            }
            names.sort();
            names.dedup_by(|a, b| a.0 == b.0);
            names
        }
        NameKind::HookAgents => {
            hook::agents::names().into_iter().map(|it| (it.to_owned(), String::new())).collect()
        }
        NameKind::Sessions => {
            let params = SessionListParams::default();
            let list = connection()?.call::<SessionList>(&params)?.sessions;
            list.into_iter().map(|it| (it.session, it.cwd)).collect()
        }
        NameKind::Worktrees => {
            let params = WorktreeListParams::default();
            let list = connection()?.call::<WorktreeList>(&params)?.worktrees.into_iter();
            let list = list.filter(|it| it.path_encoding.is_none());
            list.map(|it| (it.path, String::new())).collect()
        }
    })
}

/// Connects to a daemon that is running.
fn connection() -> Result<BlockingConnection<UnixStream>, ClientError> {
    let stream = connect(&environment::socket_location()?, TIMEOUT)?;
    set_timeout(&stream, Some(TIMEOUT))?;
    Ok(BlockingConnection::new(stream))
}

/// The words of a line in bash, and how the last one is written.
#[derive(Debug, PartialEq, Eq)]
struct BashWord {
    /// The words without quotes.
    words: Vec<String>,
    /// The last word as written.
    written: String,
    /// The quote that is open at the end.
    quote: Option<char>,
}

impl BashWord {
    fn from_line(line: &str) -> Self {
        let mut words = vec![String::new()];
        let (mut start, mut quote) = (0, None);
        let mut chars = line.char_indices();
        while let Some((at, c)) = chars.next() {
            let last = words.len() - 1;
            match (quote, c) {
                (None, ' ' | '\t' | '\n') => {
                    if !words[last].is_empty() || start < at {
                        words.push(String::new());
                    }
                    start = at + 1;
                }
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), _) if open == c => quote = None,
                (None | Some('"'), '\\') => words[last].extend(chars.next().map(|it| it.1)),
                _ => words[last].push(c),
            }
        }
        Self { words, written: line[start..].to_owned(), quote }
    }

    /// Returns the text that replaces the last word behind its last character of `breaks`, so that
    /// bash reads it as `name`; `None` if it cannot be written so. `value` is the typed part of the
    /// name.
    fn complete(&self, name: &str, value: &str, breaks: &str) -> Option<String> {
        match self.quote {
            // Bash keeps the quote that opens the word.
            Some(quote) if self.written.strip_prefix(quote) == Some(value) => {
                let special: &[char] =
                    if quote == '"' { &['"', '\\', '$', '`', '!'] } else { &['\''] };
                (!name.contains(special)).then(|| name.to_owned())
            }
            Some(_) => None,
            None => {
                let is_option = self.written.starts_with("--");
                let option = self.written.find('=').filter(|_| is_option).map_or(0, |at| at + 1);
                let whole = format!("{}{}", &self.written[..option], quoted(name));
                let is_break = |it: char| matches!(it, ':' | '=') && breaks.contains(it);
                let kept = self.written.rfind(is_break).map_or(0, |at| at + 1);
                whole.strip_prefix(&self.written[..kept]).map(str::to_owned)
            }
        }
    }
}

/// Returns a word with a backslash before each character that bash could read otherwise.
fn quoted(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for c in word.chars() {
        let is_plain = c.is_alphanumeric() || "_-./:=@%+,".contains(c);
        if !is_plain {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[test]
    fn arguments_have_names_of_their_kind() {
        let mut program = Cli::command();
        program.build();
        let mut found = Vec::new();
        for line in [
            "explain ", "show ", "load ", "enable ", "disable ", "link ", "unlink ",
            "touch --session ", "session get ", "check --explain ", "list --profile ",
            "list --cwd ", "trust ", "permission check ", "hook ", "new ", "search ",
            "session list ",
        ] {
            let words: Vec<String> =
                format!("skillsd {line}").split(' ').map(str::to_owned).collect();
            let kind = argument_at(&program, &words).and_then(|it| kind(&it.command, it.argument));
            found.push(format!("{line}{kind:?}"));
        }
        expect_test::expect![[r#"
            explain Some(Skills)
            show Some(Skills)
            load Some(ListedSkills)
            enable Some(Skills)
            disable Some(ListedSkills)
            link Some(Skills)
            unlink Some(Skills)
            touch --session Some(Sessions)
            session get Some(Sessions)
            check --explain Some(Rules)
            list --profile Some(Profiles)
            list --cwd Some(Worktrees)
            trust Some(Worktrees)
            permission check Some(ListedSkills)
            hook Some(HookAgents)
            new None
            search None
            session list None"#]]
        .assert_eq(&found.join("\n"));
    }

    #[test]
    fn bash_reads_each_completed_name_as_it_is() {
        let complete = |line: &str, name: &str, value: &str| {
            BashWord::from_line(line).complete(name, value, " \t\n\"'><=;|&(:")
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(complete("skillsd show de", "deploy", "de"), some("deploy"));
        assert_eq!(complete("skillsd show ", "$(touch x)", ""), some(r"\$\(touch\ x\)"));
        assert_eq!(
            complete("skillsd show ", "a`b`;c'd\"~*?[!#&|<>", ""),
            some("a\\`b\\`\\;c\\'d\\\"\\~\\*\\?\\[\\!\\#\\&\\|\\<\\>")
        );
        assert_eq!(complete("skillsd show plugin:sk", "plugin:skill", "plugin:sk"), some("skill"));
        assert_eq!(complete("skillsd list --profile=co", "codex", "co"), some("codex"));
        assert_eq!(complete(r"skillsd show my\ s", "my skill", "my s"), some(r"my\ skill"));
        assert_eq!(complete("skillsd show 'my s", "my skill", "my s"), some("my skill"));
        assert_eq!(complete("skillsd show 'm", "m'y", "m"), None);
        assert_eq!(complete("skillsd show \"m", "m$(x)", "m"), None);
        assert_eq!(
            BashWord::from_line("skillsd list --profile=co").complete("codex", "co", " "),
            some("--profile=codex")
        );
        assert_eq!(complete("skillsd show m'y", "my", "my"), None);
        assert_eq!(
            BashWord::from_line(r#"skillsd  show "a b" c\ d"#).words,
            ["skillsd", "show", "a b", "c d"]
        );
        assert_eq!(BashWord::from_line("skillsd show ''").words, ["skillsd", "show", ""]);
    }
}
