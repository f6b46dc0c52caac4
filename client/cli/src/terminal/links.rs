//! Links in a terminal: a path that is shown opens what it names.
//!
//! Only where the terminal is known to take them: others show what they do not know, or worse.

use std::env;
use std::path::Path;

use crate::text::address_path;

/// Programs of terminals that take links, as `TERM_PROGRAM` has them.
const PROGRAMS: &[&str] = &["ghostty", "Hyper", "iTerm.app", "rio", "vscode", "WezTerm", "zed"];

/// Beginnings of `TERM` of terminals that take them.
const TERMS: &[&str] = &["alacritty", "contour", "foot", "xterm-ghostty", "xterm-kitty"];

/// Variables by which terminals that take them are known.
const MARKS: &[&str] = &["DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION"];

/// The first version of the terminal of GNOME and its kin that takes them, as it writes it.
const VTE: u32 = 5000;

/// Returns whether the terminal of this process takes links.
pub(super) fn are_taken() -> bool {
    are_taken_by(|name| env::var(name).ok())
}

fn are_taken_by(variable: impl Fn(&str) -> Option<String>) -> bool {
    if let Some(forced) = variable("FORCE_HYPERLINK") {
        return forced != "0";
    }
    // Several in one window, or a build: what comes through is not known.
    if variable("TMUX").is_some() || variable("STY").is_some() || variable("CI").is_some() {
        return false;
    }
    let is_program = variable("TERM_PROGRAM").is_some_and(|it| PROGRAMS.contains(&&*it));
    let is_term =
        variable("TERM").is_some_and(|it| TERMS.iter().any(|known| it.starts_with(known)));
    let is_marked = MARKS.iter().any(|it| variable(it).is_some());
    let is_vte =
        variable("VTE_VERSION").and_then(|it| it.parse().ok()).is_some_and(|it: u32| it >= VTE);
    is_program || is_term || is_marked || is_vte
}

/// Returns text that opens a file or directory.
pub(super) fn linked(path: &Path, text: &str) -> String {
    format!("\u{1b}]8;;file://{}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\", address_path(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: bool) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(are_taken_by(variable), expected, "{variables:?}");
    }

    #[test]
    fn terminals_that_take_links_are_known() {
        check(&[], false);
        check(&[("TERM", "xterm-256color")], false);
        check(&[("TERM", "xterm-kitty")], true);
        check(&[("TERM_PROGRAM", "vscode")], true);
        check(&[("TERM_PROGRAM", "vscode"), ("TMUX", "/t,1,0")], false);
        check(&[("VTE_VERSION", "4800")], false);
        check(&[("VTE_VERSION", "7006")], true);
        check(&[("WT_SESSION", "x"), ("FORCE_HYPERLINK", "0")], false);
        check(&[("FORCE_HYPERLINK", "1"), ("CI", "true")], true);
    }

    #[test]
    fn nothing_in_a_path_reaches_the_terminal() {
        let link = linked(Path::new("/a b/\u{1b}]é%"), "it");
        assert_eq!(link, "\u{1b}]8;;file:///a%20b/%1B%5D%C3%A9%25\u{1b}\\it\u{1b}]8;;\u{1b}\\");
    }
}
