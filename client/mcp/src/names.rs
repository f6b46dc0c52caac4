//! URIs of skills and their files (`skill://NAME/FILE`), and media types by file name.
//!
//! A skill's name is one segment: all reserved characters are percent-encoded, so that no two names
//! share a URI and none is taken for a path.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use skills_protocol::path::{PathEncoding, decode};

/// URI scheme with its separator.
const SCHEME: &str = "skill://";

pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// URI template (RFC 6570) of all skill files.
pub(crate) const TEMPLATE: &str = "skill://{name}/{+path}";

pub(crate) fn uri(name: &str, relative: &str) -> String {
    let name = utf8_percent_encode(name, UNRESERVED);
    format!("{SCHEME}{name}/{}", utf8_percent_encode(relative, PATH))
}

/// Parses a URI into the skill's name and the file's path.
pub(crate) fn parse_uri(uri: &str) -> Option<(String, String)> {
    let (name, path) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let plain = |text: &str| {
        let path = decode(text, Some(PathEncoding::Percent)).ok()?;
        path.into_os_string().into_string().ok()
    };
    Some((plain(name)?, plain(path)?)).filter(|(name, path)| !name.is_empty() && !path.is_empty())
}

/// Characters that percent-encoding keeps: the unreserved ones.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The same for a path.
const PATH: &AsciiSet = &UNRESERVED.remove(b'/');

/// Returns the media type for a file name extension, if known.
pub(crate) fn media_type(path: &str) -> Option<&'static str> {
    let extension = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "md" | "markdown" => "text/markdown",
        "txt" => "text/plain",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "py" => "text/x-python",
        "js" | "mjs" | "cjs" => "text/javascript",
        "sh" | "bash" => "application/x-sh",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "toml" => "application/toml",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, relative: &str, expected: &str) {
        let uri = uri(name, relative);
        assert_eq!(uri, expected);
        assert_eq!(parse_uri(&uri), Some((name.to_owned(), relative.to_owned())));
    }

    #[test]
    fn every_name_has_a_distinct_uri() {
        check("pdf", "SKILL.md", "skill://pdf/SKILL.md");
        check("plugin:ns/skill", "a b/ü.md", "skill://plugin%3Ans%2Fskill/a%20b/%C3%BC.md");
        check("50%", "x#y?", "skill://50%25/x%23y%3F");
    }

    #[test]
    fn other_uris_are_not_parsed() {
        for text in ["file:///a/b", "skill://", "skill://pdf", "skill://pdf/", "skill:///x", "pdf"]
        {
            assert_eq!(parse_uri(text), None, "{text}");
        }
    }
}
