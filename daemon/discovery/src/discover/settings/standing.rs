//! Standing: the owner of a configuration file, and whether the file may loosen anything.
//!
//! A file of a repository only makes stricter until the user trusts the repository; then it counts
//! as the agent has it.

use skills_agents::profile::RootBase;
use skills_syntax::path::AbsPath;

use super::Settings;
use crate::discover::Owner;
use crate::discover::owner::Owners;
use crate::permission::Source;

/// The standing of one file.
#[derive(Debug)]
pub(super) struct Standing {
    file: AbsPath,
    owner: Owner,
    /// The end of a sentence about what waits for trust; none where the file may loosen.
    until: Option<String>,
}

/// The state of a plugin, and the file that decides it.
#[derive(Debug)]
pub(in crate::discover) enum Enabled<'a> {
    /// The user or the agent's default switches it on.
    Yes,
    /// A repository that is trusted switches it on.
    ByRepository(&'a Source),
    /// A file switches it off.
    No(&'a Source),
    /// A repository that is not trusted switches it on.
    Waits(&'a Source),
    /// No file says anything.
    Unsaid,
}

impl Settings {
    /// Decides the standing of a file that a row of the profile finds by this base.
    pub(super) fn judge(
        &mut self,
        file: &AbsPath,
        base: &RootBase,
        agent: &str,
        owners: &Owners<'_>,
    ) {
        let owner = owners.base_owner(base, file);
        // A file of the user that a row for repositories finds as well is the user's.
        if self.standings.iter().any(|it| it.file == *file && it.owner.is_own()) {
            return;
        }
        self.standings.retain(|it| it.file != *file);
        let is_trusted = owner.is_own() || owners.said(&owners.place(file)) == Some(true);
        let until = (!is_trusted).then(|| {
            let dir = owners.trusted_for(file);
            format!(
                ", which {agent} obeys and skillsd ignores until `skillsd trust {}`",
                dir.display()
            )
        });
        self.standings.push(Standing { file: file.clone(), owner, until });
    }

    fn standing(&self, file: &AbsPath) -> Option<&Standing> {
        self.standings.iter().find(|it| it.file == *file)
    }

    /// Returns who owns a file that was read.
    pub(in crate::discover) fn owner_of(&self, file: &AbsPath) -> Owner {
        self.standing(file).map_or(Owner::Repository, |it| it.owner)
    }

    /// Returns the end of a sentence about what a file says and what waits for trust; none where
    /// the file may loosen.
    pub(in crate::discover) fn until_trusted(&self, file: &AbsPath) -> Option<String> {
        self.standing(file)?.until.clone()
    }

    /// Returns whether a file may loosen anything.
    pub(in crate::discover) fn may_loosen(&self, file: &AbsPath) -> bool {
        self.standing(file).is_some_and(|it| it.until.is_none())
    }

    /// Returns whether a plugin is on; `by_default` is what holds where no file says.
    pub(in crate::discover) fn enabled(&self, key: &str, by_default: bool) -> Enabled<'_> {
        let last = |counts: &dyn Fn(&AbsPath) -> bool| {
            let mut said = self.plugins.iter().rev();
            said.find(|(it, _)| &*it.text == key && counts(&it.source.file))
        };
        let is_on = |said: Option<&(super::Named, bool)>| said.map_or(by_default, |it| it.1);
        match last(&|_| true) {
            None if by_default => Enabled::Yes,
            None => Enabled::Unsaid,
            Some((named, false)) => Enabled::No(&named.source),
            Some(_) if is_on(last(&|file| self.owner_of(file).is_own())) => Enabled::Yes,
            Some((named, true)) if is_on(last(&|file| self.may_loosen(file))) => {
                Enabled::ByRepository(&named.source)
            }
            Some((named, true)) => Enabled::Waits(&named.source),
        }
    }
}
