//! [`RulesPageLocations`]: location of the rules' pages, for links from editor diagnostics and
//! check results.
//!
//! The build may set an address (`SKILLSD_RULES_PAGE`). Otherwise it is a directory with a page for
//! each rule of this version, which LSP servers write to the cache directory, or the page of all
//! rules installed by a package. Without pages there are no links. All functions read the disk, so
//! they must not run on an async worker.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use skills_client::environment::cache_directory;
use skills_render::file_url;

/// Path of the page installed by packages.
const PACKAGED: &str = "/usr/share/doc/skillsd/docs/rules.md";

/// Numbers the temporary files.
static LAST: AtomicU32 = AtomicU32::new(0);

/// Returns the URL of the page, if there is one.
pub(crate) fn address() -> Option<String> {
    RulesPageLocations::locate().address()
}

/// Writes the pages to the cache directory and returns their URL. If that fails, returns the URL of
/// existing ones.
pub(crate) fn put() -> Option<String> {
    let page = RulesPageLocations::locate();
    if let Err(error) = page.put(&skills_lint::page()) {
        tracing::debug!(%error, "failed to write the pages of the rules");
    }
    page.address()
}

/// Name of the file with all rules, which is compared to find out if the pages are current.
const ALL: &str = "index.md";

/// Locations of the pages, in order of precedence. The cached ones are a directory.
struct RulesPageLocations {
    configured: Option<&'static str>,
    cached: Option<PathBuf>,
    packaged: PathBuf,
}

impl RulesPageLocations {
    fn locate() -> Self {
        // Another version has other rules and may run beside this one.
        let name = concat!("rules-", env!("CARGO_PKG_VERSION"));
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
        if let Some(dir) = self.cached.as_ref().filter(|it| it.join(ALL).is_file()) {
            return Some(format!("{}/", file_url(dir.to_str()?)));
        }
        self.packaged.to_str().filter(|_| self.packaged.is_file()).map(file_url)
    }

    fn put(&self, text: &str) -> io::Result<()> {
        let (None, Some(dir)) = (self.configured, &self.cached) else { return Ok(()) };
        if fs::read(dir.join(ALL)).is_ok_and(|it| it == text.as_bytes()) {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        for rule in skills_lint::rules() {
            let page = format!("# {}\n\n{}", rule.id, skills_lint::section(rule));
            replace(dir, &rule.file_name(), &page)?;
        }
        // The last file says that the others are there.
        replace(dir, ALL, text)
    }
}

/// Writes a file of a directory under a temporary name and renames it, because readers must not see
/// half of it and two processes may write at once.
fn replace(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let beside = dir.join(format!(".rules-{}-{number}", std::process::id()));
    let mut options = OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(&beside);
    let outcome = made
        .and_then(|mut it| it.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&beside, dir.join(name)));
    if outcome.is_err() {
        // Removes the incomplete file; the write error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn each_rule_has_a_page_in_the_linked_directory() {
        let top = tempfile::tempdir().unwrap();
        let (dir, packaged) = (top.path().join("a b/skillsd/rules"), top.path().join("p.md"));
        let page = RulesPageLocations {
            configured: None,
            cached: Some(dir.clone()),
            packaged: packaged.clone(),
        };
        assert_eq!(page.address(), None, "no page, no link");
        fs::write(&packaged, "packaged").unwrap();
        assert_eq!(page.address(), Some(file_url(packaged.to_str().unwrap())));
        page.put("one").unwrap();
        let url = format!("{}/", file_url(dir.to_str().unwrap()));
        assert!(url.contains("/a%20b/"), "{url}");
        let rule = skills_lint::rules()[0];
        assert_eq!(rule.address(&url), format!("{url}{}", rule.file_name()));
        assert_eq!(page.address(), Some(url));
        page.put("two").unwrap();
        assert_eq!(fs::read_to_string(dir.join(ALL)).unwrap(), "two");
        let text = fs::read_to_string(dir.join(rule.file_name())).unwrap();
        assert!(text.starts_with(&format!("# {}\n", rule.id)), "{text}");
        let there = fs::read_dir(&dir).unwrap().count();
        assert_eq!(there, skills_lint::rules().len() + 1, "no temporary file is left");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&dir.join(ALL))), (0o700, 0o600));
    }

    #[test]
    fn the_packaged_page_is_used_if_the_cache_is_not_writable() {
        let top = tempfile::tempdir().unwrap();
        // A file where the directory should be, which also stops root.
        fs::write(top.path().join("file"), "").unwrap();
        let packaged = top.path().join("p.md");
        let cached = Some(top.path().join("file/skillsd/rules"));
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
