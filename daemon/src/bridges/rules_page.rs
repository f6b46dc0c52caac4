//! [`RulesPageLocations`]: location of the rules page, for links from editor diagnostics and check results.
//!
//! The build may set an address (`SKILLSD_RULES_PAGE`). Otherwise the page is a file: that of this
//! version, which LSP servers write to the cache directory, or the one installed by a package.
//! Without a page there are no links. All functions read the disk, so they must not run on an async
//! worker.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use skills_client::environment::cache_directory;
use skills_render::file_url;

/// Path of the page installed by packages.
const PACKAGED: &str = "/usr/share/doc/skillsd/rules.md";

/// Numbers the temporary files.
static LAST: AtomicU32 = AtomicU32::new(0);

/// Returns the URL of the page, if there is one.
pub(crate) fn address() -> Option<String> {
    RulesPageLocations::locate().address()
}

/// Writes the page to the cache directory and returns its URL. If that fails, returns the URL of an
/// existing page.
pub(crate) fn put() -> Option<String> {
    let page = RulesPageLocations::locate();
    if let Err(error) = page.put(&skills_lint::page()) {
        tracing::debug!(%error, "failed to write the rules page");
    }
    page.address()
}

/// Locations of the page, in order of precedence.
struct RulesPageLocations {
    configured: Option<&'static str>,
    cached: Option<PathBuf>,
    packaged: PathBuf,
}

impl RulesPageLocations {
    fn locate() -> Self {
        // Another version has other rules and may run beside this one.
        let name = concat!("rules-", env!("CARGO_PKG_VERSION"), ".md");
        Self {
            configured: option_env!("SKILLSD_RULES_PAGE"),
            cached: cache_directory().map(|it| it.join(name)),
            packaged: PACKAGED.into(),
        }
    }

    fn address(&self) -> Option<String> {
        if let Some(configured) = self.configured {
            return Some(configured.to_owned());
        }
        let files = self.cached.iter().chain([&self.packaged]);
        let there = files.filter_map(|it| it.to_str()).find(|it| Path::new(it).is_file());
        there.map(file_url)
    }

    fn put(&self, text: &str) -> io::Result<()> {
        let (None, Some(file)) = (self.configured, &self.cached) else { return Ok(()) };
        if fs::read(file).is_ok_and(|it| it == text.as_bytes()) {
            return Ok(());
        }
        let dir = file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(dir)?;
        // Written to a temporary file and renamed, because readers must not see half of it and two
        // processes may write at once.
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let beside = dir.join(format!(".rules-{}-{number}", std::process::id()));
        let outcome = fs::write(&beside, text).and_then(|()| fs::rename(&beside, file));
        if outcome.is_err() {
            // Removes the incomplete file; the write error is the one to report.
            let _ = fs::remove_file(&beside);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_written_to_the_linked_file() {
        let top = tempfile::tempdir().unwrap();
        let (file, packaged) = (top.path().join("a b/skillsd/rules.md"), top.path().join("p.md"));
        let page = RulesPageLocations {
            configured: None,
            cached: Some(file.clone()),
            packaged: packaged.clone(),
        };
        assert_eq!(page.address(), None, "no page, no link");
        fs::write(&packaged, "packaged").unwrap();
        assert_eq!(page.address(), Some(file_url(packaged.to_str().unwrap())));
        page.put("one").unwrap();
        let url = file_url(file.to_str().unwrap());
        assert!(url.contains("/a%20b/"), "{url}");
        assert_eq!(page.address(), Some(url));
        page.put("two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        let there = fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(there, 1, "no temporary file is left");
    }

    #[test]
    fn the_packaged_page_is_used_if_the_cache_is_not_writable() {
        let top = tempfile::tempdir().unwrap();
        // A file where the directory should be, which also stops root.
        fs::write(top.path().join("file"), "").unwrap();
        let packaged = top.path().join("p.md");
        let cached = Some(top.path().join("file/skillsd/rules.md"));
        let page = RulesPageLocations { configured: None, cached, packaged: packaged.clone() };
        assert!(page.put("one").is_err());
        assert_eq!(page.address(), None);
        fs::write(&packaged, "packaged").unwrap();
        assert_eq!(page.address(), Some(file_url(packaged.to_str().unwrap())));
        // A page at a configured address is not written.
        let configured =
            RulesPageLocations { configured: Some("https://example.org/rules"), ..page };
        configured.put("one").unwrap();
        assert_eq!(configured.address().as_deref(), Some("https://example.org/rules"));
    }
}
