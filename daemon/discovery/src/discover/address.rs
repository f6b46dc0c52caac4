//! Addresses: how what has no file is named where files have paths.
//!
//! A prompt of an MCP server and a skill that is part of an agent's program have paths that no
//! file can have, so that all that goes by paths takes them along. People and programs see
//! addresses for them: `mcp://server/prompt`, `builtin://agent/name`.

use std::fmt::Write;

use skills_syntax::path::AbsPath;

/// The directory that prompts seem to be in.
const PROMPTS: &str = "/mcp:";

/// The directory that agents' own skills seem to be in.
const BUILT_IN: &str = "/builtin:";

/// Those directories, and how the addresses of what is in them begin.
const SCHEMES: [(&str, &str); 2] = [(PROMPTS, "mcp://"), (BUILT_IN, "builtin://")];

/// Returns the root that a server's prompts are listed under.
pub fn server_path(server: &str) -> AbsPath {
    place(PROMPTS).child(escaped(server))
}

/// Returns the path that stands for a prompt, which has no file.
pub fn prompt_path(server: &str, prompt: &str) -> AbsPath {
    server_path(server).child(escaped(prompt))
}

/// Returns the root that the skills of an agent's program are listed under.
pub(super) fn built_in_path(agent: &str) -> AbsPath {
    place(BUILT_IN).child(escaped(agent))
}

/// Returns whether a path stands for a skill that is part of an agent's program.
pub fn is_built_in(path: &AbsPath) -> bool {
    path.starts_with(BUILT_IN)
}

fn place(top: &str) -> AbsPath {
    AbsPath::new(top.as_ref()).expect("it is absolute")
}

/// Returns the address of what has no file; none for other paths.
pub fn address_of(path: &AbsPath) -> Option<String> {
    SCHEMES.iter().find_map(|(top, scheme)| {
        let below = path.strip_prefix(top).ok()?;
        Some(format!("{scheme}{}", below.to_str()?))
    })
}

/// Returns a path as people know it.
pub fn shown(path: &AbsPath) -> String {
    address_of(path).unwrap_or_else(|| path.display().to_string())
}

/// Returns the path that an address stands for; none for what is not one.
pub fn path_of(address: &str) -> Option<AbsPath> {
    let strip = |(top, scheme)| Some((top, address.strip_prefix(scheme)?));
    let (top, below): (&str, _) = SCHEMES.into_iter().find_map(strip)?;
    let is_plain = |name: &str| !name.is_empty() && escaped(&unescaped(name)) == name;
    let names = below.split('/').filter(|it| !it.is_empty());
    names.clone().all(is_plain).then(|| names.fold(place(top), |path, name| path.child(name)))
}

/// Returns the server and the prompt that a path stands for.
pub fn prompt_of(path: &AbsPath) -> Option<(String, String)> {
    let below = path.strip_prefix(PROMPTS).ok()?.to_str()?;
    let (server, prompt) = below.split_once('/')?;
    Some((unescaped(server), unescaped(prompt)))
}

/// Returns a name as one part of a path.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    // `.` and `..` would climb; a name that begins with a dot is rare enough.
    let is_plain = |at: usize, it: u8| {
        it.is_ascii_alphanumeric() || it == b'-' || it == b'_' || (it == b'.' && at > 0)
    };
    for (at, byte) in name.bytes().enumerate() {
        if is_plain(at, byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a text does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let byte = code.and_then(|it| u8::from_str_radix(it, 16).ok());
        if let Some(byte) = byte.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_stand_for_each_other() {
        for (server, name) in [("notes", "daily"), ("a b", "x/../y"), ("..", "."), ("é", "%41")] {
            let path = prompt_path(server, name);
            let address = address_of(&path).unwrap();
            assert!(address.starts_with("mcp://"), "{address}");
            assert_eq!(path_of(&address), Some(path.clone()), "{address}");
            assert_eq!(prompt_of(&path), Some((server.to_owned(), name.to_owned())));
        }
        assert_eq!(address_of(&prompt_path("a", "b/c")).unwrap(), "mcp://a/b%2Fc");
        assert_eq!(path_of("mcp://a/.."), None);
        let path = built_in_path("opencode").child("customize-opencode");
        assert_eq!(address_of(&path).unwrap(), "builtin://opencode/customize-opencode");
        assert_eq!(path_of("builtin://opencode/customize-opencode"), Some(path));
        assert_eq!(path_of("/a"), None);
        assert_eq!(address_of(&AbsPath::new("/a".as_ref()).unwrap()), None);
    }
}
