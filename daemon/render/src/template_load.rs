//! Loaded skills of agents whose formats are data of the profile table ([`LoadTemplate`]).

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use skills_agents::field_table;
use skills_agents::profile::template::{
    ArgumentsTemplate, BodyTrim, EscapeRule, FileGroups, FilesTemplate, LoadTemplate,
};

use super::load_request::LoadRequest;
use super::metadata::list;
use super::substitute::{ARGUMENTS_TOO_LONG, MAX_INSERTED};
use super::template::{escape, fill, scope_word};

/// Returns a loaded skill.
pub(super) fn load(
    template: &LoadTemplate,
    loading: &LoadRequest<'_>,
    warnings: &mut Vec<String>,
) -> String {
    let InsertedTexts { text, body, arguments } = insert_arguments(template, loading, warnings);
    let raw = loading.arguments.trim();
    let arguments = if raw.is_empty() { "" } else { arguments };
    fill(template.text, |word| {
        let escaped = |text: &str| Some(Cow::Owned(escape(template.escape, text).into_owned()));
        match word {
            "name" => escaped(loading.name),
            "description" => escaped(loading.description),
            "scope" => Some(scope_word(template.scopes, loading.scope).into()),
            "dir" => escaped(loading.dir),
            "place" => {
                let below = Path::new(loading.dir).strip_prefix(loading.cwd).ok();
                escaped(below.and_then(Path::to_str).unwrap_or(loading.dir))
            }
            "path" => escaped(loading.path),
            "below" => {
                let below = Path::new(loading.path).strip_prefix(loading.root).ok();
                escaped(below.and_then(Path::to_str).unwrap_or(loading.path))
            }
            "body" => Some(body.clone()),
            "text" => escaped(&text),
            "files" => {
                let paths = &loading.files.paths;
                let files = template.files.as_ref().map(|it| files(it, template.escape, paths));
                Some(files.unwrap_or_default().into())
            }
            "arguments" => Some(
                fill(arguments, |it| (it == "arguments").then(|| escaped(raw)).flatten()).into(),
            ),
            _ => None,
        }
    })
}

/// Texts of a skill with the arguments and the directory of a call.
struct InsertedTexts<'a> {
    /// The whole file.
    text: Cow<'a, str>,
    body: Cow<'a, str>,
    /// Template of the arguments beside the body.
    arguments: &'static str,
}

fn insert_arguments<'a>(
    template: &LoadTemplate,
    loading: &'a LoadRequest<'_>,
    warnings: &mut Vec<String>,
) -> InsertedTexts<'a> {
    let body = match template.trim {
        BodyTrim::Both => loading.body.body().trim(),
        BodyTrim::BlankLinesBefore => without_blank_lines(loading.body.body()),
    };
    let text = Cow::Borrowed(&*loading.body.text);
    let mut inserted = InsertedTexts { text, body: body.into(), arguments: "" };
    match template.arguments {
        ArgumentsTemplate::Ignored => {}
        ArgumentsTemplate::Filled(arguments) => inserted.arguments = arguments,
        ArgumentsTemplate::Directory(variable) => {
            let (text, is_full) =
                with_directory(&inserted.text, variable, loading.dir, MAX_INSERTED);
            inserted.text = text.into();
            warnings.extend(is_full.then(|| DIRECTORY_TOO_LONG.to_owned()));
        }
        ArgumentsTemplate::Placeholders { dir } => {
            let names = list(loading.body, &field_table::ARGUMENTS);
            let raw = loading.arguments.trim();
            let values = BodyValues { raw, names: &names, dir: (dir, loading.dir) };
            let (body, is_full) = values.expand(body, MAX_INSERTED);
            inserted.body = body.into();
            inserted.arguments = "{arguments}";
            warnings.extend(is_full.then(|| ARGUMENTS_TOO_LONG.to_owned()));
        }
    }
    inserted
}

/// Warning about a directory of which more than [`MAX_INSERTED`] bytes would be inserted.
const DIRECTORY_TOO_LONG: &str =
    "The path of the skill's directory is too long to insert it at every place.";

/// Replaces the variable for the skill's directory, until `left` bytes are inserted. Also returns
/// true if it was kept somewhere.
fn with_directory(text: &str, variable: &str, dir: &str, left: usize) -> (String, bool) {
    let most = left / dir.len().max(1);
    let is_full = text.matches(variable).nth(most).is_some();
    (text.replacen(variable, dir, most), is_full)
}

/// Returns a body without the blank lines at its start; the indentation of the first line stays.
fn without_blank_lines(body: &str) -> &str {
    let blank = body.len() - body.trim_start().len();
    let start = body[..blank].rfind('\n').map_or(0, |at| at + 1);
    &body[start..]
}

fn files(template: &FilesTemplate, rule: EscapeRule, paths: &[String]) -> String {
    let one = |it: &String| format!("{}{}", template.before, escape(rule, it));
    let list = |of: &dyn Fn(&str) -> bool| -> Option<String> {
        let files: Vec<_> = paths.iter().filter(|it| of(it)).map(one).collect();
        (!files.is_empty()).then(|| files.join(template.separator))
    };
    let all = match template.groups {
        None => list(&|_| true),
        Some(FileGroups { entry, separator, groups }) => {
            let lists = groups.iter().filter_map(|group| {
                let files = list(&|it| group.has(it))?;
                Some(fill(entry, |word| match word {
                    "group" => Some(group.dir.into()),
                    "files" => Some(files.as_str().into()),
                    _ => None,
                }))
            });
            let lists: Vec<_> = lists.collect();
            (!lists.is_empty()).then(|| lists.join(separator))
        }
    };
    match all {
        Some(all) => format!("{}{all}{}", template.head, template.tail),
        None => template.none.to_owned(),
    }
}

pub(super) struct BodyValues<'a> {
    pub(super) raw: &'a str,
    pub(super) names: &'a [String],
    /// The variable for the skill's directory, and its value.
    pub(super) dir: (&'a str, &'a str),
}

impl BodyValues<'_> {
    /// Replaces the placeholders in a body, until `left` bytes are inserted. Tags in the arguments
    /// are escaped. Also returns true if a placeholder was kept because its value is too long.
    pub(super) fn expand(&self, body: &str, mut left: usize) -> (String, bool) {
        static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
            let pattern = r"\$ARGUMENTS\[(\d+)\]|\$ARGUMENTS|\$(\d+)\b|\$(\w+)|\$\{\w+\}";
            Regex::new(pattern).expect("the pattern is regular")
        });
        let escaped = |text: &str| text.replace('<', "&lt;").replace('>', "&gt;");
        let raw = escaped(self.raw);
        let tokens: Vec<_> = tokens(self.raw).iter().map(|it| escaped(it)).collect();
        let token = |nth: Option<usize>| nth.and_then(|it| tokens.get(it)).map_or("", |it| it);
        // The first of two equal names counts.
        let names: HashMap<&str, usize> =
            self.names.iter().enumerate().rev().map(|(nth, it)| (&**it, nth)).collect();
        let (variable, dir) = self.dir;
        let mut text = String::new();
        let (mut end, mut has_placeholder, mut is_full) = (0, false, false);
        for found in PLACEHOLDER.captures_iter(body) {
            let Some(all) = found.get(0) else { continue };
            let number = found.get(1).or(found.get(2)).map(|it| it.as_str().parse().ok());
            // A name before a bracket is no placeholder.
            let name = found.get(3).filter(|it| !body[it.end()..].starts_with('['));
            let nth = name.and_then(|it| names.get(it.as_str()));
            let value = match (number, nth, all.as_str()) {
                (Some(number), _, _) => token(number),
                (None, Some(nth), _) => token(Some(*nth)),
                (None, None, "$ARGUMENTS") => &raw,
                (None, None, text) if text == variable => dir,
                (None, None, _) => continue,
            };
            let Some(rest) = left.checked_sub(value.len()) else {
                is_full = true;
                break;
            };
            left = rest;
            has_placeholder |= all.as_str() != variable;
            text.push_str(&body[end..all.start()]);
            text.push_str(value);
            end = all.end();
        }
        text.push_str(&body[end..]);
        if !has_placeholder && !raw.is_empty() {
            text.push_str("\n\nARGUMENTS: ");
            text.push_str(&raw);
        }
        (text, is_full)
    }
}

/// Splits arguments at white space; quotes keep a part together.
fn tokens(raw: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    for c in raw.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            None if c.is_whitespace() => all.extend(current.take()),
            Some(_) | None => current.get_or_insert_default().push(c),
        }
    }
    all.extend(current);
    all
}

#[cfg(test)]
mod tests {
    use skills_agents::profile::OutputFormat;
    use skills_agents::profile::template::{FilePaths, ListingOrder, PromptTemplate};

    use super::*;

    fn hermes() -> &'static PromptTemplate {
        let profile = skills_agents::profile::find("hermes").unwrap();
        let OutputFormat::Template(template) = profile.output else { panic!("no template") };
        template
    }

    #[test]
    fn files_are_listed_by_directory_and_ending() {
        let template = hermes().load.as_ref().unwrap().files.as_ref().unwrap();
        let listed = |paths: &[&str]| {
            let paths: Vec<_> = paths.iter().map(|it| (*it).to_owned()).collect();
            let text = files(template, EscapeRule::Json, &paths);
            text.split(", \"usage_hint\"").next().unwrap().to_owned()
        };
        assert_eq!(
            listed(&[
                "LICENSE",
                "assets/a/\"b\".png",
                "references/a.md",
                "references/deep/b.md",
                "references/c.txt",
                "referencesd.md",
                "scripts/a.sh",
                "scripts/b.py",
                "scripts/deep/c.py",
                "templates/deep/a.yaml",
            ]),
            r#"{"references": ["references/a.md"], "templates": ["templates/deep/a.yaml"], "assets": ["assets/a/\"b\".png"], "scripts": ["scripts/a.sh", "scripts/b.py"]}"#
        );
        assert_eq!(listed(&["LICENSE", "scripts/README"]), "null");
        assert_eq!(listed(&[]), "null");
    }

    #[test]
    fn files_of_an_escaped_template_are_escaped() {
        let template = FilesTemplate {
            head: "<",
            before: "- ",
            separator: "\n",
            tail: ">",
            paths: FilePaths::Absolute,
            most: None,
            order: ListingOrder::AsFound,
            groups: None,
            none: "",
        };
        let paths = ["a&b".to_owned(), "c".to_owned()];
        assert_eq!(files(&template, EscapeRule::Xml, &paths), "<- a&amp;b\n- c>");
        assert_eq!(files(&template, EscapeRule::Never, &paths), "<- a&b\n- c>");
        assert_eq!(files(&template, EscapeRule::Xml, &[]), "");
    }

    fn expanded(body: &str, raw: &str, left: usize) -> (String, bool) {
        let names = ["one", "two", "one"].map(str::to_owned);
        let values = BodyValues { raw, names: &names, dir: ("${KIMI_SKILL_DIR}", "/s") };
        values.expand(body, left)
    }

    #[test]
    fn placeholders_are_replaced_by_arguments_that_are_not_searched() {
        for (body, raw, expected) in [
            ("<$ARGUMENTS>", "a <b>", "<a &lt;b&gt;>"),
            ("$ARGUMENTS[1], $ARGUMENTS[2].", "a 'b c'", "b c, ."),
            ("$ARGUMENTS[x] $ARGUMENTSx", "a", "a[x] ax"),
            ("$0 $1 $2 $99999999999999999999999.", "a b", "a b  ."),
            ("$0[0] $0a $0_ $0é", "a", "a[0] $0a $0_ $0é"),
            ("$one $two $three $one[0] $ones", "a b", "a b $three $one[0] $ones"),
            ("${KIMI_SKILL_DIR}/x ${HOME}", "", "/s/x ${HOME}"),
            ("${KIMI_SKILL_DIR}/x", "a", "/s/x\n\nARGUMENTS: a"),
            ("$0 $ARGUMENTS", "$1 b", "$1 $1 b"),
            ("$0", "${KIMI_SKILL_DIR}", "${KIMI_SKILL_DIR}"),
            ("$one", "$two b", "$two"),
            ("a", "$0", "a\n\nARGUMENTS: $0"),
            ("$ $- $$0", "a", "$ $- $a"),
        ] {
            let (text, is_full) = expanded(body, raw, usize::MAX);
            assert_eq!((&*text, is_full), (expected, false), "{body}");
        }
    }

    #[test]
    fn directory_variable_is_kept_when_nothing_more_may_be_inserted() {
        let filled = |left| with_directory("$D, $D, $E", "$D", "/long", left);
        assert_eq!(filled(10), ("/long, /long, $E".to_owned(), false));
        assert_eq!(filled(9), ("/long, $D, $E".to_owned(), true));
        assert_eq!(filled(4), ("$D, $D, $E".to_owned(), true));
    }

    #[test]
    fn placeholder_is_kept_when_nothing_more_may_be_inserted() {
        assert_eq!(expanded("$0, $0, $0", "abcd", 9), ("abcd, abcd, $0".to_owned(), true));
        assert_eq!(expanded("$0, $0", "abcd", 8), ("abcd, abcd".to_owned(), false));
        let body = "${KIMI_SKILL_DIR}$one${KIMI_SKILL_DIR}";
        assert_eq!(expanded(body, "a", 4), ("/sa${KIMI_SKILL_DIR}".to_owned(), true));
    }

    #[test]
    fn placeholder_behind_long_text_is_replaced() {
        let body = format!("${} ${}{{ $0", "a".repeat(2_000_000), "{x".repeat(100_000));
        let (text, _) = expanded(&body, "abcd", usize::MAX);
        assert!(text.ends_with("{ abcd"), "{}", &text[text.len() - 20..]);
    }

    #[test]
    fn arguments_are_split_at_white_space_outside_quotes() {
        assert_eq!(tokens("a \"b c\" d'e f'  ''"), ["a", "b c", "de f", ""]);
        assert_eq!(tokens(" \"open end"), ["open end"]);
    }

    #[test]
    fn blank_lines_before_a_body_are_removed_and_indentation_stays() {
        assert_eq!(without_blank_lines("\n \t\n  a\n\n"), "  a\n\n");
        assert_eq!(without_blank_lines(" \n"), "");
        assert_eq!(without_blank_lines("a"), "a");
    }
}
