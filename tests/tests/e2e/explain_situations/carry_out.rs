//! Carries out the next step that `explain` prints: runs its command, or makes the edit that it
//! states.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::Screen;

use super::SituationFixture;
use crate::support::exe;

/// Does what the sentence says and nothing else; everything comes from its text.
pub(super) fn carry_out(fixture: &mut SituationFixture, next: &str) -> Result<(), String> {
    if let Some((first, then)) = next.split_once(". Then ") {
        carry_out(fixture, first)?;
        let (letter, rest) = then.split_at(1);
        return carry_out(fixture, &format!("{}{rest}", letter.to_uppercase()));
    }
    let quoted: Vec<&str> = next.split('`').skip(1).step_by(2).collect();
    let quoted =
        |nth: usize| quoted.get(nth).copied().ok_or_else(|| format!("no text {nth}: {next}"));
    let path = |nth| quoted(nth).map(|it| fixture.path(it));
    let starts = |text| next.starts_with(text);
    if starts("Nothing needs to be done") || (starts("Did you mean") && !next.contains("Run `")) {
        return Ok(());
    }
    if let Some((_, command)) = next.split_once("un `") {
        return run_command(fixture, command.split('`').next().unwrap_or_default());
    }
    if starts("Start the agent in `") {
        fixture.cwd = path(0)?;
        return Ok(());
    }
    if starts("Rename `") || starts("Move `") {
        return rename(&path(0)?, &path(1)?);
    }
    if starts("Replace the link `") {
        let link = path(0)?;
        let target = fs::canonicalize(&link).map_err(text)?;
        fs::remove_file(&link).map_err(text)?;
        return fs::copy(target, link).map(drop).map_err(text);
    }
    if starts("Insert `") {
        let lines: Vec<&str> = between(next, "Insert `", "` before line")?.split("`, `").collect();
        let line = number(next, "before line ")?;
        let file = next.rsplit('`').nth(1).ok_or("no file")?;
        return edit(&fixture.path(file), |all| {
            drop(all.splice(line - 1..line - 1, owned(&lines)));
        });
    }
    if starts("Write `") && next.contains("` in line ") {
        let (line, written) = (number(next, "in line ")?, quoted(0)?);
        return edit(&path(1)?, |all| written.clone_into(&mut all[line - 1]));
    }
    if starts("Write `") {
        let name = between(next, "skills/", "/SKILL.md")?;
        let skill = format!("---\nname: {name}\ndescription: Does {name}.\n---\n");
        return fs::write(path(0)?, skill).map_err(text);
    }
    if starts("Change `") {
        let (line, from, to) = (number(next, "in line ")?, quoted(0)?, quoted(1)?);
        return edit(&path(2)?, |all| all[line - 1] = all[line - 1].replace(from, to));
    }
    if starts("Remove the rule `") {
        let (line, rule) = (number(next, "in line ")?, quoted(0)?);
        return edit(&path(1)?, |all| {
            all[line - 1] = all[line - 1].replace(&format!("\"{rule}\""), "");
        });
    }
    if starts("Remove the entry for `") {
        let (line, name) = (number(next, "from line ")?, quoted(0)?);
        return edit(&path(1)?, |all| {
            all[line - 1] = all[line - 1].replace(&format!("\"{name}\": \"deny\""), "");
        });
    }
    if next.contains("emove line") {
        let (_, words) = next.split_once("emove ").ok_or("nothing to remove")?;
        let first = number(words, "line ").or_else(|_| number(words, "lines "))?;
        let last = number(words, " to ").unwrap_or(first);
        let file = words.split('`').nth(1).ok_or("no file")?;
        return edit(&fixture.path(file), |all| drop(all.drain(first - 1..last)));
    }
    if starts("Set `") {
        let key = quoted(0)?;
        let table = if next.contains("in `enabledPlugins`") { Some(quoted(2)?) } else { None };
        let file = fixture.path(next.rsplit('`').nth(1).ok_or("no file")?);
        return set(&file, table, key);
    }
    if starts("Save `") && next.contains("as UTF-8") {
        let bytes = fs::read(path(0)?).map_err(text)?;
        let letters: String = bytes.iter().map(|it| char::from(*it)).collect();
        return fs::write(path(0)?, letters).map_err(text);
    }
    if starts("Shorten the description of `") {
        let file = fixture.cwd.join(".claude/skills").join(quoted(0)?).join("SKILL.md");
        return edit(&file, |all| "description: Short.".clone_into(&mut all[1]));
    }
    if starts("Shorten `") {
        let most = number(next, "` to ")?;
        let mut bytes = fs::read(path(0)?).map_err(text)?;
        bytes.truncate(most);
        return fs::write(path(0)?, bytes).map_err(text);
    }
    Err(format!("  this step cannot be carried out: {next}"))
}

/// Runs a command in a shell that finds `skillsd`. A question is answered with yes.
fn run_command(fixture: &mut SituationFixture, command: &str) -> Result<(), String> {
    let bin = fixture.home.path().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).map_err(text)?;
        std::os::unix::fs::symlink(exe(), bin.join("skillsd")).map_err(text)?;
    }
    // A shell keeps the variable that it is given.
    let line = format!("PATH={}:$PATH; {command}", bin.display());
    let mut shell = fixture.home.command("sh");
    shell.args(["-c", &line]).current_dir(&fixture.cwd);
    let asks = ["enable", "trust"].iter().any(|it| command.starts_with(&format!("skillsd {it}")));
    let said = if asks {
        let mut screen = Screen::start(&shell, 40, 200);
        screen.type_in("y\n");
        let status = screen.wait();
        if status.success() { Ok(screen.text()) } else { Err(screen.text()) }
    } else {
        let output = shell.output().map_err(text)?;
        let said =
            format!("{}{}", crate::support::stdout(&output), crate::support::stderr(&output));
        // `explain` and `check` exit with 1 if they report something.
        if output.status.code().is_some_and(|it| it < 2) { Ok(said) } else { Err(said) }
    };
    let said = said.map_err(|it| format!("  `{command}` fails: {it}"))?;
    if command.starts_with("skillsd explain") {
        if said.lines().any(|line| line.starts_with('✓')) {
            return Ok(());
        }
        let next = said.lines().find_map(|line| line.strip_prefix("Next: "));
        return carry_out(fixture, next.ok_or_else(|| format!("  no next step: {said}"))?);
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<(), String> {
    let parent = to.parent().ok_or("no directory")?;
    fs::create_dir_all(parent).map_err(text)?;
    fs::rename(from, to).map_err(text)
}

fn edit(file: &Path, change: impl FnOnce(&mut Vec<String>)) -> Result<(), String> {
    let before = fs::read_to_string(file).map_err(|it| format!("{}: {it}", file.display()))?;
    let mut lines: Vec<String> = before.split('\n').map(str::to_owned).collect();
    change(&mut lines);
    fs::write(file, lines.join("\n")).map_err(text)
}

fn set(file: &Path, table: Option<&str>, key: &str) -> Result<(), String> {
    let before = fs::read_to_string(file).map_err(|it| format!("{}: {it}", file.display()))?;
    let mut value: Value = serde_json::from_str(&before).map_err(text)?;
    let keys: Vec<&str> =
        table.map_or_else(|| key.split('.').collect(), |_| vec!["enabledPlugins", key]);
    let mut at = &mut value;
    for key in keys {
        at = &mut at[key];
    }
    *at = json!(true);
    fs::write(file, value.to_string()).map_err(text)
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|it| (*it).to_owned()).collect()
}

/// Returns the number after these words.
fn number(sentence: &str, after: &str) -> Result<usize, String> {
    let (_, rest) =
        sentence.split_once(after).ok_or_else(|| format!("no `{after}`: {sentence}"))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().map_err(|_| format!("no number after `{after}`: {sentence}"))
}

fn between<'a>(sentence: &'a str, before: &str, after: &str) -> Result<&'a str, String> {
    let rest = sentence.split_once(before).map(|it| it.1);
    let found = rest.and_then(|it| it.split_once(after)).map(|it| it.0);
    found.ok_or_else(|| format!("no `{before}…{after}`: {sentence}"))
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn text(error: impl ToString) -> String {
    error.to_string()
}
