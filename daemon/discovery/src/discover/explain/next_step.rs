//! Next step for a skill that the agent does not show: the command or edit that shows it.

use skills_agents::loaders::LoadRule;
use skills_agents::profile::{NameSource, TrustRule};
use skills_syntax::quote::quote_word;

use super::super::reason_rule::ReasonRule;
use super::super::{Candidate, Reason, SkillState};
use super::edit;
use super::inquiry::Inquiry;

impl Inquiry<'_> {
    /// Returns what to do about a reason for a candidate's state, as a sentence.
    pub(super) fn next_step(&self, candidate: &Candidate, reason: &Reason) -> String {
        let path = candidate.path.display();
        let concrete = match reason.rule {
            ReasonRule::Paths if candidate.state == SkillState::Conditional => {
                let lines = candidate.record().and_then(|it| edit::field_lines(it, "paths"));
                let remove =
                    |lines| format!("Touch a matching file, or remove {lines} of `{path}`.");
                lines.map(remove)
            }
            ReasonRule::Load(LoadRule::EncodingBom | LoadRule::EncodingCrlf) => {
                Some(self.fix_command(candidate))
            }
            ReasonRule::Load(LoadRule::EncodingUtf8) => {
                let at = reason.at.map_or(String::new(), |it| format!(": see line {}", it.line));
                Some(format!("Save `{path}` as UTF-8{at}."))
            }
            ReasonRule::Load(LoadRule::YamlValid) if is_tab_indented(candidate) => {
                Some(self.fix_command(candidate))
            }
            ReasonRule::ProjectTrusted | ReasonRule::SkillsdTrusted => Some(self.trust(candidate)),
            ReasonRule::LinkOutside => {
                Some(format!("Replace the link `{path}` by a copy of the file."))
            }
            ReasonRule::LinkUntrusted => {
                let top = quote_word(&self.resolution.worktree.display().to_string());
                Some(format!("Review the link's target, then run `skillsd trust {top}`."))
            }
            ReasonRule::FileReadable if reason.next.contains("`chmod u+r`") => {
                Some(format!("Run `chmod u+r {}`.", quote_word(&path.to_string())))
            }
            ReasonRule::NameUnique => self.other_name(candidate),
            ReasonRule::Load(LoadRule::NameLength | LoadRule::NameForm)
                if !self.reads_name(candidate) =>
            {
                let dir = candidate.dir();
                let parent = dir.parent();
                let name: String = candidate.name.chars().filter(|it| is_portable(*it)).collect();
                let name = name.chars().take(64).collect::<String>();
                parent.filter(|_| !candidate.is_command() && !name.is_empty()).map(|it| {
                    format!("Rename `{}` to `{}`.", dir.display(), it.child(name).display())
                })
            }
            // An edit repeats text of the file.
            _ if self.resolution.with_text(candidate).is_none() => None,
            _ => edit::suggest(&self.ctx.profile, candidate, reason),
        };
        concrete.unwrap_or_else(|| with_line(candidate, reason))
    }

    fn fix_command(&self, candidate: &Candidate) -> String {
        let profile = self.profile;
        format!(
            "Run `skillsd check --fix {} --profile {profile}`.",
            quote_word(&candidate.path.display().to_string())
        )
    }

    fn trust(&self, candidate: &Candidate) -> String {
        let (root, top) = (&self.resolution.roots[candidate.root], &self.resolution.worktree);
        let dir = if root.path.starts_with(&**top) {
            top
        } else {
            root.trust_path.as_ref().unwrap_or(&root.path)
        };
        let command = format!("`skillsd trust {}`", quote_word(&dir.display().to_string()));
        let variable = match &self.ctx.profile.trust {
            // A variable does not count if the user requires trust.
            TrustRule::Needed { variables } if !root.withholds_text => variables.first(),
            TrustRule::Needed { .. } | TrustRule::NotAsked => None,
        };
        match variable {
            Some(variable) => format!(
                "Run {command}, trust the folder in {}, or set `{variable}` to `true`.",
                self.agent
            ),
            None => format!("Run {command}."),
        }
    }

    fn reads_name(&self, candidate: &Candidate) -> bool {
        self.ctx.profile.name.source != NameSource::Directory
            && candidate.record().is_some_and(|it| it.name.is_some())
    }

    /// Suggests a free name for a skill whose name another one has.
    fn other_name(&self, candidate: &Candidate) -> Option<String> {
        let is_free = |name: &String| !self.resolution.candidates.iter().any(|it| it.name == *name);
        let dir = candidate.dir();
        let own = dir.file_name()?.to_str()?;
        let rename_dir = |name: String| {
            let to = dir.parent()?.child(name);
            Some(format!("Rename `{}` to `{}`.", dir.display(), to.display()))
        };
        let numbered = |name: &str| (2..100).map(|nth| format!("{name}-{nth}")).find(is_free);
        if candidate.is_command() {
            return None;
        }
        if !self.reads_name(candidate) {
            return rename_dir(numbered(own)?);
        }
        let at = candidate.record()?.name.as_ref()?.at;
        let name = numbered(&candidate.name)?;
        let path = candidate.path.display();
        let write = format!("Write `name: {name}` in line {} of `{path}`.", at.line);
        if own != candidate.name {
            return Some(write);
        }
        // The name and the directory's stay equal, as the open standard requires.
        let (from, to) = (dir.display(), dir.parent()?.child(&name));
        Some(format!("{write} Then rename `{from}` to `{}`.", to.display()))
    }
}

/// Adds the line of the file to a general suggestion about its text.
fn with_line(candidate: &Candidate, reason: &Reason) -> String {
    match reason.at.filter(|_| reason.file.is_none() && candidate.record().is_some()) {
        Some(at) => {
            let next = reason.next.trim_end_matches('.');
            format!("{next}: see line {} of `{}`.", at.line, candidate.path.display())
        }
        None => reason.next.clone(),
    }
}

fn is_tab_indented(candidate: &Candidate) -> bool {
    candidate.record().is_some_and(|it| it.head.lines().any(|line| line.starts_with('\t')))
}

fn is_portable(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}
