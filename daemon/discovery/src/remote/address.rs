//! The address of a catalog, and of a file in it.

use std::fmt;
use std::fmt::Write;

/// The address of a catalog: `http` or `https`, a host, a path, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Without a slash at its end.
    text: Box<str>,
    /// Where in the text the host begins and where it ends, with its port.
    authority: (usize, usize),
}

/// Why a text is not the address of a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// It begins with neither `http://` nor `https://`.
    Scheme,
    /// There is no host, or one that cannot be.
    Host,
    /// It carries a user's name or password.
    Credentials,
    /// It has a query or a fragment, to which no file's name can be added.
    Query,
    /// It holds a blank, a control character, a quote or the like.
    Character(char),
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme => write!(f, "begins with neither `https://` nor `http://`"),
            Self::Host => write!(f, "names no host"),
            Self::Credentials => write!(f, "carries a name or password, which would be logged"),
            Self::Query => write!(f, "has a query or a fragment, but files are below its path"),
            Self::Character(it) => write!(f, "holds the character {it:?}"),
        }
    }
}

impl std::error::Error for AddressError {}

impl Address {
    /// Reads an address.
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
        if host.is_empty() || port.is_some_and(|it| it.parse::<u16>().is_err()) {
            return Err(AddressError::Host);
        }
        let mut text = text.to_owned();
        text[..end].make_ascii_lowercase();
        Ok(Self { text: text.into(), authority: (start, end) })
    }

    /// Returns the address as text, without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host and the port as they are written.
    pub fn authority(&self) -> &str {
        &self.text[self.authority.0..self.authority.1]
    }

    /// Returns the host.
    pub fn host(&self) -> &str {
        split_port(self.authority()).0
    }

    /// Whether what is sent and received is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// Whether it is this machine's own, by its name alone.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let is_number = |it: &str| it.parse::<u8>().is_ok();
        let mut parts = host.split('.');
        let is_v4 =
            parts.next() == Some("127") && parts.clone().count() == 3 && parts.all(is_number);
        host == "localhost" || host == "[::1]" || is_v4
    }

    /// Whether the other one is on the same host, by the same scheme and port.
    pub fn has_origin_of(&self, other: &Self) -> bool {
        self.text[..self.authority.1] == other.text[..other.authority.1]
    }

    /// Returns the address of a file below this one; names are escaped.
    pub fn below(&self, relative: &str) -> String {
        let mut text = String::from(&*self.text);
        for name in relative.split('/') {
            text.push('/');
            for byte in name.bytes() {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                    text.push(char::from(byte));
                } else {
                    // Writing to a text does not fail.
                    let _ = write!(text, "%{byte:02X}");
                }
            }
        }
        text
    }

    /// Returns where a redirect leads: to an address, or to a path on the same host.
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
    // The colons of an IPv6 address stand in brackets.
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
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
    fn addresses_are_a_scheme_a_host_and_a_path() {
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
    fn what_is_not_an_address_is_refused_by_what_is_wrong() {
        check("example.org", Err(AddressError::Scheme));
        check("file:///etc/passwd", Err(AddressError::Scheme));
        check("https://", Err(AddressError::Scheme));
        check("https:///x", Err(AddressError::Host));
        check("https://a:port/", Err(AddressError::Host));
        check("https://me:secret@example.org", Err(AddressError::Credentials));
        check("https://example.org/?x", Err(AddressError::Query));
        check("https://example.org/a b", Err(AddressError::Character(' ')));
        check("https://exämple.org", Err(AddressError::Character('ä')));
    }

    #[test]
    fn names_of_files_are_escaped() {
        let address = Address::parse("https://example.org/s").unwrap();
        assert_eq!(address.below("a/b c%?.md"), "https://example.org/s/a/b%20c%25%3F.md");
    }

    #[test]
    fn redirects_lead_to_a_path_or_to_another_host() {
        let to = |it| Address::redirected("https://a.org/x", it).map(|it| it.to_string());
        assert_eq!(to("/y").as_deref(), Some("https://a.org/y"));
        assert_eq!(to("https://b.org/y").as_deref(), Some("https://b.org/y"));
        assert_eq!(to("//b.org/y"), None);
        assert_eq!(to("y"), None);
    }
}
