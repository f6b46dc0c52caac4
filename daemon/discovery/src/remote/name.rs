//! Names that come from elsewhere and are to become names of files here.
//!
//! Stricter than any one system: what is taken on one machine is taken on all, and no name can
//! mean another file than the one it says.

use skills_syntax::path::check_component;

/// How long a name may be, in bytes.
const LONGEST_NAME: usize = 200;

/// How long a path may be, in bytes.
const LONGEST_PATH: usize = 1000;

/// How deep a path may be.
const DEEPEST: usize = 16;

/// Names that are devices on Windows, whatever stands behind a dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Checks the name of a skill: one name, that is not hidden.
pub fn check_skill(name: &str) -> Result<(), &'static str> {
    if name.starts_with('.') {
        return Err("begins with a dot");
    }
    check_name(name)
}

/// Checks the path of a file below a skill's directory.
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
        return Err("holds a control character");
    }
    if name.contains([':', '*', '?', '"', '<', '>', '|']) {
        return Err("holds a character that is none of a file's name everywhere");
    }
    if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return Err("begins or ends with a blank or ends with a dot");
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
    fn plain_names_are_taken() {
        for path in ["SKILL.md", "references/a b.md", ".hidden/x", "scripts/run.sh", "é/ü", "com10"]
        {
            assert_eq!(check_file(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn what_could_mean_another_file_is_refused() {
        for path in [
            "",
            "/etc/passwd",
            "..",
            "../x",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            "a\\b",
            "a\0b",
            "a\nb",
            "c:x",
            "nul",
            "NUL.txt",
            "a/com1.log",
            "lpt¹",
            "a.",
            "a ",
            " a",
            "a*",
            "a|b",
        ] {
            assert!(check_file(path).is_err(), "{path:?}");
        }
        assert!(check_file(&"a/".repeat(20)).is_err());
        assert!(check_file(&"a".repeat(201)).is_err());
        assert!(check_skill("a/b").is_err() && check_skill(".a").is_err());
        assert_eq!(check_skill("a"), Ok(()));
    }
}
