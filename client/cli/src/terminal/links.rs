//! Hyperlinks in a terminal: a shown path opens the file.
//!
//! Only written to terminals that are known to support OSC 8, because others may show the escape
//! sequence.

use std::env;
use std::path::Path;

use crate::text::address_path;

/// `TERM_PROGRAM` values of terminals that support links.
const PROGRAMS: &[&str] = &["ghostty", "Hyper", "iTerm.app", "rio", "vscode", "WezTerm", "zed"];

/// `TERM` prefixes of terminals that support links.
const TERMS: &[&str] = &["alacritty", "contour", "foot", "xterm-ghostty", "xterm-kitty"];

/// Variables that terminals with links set.
const MARKS: &[&str] = &["DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION"];

/// First version of VTE (GNOME Terminal and others) that supports links, as in `VTE_VERSION`.
const VTE: u32 = 5000;

/// Returns whether the terminal of this process supports links.
pub(super) fn are_supported() -> bool {
    are_supported_by(|name| env::var(name).ok())
}

fn are_supported_by(variable: impl Fn(&str) -> Option<String>) -> bool {
    if let Some(forced) = variable("FORCE_HYPERLINK") {
        return forced != "0";
    }
    // A multiplexer or a build system may not pass the sequence on.
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

/// Returns text that links to a file or directory.
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
        assert_eq!(are_supported_by(variable), expected, "{variables:?}");
    }

    #[test]
    fn link_support_is_detected_from_variables() {
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
    fn path_in_a_link_is_percent_encoded() {
        let link = linked(Path::new("/a b/\u{1b}]é%"), "it");
        assert_eq!(link, "\u{1b}]8;;file:///a%20b/%1B%5D%C3%A9%25\u{1b}\\it\u{1b}]8;;\u{1b}\\");
    }
}
