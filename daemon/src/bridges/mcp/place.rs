//! Where the calls of an MCP client are about: the directory it was started in, or its roots.
//!
//! A client that has roots is asked for them, and until it has answered every call waits, so that
//! its first list is already of the right place. A `--cwd` on the command line stays what it is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skills_cli::{CommandError, GlobalArgs};
use skills_protocol::path::{PathEncoding, decode};
use skills_protocol::wire::Context;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long a client may take to say what its roots are.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// The place, as it is known by now.
pub(super) struct Place {
    global: GlobalArgs,
    session: Option<String>,
    start: Context,
    /// None while the client is asked.
    current: watch::Sender<Option<Context>>,
    /// Whether the client has said its roots, or that it has none.
    is_settled: AtomicBool,
}

impl Place {
    /// Returns the place that the command line names.
    pub(super) fn new(global: GlobalArgs, session: Option<String>) -> Result<Self, CommandError> {
        let start = Context { session: session.clone(), ..skills_cli::context(&global)? };
        let current = watch::Sender::new(Some(start.clone()));
        Ok(Self { global, session, start, current, is_settled: AtomicBool::new(false) })
    }

    /// The client has roots and will be asked for them.
    pub(super) fn await_roots(&self) {
        if self.global.cwd.is_none() {
            self.current.send_replace(None);
        }
    }

    /// Takes the roots of the client: the first directory among them is where it works, the others
    /// count besides. None where it did not say.
    pub(super) fn settle(&self, roots: Option<&[String]>) {
        self.is_settled.store(true, Ordering::Relaxed);
        if self.global.cwd.is_some() {
            return;
        }
        let context = roots.and_then(|it| self.rooted(it)).unwrap_or_else(|| self.start.clone());
        self.current.send_if_modified(|current| {
            let is_new = current.as_ref() != Some(&context);
            *current = Some(context);
            is_new
        });
    }

    /// Whether it is for the client to say where it is, and has not been said.
    pub(super) fn is_to_be_asked(&self) -> bool {
        self.global.cwd.is_none() && !self.is_settled.load(Ordering::Relaxed)
    }

    fn rooted(&self, roots: &[String]) -> Option<Context> {
        let mut dirs = roots.iter().filter_map(|uri| {
            let dir = directory(uri);
            if dir.is_none() {
                tracing::info!("a root of the client is no directory here");
            }
            dir
        });
        let mut global = GlobalArgs { cwd: Some(dirs.next()?), ..self.global.clone() };
        global.add_dirs.extend(dirs);
        match skills_cli::context(&global) {
            Ok(context) => Some(Context { session: self.session.clone(), ..context }),
            Err(error) => {
                tracing::warn!("the roots of the client are not used: {}", error.message());
                None
            }
        }
    }

    /// Returns what every call says of the place; waits while the client is being asked.
    pub(super) async fn context(&self) -> Context {
        self.context_seen(&mut self.current.subscribe()).await
    }

    /// Returns the same, after which `moves` tells of other places than this one.
    pub(super) async fn context_seen(
        &self,
        moves: &mut watch::Receiver<Option<Context>>,
    ) -> Context {
        let known = timeout(PATIENCE, moves.wait_for(Option::is_some)).await;
        match known {
            Ok(Ok(context)) => context.clone().unwrap_or_else(|| self.start.clone()),
            // It has roots and never says which.
            Ok(Err(_)) | Err(_) => self.start.clone(),
        }
    }

    /// Returns what tells of another place.
    pub(super) fn moves(&self) -> watch::Receiver<Option<Context>> {
        self.current.subscribe()
    }
}

/// Returns the directory that a `file://` URI names, where there is one.
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

    fn place(global: GlobalArgs) -> Place {
        Place::new(global, None).expect("a directory")
    }

    #[tokio::test]
    async fn the_first_directory_among_the_roots_is_where_a_client_works() {
        let top = tempfile::TempDir::new().expect("made");
        let [one, two] = ["a b", "two"].map(|it| top.path().join(it));
        for dir in [&one, &two] {
            std::fs::create_dir(dir).expect("made");
        }
        let place = place(GlobalArgs::default());
        place.await_roots();
        let base = top.path().to_str().expect("plain");
        let roots =
            ["https://x/y", &format!("file://{base}/gone"), &format!("file://{base}/a%20b")]
                .map(str::to_owned)
                .into_iter()
                .chain([format!("file://localhost{base}/two")]);
        place.settle(Some(&roots.collect::<Vec<_>>()));
        let context = place.context().await;
        assert_eq!(context.cwd.map(PathBuf::from), Some(one));
        assert_eq!(context.additional_dirs, [two.to_str().expect("plain")]);
    }

    #[tokio::test]
    async fn without_usable_roots_it_is_where_the_program_was_started() {
        let place = place(GlobalArgs::default());
        let start = place.context().await;
        place.await_roots();
        place.settle(Some(&["file:///nowhere/at/all".to_owned()]));
        assert_eq!(place.context().await, start);
        place.await_roots();
        place.settle(None);
        assert_eq!(place.context().await, start);
    }

    #[tokio::test]
    async fn what_the_command_line_says_stays() {
        let top = tempfile::TempDir::new().expect("made");
        let cwd = Some(top.path().to_owned());
        let place = place(GlobalArgs { cwd, ..GlobalArgs::default() });
        place.await_roots();
        place.settle(Some(&["file:///".to_owned()]));
        let real = top.path().canonicalize().expect("there");
        assert_eq!(place.context().await.cwd.map(PathBuf::from), Some(real));
    }
}
