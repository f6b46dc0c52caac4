//! Where the page about the rules is, for links that lead there: from a finding in an editor, and from
//! what a check says.
//!
//! Whoever builds the program may name an address (`SKILLSD_RULES_PAGE`). Else the page is a file:
//! that of this version, which is put into the cache directory by whoever serves an editor, or the one
//! that a package has installed. Where there is none there is no link. All of this reads the disk, so
//! it is no work for a thread that answers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use skills_client::environment::cache_directory;
use skills_render::file_url;

/// Where the packages put it.
const PACKAGED: &str = "/usr/share/doc/skillsd/rules.md";

/// Numbers what is written beside the page before it takes its place.
static LAST: AtomicU32 = AtomicU32::new(0);

/// Returns the address of the page; none where there is none.
pub(crate) fn address() -> Option<String> {
    Page::of_this_program().address()
}

/// Puts the page into the cache directory, and returns its address. Where it cannot be put there, what
/// there is counts.
pub(crate) fn put() -> Option<String> {
    let page = Page::of_this_program();
    if let Err(error) = page.put(&skills_lint::page()) {
        tracing::debug!(%error, "the page about the rules cannot be kept");
    }
    page.address()
}

/// The places where the page may be, the first that counts first.
struct Page {
    named: Option<&'static str>,
    cached: Option<PathBuf>,
    packaged: PathBuf,
}

impl Page {
    fn of_this_program() -> Self {
        // Another version has other rules, and may run beside this one.
        let name = concat!("rules-", env!("CARGO_PKG_VERSION"), ".md");
        Self {
            named: option_env!("SKILLSD_RULES_PAGE"),
            cached: cache_directory().map(|it| it.join(name)),
            packaged: PACKAGED.into(),
        }
    }

    fn address(&self) -> Option<String> {
        if let Some(named) = self.named {
            return Some(named.to_owned());
        }
        let files = self.cached.iter().chain([&self.packaged]);
        let there = files.filter_map(|it| it.to_str()).find(|it| Path::new(it).is_file());
        there.map(file_url)
    }

    fn put(&self, text: &str) -> io::Result<()> {
        let (None, Some(file)) = (self.named, &self.cached) else { return Ok(()) };
        if fs::read(file).is_ok_and(|it| it == text.as_bytes()) {
            return Ok(());
        }
        let dir = file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(dir)?;
        // Nobody is to see half of it, and two may put it there at once.
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let beside = dir.join(format!(".rules-{}-{number}", std::process::id()));
        let outcome = fs::write(&beside, text).and_then(|()| fs::rename(&beside, file));
        if outcome.is_err() {
            // What is left of the attempt; the error that led here is the one to tell.
            let _ = fs::remove_file(&beside);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_put_where_links_lead() {
        let top = tempfile::tempdir().unwrap();
        let (file, packaged) = (top.path().join("a b/skillsd/rules.md"), top.path().join("p.md"));
        let page = Page { named: None, cached: Some(file.clone()), packaged: packaged.clone() };
        assert_eq!(page.address(), None, "nowhere is no link");
        fs::write(&packaged, "packaged").unwrap();
        assert_eq!(page.address(), Some(file_url(packaged.to_str().unwrap())));
        page.put("one").unwrap();
        let url = file_url(file.to_str().unwrap());
        assert!(url.contains("/a%20b/"), "{url}");
        assert_eq!(page.address(), Some(url));
        page.put("two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        let there = fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(there, 1, "nothing is left beside it");
    }

    #[test]
    fn where_it_cannot_be_put_the_one_of_the_package_counts() {
        let top = tempfile::tempdir().unwrap();
        // A file in the place of the directory, which stops root as well.
        fs::write(top.path().join("file"), "").unwrap();
        let packaged = top.path().join("p.md");
        let cached = Some(top.path().join("file/skillsd/rules.md"));
        let page = Page { named: None, cached, packaged: packaged.clone() };
        assert!(page.put("one").is_err());
        assert_eq!(page.address(), None);
        fs::write(&packaged, "packaged").unwrap();
        assert_eq!(page.address(), Some(file_url(packaged.to_str().unwrap())));
        // An address that was named is nobody's to write to.
        let named = Page { named: Some("https://example.org/rules"), ..page };
        named.put("one").unwrap();
        assert_eq!(named.address().as_deref(), Some("https://example.org/rules"));
    }
}
