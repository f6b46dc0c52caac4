//! Checks the fields, besides name and description, that an agent requires ([`Requirement`]).

use super::mapping::{Mapping, TypedValue};
use super::outcome::{LoadRule, Remark};
use crate::profile::FieldForm::{
    self, Flag, ListOfTexts, ListOrNull, MapOfTexts, OffIfFalse, OffIfTrue, TextOnly, TextOrNull,
    TextOrTexts,
};
use crate::profile::Requirement;
use crate::scalar::YamlType;
use crate::skill::SkillRecord;

/// A value of another type than the agent expects.
struct Misfit {
    /// The key or the number within the field's value; `None` for the whole value.
    inner: Option<String>,
    found: YamlType,
    remedy: Remedy,
}

/// The remedy for a value: a sentence fragment and a sentence.
type Remedy = (&'static str, &'static str);

const QUOTE: Remedy =
    ("write it in quotes", "Put the value in quotes, so that YAML reads it as text.");
const AS_TEXT: Remedy = ("write one text", "Write one text, in quotes.");
const AS_LIST: Remedy =
    ("write it as a list", "Write one item in each line below the key, each after `- `.");
const AS_MAP: Remedy =
    ("write it as a map", "Write one `key: \"text\"` in each line below the key.");
const AS_FLAG: Remedy = ("write `true` or `false`", "Write `true` or `false`, without quotes.");
const AS_MAP_OR_NONE: Remedy = ("write it as a map", "Write it as a map, or remove it.");

impl Requirement {
    /// Returns the required field; `None` for the body.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Field(_, key) | Self::MapWith { key, .. } => Some(key),
            Self::Body
            | Self::BodyText
            | Self::Content
            | Self::Frontmatter
            | Self::DescriptionAtMost(_) => None,
        }
    }

    /// Returns a remark if a field or the description violates the requirement.
    pub(super) fn violation(
        &self,
        mapping: Option<&Mapping>,
        record: &SkillRecord,
        description: Option<&str>,
    ) -> Option<Remark> {
        if let Self::DescriptionAtMost(most) = *self {
            let length = description.map_or(0, |it| it.encode_utf16().count());
            return (length > most).then(|| Remark {
                rule: LoadRule::DescriptionLength,
                message: format!(
                    "the description has {length} characters; at most {most} are read"
                ),
                at: record.description.as_ref().map(|it| it.at),
                next: "Shorten the description.".to_owned(),
            });
        }
        let key = self.key()?;
        let Misfit { inner, found, remedy } = self.misfit(key, mapping?)?;
        let place = match (&inner, self) {
            (None, _) => format!("`{key}`"),
            (Some(nth), Self::Field(ListOfTexts | TextOrTexts, _)) => {
                format!("item {nth} of `{key}`")
            }
            (Some(inner), _) => format!("`{key}.{inner}`"),
        };
        Some(Remark {
            rule: LoadRule::FieldType,
            message: format!("{place} is {}; {}", found.name(), remedy.0),
            at: record.key_position(key, inner.as_deref()),
            next: remedy.1.to_owned(),
        })
    }

    /// Returns the field that switches a skill, and the value that switches it off.
    pub(super) fn switch(&self) -> Option<(&str, bool)> {
        match self {
            Self::Field(OffIfTrue, key) => Some((key, true)),
            Self::Field(OffIfFalse, key) => Some((key, false)),
            _ => None,
        }
    }

    fn misfit(&self, key: &str, mapping: &Mapping) -> Option<Misfit> {
        let value = mapping.typed(key)?;
        match self {
            Self::Field(form, _) => form.misfit(key, value.kind, mapping),
            Self::MapWith { .. } if value.kind == YamlType::Null && value.text.is_empty() => None,
            Self::MapWith { .. } if value.kind != YamlType::Map => {
                Some(Misfit { inner: None, found: value.kind, remedy: AS_MAP_OR_NONE })
            }
            Self::MapWith { scalar, .. } => {
                let found = mapping.within(key, scalar)?.kind;
                let is_scalar = !matches!(found, YamlType::List | YamlType::Map);
                let inner = Some(scalar.to_string());
                (!is_scalar).then_some(Misfit { inner, found, remedy: AS_TEXT })
            }
            _ => None,
        }
    }
}

impl FieldForm {
    fn misfit(self, key: &str, found: YamlType, mapping: &Mapping) -> Option<Misfit> {
        let whole = |remedy| Some(Misfit { inner: None, found, remedy });
        match self {
            TextOnly | TextOrTexts | TextOrNull if found == YamlType::Text => None,
            ListOrNull | TextOrNull | OffIfTrue | OffIfFalse if found == YamlType::Null => None,
            ListOrNull if found == YamlType::List => None,
            ListOrNull => whole(AS_LIST),
            Flag | OffIfTrue | OffIfFalse if found == YamlType::Boolean => None,
            Flag | OffIfTrue | OffIfFalse => whole(AS_FLAG),
            TextOnly | TextOrNull => whole(as_text(found)),
            ListOfTexts | TextOrTexts => match mapping.items(key) {
                None => whole(AS_LIST),
                Some(items) => first_other_than_text((1..).map(|nth| nth.to_string()).zip(items)),
            },
            MapOfTexts => match mapping.values(key) {
                None => whole(AS_MAP),
                Some(values) => first_other_than_text(values),
            },
        }
    }
}

fn first_other_than_text(values: impl IntoIterator<Item = (String, TypedValue)>) -> Option<Misfit> {
    let (inner, value) = values.into_iter().find(|(_, it)| it.kind != YamlType::Text)?;
    Some(Misfit { inner: Some(inner), found: value.kind, remedy: as_text(value.kind) })
}

fn as_text(found: YamlType) -> Remedy {
    match found {
        YamlType::Boolean | YamlType::Number | YamlType::Date => QUOTE,
        YamlType::Null | YamlType::Text | YamlType::List | YamlType::Map | YamlType::Alias => {
            AS_TEXT
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::loaders::load_as;
    use crate::profile::{self, Profile};
    use crate::skill::{FileFacts, SkillRecord};

    /// Returns how an agent takes a skill with these lines in its frontmatter.
    fn state(profile: &Profile, lines: &str) -> String {
        let text = format!("---\nname: dir\ndescription: d\n{lines}---\nBody.\n");
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
        let loaded = load_as(profile, &SkillRecord::read(text.as_bytes(), facts), "dir");
        match (&loaded.dropped, &loaded.unlisted) {
            (Some(it), _) => format!("dropped: {}", it.message),
            (None, Some(it)) => format!("off: {}", it.message),
            (None, None) => "on".to_owned(),
        }
    }

    #[test]
    fn fields_that_switch_a_skill_decide_as_the_running_agents_did() {
        // Measured: Cline 3.0.65 and Factory Droid 0.215.0.
        let no_flag =
            |key: &str, what: &str| format!("dropped: `{key}` is {what}; write `true` or `false`");
        let off = |text: &str| format!("off: `{text}` switches it off");
        let cases = [
            ("", "on".to_owned(), "on".to_owned()),
            ("disabled: true\n", off("disabled: true"), "on".to_owned()),
            ("disabled: true\nenabled: true\n", off("disabled: true"), "on".to_owned()),
            ("disabled: false\nenabled: false\n", "on".to_owned(), off("enabled: false")),
            ("disabled:\nenabled: false\n", off("enabled: false"), off("enabled: false")),
            ("enabled: false\n", off("enabled: false"), off("enabled: false")),
            ("enabled:\n", "on".to_owned(), no_flag("enabled", "nothing")),
            ("enabled: \"no\"\n", no_flag("enabled", "a text"), no_flag("enabled", "a text")),
        ];
        for (lines, cline, droid) in cases {
            assert_eq!(state(profile::find("cline").unwrap(), lines), cline, "Cline: {lines}");
            assert_eq!(state(profile::find("droid").unwrap(), lines), droid, "Droid: {lines}");
        }
    }
}
