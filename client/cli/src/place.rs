//! Where a command acts: the directory, the added directories, the profile and the environment.
//!
//! All that depends on this process's own directory and variables is read here, so that the
//! daemon only ever sees absolute paths. Relative paths, also those of other arguments, are taken
//! from `--cwd`, as git does with `-C`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use clap::Args;
use skills_protocol::env::SKILLSD_ADD_DIRS;
use skills_protocol::path::{encode, encode_os, encoding_of};
use skills_protocol::wire::{Context, Contextual};

use crate::failure::CommandError;
use crate::global::{ALL_PROFILES, GlobalArgs};
use skills_client::environment;

/// What stands between the names of several profiles.
const BETWEEN: char = ',';

/// Where a command acts and whose rules apply.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) cwd: PathBuf,
    pub(super) profile: Option<String>,
    session: Option<String>,
    add_dirs: Vec<PathBuf>,
    environment: Vec<(&'static str, OsString)>,
}

/// The flag `--session`.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SessionFlag {
    /// Apply this session: its activated and discovered skills
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// What a user names on the command line: a skill by its name, or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// A skill's name.
    Name(String),
    /// A SKILL.md or a directory, absolute.
    Path(PathBuf),
}

impl Place {
    /// Returns the place that the flags name; `dir` is a command's own directory argument.
    pub(super) fn of(global: &GlobalArgs, dir: Option<&Path>) -> Result<Self, CommandError> {
        let here = env::current_dir().map_err(|error| {
            CommandError::usage(format!("the current directory cannot be told: {error}"))
                .with_hint("Change to a directory that exists, or pass `--cwd DIR`.")
        });
        // An absolute `--cwd` is good enough where the current directory has been removed.
        let here = match &global.cwd {
            Some(cwd) if cwd.is_absolute() => directory(cwd)?,
            Some(cwd) => directory(&here?.join(cwd))?,
            None => here?,
        };
        let mut add_dirs = Vec::new();
        let listed = env::var_os(SKILLSD_ADD_DIRS).unwrap_or_default();
        let listed = env::split_paths(&listed).filter(|dir| !dir.as_os_str().is_empty());
        for dir in global.add_dirs.iter().cloned().chain(listed) {
            add_dirs.push(directory(&here.join(dir))?);
        }
        let cwd = match dir {
            Some(dir) => directory(&here.join(dir))?,
            None => here,
        };
        let profile = global.profile.clone();
        Ok(Self { cwd, profile, session: None, add_dirs, environment: environment::discovery() })
    }

    /// Puts the place into a call's parameters, and returns `path` as these parameters write it.
    pub(super) fn fill(&self, params: &mut impl Contextual, path: Option<&Path>) -> Option<String> {
        let values = self.environment.iter().map(|(_, value)| Path::new(value));
        let dirs = self.add_dirs.iter().map(PathBuf::as_path);
        let all = std::iter::once(self.cwd.as_path()).chain(dirs).chain(values).chain(path);
        let encoding = encoding_of(all);
        params.set_context(Context {
            cwd: Some(encode(&self.cwd, encoding)),
            profile: self.profile.clone(),
            session: self.session.clone(),
            additional_dirs: self.add_dirs.iter().map(|dir| encode(dir, encoding)).collect(),
            environment: Some(
                self.environment
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), encode_os(value, encoding)))
                    .collect(),
            ),
            path_encoding: encoding,
            ..Context::default()
        });
        path.map(|path| encode(path, encoding))
    }

    /// Puts the place into a call's parameters, and returns `paths` as these parameters write them.
    pub(super) fn fill_all(&self, params: &mut impl Contextual, paths: &[PathBuf]) -> Vec<String> {
        // One that needs an encoding decides for all.
        let odd = paths.iter().find(|it| encoding_of([it.as_path()]).is_some());
        self.fill(params, odd.map(PathBuf::as_path));
        let context = params.take_context();
        let encoding = context.path_encoding;
        params.set_context(context);
        paths.iter().map(|path| encode(path, encoding)).collect()
    }

    /// Returns a path from the command line, absolute.
    pub(super) fn file(&self, given: &Path) -> PathBuf {
        settled(&self.cwd.join(given))
    }

    /// Returns the same place under another profile.
    pub(super) fn with_profile(&self, profile: &str) -> Self {
        Self { profile: Some(profile.to_owned()), ..self.clone() }
    }

    /// Returns the same place as a conversation sees it.
    pub(super) fn seen_by(self, flag: &SessionFlag) -> Self {
        Self { session: flag.session.clone(), ..self }
    }

    /// Returns whether several profiles are asked for.
    pub(super) fn wants_several_profiles(&self) -> bool {
        self.profile.as_deref().is_some_and(|it| it == ALL_PROFILES || it.contains(BETWEEN))
    }

    /// Returns the profiles that are asked for, of those that the daemon knows. A variant
    /// (`claude-code@founding`) is in none but those that name it.
    pub(super) fn several(&self, known: &[String]) -> Vec<String> {
        let asked = self.profile.as_deref().unwrap_or(ALL_PROFILES);
        let mut several: Vec<String> = Vec::new();
        for name in asked.split(BETWEEN).map(str::trim).filter(|it| !it.is_empty()) {
            let all = known.iter().filter(|it| name == ALL_PROFILES && !it.contains('@'));
            let one = (name != ALL_PROFILES).then(|| name.to_owned());
            for profile in all.cloned().chain(one) {
                if !several.contains(&profile) {
                    several.push(profile);
                }
            }
        }
        several
    }

    /// Refuses several profiles for a command that has one answer.
    pub(super) fn single_profile(self) -> Result<Self, CommandError> {
        if self.wants_several_profiles() {
            let given = self.profile.unwrap_or_default();
            let message = format!("`--profile {given}` is for `list`, `explain` and `check`");
            return Err(CommandError::usage(message)
                .with_hint("Name one profile, for example `--profile claude-code`."));
        }
        Ok(self)
    }

    /// Tells whether an argument is a path or a name.
    ///
    /// A bare word is a name, even where a file is called so. With a slash in it, it is a path when
    /// it is there or plainly is meant as one; names may hold slashes too.
    /// A name is text; what is not can only be a path.
    pub(super) fn target(&self, argument: &OsStr) -> Target {
        let given = Path::new(argument);
        let rooted = given.is_absolute()
            || matches!(given.components().next(), Some(Component::CurDir | Component::ParentDir));
        let path = self.cwd.join(given);
        let is_path = rooted
            || given.file_name().is_some_and(|name| name == "SKILL.md")
            || (argument.as_bytes().contains(&b'/') && path.symlink_metadata().is_ok());
        match argument.to_str() {
            Some(name) if !is_path => Target::Name(name.to_owned()),
            Some(_) | None => Target::Path(settled(&path)),
        }
    }
}

fn directory(path: &Path) -> Result<PathBuf, CommandError> {
    match path.metadata() {
        // As an agent's own directory is: what is above a link is not what is above its target.
        Ok(found) if found.is_dir() => path.canonicalize().map_err(|error| unusable(path, &error)),
        Ok(_) => Err(CommandError::usage(format!("`{}` is not a directory", path.display()))),
        Err(error) => Err(unusable(path, &error)),
    }
}

fn unusable(path: &Path, error: &io::Error) -> CommandError {
    let path = path.display();
    CommandError::usage(format!("`{path}` is not a directory that can be used: {error}"))
}

// `a/./b` loses its dot. `..` is only known to the disk, because `a` may be a link; what no disk
// can tell (a path that is not there) loses it by the text.
fn settled(path: &Path) -> PathBuf {
    if !path.components().any(|component| component == Component::ParentDir) {
        return path.components().collect();
    }
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut settled = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                settled.pop();
            }
            other => settled.push(other),
        }
    }
    settled
}

#[cfg(test)]
mod tests {
    use skills_protocol::path::PathEncoding;
    use skills_protocol::wire::ListParams;
    use tempfile::TempDir;

    use super::*;

    fn place(cwd: &Path) -> Place {
        Place {
            cwd: cwd.to_owned(),
            profile: None,
            session: None,
            add_dirs: Vec::new(),
            environment: Vec::new(),
        }
    }

    #[test]
    fn a_bare_word_is_a_name_and_a_slash_makes_a_path_of_what_is_there() {
        let top = TempDir::new().expect("made");
        std::fs::create_dir_all(top.path().join("a/b")).expect("made");
        std::fs::create_dir(top.path().join("commit")).expect("made");
        let place = place(top.path());
        let path = |relative| Target::Path(top.path().join(relative));
        let name = |name: &str| Target::Name(name.to_owned());
        assert_eq!(place.target(OsStr::new("commit")), name("commit"));
        assert_eq!(place.target(OsStr::new("./commit")), path("commit"));
        assert_eq!(place.target(OsStr::new("a/b")), path("a/b"));
        assert_eq!(place.target(OsStr::new("ns/skill")), name("ns/skill"));
        assert_eq!(place.target(OsStr::new("gone/SKILL.md")), path("gone/SKILL.md"));
        assert_eq!(place.target(OsStr::new("./a/../gone")), path("gone"));
        assert_eq!(place.target(OsStr::new("/x//y/")), Target::Path("/x/y".into()));
        let odd = OsStr::from_bytes(b"caf\xe9");
        assert_eq!(place.target(odd), Target::Path(top.path().join(odd)));
    }

    #[test]
    fn several_profiles_are_all_of_today_or_those_that_are_named() {
        let known = ["agentskills", "codex", "codex@founding", "mine"].map(str::to_owned);
        let several = |asked: &str| {
            let place = Place { profile: Some(asked.to_owned()), ..place(Path::new("/")) };
            assert!(place.wants_several_profiles());
            place.several(&known).join(" ")
        };
        assert_eq!(several("all"), "agentskills codex mine");
        assert_eq!(several("codex, codex@founding"), "codex codex@founding");
        assert_eq!(several("codex@founding,all"), "codex@founding agentskills codex mine");
        assert!(!place(Path::new("/")).wants_several_profiles());
    }

    #[test]
    fn relative_directories_are_taken_from_cwd() {
        let top = TempDir::new().expect("made");
        std::fs::create_dir_all(top.path().join("w/sub")).expect("made");
        let global = GlobalArgs {
            cwd: Some(top.path().join("w")),
            add_dirs: vec!["sub".into()],
            ..GlobalArgs::default()
        };
        let found = Place::of(&global, Some(Path::new("sub"))).expect("there");
        let sub = top.path().join("w/sub").canonicalize().expect("there");
        assert_eq!(found.cwd, sub);
        assert_eq!(found.add_dirs, [sub.as_path()]);
        let error = Place::of(&global, Some(Path::new("gone"))).expect_err("not there");
        assert!(error.message().contains("w/gone` is not a directory"), "{}", error.message());
    }

    #[test]
    fn a_link_to_a_directory_is_followed() {
        let top = TempDir::new().expect("made");
        let real = top.path().canonicalize().expect("there").join("w/deep");
        std::fs::create_dir_all(&real).expect("made");
        let link = top.path().join("link");
        std::os::unix::fs::symlink("w/deep", &link).expect("made");
        let named = Place::of(&GlobalArgs::default(), Some(&link)).expect("there");
        assert_eq!(named.cwd, real);
        let global = GlobalArgs { cwd: Some(link.clone()), ..GlobalArgs::default() };
        assert_eq!(Place::of(&global, None).expect("there").cwd, real);

        std::fs::remove_dir(&real).expect("it was there");
        let error = Place::of(&global, None).expect_err("it leads nowhere");
        assert!(error.message().contains("link` is not a directory"), "{}", error.message());
    }

    #[test]
    fn one_odd_path_encodes_all_of_the_call() {
        let mut odd = place(Path::new(OsStr::from_bytes(b"/w/\xff")));
        odd.environment = vec![("HOME", "/h%".into())];
        let mut params = ListParams::default();
        let path = odd.fill(&mut params, Some(Path::new("/p")));
        assert_eq!(path.as_deref(), Some("/p"));
        assert_eq!(params.cwd.as_deref(), Some("/w/%FF"));
        assert_eq!(params.path_encoding, Some(PathEncoding::Percent));
        assert_eq!(params.environment.expect("sent")["HOME"], "/h%25");
    }
}
