//! Files generated from the command line's definition: shell completions and manual pages.

use std::fs;
use std::process::Stdio;

use skills_testkit::Home;

use crate::support::{run, stderr, stdout};

/// Commands of the client crate, and one defined only in the binary.
const COMMANDS: [&str; 6] = ["list", "explain", "doctor", "logs", "hook", "serve"];

#[test]
fn completion_scripts_contain_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&home, &home.work(), &["completions", shell]);
        assert!(output.status.success(), "{}", stderr(&output));
        let script = stdout(&output);
        for command in COMMANDS {
            assert!(script.contains(command), "{shell} does not complete `{command}`");
        }
    }
    assert_eq!(run(&home, &home.work(), &["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn bash_completes_with_the_generated_script() {
    let home = Home::new();
    let script = stdout(&run(&home, &home.work(), &["completions", "bash"]));
    let path = home.work().join("skillsd.bash");
    fs::write(&path, script).expect("written");
    let ask = "source skillsd.bash; COMP_WORDS=(skillsd do); COMP_CWORD=1; \
         _skillsd skillsd do skillsd; echo \"${COMPREPLY[@]}\"";
    let output = home
        .command("bash")
        .args(["--norc", "-c", ask])
        .current_dir(home.work())
        .stdin(Stdio::null())
        .output()
        .expect("bash can be run");
    assert_eq!(stdout(&output).trim(), "doctor", "{}", stderr(&output));
}

#[test]
fn manual_has_a_page_for_each_command() {
    let home = Home::new();
    let output = run(&home, &home.work(), &["man"]);
    assert!(stdout(&output).contains(".TH skillsd 1"), "{}", stdout(&output));
    let output = run(&home, &home.work(), &["man", "--dir", "pages"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for command in COMMANDS {
        let page = home.work().join(format!("pages/skillsd-{command}.1"));
        let page = fs::read_to_string(page).expect("a page for each command");
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn manual_in_an_unusable_directory_names_it() {
    let home = Home::new();
    let output = run(&home, &home.work(), &["man", "--dir", "/proc/x"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("failed to write the manual pages to `/proc/x`"), "{said}");
}
