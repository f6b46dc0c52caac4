//! The configuration as it is now: the user's file, and one at the top of each worktree.
//!
//! A file is looked at (one `stat`, and none where the vigil has heard of nothing since the last)
//! whenever somebody asks something that depends on it, and read again when it has changed, so that
//! the first answer after an edit follows the edit. An edit with mistakes does not count: what
//! counted before stays, and health says what is wrong with the new. Where no text counted before,
//! what is right in it counts: a mistake in one line must not take the rules in the others away.
//! What counted before stays as well of one in a home on a server that does not answer, which nobody
//! waits for. `skills_config` defines its keys.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skills_config::{Config, ConfigSource, Problem};
use skills_discovery::discover::{Policy, REPOSITORY_FILE};
use skills_discovery::permission::Rule;
use skills_engine::files::disk::{self, ReadError};
use skills_engine::files::inspect::read_fenced;
use skills_engine::watch::stat_cache::{Generation, StatCache, Validity};
use skills_engine::{Health, McpOptions, RemoteFsGuard, RemoteOptions, SourceConfig};
use skills_protocol::limits::Limits;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{ConfigState, ConfigStatus};
use skills_syntax::path::AbsPath;

use crate::lifecycle::log;

/// How long a file may be; the longest sensible one is a hundredth of it.
const LONGEST: u64 = 256 * 1024;

/// How old a change has to be before its time tells it from the next one: clocks of file systems
/// tick more slowly than editors save.
const SETTLED: Duration = Duration::from_millis(50);

/// How many mistakes of one file are told.
const MANY: usize = 10;

/// How many worktrees' files are remembered; they are forgotten all together.
const WORKTREES: usize = 1024;

/// The configuration of this process.
#[derive(Debug)]
pub(crate) struct Settings {
    /// None where neither a variable nor a home says where it belongs.
    user_file: Option<PathBuf>,
    user: Mutex<Kept>,
    repositories: Mutex<BTreeMap<AbsPath, Kept>>,
}

/// What reading the user's file again has changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    /// What counts.
    pub(crate) config: bool,
    /// What is wrong with the file.
    pub(crate) health: bool,
}

/// A file as it was last read.
#[derive(Clone, Debug, Default)]
struct Kept {
    stamp: Stamp,
    reach: RemoteFsGuard,
    /// True if the file was so young when it was read that another change may look the same, or
    /// could not be read for a reason that passes without a change of the file.
    fresh: bool,
    /// For the last time that it looked as when it was read.
    vouch: Validity,
    /// What counts: the last one without mistakes, or what was right in the first.
    config: Arc<Config>,
    /// Whether that was in the file, and not merely what counts without one.
    has_counted: bool,
    /// What is wrong with the present one.
    faults: Vec<String>,
}

/// By what a change of a file shows; none where it cannot be looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp(Option<(u64, u64, u64, i64, i64, i64, i64)>);

impl Settings {
    /// Reads the user's file, at the start.
    pub(crate) fn load(user_file: Option<PathBuf>) -> Arc<Self> {
        let kept =
            user_file.as_deref().map(|path| read(path, ConfigSource::User, &Kept::default(), &[]));
        let user = Mutex::new(kept.unwrap_or_default());
        Arc::new(Self { user_file, user, repositories: Mutex::default() })
    }

    /// Returns where the user's file is, or would be.
    pub(crate) fn user_file(&self) -> Option<&Path> {
        self.user_file.as_deref()
    }

    /// Returns the user's configuration as it was last read.
    pub(crate) fn user(&self) -> Arc<Config> {
        Arc::clone(&lock(&self.user).config)
    }

    /// Reads the user's file again if it has changed. Returns what came of it; none where it was
    /// not read.
    pub(crate) async fn refresh(&self, heard: Generation) -> Option<Edit> {
        let path = self.user_file.as_ref()?;
        if lock(&self.user).vouch.holds(heard) {
            return None;
        }
        let kept = lock(&self.user).clone();
        let vouch = watch(path, &kept.reach);
        if kept.is_current(path).await {
            lock(&self.user).vouched(kept.stamp, vouch);
            return None;
        }
        let (config, faults) = (Arc::clone(&kept.config), kept.faults.clone());
        let kept = read_elsewhere(path.clone(), ConfigSource::User, kept, Vec::new()).await?;
        let edit = Edit { config: config != kept.config, health: faults != kept.faults };
        if edit.config || edit.health {
            tracing::info!(good = kept.faults.is_empty(), "the configuration has changed");
            log::configure(&kept.config);
            if config.profiles != kept.config.profiles {
                // They may name profiles that are there now, or are not any more.
                lock(&self.repositories).clear();
            }
        }
        *lock(&self.user) = kept;
        Some(edit)
    }

    /// Returns what a worktree's own file decides, as the file is now.
    pub(crate) async fn repository(&self, top: &AbsPath, heard: Generation) -> Arc<Config> {
        if let Some(kept) = lock(&self.repositories).get(top)
            && kept.vouch.holds(heard)
        {
            return Arc::clone(&kept.config);
        }
        let path = top.join(REPOSITORY_FILE);
        let kept = lock(&self.repositories).get(top).cloned();
        if let Some(kept) = &kept {
            let vouch = watch(&path, &kept.reach);
            if kept.is_current(&path).await {
                if let Some(it) = lock(&self.repositories).get_mut(top) {
                    it.vouched(kept.stamp, vouch);
                }
                return Arc::clone(&kept.config);
            }
        }
        let kept = kept.unwrap_or_default();
        // It knows that it is waited for.
        let unanswered = kept.clone();
        let own = self.user().profiles.user_defined().map(str::to_owned).collect();
        let read = read_elsewhere(path, ConfigSource::Repository, kept, own).await;
        let kept = read.unwrap_or(unanswered);
        let config = Arc::clone(&kept.config);
        let mut repositories = lock(&self.repositories);
        if repositories.len() >= WORKTREES {
            repositories.clear();
        }
        repositories.insert(top.clone(), kept);
        config
    }

    /// Returns the bounds that new connections are held to.
    pub(crate) fn limits(&self) -> Limits {
        let config = self.user();
        Limits {
            connections: narrow(config.connections),
            requests_in_flight: narrow(config.requests_in_flight),
            message_bytes_in: config.message_bytes_in,
            message_bytes_out: config.message_bytes_out,
            ..Limits::default()
        }
    }

    /// Returns the user's file and whether it counts.
    pub(crate) fn status(&self) -> Option<ConfigStatus> {
        let path = self.user_file.as_deref()?;
        let path_encoding = encoding_of([path]);
        let kept = lock(&self.user);
        let state = match (kept.faults.is_empty(), kept.stamp.0) {
            (false, _) => ConfigState::Broken,
            (true, Some(_)) => ConfigState::Good,
            (true, None) => ConfigState::Absent,
        };
        Some(ConfigStatus { path: encode(path, path_encoding), path_encoding, state })
    }

    /// Returns what is wrong with the user's file, and with those of all worktrees or of one.
    pub(crate) fn health(&self, top: Option<&AbsPath>) -> Vec<Health> {
        let mut health = Vec::new();
        if let Some(path) = &self.user_file {
            health.extend(unwell(path, &lock(&self.user)));
        }
        let repositories = lock(&self.repositories);
        let meant = repositories.iter().filter(|(it, _)| top.is_none_or(|top| *it == top));
        for (top, kept) in meant {
            health.extend(unwell(&top.join(REPOSITORY_FILE), kept));
        }
        health
    }
}

/// Returns what a configuration says about skills from elsewhere.
pub(crate) fn provision(config: &Config) -> SourceConfig {
    SourceConfig {
        bundled: config.bundled_profiles.clone(),
        remote: RemoteOptions {
            addresses: config.remote_urls.clone(),
            profiles: config.remote_profiles.clone(),
            interval: Duration::from_secs(config.remote_interval),
            unencrypted: config.remote_http.as_deref() == Some("anywhere"),
        },
        mcp: McpOptions {
            servers: config.mcp_servers.clone(),
            profiles: config.mcp_profiles.clone(),
            timeout: Duration::from_secs(config.mcp_timeout),
            idle: Duration::from_secs(config.mcp_idle),
        },
    }
}

/// Returns the user's own rules about skills.
pub(crate) fn rules(settings: &Settings) -> Vec<Rule> {
    let file = settings.user_file.as_deref().and_then(|it| AbsPath::new(it).ok());
    let rules = &settings.user().permission_skill;
    file.map(|file| Policy::rules(rules, &file)).unwrap_or_default()
}

// The table of keys holds both to what fits.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is left half done under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unwell(path: &Path, kept: &Kept) -> Vec<Health> {
    let health = kept.faults.iter().take(MANY).map(|fault| Health {
        code: "config",
        message: fault.clone(),
        hint: "Mend the file; until then what counted before does, or what is right in it.",
        path: Some(path.as_os_str().to_owned()),
    });
    let late = kept.reach.is_late().then(|| Health {
        code: "config",
        message: "the file system that it is on does not answer".to_owned(),
        hint: "See whether the server or the network is there; until it answers, what was last read counts, or the defaults.",
        path: Some(path.as_os_str().to_owned()),
    });
    health.chain(late).collect()
}

async fn read_elsewhere(
    path: PathBuf,
    source: ConfigSource,
    kept: Kept,
    own: Vec<String>,
) -> Option<Kept> {
    // Without an answer all stays as it was.
    let reach = kept.reach.clone();
    reach.read(move || read(&path, source, &kept, &own)).await
}

/// Reads a file that may name the profiles `own` besides those that are built in.
fn read(path: &Path, source: ConfigSource, before: &Kept, own: &[String]) -> Kept {
    let vouch = Validity::default();
    // Before the reading: a change after it is one more difference.
    let stamp = Stamp::of(path);
    let fresh = stamp.is_young();
    let reach = RemoteFsGuard::of(path);
    match text(path, source) {
        Ok(None) => Kept { stamp, reach, fresh, ..Kept::default() },
        Ok(Some(bytes)) => {
            let rules = skills_lint::ids();
            let names = skills_config::KnownNames { rules: Some(&rules), profiles: own };
            let parsed = skills_config::read_with_names(&bytes, source, names);
            let faults: Vec<_> = parsed.problems.iter().map(fault).collect();
            let counts = faults.is_empty() || !before.has_counted;
            let config = if counts { Arc::new(parsed.config) } else { Arc::clone(&before.config) };
            Kept { stamp, reach, fresh, vouch, config, has_counted: true, faults }
        }
        Err(fault) => {
            let (config, has_counted) = (Arc::clone(&before.config), before.has_counted);
            let (fault, may_pass) = match fault {
                Unread::Stays(fault) => (fault, false),
                Unread::Failed(error) => (format!("it cannot be read: {error}"), true),
            };
            let fresh = fresh || may_pass;
            Kept { stamp, reach, fresh, vouch, config, has_counted, faults: vec![fault] }
        }
    }
}

/// Why a file was not read.
enum Unread {
    /// For this reason, until the file changes.
    Stays(String),
    /// The system failed, for example because no descriptor was left: it is read again.
    Failed(io::Error),
}

/// Begins to watch a file. Before it is looked at.
fn watch(path: &Path, reach: &RemoteFsGuard) -> Validity {
    match (path.parent(), path.file_name()) {
        (Some(dir), Some(name)) if !reach.is_far() => StatCache::of_process().watch(dir, &[name]),
        _ => Validity::default(),
    }
}

fn text(path: &Path, source: ConfigSource) -> Result<Option<Vec<u8>>, Unread> {
    let path = AbsPath::new(path).map_err(|error| Unread::Stays(error.to_string()))?;
    let stays = |fault: &str| Err(Unread::Stays(fault.to_owned()));
    let read = match source {
        // A worktree's file must not be a link to another file of the user.
        ConfigSource::Repository => read_fenced(&path, path.parent().as_ref(), LONGEST),
        ConfigSource::User => disk::open(&path).and_then(|it| disk::read_opened(it, LONGEST)),
    };
    match read {
        Ok(file) if file.truncated => stays(&format!("it is longer than {LONGEST} bytes")),
        Ok(file) => Ok(Some(file.bytes)),
        Err(ReadError::NotRegular(_)) => stays("it is not a regular file"),
        Err(ReadError::Outside(_)) => stays("it is a link out of the worktree"),
        Err(ReadError::Changing) => stays("it changed while it was read"),
        Err(ReadError::Io(error)) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(Unread::Failed(error)),
        },
    }
}

fn fault(problem: &Problem) -> String {
    let Problem { line, column, message, hint } = problem;
    let hint = hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("line {line}, column {column}: {message}{hint}")
}

impl Kept {
    async fn is_current(&self, path: &Path) -> bool {
        if self.fresh {
            return false;
        }
        let file = path.to_owned();
        // Who is not answered goes by what is known.
        self.reach.look(move || Stamp::of(&file)).await.is_none_or(|it| it == self.stamp)
    }

    /// Notes that it looked so, unless it has been read again meanwhile.
    fn vouched(&mut self, looked: Stamp, vouch: Validity) {
        if self.stamp == looked {
            self.vouch = vouch;
        }
    }
}

impl Stamp {
    fn is_young(self) -> bool {
        let Some((.., seconds, nanoseconds)) = self.0 else { return false };
        let since = Duration::new(seconds.unsigned_abs(), u32::try_from(nanoseconds).unwrap_or(0));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // One from the future is as good as young.
        now.checked_sub(since).is_none_or(|age| age < SETTLED)
    }

    fn of(path: &Path) -> Self {
        let found = fs::metadata(path).ok();
        Self(found.map(|it| {
            let (modified, changed) = (it.mtime(), it.ctime());
            (it.dev(), it.ino(), it.size(), modified, it.mtime_nsec(), changed, it.ctime_nsec())
        }))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn settings(text: Option<&str>) -> (TempDir, Arc<Settings>, PathBuf) {
        let top = TempDir::new().unwrap();
        let path = top.path().join("config.toml");
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        let settings = Settings::load(Some(path.clone()));
        (top, settings, path)
    }

    fn state(settings: &Settings) -> ConfigState {
        settings.status().unwrap().state
    }

    #[test]
    fn without_a_file_the_limits_are_those_of_the_protocol() {
        let (_top, settings, _) = settings(None);
        assert_eq!(settings.limits(), Limits::default());
        assert_eq!(state(&settings), ConfigState::Absent);
        assert!(settings.health(None).is_empty());
    }

    #[tokio::test]
    async fn a_broken_edit_keeps_the_last_good_one_and_says_so() {
        let (_top, settings, path) = settings(Some("limits.connections = 9\n"));
        assert_eq!(settings.limits().connections, 9);
        fs::write(&path, "limits.connections = 10\nlimits.conections = 11\n").unwrap();
        settings.refresh(Generation::default()).await;
        assert_eq!(settings.limits().connections, 9);
        assert_eq!(state(&settings), ConfigState::Broken);
        let health = settings.health(None);
        assert_eq!(health.len(), 1);
        let expected = "line 2, column 8: unknown key `limits.conections` (Did you mean `limits.connections`?)";
        assert_eq!(health[0].message, expected);
        fs::write(&path, "limits.connections = 12\n").unwrap();
        settings.refresh(Generation::default()).await;
        assert_eq!(settings.limits().connections, 12);
        assert_eq!(state(&settings), ConfigState::Good);
        fs::remove_file(&path).unwrap();
        settings.refresh(Generation::default()).await;
        assert_eq!(settings.limits(), Limits::default());
        assert_eq!(state(&settings), ConfigState::Absent);
    }

    #[tokio::test]
    async fn a_repository_has_its_own_file_and_its_own_faults() {
        let (top, settings, _) = settings(None);
        let worktree = AbsPath::new(top.path()).unwrap();
        let file = top.path().join(REPOSITORY_FILE);
        assert_eq!(settings.repository(&worktree, Generation::default()).await.profile, None);
        fs::write(&file, "profile = \"claude-code\"\n").unwrap();
        assert_eq!(
            settings.repository(&worktree, Generation::default()).await.profile.as_deref(),
            Some("claude-code")
        );
        fs::write(&file, "daemon.idle_exit = 1\n").unwrap();
        assert_eq!(
            settings.repository(&worktree, Generation::default()).await.profile.as_deref(),
            Some("claude-code")
        );
        assert_eq!(settings.health(Some(&worktree)).len(), 1);
        let other = AbsPath::new(Path::new("/elsewhere")).unwrap();
        assert!(settings.health(Some(&other)).is_empty());
    }

    #[tokio::test]
    async fn of_a_first_file_with_mistakes_what_is_right_counts() {
        let denies = "permission.skill = { \"a\" = \"deny\" }\nrequire_trust = true\n";
        for mistake in ["bogus = 1\n", "limits.connections = \"many\"\n", "log.level = \n"] {
            for text in [format!("{denies}{mistake}"), format!("{mistake}{denies}")] {
                let (_top, settings, path) = settings(Some(&text));
                assert_eq!(state(&settings), ConfigState::Broken);
                assert_eq!(settings.health(None).len(), 1, "{text}");
                let counts = |settings: &Settings| {
                    let config = settings.user();
                    assert_eq!(config.permission_skill.len(), 1, "{text}");
                    assert!(config.require_trust, "{text}");
                };
                counts(&settings);
                // An edit that leaves a mistake takes nothing away.
                fs::write(&path, format!("{mistake}log.level = \"debug\"\n")).unwrap();
                settings.refresh(Generation::default()).await;
                counts(&settings);
            }
        }
    }

    #[tokio::test]
    async fn a_file_that_could_not_be_read_is_not_the_first() {
        let too_long = "#".repeat(usize::try_from(LONGEST).unwrap() + 1);
        let (_top, settings, path) = settings(Some(&too_long));
        assert_eq!(state(&settings), ConfigState::Broken);
        let text = "permission.skill = { \"a\" = \"deny\" }\nbogus = 1\n";
        fs::write(&path, text).unwrap();
        settings.refresh(Generation::default()).await;
        assert_eq!(settings.user().permission_skill.len(), 1, "what is right in it counts");
        // Nor does it take away what did.
        fs::write(&path, &too_long).unwrap();
        settings.refresh(Generation::default()).await;
        fs::write(&path, "bogus = 1\n").unwrap();
        settings.refresh(Generation::default()).await;
        assert_eq!(settings.user().permission_skill.len(), 1, "what counted stays");
    }

    #[test]
    fn what_is_no_file_is_a_fault_and_not_waited_for() {
        let (_top, _, path) = settings(None);
        fs::create_dir(&path).unwrap();
        let settings = Settings::load(Some(path));
        assert_eq!(state(&settings), ConfigState::Broken);
        assert_eq!(settings.health(None)[0].message, "it is not a regular file");
    }
}
