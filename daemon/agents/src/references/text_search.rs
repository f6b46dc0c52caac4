//! Describes a search for texts that may reference skills ([`TextSearch`]); the engine executes it.

use skills_syntax::path::AbsPath;

/// The texts to search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TextSearch {
    /// The top of the worktree to search.
    pub top: Option<AbsPath>,
    /// The user's home directory, for instructions that apply to every session.
    pub home: Option<AbsPath>,
    /// The skills whose texts are searched.
    pub skills: Vec<AbsPath>,
    /// Names of files and directories: a text must contain a path with one of them.
    pub names: Vec<String>,
    /// Directories whose texts are all included, regardless of their content.
    pub below: Vec<AbsPath>,
}

impl TextSearch {
    /// Returns whether a text may contain a path with one of the names, which may be
    /// percent-encoded.
    pub fn may_match(&self, text: &str) -> bool {
        let is_encoded = text.contains('%');
        self.names.iter().any(|name| {
            // Alphanumeric parts of a name are the same in every encoding.
            let plain = name.split(|it: char| !it.is_ascii_alphanumeric());
            let longest = plain.max_by_key(|it| it.len()).unwrap_or_default();
            text.contains(&**name) || is_encoded && text.contains(longest)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_matches_by_a_whole_name_or_a_percent_encoded_one() {
        let search = TextSearch { names: vec!["pdf form-1".to_owned()], ..TextSearch::default() };
        let is_match = |text: &str| search.may_match(text);
        assert!(is_match("[x](<../pdf form-1/a.md>)"));
        assert!(is_match("[x](../pdf%20form-1/a.md)"));
        assert!(!is_match("[x](../pdf-form-2/a.md)"));
        assert!(!is_match("100 % sure"));
        assert!(!TextSearch::default().may_match("[x](a.md)"));
    }
}
