//! Paths on the wire: plain text if the bytes are UTF-8, percent-encoded otherwise.
//!
//! An encoded object has `pathEncoding: "percent"` next to its paths, and then *every* path in it
//! is encoded, so that a literal `%` is `%25`. Without that field `%` is literal. Invariant:
//! `decode(encode(path))` returns the same bytes for every path without NUL.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use serde::{Deserialize, Serialize};

/// Encoding of the paths in one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PathEncoding {
    /// Bytes that are not UTF-8, and `%` itself, are written as `%` and two hexadecimal digits.
    Percent,
}

/// Reason why a received path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A `%` without two hexadecimal digits after it.
    #[error("bad escape in path `{path}` at byte {offset}")]
    Escape {
        /// The text as received.
        path: String,
        /// Byte offset of the `%`.
        offset: usize,
    },
    /// A NUL byte, which no path can contain.
    #[error("path `{path}` contains a NUL byte")]
    Nul {
        /// The text as received.
        path: String,
    },
    /// A relative path; it would depend on the daemon's working directory.
    #[error("path `{path}` is not absolute")]
    Relative {
        /// The text as received.
        path: String,
    },
}

impl PathError {
    /// Returns the suggested action, as a sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Escape { .. } => {
                "In the encoding `percent`, write `%` as `%25` and other escapes as `%` with two hexadecimal digits."
            }
            Self::Nul { .. } => "Remove the NUL byte from the path.",
            Self::Relative { .. } => "Send an absolute path.",
        }
    }
}

/// Returns the encoding that an object with these paths needs; `None` if all are UTF-8.
pub fn encoding_of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Option<PathEncoding> {
    let all_plain = paths.into_iter().all(|path| path.to_str().is_some());
    (!all_plain).then_some(PathEncoding::Percent)
}

/// Writes a path in this encoding.
///
/// Without an encoding the path must be UTF-8 (see [`encoding_of`]); other bytes are replaced.
pub fn encode(path: &Path, encoding: Option<PathEncoding>) -> String {
    encode_os(path.as_os_str(), encoding)
}

/// Encodes any text of the operating system, such as the value of a variable, like [`encode`].
pub fn encode_os(text: &OsStr, encoding: Option<PathEncoding>) -> String {
    match encoding {
        None => text.to_string_lossy().into_owned(),
        Some(PathEncoding::Percent) => percent(text.as_bytes()),
    }
}

fn percent(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        text.extend(percent_encode(chunk.invalid(), NON_ALPHANUMERIC));
    }
    text
}

/// Decodes a path, which may be relative.
pub fn decode(text: &str, encoding: Option<PathEncoding>) -> Result<PathBuf, PathError> {
    let bytes = match encoding {
        None => text.as_bytes().to_vec(),
        Some(PathEncoding::Percent) => unpercent(text)?,
    };
    if bytes.contains(&0) {
        return Err(PathError::Nul { path: text.to_owned() });
    }
    Ok(std::ffi::OsString::from_vec(bytes).into())
}

/// Decodes a path that must be absolute.
pub fn decode_absolute(text: &str, encoding: Option<PathEncoding>) -> Result<PathBuf, PathError> {
    let path = decode(text, encoding)?;
    if path.is_absolute() { Ok(path) } else { Err(PathError::Relative { path: text.to_owned() }) }
}

fn unpercent(text: &str) -> Result<Vec<u8>, PathError> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut offset = 0;
    while let Some(&byte) = bytes.get(offset) {
        if byte == b'%' {
            let pair = bytes.get(offset + 1).zip(bytes.get(offset + 2));
            let value = pair.and_then(|(&high, &low)| Some(hex(high)? << 4 | hex(low)?));
            let Some(value) = value else {
                return Err(PathError::Escape { path: text.to_owned(), offset });
            };
            decoded.push(value);
            offset += 3;
        } else {
            decoded.push(byte);
            offset += 1;
        }
    }
    Ok(decoded)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str, encoding: Option<PathEncoding>) {
        let path = Path::new(OsStr::from_bytes(bytes));
        assert_eq!(encoding_of([path]), encoding);
        assert_eq!(encode(path, encoding), text);
        assert_eq!(decode(text, encoding).as_deref(), Ok(path));
    }

    #[test]
    fn utf8_path_is_not_encoded() {
        check(b"/w/skills/pdf", "/w/skills/pdf", None);
        check("/w/пример/100%/%41".as_bytes(), "/w/пример/100%/%41", None);
    }

    #[test]
    fn non_utf8_bytes_and_percent_are_escaped() {
        check(b"/w/\xff\x0a", "/w/%FF\n", Some(PathEncoding::Percent));
        check(b"/50%/\xc3(", "/50%25/%C3(", Some(PathEncoding::Percent));
        check("/é/\u{fffd}".as_bytes(), "/é/\u{fffd}", None);
    }

    #[test]
    fn every_byte_round_trips() {
        let bytes: Vec<u8> = (1..=255).rev().collect();
        let path = Path::new(OsStr::from_bytes(&bytes));
        let text = encode(path, Some(PathEncoding::Percent));
        assert_eq!(decode(&text, Some(PathEncoding::Percent)).as_deref(), Ok(path));
    }

    #[test]
    fn one_non_utf8_path_selects_the_encoding() {
        let odd = Path::new(OsStr::from_bytes(b"/\xff"));
        assert_eq!(encoding_of([Path::new("/a%b"), odd]), Some(PathEncoding::Percent));
        assert_eq!(encode(Path::new("/a%b"), Some(PathEncoding::Percent)), "/a%25b");
    }

    #[test]
    fn invalid_path_text_is_refused_with_its_offset() {
        let percent = Some(PathEncoding::Percent);
        let offset = |text| match decode(text, percent) {
            Err(PathError::Escape { offset, .. }) => Some(offset),
            _ => None,
        };
        assert_eq!(offset("/a%"), Some(2));
        assert_eq!(offset("/a%4"), Some(2));
        assert_eq!(offset("/%zz"), Some(1));
        assert_eq!(offset("/%+1"), Some(1));
        assert!(matches!(decode("/%00", percent), Err(PathError::Nul { .. })));
        assert!(matches!(decode_absolute("a/b", None), Err(PathError::Relative { .. })));
    }
}
