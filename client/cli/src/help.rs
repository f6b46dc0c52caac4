//! Layout of the help: commands in groups, a command's own options first, and the global options in
//! one line that names `skillsd help options`.

use clap::{Args as _, Command};

use crate::global::GlobalArgs;

/// The groups of commands in the order in which `skillsd --help` shows them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Find skills", &["list", "explain", "show", "search", "load", "catalog", "budget"]),
    (
        "Check, write and switch skills",
        &["check", "report", "new", "lsp", "enable", "disable", "link", "unlink"],
    ),
    ("Run with an agent", &["mcp", "hook", "touch", "session", "permission", "trust"]),
    ("Daemon", &["status", "doctor", "watch", "top", "logs", "sync", "serve", "stop"]),
    ("Set up", &["install", "uninstall", "completions", "man"]),
];

/// Name of the help topic for the options that every command accepts.
const OPTIONS: &str = "options";

/// Returns `program` with grouped commands in its help and without global options in the help of
/// each command. Completions and manual pages are made from the plain definition instead.
#[must_use]
pub fn grouped_help(program: Command) -> Command {
    let options = GlobalArgs::augment_args(Command::new("skillsd")).disable_help_flag(true);
    let names: Vec<String> =
        options.get_arguments().map(|it| it.get_id().as_str().to_owned()).collect();
    let flags: Vec<String> = options
        .get_arguments()
        .filter_map(|it| it.get_long().map(|long| format!("--{long}")))
        .collect();
    let note = format!("Global options, see `help options`: {}", flags.join(" "));
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{options}}",
        groups(&program)
    );
    let program = names.iter().fold(program, |it, name| it.mut_arg(name, |arg| arg.hide(true)));
    let program = program.mut_subcommands(|it| with_note(it, &note));
    program.help_template(format!("{template}\n\n{note}\n")).subcommand(options_topic(options))
}

fn with_note(command: Command, note: &str) -> Command {
    command.after_help(note.to_owned()).mut_subcommands(|it| with_note(it, note))
}

fn groups(program: &Command) -> String {
    let mut lines = Vec::new();
    for (heading, names) in GROUPS {
        lines.push(format!("{heading}:"));
        for command in names.iter().filter_map(|it| program.find_subcommand(it)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            lines.push(format!("  {:<12} {about}", command.get_name()));
        }
        lines.push(String::new());
    }
    lines.push("Options:\n".to_owned());
    lines.join("\n")
}

fn options_topic(options: Command) -> Command {
    let text = options.help_template("{options}").render_long_help();
    let text = format!("Options that every command accepts, before or after its name\n\n{text}");
    Command::new(OPTIONS).hide(true).arg_required_else_help(true).override_help(text)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[test]
    fn each_command_is_in_exactly_one_help_group() {
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        listed.sort_unstable();
        let program = Cli::command();
        // People do not run hidden commands.
        let shown = program.get_subcommands().filter(|it| !it.is_hide_set());
        let mut defined: Vec<String> = shown.map(|it| it.get_name().to_owned()).collect();
        // The binary adds these.
        defined.extend(["lsp", "mcp", "serve"].map(ToOwned::to_owned));
        defined.sort_unstable();
        assert_eq!(listed, defined);
    }
}
