//! [`Address`]: the URL of a registry, and of the files in it.

use core::net::Ipv6Addr;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use thiserror::Error;

/// Characters that the percent-encoding for all but unreserved characters keeps.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// URL of a registry: `http` or `https`, a host and a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The URL without a trailing slash.
    text: Box<str>,
    /// Start and end of the host with its port, in bytes.
    authority: (usize, usize),
}

/// Reason why a text is not the URL of a registry.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AddressError {
    #[error("begins with neither `https://` nor `http://`")]
    Scheme,
    #[error("has no valid host")]
    Host,
    #[error("contains a user name or password, which would be logged")]
    Credentials,
    #[error("has a query or a fragment, so no file name can be appended")]
    Query,
    /// Contains a space, a control character, a quote or another invalid character.
    #[error("contains the character {0:?}")]
    Character(char),
}

/// Returns the text of a refused URL for a message, without its user name, password and query.
pub fn redact(url: &str) -> String {
    let scheme = url.find("//").map_or(0, |it| it + 2);
    // A password may contain any character, so everything before the last `@` is left out.
    let (start, rest) = match url.rfind('@') {
        Some(at) if url[..at].contains(':') && !url[..at].ends_with('/') => {
            (if scheme <= at { &url[..scheme] } else { "" }, &url[at..])
        }
        _ => ("", url),
    };
    let hidden = if rest.len() < url.len() { "…" } else { "" };
    let (rest, query) = match rest.find(['?', '#']) {
        Some(at) => (&rest[..at], "?…"),
        None => (rest, ""),
    };
    format!("{start}{hidden}{rest}{query}")
}

impl Address {
    /// Parses a URL.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim_end_matches('/');
        let begins = |scheme: &str| {
            text.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme))
        };
        let start = match () {
            () if begins("https://") => "https://".len(),
            () if begins("http://") => "http://".len(),
            () => return Err(AddressError::Scheme),
        };
        if text.contains(['?', '#']) {
            return Err(AddressError::Query);
        }
        let is_strange = |it: &char| !it.is_ascii_graphic() || r#"\"<>^`{|}"#.contains(*it);
        if let Some(strange) = text.chars().find(is_strange) {
            return Err(AddressError::Character(strange));
        }
        let end = text[start..].find('/').map_or(text.len(), |it| start + it);
        let authority = &text[start..end];
        if authority.contains('@') {
            return Err(AddressError::Credentials);
        }
        let (host, port) = split_port(authority);
        if !is_host(host) || port.is_some_and(|it| it.parse::<u16>().is_err()) {
            return Err(AddressError::Host);
        }
        let mut text = text.to_owned();
        text[..end].make_ascii_lowercase();
        Ok(Self { text: text.into(), authority: (start, end) })
    }

    /// Returns the URL without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host and port as written.
    pub fn authority(&self) -> &str {
        &self.text[self.authority.0..self.authority.1]
    }

    /// Returns the host.
    pub fn host(&self) -> &str {
        split_port(self.authority()).0
    }

    /// Returns true if the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// Returns true if the host is this machine, judged by its name only.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let is_number = |it: &str| it.parse::<u8>().is_ok();
        let mut parts = host.split('.');
        let is_v4 =
            parts.next() == Some("127") && parts.clone().count() == 3 && parts.all(is_number);
        host == "localhost" || host == "[::1]" || is_v4
    }

    /// Returns true if the other URL has the same scheme, host and port.
    pub fn has_origin_of(&self, other: &Self) -> bool {
        self.text[..self.authority.1] == other.text[..other.authority.1]
    }

    /// Returns the URL of a file below this one, with its names escaped.
    pub fn below(&self, relative: &str) -> String {
        let mut text = String::from(&*self.text);
        for name in relative.split('/') {
            text.push('/');
            text.extend(utf8_percent_encode(name, UNRESERVED));
        }
        text
    }

    /// Returns the target of a redirect: a URL, or a path on the same host.
    pub fn redirected(from: &str, location: &str) -> Option<Self> {
        if location.starts_with('/') && !location.starts_with("//") {
            let origin = Self::parse(from).ok()?;
            return Self::parse(&format!("{}{location}", &origin.text[..origin.authority.1])).ok();
        }
        Self::parse(location).ok()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    // The colons of an IPv6 address are in brackets.
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

/// Returns true if brackets enclose an IPv6 address and stand nowhere else.
fn is_host(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|it| it.parse::<Ipv6Addr>().is_ok()),
        None => !host.is_empty() && !host.contains([':', '[', ']']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(&str, &str, bool), AddressError>) {
        let found = Address::parse(text);
        let found = found.as_ref().map(|it| (it.as_str(), it.host(), it.is_loopback()));
        assert_eq!(found.map_err(|it| *it), expected, "{text}");
    }

    #[test]
    fn url_of_scheme_host_and_path_parses() {
        check(
            "HTTPS://Example.org/Skills/",
            Ok(("https://example.org/Skills", "example.org", false)),
        );
        check("http://127.0.0.1:80/x", Ok(("http://127.0.0.1:80/x", "127.0.0.1", true)));
        check("http://[::1]:80", Ok(("http://[::1]:80", "[::1]", true)));
        check("http://localhost", Ok(("http://localhost", "localhost", true)));
        check(
            "http://127.0.0.1.example.org",
            Ok(("http://127.0.0.1.example.org", "127.0.0.1.example.org", false)),
        );
    }

    #[test]
    fn refused_url_is_shown_without_its_secrets() {
        for (url, shown) in [
            ("https://me:pw@e.org/x", "https://…@e.org/x"),
            ("https://me:p@w@e.org", "https://…@e.org"),
            ("https://e.org/x?token=t#f", "https://e.org/x?…"),
            ("me:pw@e.org", "…@e.org"),
            ("https://me:p/w@e.org", "https://…@e.org"),
            ("https://me:p?w@e.org", "https://…@e.org"),
            ("https:/me:pw@e.org", "…@e.org"),
            ("me:pw@e.org//x", "…@e.org//x"),
            ("https://e.org/@scope/x", "https://e.org/@scope/x"),
        ] {
            assert_eq!(redact(url), shown, "{url}");
        }
    }

    #[test]
    fn invalid_url_is_refused_with_its_cause() {
        check("example.org", Err(AddressError::Scheme));
        check("file:///etc/passwd", Err(AddressError::Scheme));
        check("https://", Err(AddressError::Scheme));
        check("https:///x", Err(AddressError::Host));
        check("https://a:port/", Err(AddressError::Host));
        check("https://[::1]x/", Err(AddressError::Host));
        check("https://[example.org]/", Err(AddressError::Host));
        check("https://a[::1]:80/", Err(AddressError::Host));
        check("https://me:secret@example.org", Err(AddressError::Credentials));
        check("https://example.org/?x", Err(AddressError::Query));
        check("https://example.org/a b", Err(AddressError::Character(' ')));
        check("https://exämple.org", Err(AddressError::Character('ä')));
    }

    #[test]
    fn file_names_are_percent_encoded() {
        let address = Address::parse("https://example.org/s").unwrap();
        assert_eq!(address.below("a/b c%?.md"), "https://example.org/s/a/b%20c%25%3F.md");
    }

    #[test]
    fn redirect_to_path_or_other_host_is_resolved() {
        let to = |it| Address::redirected("https://a.org/x", it).map(|it| it.to_string());
        assert_eq!(to("/y").as_deref(), Some("https://a.org/y"));
        assert_eq!(to("https://b.org/y").as_deref(), Some("https://b.org/y"));
        assert_eq!(to("//b.org/y"), None);
        assert_eq!(to("y"), None);
    }
}
