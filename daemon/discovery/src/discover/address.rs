//! Addresses of skills that have no file: `mcp://server/prompt` and `builtin://agent/name`.
//!
//! Prompts of MCP servers and skills built into an agent's program get paths that no file can have,
//! so that code keyed by path handles them too. Users and clients see the address.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use skills_syntax::path::AbsPath;

/// Directory part of prompt paths.
const PROMPTS: &str = "/mcp:";

/// Directory part of the paths of built-in skills.
const BUILT_IN: &str = "/builtin:";

/// Each directory with its address prefix.
const SCHEMES: [(&str, &str); 2] = [(PROMPTS, "mcp://"), (BUILT_IN, "builtin://")];

/// Returns the root of a server's prompts.
pub fn server_path(server: &str) -> AbsPath {
    place(PROMPTS).child(escaped(server))
}

/// Returns the path that represents a prompt.
pub fn prompt_path(server: &str, prompt: &str) -> AbsPath {
    server_path(server).child(escaped(prompt))
}

/// Returns the root of the skills built into an agent's program.
pub(super) fn built_in_path(agent: &str) -> AbsPath {
    place(BUILT_IN).child(escaped(agent))
}

/// Returns true if a path represents a skill built into an agent's program.
pub fn is_built_in(path: &AbsPath) -> bool {
    path.starts_with(BUILT_IN)
}

fn place(top: &str) -> AbsPath {
    AbsPath::new(top.as_ref()).expect("it is absolute")
}

/// Returns the address of a path that has no file; `None` for other paths.
pub fn address_of(path: &AbsPath) -> Option<String> {
    SCHEMES.iter().find_map(|(top, scheme)| {
        let below = path.strip_prefix(top).ok()?;
        Some(format!("{scheme}{}", below.to_str()?))
    })
}

/// Returns the form of a path shown to users: its address if it has one.
pub fn shown(path: &AbsPath) -> String {
    address_of(path).unwrap_or_else(|| path.display().to_string())
}

/// Returns the path that an address represents; `None` if it is not an address.
pub fn path_of(address: &str) -> Option<AbsPath> {
    let strip = |(top, scheme)| Some((top, address.strip_prefix(scheme)?));
    let (top, below): (&str, _) = SCHEMES.into_iter().find_map(strip)?;
    let is_plain = |name: &str| !name.is_empty() && escaped(&unescaped(name)) == name;
    let names = below.split('/').filter(|it| !it.is_empty());
    names.clone().all(is_plain).then(|| names.fold(place(top), |path, name| path.child(name)))
}

/// Returns the server and the prompt that a path represents.
pub fn prompt_of(path: &AbsPath) -> Option<(String, String)> {
    let below = path.strip_prefix(PROMPTS).ok()?.to_str()?;
    let (server, prompt) = below.split_once('/')?;
    Some((unescaped(server), unescaped(prompt)))
}

/// Characters of a name that are not encoded.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Percent-encodes a name as one path component.
fn escaped(name: &str) -> String {
    let text = utf8_percent_encode(name, PLAIN).to_string();
    // `.` and `..` would climb, so a leading dot is encoded too.
    text.strip_prefix('.').map_or_else(|| text.clone(), |rest| format!("%2E{rest}"))
}

fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_round_trip() {
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
