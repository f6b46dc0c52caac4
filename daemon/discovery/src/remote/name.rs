//! Checks names from other machines before they become file names.
//!
//! Stricter than any single operating system: a name accepted on one machine is accepted on all,
//! and no name can refer to a different file than it says.

use skills_syntax::path::check_component;

/// Maximum length of a name, in bytes.
const LONGEST_NAME: usize = 200;

/// Maximum length of a path, in bytes.
const LONGEST_PATH: usize = 1000;

/// Maximum number of components of a path.
const DEEPEST: usize = 16;

/// Device names on Windows, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Checks the name of a skill: one component that does not start with a dot.
pub fn check_skill(name: &str) -> Result<(), &'static str> {
    if name.starts_with('.') {
        return Err("begins with a dot");
    }
    check_name(name)
}

/// Checks the path of a file, relative to a skill's directory.
pub fn check_file(path: &str) -> Result<(), &'static str> {
    if path.len() > LONGEST_PATH {
        return Err("is too long");
    }
    if path.split('/').count() > DEEPEST {
        return Err("is too deep");
    }
    if path.starts_with('/') {
        return Err("is absolute");
    }
    path.split('/').try_for_each(check_name)
}

fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("has an empty part");
    }
    check_component(name)?;
    if name.len() > LONGEST_NAME {
        return Err("is too long");
    }
    if name.chars().any(char::is_control) {
        return Err("contains a control character");
    }
    if name.contains([':', '*', '?', '"', '<', '>', '|']) {
        return Err("contains a character that some systems do not allow in file names");
    }
    if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return Err("begins or ends with a space, or ends with a dot");
    }
    if is_device(name) {
        return Err("is the name of a device on Windows");
    }
    Ok(())
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered = |word: &str| {
        stem.strip_prefix(word)
            .is_some_and(|it| it.chars().count() == 1 && it.chars().all(char::is_numeric))
    };
    DEVICES.contains(&&*stem) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_accepted() {
        for path in ["SKILL.md", "references/a b.md", ".hidden/x", "scripts/run.sh", "é/ü", "com10"]
        {
            assert_eq!(check_file(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn ambiguous_file_name_is_refused() {
        for path in [
            "", "/etc/passwd", "..", "../x", "a/../b", "a/./b", "a//b", "a/", "a\\b", "a\0b",
            "a\nb", "c:x", "nul", "NUL.txt", "a/com1.log", "lpt¹", "a.", "a ", " a", "a*", "a|b",
        ] {
            assert!(check_file(path).is_err(), "{path:?}");
        }
        assert!(check_file(&"a/".repeat(20)).is_err());
        assert!(check_file(&"a".repeat(201)).is_err());
        assert!(check_skill("a/b").is_err() && check_skill(".a").is_err());
        assert_eq!(check_skill("a"), Ok(()));
    }
}
