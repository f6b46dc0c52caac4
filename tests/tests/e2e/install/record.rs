//! Record of the installation: what `uninstall` removes after an interrupted, a parallel or an
//! unrecorded installation.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::{FILES, InstallFixture};
use crate::support::{stderr, stdout};

const RECORD: &str = "skillsd/installed.json";

#[test]
fn entries_without_a_record_are_reported_and_recorded_by_the_next_install() {
    let fixture = InstallFixture::new(FILES).with_manager(1);
    let before = fixture.all();
    let parts = ["install", "--yes", "--only", "units,hooks,mcp"];
    fixture.run(&parts, 0);
    let installed = fixture.all();
    fs::remove_file(fixture.home.state_dir().join(RECORD)).unwrap();

    let shown = stdout(&fixture.run(&["uninstall", "--yes"], 0)).replace("\n         ", " ");
    for (path, part) in [
        (".claude/settings.json", "hooks"),
        (".codex/config.toml", "mcp"),
        (".config/opencode/plugins/skillsd.js", "hooks"),
        (".config/systemd/user/skillsd.service", "units"),
    ] {
        assert!(shown.contains(&format!("{path}` still starts skillsd")), "{path}: {shown}");
        assert!(shown.contains(&format!("`skillsd install --only {part}`")), "{shown}");
    }
    assert_eq!(fixture.all(), installed);
    let shown = stdout(&fixture.run(&["uninstall", "--yes", "--agent", "codex"], 0));
    assert!(!shown.contains(".claude") && !shown.contains("systemd"), "{shown}");

    let again = stdout(&fixture.run(&parts, 0));
    assert!(again.contains("nothing to change"), "{again}");
    assert_eq!(fixture.all(), installed);
    let shown = stdout(&fixture.run(&["uninstall", "--yes"], 0));
    assert!(!shown.contains("still starts skillsd"), "{shown}");
    for (path, text) in fixture.all() {
        // Which lists and files were created for the entries is lost.
        let text = text.filter(|it| it.contains("skillsd") && !path.starts_with(&fixture.bin));
        assert!(text.is_none(), "{}: {text:?}", path.display());
    }
    for (path, text) in &before {
        assert!(text.is_none() || path.exists(), "{} was removed", path.display());
    }
}

#[test]
fn recorded_entries_that_were_never_written_do_no_harm() {
    let fixture = InstallFixture::new(FILES);
    let before = fixture.all();
    fixture.run(&["install", "--yes", "--agent", "claude-code"], 0);
    let settings = fixture.home.path().join(".claude/settings.json");
    // As if the command had been killed between the record and the file.
    fs::write(&settings, before[&settings].as_ref().unwrap()).unwrap();
    let shown = stdout(&fixture.run(&["uninstall", "--yes"], 0));
    assert!(shown.contains("nothing to change"), "{shown}");
    assert!(!shown.contains("are kept"), "{shown}");
    assert_eq!(fixture.all(), before);
    assert!(!fixture.home.state_dir().join(RECORD).exists());
}

#[test]
fn install_writes_no_file_that_it_cannot_record() {
    let fixture = InstallFixture::new(FILES);
    let before = fixture.all();
    // Nothing can be created below a link to nowhere, even by root.
    let state = fixture.home.state_dir();
    fs::create_dir_all(&state).unwrap();
    let _ = fs::remove_dir_all(state.join("skillsd"));
    symlink("nowhere/at/all", state.join("skillsd")).unwrap();
    let said = stderr(&fixture.run(&["install", "--yes", "--only", "hooks"], 1));
    assert!(said.contains("failed to record the installation"), "{said}");
    assert_eq!(fixture.all(), before);
}

#[test]
fn parallel_installs_are_all_recorded() {
    for _ in 0..3 {
        let fixture = InstallFixture::new(FILES);
        let before = fixture.all();
        let agents = ["claude-code", "codex", "gemini-cli", "opencode"];
        let start = |agent: &&str| {
            let args = ["install", "--yes", "--only", "hooks", "--agent", agent];
            fixture.command(&args).stdout(std::process::Stdio::null()).spawn().unwrap()
        };
        let children: Vec<_> = agents.iter().map(start).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let record = fs::read_to_string(fixture.home.state_dir().join(RECORD)).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        assert_eq!(record["traces"].as_array().unwrap().len(), 4, "{record:#}");
        fixture.run(&["uninstall", "--yes"], 0);
        assert_eq!(fixture.all(), before);
    }
}
