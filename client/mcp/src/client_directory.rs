//! `ClientDirectory`: the working directory of an MCP client's calls. It is the directory that the
//! server was started in, or comes from the client's roots.
//!
//! If a client supports roots, calls wait until it has sent them, so that its first list is already
//! right. `--cwd` on the command line takes precedence.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skills_protocol::path::{PathEncoding, decode};
use skills_protocol::wire::Context;
use tokio::sync::watch;
use tokio::time::timeout;

/// Maximum wait for a client to send its roots.
pub(crate) const ROOTS_TIMEOUT: Duration = Duration::from_secs(3);

/// Makes the context of calls in these directories, the working directory first. An error is a
/// message.
pub type ContextOfRoots = Box<dyn Fn(Vec<PathBuf>) -> Result<Context, String> + Send + Sync>;

/// The client's current working directory.
pub struct ClientDirectory {
    start: Context,
    /// None if the command line names the directory; the client's roots are then ignored.
    context_of_roots: Option<ContextOfRoots>,
    /// None while waiting for the client's roots.
    current: watch::Sender<Option<Context>>,
    /// True once the client has sent its roots or has none.
    has_roots_answer: AtomicBool,
}

impl ClientDirectory {
    /// Returns the directory that the server was started in, which `context_of_roots` replaces.
    pub fn new(start: Context, context_of_roots: Option<ContextOfRoots>) -> Self {
        let current = watch::Sender::new(Some(start.clone()));
        Self { start, context_of_roots, current, has_roots_answer: AtomicBool::new(false) }
    }

    /// Makes calls wait until the client has sent its roots.
    pub(crate) fn await_roots(&self) {
        if self.context_of_roots.is_some() {
            self.current.send_replace(None);
        }
    }

    /// Applies the client's roots: the first one that is a directory becomes the working directory,
    /// the others additional directories. `roots` is none if the client sent none.
    pub(crate) fn apply_roots(&self, roots: Option<&[String]>) {
        self.has_roots_answer.store(true, Ordering::Relaxed);
        let Some(context_of_roots) = &self.context_of_roots else { return };
        let context = roots.and_then(|it| context_of(it, context_of_roots));
        let context = context.unwrap_or_else(|| self.start.clone());
        self.current.send_if_modified(|current| {
            let is_new = current.as_ref() != Some(&context);
            *current = Some(context);
            is_new
        });
    }

    /// Returns whether the client must be asked for its roots.
    pub(crate) fn needs_roots(&self) -> bool {
        self.context_of_roots.is_some() && !self.has_roots_answer.load(Ordering::Relaxed)
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

/// Returns the context of the roots that are directories; `None` if none is.
fn context_of(roots: &[String], context_of_roots: &ContextOfRoots) -> Option<Context> {
    let dirs = roots.iter().filter_map(|uri| {
        let dir = directory(uri);
        if dir.is_none() {
            tracing::info!("ignoring a client root that is not a directory");
        }
        dir
    });
    let dirs: Vec<_> = dirs.collect();
    if dirs.is_empty() {
        return None;
    }
    match context_of_roots(dirs) {
        Ok(context) => Some(context),
        Err(message) => {
            tracing::warn!("ignoring the client's roots: {message}");
            None
        }
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

    fn context(dirs: &[PathBuf]) -> Context {
        let mut dirs = dirs.iter().map(|it| it.to_str().expect("plain").to_owned());
        Context { cwd: dirs.next(), additional_dirs: dirs.collect(), ..Context::default() }
    }

    fn client_directory() -> ClientDirectory {
        let of_roots = |dirs: Vec<PathBuf>| Ok(context(&dirs));
        ClientDirectory::new(context(&["/start".into()]), Some(Box::new(of_roots)))
    }

    #[tokio::test]
    async fn the_first_existing_root_is_the_working_directory() {
        let top = tempfile::TempDir::new().expect("made");
        let [one, two] = ["a b", "two"].map(|it| top.path().join(it));
        for dir in [&one, &two] {
            std::fs::create_dir(dir).expect("made");
        }
        let directory = client_directory();
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
        let directory = client_directory();
        let start = directory.context().await;
        directory.await_roots();
        directory.apply_roots(Some(&["file:///nowhere/at/all".to_owned()]));
        assert_eq!(directory.context().await, start);
        directory.await_roots();
        directory.apply_roots(None);
        assert_eq!(directory.context().await, start);
    }

    #[tokio::test]
    async fn directory_of_the_command_line_takes_precedence_over_roots() {
        let directory = ClientDirectory::new(context(&["/start".into()]), None);
        directory.await_roots();
        directory.apply_roots(Some(&["file:///".to_owned()]));
        assert_eq!(directory.context().await.cwd.as_deref(), Some("/start"));
    }
}
