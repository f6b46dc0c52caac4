//! Parses a registry's index: its skills and their files.
//!
//! `{"skills": [{"name": …, "files": ["SKILL.md", …], "version": …}]}`; other keys are ignored. A
//! text that is not an index is refused with the position of the error. A skill with an invalid
//! name or file is left out with the reason; the others remain.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::name;

/// Maximum number of skills per registry.
pub const MAX_SKILLS: usize = 500;

/// Maximum number of files per skill.
pub const MAX_FILES: usize = 200;

/// A parsed index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The skills, in the order of the index.
    pub skills: Vec<RegistrySkill>,
    /// Reasons why other skills are left out, each a sentence fragment.
    pub refused: Vec<String>,
}

/// A skill in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrySkill {
    /// Its name, which becomes the name of its directory.
    pub name: String,
    /// Its files, relative to that directory; SKILL.md is one of them.
    pub files: Vec<String>,
    /// Its version, any text. A skill without a version is fetched once.
    pub version: Option<String>,
}

/// Reason why a text is not an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexError {
    /// Line from 1; `None` if the text is JSON, but not an index.
    pub line: Option<usize>,
    /// Column from 1.
    pub column: usize,
    /// Description of the error, as a sentence fragment.
    pub message: String,
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}, column {}: {}", self.column, self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for IndexError {}

/// Parses an index.
pub fn read(bytes: &[u8]) -> Result<Index, IndexError> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let message = format!("not JSON: {message}");
        IndexError { line: Some(error.line()), column: error.column(), message }
    })?;
    let Some(skills) = value.get("skills") else {
        return Err(shape("it has no key `skills`"));
    };
    let Some(skills) = skills.as_array() else {
        return Err(shape("`skills` is not a list"));
    };
    if skills.len() > MAX_SKILLS {
        let message = format!("it lists {} skills; the limit is {MAX_SKILLS}", skills.len());
        return Err(shape(&message));
    }
    let mut index = Index::default();
    let mut names = BTreeSet::new();
    for (at, value) in skills.iter().enumerate() {
        match offer(value) {
            Ok(offer) if names.insert(offer.name.to_lowercase()) => index.skills.push(offer),
            Ok(offer) => index.refused.push(format!(
                "`{}` is left out: an earlier skill has the same name, ignoring case",
                short(&offer.name)
            )),
            Err(why) => index.refused.push(format!("skill {} is left out: {why}", at + 1)),
        }
    }
    Ok(index)
}

/// Shortens a name for messages.
fn short(name: &str) -> String {
    const LONGEST: usize = 64;
    match name.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

fn shape(message: &str) -> IndexError {
    IndexError { line: None, column: 1, message: message.to_owned() }
}

fn offer(value: &Value) -> Result<RegistrySkill, String> {
    let Some(name) = value.get("name").and_then(Value::as_str) else {
        return Err("its `name` is not a string".to_owned());
    };
    name::check_skill(name).map_err(|why| format!("its name {:?} {why}", short(name)))?;
    let Some(list) = value.get("files").and_then(Value::as_array) else {
        return Err(format!("the `files` of `{name}` are not a list"));
    };
    if list.len() > MAX_FILES {
        return Err(format!("`{name}` has {} files; the limit is {MAX_FILES}", list.len()));
    }
    let mut files = Vec::new();
    for file in list {
        let Some(file) = file.as_str() else {
            return Err(format!("a file of `{name}` is not a string"));
        };
        name::check_file(file)
            .map_err(|why| format!("the file {:?} of `{name}` {why}", short(file)))?;
        files.push(file.to_owned());
    }
    collisions(name, &files)?;
    if !files.iter().any(|it| it == "SKILL.md") {
        return Err(format!("`{name}` has no file `SKILL.md`"));
    }
    let version = match value.get("version") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(_) => {
            return Err(format!("the `version` of `{name}` is neither a string nor a number"));
        }
    };
    Ok(RegistrySkill { name: name.to_owned(), files, version })
}

/// Refuses files that are equal on case-insensitive systems, and a file that is also a directory.
fn collisions(name: &str, files: &[String]) -> Result<(), String> {
    let mut taken = BTreeSet::new();
    for file in files {
        if !taken.insert(file.to_lowercase()) {
            let file = short(file);
            return Err(format!("`{name}` has two files `{file}`, ignoring case"));
        }
    }
    let mut spelled = std::collections::BTreeMap::new();
    for file in files {
        for (at, _) in file.match_indices('/') {
            let dir = &file[..at];
            let lower = dir.to_lowercase();
            if taken.contains(&lower) {
                return Err(format!("`{dir}` of `{name}` is a file and a directory"));
            }
            if *spelled.entry(lower).or_insert(dir) != dir {
                return Err(format!("the directories `{dir}` of `{name}` differ only in case"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &Expect) {
        let shown = match read(text.as_bytes()) {
            Err(error) => format!("error: {error}\n"),
            Ok(index) => {
                let skills = index
                    .skills
                    .iter()
                    .map(|it| format!("{} {:?} {}\n", it.name, it.version, it.files.join(" ")));
                skills.chain(index.refused.iter().map(|it| format!("- {it}\n"))).collect()
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn index_with_files_and_versions_parses() {
        check(
            r#"{"v":1,"skills":[{"name":"a","files":["SKILL.md","x/y.md"]},{"name":"b","files":["SKILL.md"],"version":2,"z":0}]}"#,
            &expect![[r#"
                a None SKILL.md x/y.md
                b Some("2") SKILL.md
            "#]],
        );
    }

    #[test]
    fn invalid_index_is_refused_with_its_position() {
        check(
            "{\n  \"skills\": [\n    oops]}",
            &expect![[r#"
                error: line 3, column 5: not JSON: expected value
            "#]],
        );
        check(
            "<html>",
            &expect![[r#"
            error: line 1, column 1: not JSON: expected value
        "#]],
        );
        check(
            "[]",
            &expect![[r#"
            error: it has no key `skills`
        "#]],
        );
        check(
            r#"{"skills":{}}"#,
            &expect![[r#"
            error: `skills` is not a list
        "#]],
        );
        check(
            "{\"skills\":[",
            &expect![[r#"
            error: line 1, column 11: not JSON: EOF while parsing a list
        "#]],
        );
    }

    #[test]
    fn invalid_skill_does_not_affect_others() {
        let files = r#""files":["SKILL.md"]"#;
        let many = vec!["\"x\""; 201].join(",");
        check(
            &format!(
                r#"{{"skills":[{{"name":"../a",{files}}},{{"name":7,{files}}},{{"name":"ok",{files}}},{{"name":"OK",{files}}},
                {{"name":"b","files":["SKILL.md","../../x"]}},{{"name":"c","files":["a.md"]}},{{"name":"d"}},
                {{"name":"e","files":["SKILL.md","x","X"]}},{{"name":"f","files":["SKILL.md","x","x/y"]}},
                {{"name":"g","files":["SKILL.md","x/a","X/b"]}},{{"name":"h","files":[{many}]}},
                {{"name":"i",{files},"version":[]}},{{"name":"con",{files}}},3]}}"#
            ),
            &expect![[r#"
                ok None SKILL.md
                - skill 1 is left out: its name "../a" begins with a dot
                - skill 2 is left out: its `name` is not a string
                - `OK` is left out: an earlier skill has the same name, ignoring case
                - skill 5 is left out: the file "../../x" of `b` contains `.` or `..`
                - skill 6 is left out: `c` has no file `SKILL.md`
                - skill 7 is left out: the `files` of `d` are not a list
                - skill 8 is left out: `e` has two files `X`, ignoring case
                - skill 9 is left out: `x` of `f` is a file and a directory
                - skill 10 is left out: the directories `X` of `g` differ only in case
                - skill 11 is left out: `h` has 201 files; the limit is 200
                - skill 12 is left out: the `version` of `i` is neither a string nor a number
                - skill 13 is left out: its name "con" is the name of a device on Windows
                - skill 14 is left out: its `name` is not a string
            "#]],
        );
    }
}
