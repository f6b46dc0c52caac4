//! `ClientDirectory`: the working directory of an MCP client's calls. It is the directory that the
//! server was started in, or comes from the client's roots.
//!
//! If a client supports roots, calls wait until it has sent them, so that its first list is already
//! right. `--cwd` on the command line takes precedence.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skills_cli::{CommandError, GlobalArgs};
use skills_protocol::path::{PathEncoding, decode};
use skills_protocol::wire::Context;
use tokio::sync::watch;
use tokio::time::timeout;

/// Maximum wait for a client to send its roots.
pub(crate) const ROOTS_TIMEOUT: Duration = Duration::from_secs(3);

/// The client's current working directory.
pub struct ClientDirectory {
    global: GlobalArgs,
    session: Option<String>,
    start: Context,
    /// None while waiting for the client's roots.
    current: watch::Sender<Option<Context>>,
    /// True once the client has sent its roots or has none.
    has_roots_answer: AtomicBool,
}

impl ClientDirectory {
    /// Returns the directory given on the command line.
    pub fn new(global: GlobalArgs, session: Option<String>) -> Result<Self, CommandError> {
        let start = Context { session: session.clone(), ..skills_cli::context(&global)? };
        let current = watch::Sender::new(Some(start.clone()));
        Ok(Self { global, session, start, current, has_roots_answer: AtomicBool::new(false) })
    }

    /// Makes calls wait until the client has sent its roots.
    pub(crate) fn await_roots(&self) {
        if self.global.cwd.is_none() {
            self.current.send_replace(None);
        }
    }

    /// Applies the client's roots: the first one that is a directory becomes the working directory,
    /// the others additional directories. `roots` is none if the client sent none.
    pub(crate) fn apply_roots(&self, roots: Option<&[String]>) {
        self.has_roots_answer.store(true, Ordering::Relaxed);
        if self.global.cwd.is_some() {
            return;
        }
        let context =
            roots.and_then(|it| self.context_of_roots(it)).unwrap_or_else(|| self.start.clone());
        self.current.send_if_modified(|current| {
            let is_new = current.as_ref() != Some(&context);
            *current = Some(context);
            is_new
        });
    }

    /// Returns whether the client must be asked for its roots.
    pub(crate) fn needs_roots(&self) -> bool {
        self.global.cwd.is_none() && !self.has_roots_answer.load(Ordering::Relaxed)
    }

    fn context_of_roots(&self, roots: &[String]) -> Option<Context> {
        let mut dirs = roots.iter().filter_map(|uri| {
            let dir = directory(uri);
            if dir.is_none() {
                tracing::info!("ignoring a client root that is not a directory");
            }
            dir
        });
        let mut global = GlobalArgs { cwd: Some(dirs.next()?), ..self.global.clone() };
        global.add_dirs.extend(dirs);
        match skills_cli::context(&global) {
            Ok(context) => Some(Context { session: self.session.clone(), ..context }),
            Err(error) => {
                tracing::warn!("ignoring the client's roots: {}", error.message());
                None
            }
        }
    }

    /// Returns the context of calls; waits while the client is asked for its roots.
    pub(crate) async fn context(&self) -> Context {
        self.context_and_mark(&mut self.current.subscribe()).await
    }

    /// Like [`Self::context`]; afterwards `moves` reports only later changes.
    pub(crate) async fn context_and_mark(
        &self,
        moves: &mut watch::Receiver<Option<Context>>,
    ) -> Context {
        let known = timeout(ROOTS_TIMEOUT, moves.wait_for(Option::is_some)).await;
        match known {
            Ok(Ok(context)) => context.clone().unwrap_or_else(|| self.start.clone()),
            // The client supports roots but never sends them.
            Ok(Err(_)) | Err(_) => self.start.clone(),
        }
    }

    pub(crate) fn moves(&self) -> watch::Receiver<Option<Context>> {
        self.current.subscribe()
    }
}

/// Returns the directory of a `file://` URI, if it exists.
fn directory(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let path = decode(&path[..end], Some(PathEncoding::Percent)).ok()?;
    let is_plain = path.as_os_str() != OsStr::new("") && path.is_absolute();
    Some(path).filter(|it| is_plain && Path::is_dir(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_directory(global: GlobalArgs) -> ClientDirectory {
        ClientDirectory::new(global, None).expect("a directory")
    }

    #[tokio::test]
    async fn the_first_existing_root_is_the_working_directory() {
        let top = tempfile::TempDir::new().expect("made");
        let [one, two] = ["a b", "two"].map(|it| top.path().join(it));
        for dir in [&one, &two] {
            std::fs::create_dir(dir).expect("made");
        }
        let directory = client_directory(GlobalArgs::default());
        directory.await_roots();
        let base = top.path().to_str().expect("plain");
        let roots =
            ["https://x/y", &format!("file://{base}/gone"), &format!("file://{base}/a%20b")]
                .map(str::to_owned)
                .into_iter()
                .chain([format!("file://localhost{base}/two")]);
        directory.apply_roots(Some(&roots.collect::<Vec<_>>()));
        let context = directory.context().await;
        assert_eq!(context.cwd.map(PathBuf::from), Some(one));
        assert_eq!(context.additional_dirs, [two.to_str().expect("plain")]);
    }

    #[tokio::test]
    async fn without_usable_roots_the_start_directory_is_used() {
        let directory = client_directory(GlobalArgs::default());
        let start = directory.context().await;
        directory.await_roots();
        directory.apply_roots(Some(&["file:///nowhere/at/all".to_owned()]));
        assert_eq!(directory.context().await, start);
        directory.await_roots();
        directory.apply_roots(None);
        assert_eq!(directory.context().await, start);
    }

    #[tokio::test]
    async fn cwd_option_takes_precedence_over_roots() {
        let top = tempfile::TempDir::new().expect("made");
        let cwd = Some(top.path().to_owned());
        let directory = client_directory(GlobalArgs { cwd, ..GlobalArgs::default() });
        directory.await_roots();
        directory.apply_roots(Some(&["file:///".to_owned()]));
        let real = top.path().canonicalize().expect("there");
        assert_eq!(directory.context().await.cwd.map(PathBuf::from), Some(real));
    }
}
