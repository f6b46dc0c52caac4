//! Fills in the texts of agents whose formats are data of the profile table
//! ([`PromptTemplate`](skills_agents::profile::template::PromptTemplate)).

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use skills_agents::field_table;
use skills_agents::listing::one_line;
use skills_agents::profile::template::{
    ArgumentsTemplate, BlanksRule, BodyTrim, EscapeRule, FileGroups, FilesTemplate, ListingLimit,
    ListingOrder, ListingTemplate, LoadTemplate, Overflow,
};

use super::compact_listing;
use super::load_request::LoadRequest;
use super::locale;
use super::metadata::list;
use super::prompt_listing::{
    EntryCost, ListedSkill, ListingBudget, ListingCost, ListingForm, ListingUnit, ListingUse,
    PromptListing,
};
use super::substitute::{ARGUMENTS_TOO_LONG, MAX_INSERTED};
use super::template_entry::{TemplateEntry, category, entry, escape, fill, scope_word, units};

/// The entries of a listing after cuts.
pub(super) struct TemplateListing<'a> {
    template: &'static ListingTemplate,
    entries: Vec<TemplateEntry<'a>>,
    limit: Option<usize>,
    /// The text before the first skill.
    head: Cow<'static, str>,
    /// The part of the limit that the text around the entries takes, if it counts.
    around: Option<usize>,
}

/// Returns the listing, cut to the agent's limit.
pub(super) fn listing<'a>(
    template: &'static ListingTemplate,
    skills: &'a [ListedSkill<'a>],
    room: &ListingBudget,
) -> TemplateListing<'a> {
    let entry = |(index, skill): (usize, &'a ListedSkill<'a>)| {
        let (description, is_cut) = description(template, skill);
        let text = entry(template, skill, &description, skill.when_to_use.as_deref());
        let n_cut =
            if is_cut { units(skill.description).saturating_sub(units(&description)) } else { 0 };
        let form = if is_cut { ListingForm::Shortened } else { ListingForm::Whole };
        TemplateEntry { skill, index, whole: units(&text) + 1 + n_cut, text, form }
    };
    let mut entries: Vec<_> = skills.iter().enumerate().map(entry).collect();
    match template.order {
        ListingOrder::AsFound => {}
        ListingOrder::ByName => {
            entries.sort_by(|a, b| locale::compare(a.skill.name, b.skill.name));
        }
        ListingOrder::ByCategory => {
            entries.sort_by_cached_key(|it| (category(it.skill), it.skill.name));
        }
    }
    if template.heading.contains("{scope}") {
        let place = |it: &TemplateEntry<'_>| {
            let word = scope_word(template.scopes, it.skill.scope);
            template.scopes.iter().position(|(_, other)| *other == word)
        };
        entries.sort_by_key(place);
    }
    let (mut head, mut around) = (template.head.into(), None);
    let limit = template.limit.as_ref().map(|limit| {
        let most = characters(limit, room);
        if let Overflow::Compact(compact) = limit.overflow {
            let cut = compact_listing::cut(template, compact, &mut entries, most);
            (head, around) = (cut.head, Some(cut.around));
        } else {
            cut(template, limit, &mut entries, most.saturating_add(limit.uncounted()));
        }
        most
    });
    TemplateListing { template, entries, limit, head, around }
}

/// Returns the limit for all skills that are not the agent's own.
fn characters(limit: &ListingLimit, room: &ListingBudget) -> usize {
    let of_context = room.context_tokens.zip(limit.per_100_tokens);
    let of_context =
        of_context.map(|(tokens, share)| (tokens as usize).saturating_mul(share) / 100);
    let all = of_context.unwrap_or(limit.characters).saturating_sub(limit.built_in);
    room.characters.map_or(all, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

/// Returns a description as the agent shows it, and whether it is cut.
fn description(template: &ListingTemplate, skill: &ListedSkill<'_>) -> (String, bool) {
    let text = match skill.description {
        "" => template.no_description.to_owned(),
        text => match template.blanks {
            BlanksRule::Kept => text.to_owned(),
            BlanksRule::Trimmed => text.trim().to_owned(),
            BlanksRule::Collapsed => one_line(text),
        },
    };
    match template.longest {
        Some((longest, end)) if units(&text) > longest => {
            let path = || Some(skill.path.to_string_lossy());
            let note = fill(end, |word| (word == "path").then(path).flatten());
            let room = longest.saturating_sub(units(&note));
            let (before, after) =
                if end.contains("{path}") { (room.div_ceil(2), room / 2) } else { (room, 0) };
            let end = units(&text) - after;
            let mut at = 0;
            let mut place = |it: &char| {
                at += it.len_utf16();
                at
            };
            let places: Vec<_> = text.chars().map(|it| (place(&it), it)).collect();
            let head = places.iter().take_while(|it| it.0 <= before).map(|it| it.1);
            let tail = places.iter().filter(|it| it.0 > end).map(|it| it.1);
            (head.chain(note.chars()).chain(tail).collect(), true)
        }
        _ => (text, false),
    }
}

/// Cuts the entries to the limit.
fn cut(
    template: &ListingTemplate,
    limit: &ListingLimit,
    entries: &mut [TemplateEntry<'_>],
    most: usize,
) {
    let all: usize = entries.iter().map(TemplateEntry::length).sum();
    if all <= most {
        return;
    }
    match limit.overflow {
        // Cut as a whole, by `compact_listing`.
        Overflow::Compact(_) => {}
        Overflow::NamesAfter(_) => {
            let mut used = 0;
            let mut fits = true;
            for entry in entries {
                used += entry.length();
                fits &= used <= most;
                if !fits {
                    entry.text = escape(template.escape, entry.skill.name).into_owned();
                    entry.form = ListingForm::Name;
                }
            }
        }
        Overflow::NameOnly(short) => {
            let name = |it: &TemplateEntry<'_>| {
                fill(short, |word| (word == "name").then(|| escape(template.escape, it.skill.name)))
            };
            let mut used: usize = entries.iter().map(|it| units(&name(it)) + 1).sum();
            for entry in entries {
                let short = name(entry);
                let more = entry.length() - (units(&short) + 1);
                if used + more <= most {
                    used += more;
                } else {
                    entry.text = short;
                    entry.form = ListingForm::Name;
                }
            }
        }
        Overflow::FirstLines => {
            for it in entries {
                let first = it.skill.description.split('\n').next().unwrap_or_default().trim();
                let text = entry(template, it.skill, first, None);
                if text != it.text {
                    it.text = text;
                    it.form = ListingForm::Shortened;
                }
            }
        }
    }
}

impl TemplateListing<'_> {
    /// Returns the listing's text and counts.
    pub(super) fn render(&self) -> PromptListing {
        let Self { template, entries, .. } = self;
        let mut texts: Vec<String> = Vec::new();
        let mut named = Vec::new();
        let mut last = None;
        let after = template.limit.as_ref().and_then(|it| match it.overflow {
            Overflow::NamesAfter(text) => Some(text),
            Overflow::NameOnly(_) | Overflow::FirstLines | Overflow::Compact(_) => None,
        });
        let n_omitted = entries.iter().filter(|it| it.form == ListingForm::Omitted).count();
        let n_listed = entries.len() - n_omitted;
        for entry in entries.iter().take(n_listed) {
            if entry.form == ListingForm::Name && after.is_some() {
                named.push(&*entry.text);
                continue;
            }
            let heading = fill(template.heading, |it| match it {
                "scope" => Some(scope_word(template.scopes, entry.skill.scope).into()),
                "category" => Some(category(entry.skill).into()),
                _ => None,
            });
            let is_next = last.as_ref() != Some(&heading);
            texts.push(format!("{}{}", if is_next { &heading } else { "" }, entry.text));
            last = Some(heading);
        }
        if let (Some(after), false) = (after, named.is_empty()) {
            texts.push(format!("{after}{}", named.join(", ")));
        }
        let tail = if n_listed == 0 { "" } else { template.tail };
        let text = format!("{}{}{tail}", self.head, texts.join(template.separator));
        let n_whole = entries.iter().filter(|it| it.form == ListingForm::Whole).count();
        PromptListing { text, n_listed, n_shortened: n_listed - n_whole, n_omitted }
    }

    pub(super) fn cost(&self) -> ListingCost {
        let listed = self.entries.iter().filter(|it| it.form != ListingForm::Omitted);
        let used = listed.map(TemplateEntry::length).sum::<usize>();
        let used = used + self.around.unwrap_or_default();
        let uncounted = self.template.limit.as_ref().map_or(0, ListingLimit::uncounted);
        let used = used.saturating_sub(uncounted) as u64;
        let budget = self.limit.map(|limit| ListingUse {
            unit: ListingUnit::Characters,
            limit: limit as u64,
            used,
        });
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|it| it.index);
        let cost = |it: &TemplateEntry<'_>| EntryCost {
            form: it.form,
            characters: it.length() as u64,
            whole_characters: it.whole as u64,
            tokens: (it.text.len() as u64 + 1).div_ceil(4),
        };
        ListingCost { budget, entries: entries.into_iter().map(cost).collect() }
    }
}

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
    use skills_agents::profile::template::{FilePaths, PromptTemplate};
    use skills_agents::profile::{OutputFormat, Scope};

    use super::*;

    #[test]
    fn filled_value_is_not_searched_and_unknown_words_stay() {
        let value = |word: &str| match word {
            "name" => Some(Cow::Borrowed("{body}")),
            "body" => Some("B {name}".into()),
            _ => None,
        };
        assert_eq!(
            fill("<{name}> {body} {other} { {name", value),
            "<{body}> B {name} {other} { {name"
        );
    }

    #[test]
    fn description_over_openhands_limit_is_cut_in_the_middle() {
        let profile = skills_agents::profile::find("openhands").unwrap();
        let skills_agents::profile::OutputFormat::Template(template) = profile.output else {
            panic!("no template")
        };
        let text = "long words ".repeat(95) + "end";
        let skill = ListedSkill {
            name: "long",
            label: None,
            description: &text,
            note: None,
            when_to_use: None,
            path: Path::new("/w/.openhands/skills/long/SKILL.md"),
            home: None,
            root: Path::new("/w/.openhands/skills"),
            shown: None,
            scope: Scope::Project,
            is_bundled: false,
            use_score: 0.0,
        };
        let (cut, is_cut) = description(&template.listing, &skill);
        assert!(is_cut);
        assert_eq!(units(&cut), 1024);
        let (before, after) = cut.split_once("<response clipped>").unwrap();
        assert!(text.starts_with(before) && after.ends_with("words end"), "{cut}");
        let rest = after.split_once("</NOTE>").unwrap().1;
        assert!(before.len() - rest.len() <= 1, "{cut}");
    }

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
    fn skills_are_listed_by_category_and_name_without_an_empty_description() {
        let skills =
            [("z", "z", "Z."), ("a\nb/y", "o: ther", ""), ("a/x/w", "w", "W."), ("", "r", "R.")];
        let paths = skills.map(|it| Path::new("/s").join(it.0).join("SKILL.md"));
        let skill =
            |((_, name, description), path): (&(&'static str, &'static str, &'static str), _)| {
                ListedSkill {
                    name,
                    label: None,
                    description,
                    note: None,
                    when_to_use: None,
                    path,
                    home: None,
                    root: Path::new("/s"),
                    shown: None,
                    scope: Scope::User,
                    is_bundled: false,
                    use_score: 0.0,
                }
            };
        let skills: Vec<_> = skills.iter().zip(paths.iter().map(|it| &**it)).map(skill).collect();
        let text = listing(&hermes().listing, &skills, &ListingBudget::default()).render().text;
        let (_, text) = text.split_once("<available_skills>\n").unwrap();
        let (text, _) = text.split_once("\n</available_skills>").unwrap();
        assert_eq!(
            text,
            "  a b:\n    - o: ther\n  a/x:\n    - w: W.\n  general:\n    - r: R.\n  z:\n    - z: Z."
        );
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
