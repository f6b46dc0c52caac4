//! Escapes text for XML and HTML, and paths for URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Escapes `&`, `<` and `>`.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            _ => continue,
        };
        escaped.push_str(&text[copied..at]);
        escaped.push_str(entity);
        copied = at + 1;
    }
    escaped.push_str(&text[copied..]);
    escaped
}

/// Escapes quotes as well, like Python's `html.escape`.
pub(super) fn escape_html(text: &str) -> String {
    escape(text).replace('"', "&quot;").replace('\'', "&#x27;")
}

/// Characters that `pathToFileURL` does not encode.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b';')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=')
    .remove(b'+')
    .remove(b'$')
    .remove(b',')
    .remove(b'[')
    .remove(b']')
    .remove(b'|')
    .remove(b'^');

/// Returns an absolute path as a `file://` URL, as JavaScript's `pathToFileURL` writes it.
pub fn file_url(path: &str) -> String {
    format!("file://{}", utf8_percent_encode(path, KEPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_quotes_are_escaped() {
        assert_eq!(escape("a < b & \"c\" > 'd'"), "a &lt; b &amp; \"c\" &gt; 'd'");
        assert_eq!(escape_html("\"c\" 'd' <"), "&quot;c&quot; &#x27;d&#x27; &lt;");
    }

    #[test]
    fn path_becomes_a_file_url() {
        assert_eq!(file_url("/w/a b/ä#?%/x"), "file:///w/a%20b/%C3%A4%23%3F%25/x");
    }
}
