//! Context of a command's calls ([`CallContext`]): directory, added directories, profile, session
//! and environment.
//!
//! Everything that depends on this process's directory and variables is read here, so that the
//! daemon only receives absolute paths. Relative paths, including those of other arguments, start
//! at `--cwd`, like those of `git -C`.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use clap::Args;
use skills_client::environment;
use skills_protocol::env::{SKILLSD_ADD_DIRS, SKILLSD_PROFILE};
use skills_protocol::path::{encode, encode_os, encoding_of};
use skills_protocol::wire::{Context, Contextual};
use skills_protocol::{PROFILES, WIDELY_USED};

use crate::failure::CommandError;
use crate::global::{ALL_PROFILES, EVERY_PROFILE, GlobalArgs, PROFILE_SEPARATOR};

/// Directory, profile and environment that a command's calls use.
#[derive(Debug, Clone)]
pub(super) struct CallContext {
    pub(super) cwd: PathBuf,
    pub(super) profile: Option<String>,
    session: Option<String>,
    add_dirs: Vec<PathBuf>,
    environment: Vec<(&'static str, OsString)>,
    // Variables of the user's own profiles, each with the name of its profile.
    own_variables: Vec<(String, String)>,
}

/// The flag `--session`.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SessionFlag {
    /// Apply this session: its activated and discovered skills
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// Skill argument of a command: a name or a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SkillArgument {
    Name(String),
    /// Absolute path of a SKILL.md or a directory.
    Path(PathBuf),
}

impl CallContext {
    /// Returns the context that the flags select; `dir` is the command's own directory argument.
    pub(super) fn from_args(global: &GlobalArgs, dir: Option<&Path>) -> Result<Self, CommandError> {
        let here = env::current_dir().map_err(|error| {
            CommandError::usage(format!("failed to read the current directory: {error}"))
                .with_hint("Change to a directory that exists, or pass `--cwd DIR`.")
        });
        // With an absolute `--cwd`, the current directory may have been removed.
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
        let variable = || env::var(SKILLSD_PROFILE).ok().filter(|it| !it.is_empty());
        let profile = global.profile.clone().or_else(variable);
        let own_variables = global.profile_variables.map(|read| read()).unwrap_or_default();
        let environment = environment::discovery();
        Ok(Self { cwd, profile, session: None, add_dirs, environment, own_variables })
    }

    /// Sets the context of a call's parameters, and returns `path` in their path encoding.
    pub(super) fn fill(&self, params: &mut impl Contextual, path: Option<&Path>) -> Option<String> {
        let (context, path) = self.context(path);
        params.set_context(context);
        path
    }

    /// Returns parameters with the context, and otherwise empty.
    pub(super) fn params<P: Contextual + Default>(&self) -> P {
        let mut params = P::default();
        self.fill(&mut params, None);
        params
    }

    /// Sets the context of a call's parameters, and returns the name of a skill, or else its path
    /// in their path encoding.
    pub(super) fn fill_target(
        &self,
        params: &mut impl Contextual,
        target: SkillArgument,
    ) -> (Option<String>, Option<String>) {
        match target {
            SkillArgument::Path(path) => (None, self.fill(params, Some(&path))),
            SkillArgument::Name(name) => {
                self.fill(params, None);
                (Some(name), None)
            }
        }
    }

    /// Returns the context of a call, and `path` in its path encoding.
    fn context(&self, path: Option<&Path>) -> (Context, Option<String>) {
        let environment = self.environment();
        let values = environment.values().map(Path::new);
        let dirs = self.add_dirs.iter().map(PathBuf::as_path);
        let all = std::iter::once(self.cwd.as_path()).chain(dirs).chain(values).chain(path);
        let encoding = encoding_of(all);
        let context = Context {
            cwd: Some(encode(&self.cwd, encoding)),
            profile: self.profile.clone(),
            session: self.session.clone(),
            additional_dirs: self.add_dirs.iter().map(|dir| encode(dir, encoding)).collect(),
            environment: Some(
                environment
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), encode_os(value, encoding)))
                    .collect(),
            ),
            path_encoding: encoding,
            ..Context::default()
        };
        let path = path.map(|path| match path.to_str() {
            Some(address) if is_address(path) => address.to_owned(),
            _ => encode(path, encoding),
        });
        (context, path)
    }

    /// Returns the variables to send: those of all agents, and those that the selected profile
    /// reads or, without a selection, any of the user's own. An unset variable of a profile is sent
    /// empty, since the daemon would use its own value otherwise.
    fn environment(&self) -> BTreeMap<&str, OsString> {
        let selected = self.profile.as_deref();
        let is_read = |profile: &str| {
            selected.is_none_or(|it| it.split(PROFILE_SEPARATOR).any(|it| it.trim() == profile))
        };
        let own = self.own_variables.iter().filter(|(profile, _)| is_read(profile));
        let own = own.map(|(_, name)| (&**name, environment::value(name).unwrap_or_default()));
        own.chain(self.environment.iter().map(|(name, value)| (*name, value.clone()))).collect()
    }

    /// Sets the context of a call's parameters, and returns `paths` in their path encoding.
    pub(super) fn fill_all(&self, params: &mut impl Contextual, paths: &[PathBuf]) -> Vec<String> {
        // One path that needs percent-encoding decides for all.
        let odd = paths.iter().find(|it| encoding_of([it.as_path()]).is_some());
        self.fill(params, odd.map(PathBuf::as_path));
        let context = params.take_context();
        let encoding = context.path_encoding;
        params.set_context(context);
        paths.iter().map(|path| encode(path, encoding)).collect()
    }

    /// Returns the absolute form of a path argument.
    pub(super) fn file(&self, given: &Path) -> PathBuf {
        normalize(&self.cwd.join(given))
    }

    pub(super) fn with_profile(&self, profile: &str) -> Self {
        Self { profile: Some(profile.to_owned()), ..self.clone() }
    }

    /// Returns the same context without a profile, for calls that name theirs.
    pub(super) fn without_profile(&self) -> Self {
        Self { profile: None, ..self.clone() }
    }

    pub(super) fn with_session(self, flag: &SessionFlag) -> Self {
        Self { session: flag.session.clone(), ..self }
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    pub(super) fn leave_session(&mut self) {
        self.session = None;
    }

    pub(super) fn in_session(self, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..self }
    }

    /// Returns whether `--profile` selects several profiles.
    pub(super) fn wants_several_profiles(&self) -> bool {
        self.profile.as_deref().is_some_and(|it| is_group(it) || it.contains(PROFILE_SEPARATOR))
    }

    /// Returns the names in `--profile`; `all` without it.
    fn selection(&self) -> impl Iterator<Item = &str> {
        let selection = self.profile.as_deref().unwrap_or(ALL_PROFILES);
        selection.split(PROFILE_SEPARATOR).map(str::trim).filter(|it| !it.is_empty())
    }

    /// Returns whether the agents that are present are among the selected profiles.
    pub(super) fn selects_present(&self) -> bool {
        self.selection().any(is_group)
    }

    /// Returns the selected profiles out of those of the daemon; those in `present` come first. A
    /// variant (`claude-code@founding`) is only included if it is named.
    pub(super) fn selected_profiles(
        &self,
        available: &[String],
        present: &[String],
    ) -> Vec<String> {
        let mut selected: Vec<String> = Vec::new();
        for name in self.selection() {
            let is_meant = |it: &&String| {
                let is_rare =
                    PROFILES.contains(&it.as_str()) && !WIDELY_USED.contains(&it.as_str());
                !it.contains('@') && (name == EVERY_PROFILE || !is_rare)
            };
            let group = present.iter().chain(available.iter().filter(is_meant));
            let one = (!is_group(name)).then(|| name.to_owned());
            for profile in group.filter(|_| is_group(name)).cloned().chain(one) {
                if !selected.contains(&profile) {
                    selected.push(profile);
                }
            }
        }
        selected
    }

    /// Refuses several profiles for a command that needs one.
    pub(super) fn single_profile(self) -> Result<Self, CommandError> {
        if self.wants_several_profiles() {
            let given = self.profile.unwrap_or_default();
            let message = format!(
                "only `list`, `explain`, `check`, `report` and `budget` accept several profiles, not this command with `--profile {given}`"
            );
            return Err(CommandError::usage(message)
                .with_hint("Pass one profile, for example `--profile claude-code`."));
        }
        Ok(self)
    }

    /// Returns whether an argument is a path or a name. A bare word is a name, even if a file has
    /// this name. An argument with a slash is a path if it exists or is clearly written as one,
    /// because names may contain slashes too. An argument that is not UTF-8 is a path, and so is
    /// the address of a skill without a file. `~/` is the home directory, because a shell does not
    /// expand it within quotes.
    pub(super) fn target(&self, argument: &OsStr) -> SkillArgument {
        let given = Path::new(argument);
        if is_address(given) {
            return SkillArgument::Path(given.to_owned());
        }
        let home = env::home_dir().filter(|_| argument.as_bytes().starts_with(b"~"));
        if let Some((home, below)) = home.zip(given.strip_prefix("~").ok()) {
            return SkillArgument::Path(normalize(&home.join(below)));
        }
        let is_dotted = |it: Component<'_>| it.as_os_str().as_bytes().starts_with(b".");
        let rooted = given.is_absolute()
            || given.components().next() == Some(Component::CurDir)
            || (argument.as_bytes().contains(&b'/') && given.components().any(is_dotted))
            || argument == "..";
        let path = self.cwd.join(given);
        let is_path = rooted
            || given.file_name().is_some_and(|name| name == "SKILL.md")
            || (argument.as_bytes().contains(&b'/') && path.symlink_metadata().is_ok());
        match argument.to_str() {
            Some(name) if !is_path => SkillArgument::Name(name.to_owned()),
            Some(_) | None => SkillArgument::Path(normalize(&path)),
        }
    }
}

/// Returns whether a name in `--profile` stands for several profiles.
fn is_group(name: &str) -> bool {
    name == ALL_PROFILES || name == EVERY_PROFILE
}

/// Returns whether this is the address of a skill without a file, which is sent as it is.
fn is_address(path: &Path) -> bool {
    let is_of = |scheme: &&str| path.as_os_str().as_bytes().starts_with(scheme.as_bytes());
    ["mcp://", "builtin://"].iter().any(is_of)
}

fn directory(path: &Path) -> Result<PathBuf, CommandError> {
    match path.metadata() {
        // Like an agent's own working directory: the parents of a link and of its target differ.
        Ok(found) if found.is_dir() => path.canonicalize().map_err(|error| unusable(path, &error)),
        Ok(_) => Err(CommandError::usage(format!("`{}` is not a directory", path.display()))),
        Err(error) => Err(unusable(path, &error)),
    }
}

fn unusable(path: &Path, error: &io::Error) -> CommandError {
    let path = path.display();
    CommandError::usage(format!("`{path}` is not a usable directory: {error}"))
}

// Removes `.` and `..`. For `..` this asks the disk, because `a` in `a/..` may be a link; the
// components behind the last `..` keep their links. A path that does not exist is normalized by
// its text.
fn normalize(path: &Path) -> PathBuf {
    let components: Vec<_> = path.components().collect();
    let Some(last) = components.iter().rposition(|it| *it == Component::ParentDir) else {
        return components.into_iter().collect();
    };
    let (above, rest) = components.split_at(last + 1);
    let above: PathBuf = above.iter().collect();
    if let Ok(mut real) = above.canonicalize() {
        real.extend(rest);
        return real;
    }
    let mut normal = PathBuf::new();
    for component in components {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use skills_protocol::path::PathEncoding;
    use skills_protocol::wire::ListParams;
    use tempfile::TempDir;

    use super::*;

    fn context(cwd: &Path) -> CallContext {
        CallContext {
            cwd: cwd.to_owned(),
            profile: None,
            session: None,
            add_dirs: Vec::new(),
            environment: Vec::new(),
            own_variables: Vec::new(),
        }
    }

    #[test]
    fn target_is_a_path_only_with_a_slash_and_an_existing_file() {
        let top = TempDir::new().expect("made");
        std::fs::create_dir_all(top.path().join("a/b")).expect("made");
        std::fs::create_dir(top.path().join("commit")).expect("made");
        let context = context(top.path());
        let path = |relative| SkillArgument::Path(top.path().join(relative));
        let name = |name: &str| SkillArgument::Name(name.to_owned());
        assert_eq!(context.target(OsStr::new("commit")), name("commit"));
        assert_eq!(context.target(OsStr::new("./commit")), path("commit"));
        assert_eq!(context.target(OsStr::new("a/b")), path("a/b"));
        assert_eq!(context.target(OsStr::new("ns/skill")), name("ns/skill"));
        assert_eq!(context.target(OsStr::new("gone/SKILL.md")), path("gone/SKILL.md"));
        assert_eq!(context.target(OsStr::new(".claude/gone")), path(".claude/gone"));
        let above = top.path().parent().expect("it is not the root").to_owned();
        assert_eq!(context.target(OsStr::new("..")), SkillArgument::Path(above));
        let home = env::home_dir().expect("a test has a home directory");
        assert_eq!(context.target(OsStr::new("~/gone")), SkillArgument::Path(home.join("gone")));
        assert_eq!(context.target(OsStr::new("./a/../gone")), path("gone"));
        assert_eq!(context.target(OsStr::new("/x//y/")), SkillArgument::Path("/x/y".into()));
        let address = OsStr::new("mcp://notes/week%2Fly");
        let SkillArgument::Path(path) = context.target(address) else { panic!("a path") };
        assert_eq!(path.as_os_str(), address);
        let odd = context.with_profile("é");
        let odd = CallContext { cwd: OsStr::from_bytes(b"/caf\xe9").into(), ..odd };
        let sent = odd.fill(&mut ListParams::default(), Some(&path));
        assert_eq!(sent.as_deref().map(OsStr::new), Some(address));
        let odd = OsStr::from_bytes(b"caf\xe9");
        assert_eq!(context.target(odd), SkillArgument::Path(top.path().join(odd)));
    }

    #[test]
    fn all_profiles_excludes_variants_unless_named() {
        let available =
            ["agentskills", "codex", "codex@founding", "mine", "qwen-code"].map(str::to_owned);
        let selected = |selection: &str| {
            let context =
                CallContext { profile: Some(selection.to_owned()), ..context(Path::new("/")) };
            assert!(context.wants_several_profiles());
            context.selected_profiles(&available, &["kilo".to_owned()]).join(" ")
        };
        assert_eq!(selected("all"), "kilo agentskills codex mine");
        assert_eq!(selected("every"), "kilo agentskills codex mine qwen-code");
        assert_eq!(selected("codex, codex@founding"), "codex codex@founding");
        assert_eq!(selected("codex@founding,all"), "codex@founding kilo agentskills codex mine");
        assert!(!context(Path::new("/")).wants_several_profiles());
    }

    #[test]
    fn relative_directories_start_at_cwd() {
        let top = TempDir::new().expect("made");
        std::fs::create_dir_all(top.path().join("w/sub")).expect("made");
        let global = GlobalArgs {
            cwd: Some(top.path().join("w")),
            add_dirs: vec!["sub".into()],
            ..GlobalArgs::default()
        };
        let found = CallContext::from_args(&global, Some(Path::new("sub"))).expect("there");
        let sub = top.path().join("w/sub").canonicalize().expect("there");
        assert_eq!(found.cwd, sub);
        assert_eq!(found.add_dirs, [sub.as_path()]);
        let error =
            CallContext::from_args(&global, Some(Path::new("gone"))).expect_err("not there");
        assert!(
            error.message().contains("w/gone` is not a usable directory"),
            "{}",
            error.message()
        );
    }

    #[test]
    fn symlinked_directory_is_resolved() {
        let top = TempDir::new().expect("made");
        let real = top.path().canonicalize().expect("there").join("w/deep");
        std::fs::create_dir_all(&real).expect("made");
        let link = top.path().join("link");
        std::os::unix::fs::symlink("w/deep", &link).expect("made");
        let with_name = CallContext::from_args(&GlobalArgs::default(), Some(&link)).expect("there");
        assert_eq!(with_name.cwd, real);
        let global = GlobalArgs { cwd: Some(link.clone()), ..GlobalArgs::default() };
        assert_eq!(CallContext::from_args(&global, None).expect("there").cwd, real);

        std::fs::remove_dir(&real).expect("it was there");
        let error = CallContext::from_args(&global, None).expect_err("it leads nowhere");
        assert!(error.message().contains("link` is not a usable directory"), "{}", error.message());
    }

    #[test]
    fn variables_of_the_selected_profile_are_sent_and_empty_if_unset() {
        let mut context = context(Path::new("/w"));
        let own = [("house", "CARGO_MANIFEST_DIR"), ("other", "SKILLSD_TEST_UNSET")];
        context.own_variables = own.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        let dir = env!("CARGO_MANIFEST_DIR");
        let sent = |profile: Option<&str>| {
            let mut params = ListParams::default();
            CallContext { profile: profile.map(str::to_owned), ..context.clone() }
                .fill(&mut params, None);
            Vec::from_iter(params.environment.expect("sent"))
        };
        let house = ("CARGO_MANIFEST_DIR".to_owned(), dir.to_owned());
        let other = ("SKILLSD_TEST_UNSET".to_owned(), String::new());
        assert_eq!(sent(Some("house")), std::slice::from_ref(&house));
        assert_eq!(sent(Some("other")), std::slice::from_ref(&other));
        assert_eq!(sent(Some("claude-code")), []);
        assert_eq!(sent(None), [house, other]);
    }

    #[test]
    fn one_non_utf8_path_encodes_all_paths_of_the_call() {
        let mut odd = context(Path::new(OsStr::from_bytes(b"/w/\xff")));
        odd.environment = vec![("HOME", "/h%".into())];
        let mut params = ListParams::default();
        let path = odd.fill(&mut params, Some(Path::new("/p")));
        assert_eq!(path.as_deref(), Some("/p"));
        assert_eq!(params.cwd.as_deref(), Some("/w/%FF"));
        assert_eq!(params.path_encoding, Some(PathEncoding::Percent));
        assert_eq!(params.environment.expect("sent")["HOME"], "/h%25");
    }
}
