//! Random changes of the worktrees: skills are created, edited, moved and removed, with links and
//! settings files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use skills_testkit::fixture::skill_text;

use crate::soak_state::{Dice, SoakState};

const ROOTS: [&str; 5] = [
    ".agents/skills", ".claude/skills", ".opencode/skill", "pkg/.agents/skills",
    "pkg/.claude/skills",
];
const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// Changes every `of`th worktree until the run ends.
pub(crate) fn run(soak: &SoakState<'_>, nth: usize, of: usize) {
    let mut dice = Dice::new(nth);
    while soak.is_running() {
        soak.attempt(|| {
            let changing = soak.changing();
            let top = &soak.tops[nth + of * dice.below(soak.tops.len() / of)];
            for _ in 0..=dice.below(6) {
                // Fails if another thread's change is in the way, as on a real disk.
                let _ = operation(&mut dice, top);
                soak.count_operation();
            }
            drop(changing);
        });
        soak.rest(Duration::from_millis(100 + dice.below(200) as u64));
    }
}

fn operation(dice: &mut Dice, top: &Path) -> std::io::Result<()> {
    let root = top.join(dice.pick(&ROOTS));
    let name = dice.pick(&NAMES);
    let dir = root.join(name);
    let file = dir.join("SKILL.md");
    match dice.below(12) {
        0..=2 => {
            fs::create_dir_all(&dir)?;
            fs::write(file, text(dice, name))
        }
        3 | 4 => fs::write(file, text(dice, name)),
        5 => {
            // Editors save by renaming a new file over the old one.
            let new = dir.join(".SKILL.md.new");
            fs::write(&new, text(dice, name))?;
            fs::rename(new, file)
        }
        6 => fs::rename(&dir, root.join(dice.pick(&NAMES))),
        7 if dir.is_symlink() => fs::remove_file(dir),
        7 => fs::remove_dir_all(dir),
        8 => fs::remove_file(file),
        9 => {
            fs::create_dir_all(&root)?;
            symlink(top.join(dice.pick(&ROOTS)).join(dice.pick(&NAMES)), dir)
        }
        10 => settings(dice, top),
        _ => {
            fs::create_dir_all(dir.join("references"))?;
            fs::write(dir.join("references/more.md"), "more\n".repeat(dice.below(50)))
        }
    }
}

/// Writes settings that change some profiles' lists, but none of the plain reader's.
fn settings(dice: &mut Dice, top: &Path) -> std::io::Result<()> {
    let name = dice.pick(&NAMES);
    match dice.below(4) {
        0 => fs::write(
            top.join("opencode.json"),
            format!("{{\"permission\": {{\"skill\": {{\"{name}\": \"deny\"}}}}}}\n"),
        ),
        1 => {
            fs::create_dir_all(top.join(".gemini"))?;
            let text = format!("{{\"skills\": {{\"disabled\": [\"{name}\"]}}}}\n");
            fs::write(top.join(".gemini/settings.json"), text)
        }
        2 => fs::write(top.join(".skillsd.toml"), "[check.rules]\n\"name/directory\" = \"off\"\n"),
        _ => fs::remove_file(top.join("opencode.json")),
    }
}

/// Returns a SKILL.md: mostly a plain one, of any length.
fn text(dice: &mut Dice, name: &str) -> String {
    let description = format!("Number {}, says when to use it.", dice.below(1_000_000));
    let plain = skill_text(name, &description);
    match dice.below(10) {
        0 => format!("---\nname: {name}\n---\nNo description.\n"),
        1 => plain.replacen("---\n\n", "paths: src/**\n---\n\n", 1),
        2 => plain.replacen("---\n\n", "disable-model-invocation: true\n---\n\n", 1),
        3 => format!("{plain}{}", "A line of the body.\n".repeat(dice.below(400))),
        _ => plain,
    }
}
