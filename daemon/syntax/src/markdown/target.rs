//! Interprets link targets as paths.

/// Returns the path in a link target; `None` for URLs, fragments and templates.
pub fn link_path(target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let is_name = |it: char| it.is_alphanumeric() || "/._-% ()+@,&=~".contains(it);
    let is_path = !path.is_empty()
        && !path.contains("://")
        && !path.starts_with(['/', '~'])
        && path.chars().all(is_name)
        && path != "..."
        && path != "path"
        && path != "url";
    is_path.then(|| percent_decode(path))
}

/// Returns a path with its `%XX` escapes decoded.
pub fn percent_decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = others.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let escaped = hex.and_then(|it| u8::from_str_radix(it, 16).ok());
        if let Some(byte) = escaped.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_path_accepts_relative_paths_only() {
        assert_eq!(link_path("references/a%20b.md#x").as_deref(), Some("references/a b.md"));
        assert_eq!(link_path("./a.md").as_deref(), Some("./a.md"));
        for other in
            ["https://a.b/c.md", "#x", "mailto:a@b.c", "/a.md", "{name}.md", "<file>", "$X/a"]
        {
            assert_eq!(link_path(other), None, "{other}");
        }
    }
}
