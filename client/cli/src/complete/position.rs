//! The argument that a command line ends in ([`argument_at`]).

use clap::{Arg, Command};

/// An argument and the part of its value that is typed.
#[derive(Debug)]
pub(super) struct ArgumentAt<'a> {
    /// Names of the subcommands, with spaces between them.
    pub(super) command: String,
    pub(super) argument: &'a Arg,
    pub(super) value: &'a str,
}

/// Returns the argument that the last word is a value of. `words` begin with the program's name,
/// and `program` is built.
pub(super) fn argument_at<'a>(program: &'a Command, words: &'a [String]) -> Option<ArgumentAt<'a>> {
    let (last, before) = words.get(1..)?.split_last()?;
    let mut names = Vec::new();
    let mut command = program;
    let mut n_positionals = 0;
    let mut only_positionals = false;
    let mut awaited: Option<&Arg> = None;
    for word in before {
        let flag = if only_positionals { None } else { option(command, word) };
        if awaited.take().is_some() {
            // The value of an option.
        } else if !only_positionals && word == "--" {
            only_positionals = true;
        } else if let Some((argument, value)) = flag {
            awaited = argument.filter(|it| value.is_none() && it.get_action().takes_values());
        } else if let Some(found) = command.find_subcommand(word).filter(|_| n_positionals == 0) {
            command = found;
            names.push(found.get_name());
        } else {
            n_positionals += 1;
        }
    }
    let at = |argument, value| ArgumentAt { command: names.join(" "), argument, value };
    if let Some(argument) = awaited {
        return Some(at(argument, last));
    }
    if let Some((argument, value)) = option(command, last).filter(|_| !only_positionals) {
        return Some(at(argument?, value?));
    }
    let positionals = || command.get_positionals();
    let several = |it: &&Arg| it.get_num_args().is_some_and(|range| range.max_values() > 1);
    let argument =
        positionals().nth(n_positionals).or_else(|| positionals().last().filter(several));
    Some(at(argument?, last))
}

/// Returns the option that a word is, if it is known, and its value behind `=`; `None` if the word
/// is no option.
fn option<'a>(command: &'a Command, word: &'a str) -> Option<(Option<&'a Arg>, Option<&'a str>)> {
    let find = |is_it: &dyn Fn(&Arg) -> bool| command.get_arguments().find(|it| is_it(it));
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(a, b)| (a, Some(b)));
        return Some((find(&|it| it.get_long() == Some(name)), value));
    }
    let short = word.strip_prefix('-')?.chars().last();
    Some((find(&|it| it.get_short().is_some() && it.get_short() == short), None))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str, &str)>) {
        let mut program = Cli::command();
        program.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let found = argument_at(&program, &words);
        let found = found.as_ref();
        let found = found.map(|it| (&*it.command, it.argument.get_id().as_str(), it.value));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn argument_of_the_last_word_is_found() {
        check("skillsd explain de", Some(("explain", "target", "de")));
        check("skillsd explain --json --profile codex ", Some(("explain", "target", "")));
        check("skillsd --profile cl", Some(("", "profile", "cl")));
        check("skillsd list --profile=cl", Some(("list", "profile", "cl")));
        check("skillsd list --pro", None);
        check("skillsd session close s", Some(("session close", "session", "s")));
        check("skillsd check a b c", Some(("check", "paths", "c")));
        check("skillsd explain a b", None);
        check("skillsd explain -- --x", Some(("explain", "target", "--x")));
        check("skillsd li", None);
        check("skillsd", None);
    }
}
