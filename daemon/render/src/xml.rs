//! Escapes text for XML and HTML, and paths for URLs.

/// Escapes `&`, `<` and `>`.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Escapes quotes as well, like Python's `html.escape`.
pub(super) fn escape_html(text: &str) -> String {
    escape(text).replace('"', "&quot;").replace('\'', "&#x27;")
}

/// Returns an absolute path as a `file://` URL, as JavaScript's `pathToFileURL` writes it.
pub fn file_url(path: &str) -> String {
    let mut url = String::from("file://");
    for byte in path.bytes() {
        let is_kept = byte.is_ascii_alphanumeric() || b"/-_.!~*'();:@&=+$,[]|^".contains(&byte);
        if is_kept {
            url.push(char::from(byte));
        } else {
            url.extend(format!("%{byte:02X}").chars());
        }
    }
    url
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
