//! Read your writes: after each of a thousand changes the next list shows it.
//!
//! One daemon and one connection make a round last milliseconds, so the watcher is always busy with
//! the previous one. The seed is fixed unless `SKILLSD_TEST_SEED` is set, so that failures can be
//! repeated; `SKILLSD_TEST_ROUNDS` sets the number of rounds.

use std::fs;
use std::path::{Path, PathBuf};

use skills_testkit::fixture::{skill_text, write_skill};

use crate::support::{Dice, Live, PROFILES, env_number};

#[test]
fn every_change_shows_in_the_next_list() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "//- /.gitignore\n/other/\n");
    let seed = env_number("SKILLSD_TEST_SEED").unwrap_or(0x5eed);
    let n_rounds = env_number("SKILLSD_TEST_ROUNDS").unwrap_or(1000);
    let mut disk = ChangingTree { top: top.clone(), dice: Dice::new(seed), n_made: 0 };
    for branch in ["one", "two"] {
        live.home.git(&top, &["checkout", "-q", "-b", branch]);
        for name in ["a", "b", branch] {
            write_skill(&top.join(".agents/skills").join(name), name, &format!("on {branch}"));
        }
        live.home.git(&top, &["add", "-A"]);
        live.home.git(&top, &["commit", "-q", "-m", branch]);
    }
    let mut branches = ["one", "two"].into_iter().cycle();
    for (round, profile) in (0..n_rounds).zip(PROFILES.into_iter().cycle()) {
        let what = match disk.dice.below(24) {
            // `git checkout` is slow, so it is rare.
            0 => {
                let branch = branches.next().expect("a cycle has no end");
                live.home.git(&top, &["checkout", "-q", "-f", branch]);
                format!("git checkout {branch}")
            }
            _ => disk.change(),
        };
        // Printed before the check, so that a failure shows it.
        println!("seed {seed}, round {round}: {what}");
        live.check(&top, profile);
    }
}

/// Random changes of the worktree's skill roots.
struct ChangingTree {
    top: PathBuf,
    dice: Dice,
    n_made: usize,
}

impl ChangingTree {
    /// Makes one change and returns its description.
    fn change(&mut self) -> String {
        let dirs = self.skill_dirs();
        if dirs.len() > 40 {
            let root = self.top.join(".agents/skills");
            let _ = fs::remove_dir_all(root);
            return "removed a whole root".to_owned();
        }
        let place = self.place();
        let some = (!dirs.is_empty()).then(|| dirs[self.dice.below(dirs.len())].clone());
        match (self.dice.below(9), some) {
            (0, Some(dir)) => {
                self.overwrite(&dir);
                format!("wrote `{}`", dir.display())
            }
            (1, Some(dir)) => {
                // Editors save by renaming a new file over the old one.
                let text = skill_text(&self.name(), "saved by renaming");
                fs::write(dir.join(".SKILL.md.swp"), text).expect("a file can be written");
                fs::rename(dir.join(".SKILL.md.swp"), dir.join("SKILL.md")).expect("and moved");
                format!("replaced `{}`", dir.display())
            }
            (2, Some(dir)) => {
                fs::remove_file(dir.join("SKILL.md")).expect("it was there");
                format!("deleted the file in `{}`", dir.display())
            }
            (3, Some(dir)) => {
                fs::remove_dir_all(&dir).expect("it was there");
                format!("deleted `{}`", dir.display())
            }
            (4, Some(dir)) => {
                let to = dir.with_file_name(self.name());
                if !to.exists() {
                    fs::rename(&dir, &to).expect("a directory can be renamed");
                }
                format!("renamed `{}` to `{}`", dir.display(), to.display())
            }
            (5, Some(dir)) => {
                // Renamed, and immediately written under its new name.
                let to = dir.with_file_name(self.name());
                if !to.exists() {
                    fs::rename(&dir, &to).expect("a directory can be renamed");
                    self.overwrite(&to);
                }
                format!("renamed to and wrote `{}`", to.display())
            }
            (6, _) => {
                let aside = self.top.join("other").join(self.name());
                write_skill(&aside.join("moved"), "moved", "moved in as a whole");
                let to = place.join(self.name());
                fs::create_dir_all(&place).expect("a root can be made");
                if !to.exists() {
                    fs::rename(&aside, &to).expect("a directory can be moved");
                }
                format!("moved `{}` in", to.display())
            }
            _ => {
                let depth = self.dice.below(3);
                let dir = (0..depth).fold(place, |dir, _| dir.join(self.name())).join(self.name());
                write_skill(&dir, &self.name(), "made with its parents");
                format!("made `{}`", dir.display())
            }
        }
    }

    fn overwrite(&mut self, dir: &Path) {
        let text = match self.dice.below(5) {
            0 => "---\nname: broken\n---\n".to_owned(),
            1 => format!("---\nname: {}\ndescription: x\npaths: src/**\n---\n", self.name()),
            _ => skill_text(&self.name(), &format!("text {}", self.dice.below(100))),
        };
        fs::write(dir.join("SKILL.md"), text).expect("a file can be written");
    }

    fn place(&mut self) -> PathBuf {
        let roots = [".agents/skills", ".claude/skills", ".opencode/skill"];
        self.top.join(roots[self.dice.below(roots.len())])
    }

    /// Returns one of a few names, so that they collide, or sometimes a new one.
    fn name(&mut self) -> String {
        if self.dice.below(4) == 0 {
            self.n_made += 1;
            return format!("n{}", self.n_made);
        }
        ["a", "b", "c", "d", "e", "f"][self.dice.below(6)].to_owned()
    }

    fn skill_dirs(&self) -> Vec<PathBuf> {
        let walk = ignore::WalkBuilder::new(&self.top)
            .standard_filters(false)
            .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "other")
            .sort_by_file_path(Path::cmp)
            .build();
        let files = walk.flatten().filter(|entry| entry.file_name() == "SKILL.md");
        files.filter_map(|entry| Some(entry.path().parent()?.to_path_buf())).collect()
    }
}
