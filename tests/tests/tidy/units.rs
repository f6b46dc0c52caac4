//! Checks the systemd units: they start an existing program with valid options.

use std::process::Command;

use crate::tree::{none, sources};

/// Returns the commands of a unit's `Exec…=` lines, without systemd's prefixes.
fn commands(unit: &str) -> Vec<Vec<String>> {
    let lines = unit.lines().filter(|line| line.starts_with("Exec"));
    let values = lines.filter_map(|line| line.split_once('='));
    values
        .map(|(_, value)| value.trim_start_matches(['-', '@', '+', '!', ':']))
        .map(|value| value.split_whitespace().map(str::to_owned).collect())
        .collect()
}

/// Returns the fault of a command that `skillsd` does not accept.
fn command_fault(command: &[String]) -> Option<String> {
    let [program, args @ ..] = command else { return Some("an empty command".to_owned()) };
    if program.rsplit('/').next() != Some("skillsd") {
        return Some(format!("`{program}` is not skillsd"));
    }
    // With `--help` last, all preceding arguments are still parsed and rejected if unknown.
    let output = Command::new(env!("CARGO_BIN_EXE_test-skillsd"))
        .args(args)
        .arg("--help")
        .output()
        .expect("our program can be run");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then(|| format!("{command:?}: {message}"))
}

#[test]
fn systemd_units_start_an_existing_command() {
    let sources = sources();
    let units: Vec<_> =
        sources.iter().filter(|source| source.path.starts_with("systemd/")).collect();
    let commands: Vec<_> = units
        .iter()
        .filter(|unit| unit.path.ends_with(".service"))
        .flat_map(|unit| commands(&unit.text))
        .collect();
    assert!(!commands.is_empty(), "no unit starts anything");
    none(&commands.iter().filter_map(|command| command_fault(command)).collect::<Vec<_>>());
    // The socket unit and the program must agree on the place.
    let socket = units.iter().find(|unit| unit.path.ends_with(".socket")).expect("a socket unit");
    assert!(socket.text.contains("ListenStream=%t/skillsd/v1.sock"), "{}", socket.text);
    assert!(socket.text.contains("ListenStream=%t/skillsd/v1-consent.sock"), "{}", socket.text);
    assert!(socket.text.contains("SocketMode=0600"), "{}", socket.text);
    assert!(socket.text.contains("DirectoryMode=0700"), "{}", socket.text);
}

#[test]
fn unit_with_unknown_program_or_option_is_reported() {
    let good = commands("[Service]\nExecStart=-%h/.cargo/bin/skillsd serve\n");
    assert_eq!(good.iter().filter_map(|command| command_fault(command)).count(), 0);
    for bad in ["ExecStart=skillsdd serve", "ExecStart=skillsd serve --no-such", "ExecStart="] {
        assert!(commands(bad).iter().any(|command| command_fault(command).is_some()), "{bad}");
    }
}
