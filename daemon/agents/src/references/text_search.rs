//! Describes a search for texts that may reference skills ([`TextSearch`]); the engine executes it.

use skills_syntax::markdown::percent_decode_text;
use skills_syntax::path::AbsPath;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TextSearch {
    /// The top of the worktree to search.
    pub top: Option<AbsPath>,
    /// The user's home directory, for instructions that apply to every session.
    pub home: Option<AbsPath>,
    /// The skills whose texts are searched.
    pub skills: Vec<AbsPath>,
    /// Names of files, directories and skills: a text must contain one of them, or be the SKILL.md
    /// in a directory of one.
    pub names: Vec<String>,
    /// Directories whose texts are all included, regardless of their content.
    pub below: Vec<AbsPath>,
}

impl TextSearch {
    /// Returns whether a text contains one of the names, in prose or in a path. The name may be
    /// percent-encoded.
    pub fn may_match(&self, text: &str) -> bool {
        let has_name = |text: &str| self.names.iter().any(|it| text.contains(&**it));
        has_name(text) || text.contains('%') && has_name(&percent_decode_text(text))
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
        assert!(is_match("100%ff [x](../%70df%20f%6Frm-1/a.md)"));
        assert!(!is_match("[x](../pdf%20form%2d2/a.md)"));
        assert!(!is_match("[x](../pdf-form-2/a.md)"));
        assert!(!is_match("100 % sure"));
        assert!(!TextSearch::default().may_match("[x](a.md)"));
    }
}
