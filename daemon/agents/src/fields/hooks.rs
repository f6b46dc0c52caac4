//! Reads the `hooks` field: events, groups with a matcher, handlers.
//!
//! Keeps everything of the right type with its span, whether the table knows it or not. Unknown,
//! missing or pointless parts are found by the rules.

use skills_syntax::parse::{Entry, Frontmatter, Value, find};
use skills_syntax::text::Span;

use super::spanned_text::{SpannedText, read_switch, read_text};
use super::type_mismatch::TypeMismatch;
use crate::field_table::hooks::{
    COMMON, GROUP, HookKey, HookValueType, find_key, infer_handler_kind,
};
use crate::scalar::YamlType;
use crate::yaml_library::YamlLibrary;

/// A group of handlers with its matcher.
#[derive(Clone, PartialEq, Debug)]
pub struct HookGroup {
    pub event: SpannedText,
    /// The matcher, if any.
    pub matcher: Option<SpannedText>,
    /// True if the group has the key `hooks`.
    pub has_hooks: bool,
    pub handlers: Vec<HookHandler>,
    /// Unknown keys of the group.
    pub others: Vec<SpannedText>,
    /// The group's span.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct HookHandler {
    /// Its `type`, if it is text.
    pub kind: Option<SpannedText>,
    /// Its other keys whose values have the right type, known or unknown, in order.
    pub settings: Vec<(SpannedText, HookSetting)>,
    /// Its keys whose values have the wrong type.
    pub mistyped: Vec<SpannedText>,
    /// The handler's span.
    pub span: Span,
}

impl HookHandler {
    pub fn text(&self, key: &str) -> Option<&SpannedText> {
        self.settings.iter().rev().find_map(|(name, setting)| match setting {
            HookSetting::Text(item) if name.text == key => Some(item),
            _ => None,
        })
    }
}

/// The value of a handler's key.
#[derive(Clone, PartialEq, Debug)]
pub enum HookSetting {
    Text(SpannedText),
    Switch(bool),
    Number(f64),
    Texts(Vec<SpannedText>),
    /// The span of a map, or of the value of an unknown key.
    Other(Span),
}

/// Reads the field's value: its groups unless it is no map, and the parts of another type.
pub(super) fn read(
    frontmatter: &Frontmatter,
    value: &Value,
    span: Span,
) -> (Option<Vec<HookGroup>>, Vec<TypeMismatch>) {
    let mut reader = HookReader { frontmatter, faults: Vec::new() };
    let Some(entries) = value.entries() else {
        reader.fault(span, "a map of events", value);
        return (None, reader.faults);
    };
    let groups = entries.iter().flat_map(|it| reader.event(it)).collect();
    (Some(groups), reader.faults)
}

/// Returns an entry's key.
fn item(entry: &Entry) -> SpannedText {
    SpannedText { text: entry.key.text.clone(), span: entry.key.span }
}

struct HookReader<'a> {
    frontmatter: &'a Frontmatter,
    faults: Vec<TypeMismatch>,
}

impl HookReader<'_> {
    fn fault(&mut self, span: Span, expected: &'static str, value: &Value) {
        self.faults.push(TypeMismatch {
            span,
            expected,
            found: YamlType::of(value, YamlLibrary::Ours),
        });
    }

    /// Returns the items of a list; empty for a null.
    fn list<'v>(&mut self, written: &'v Value, expected: &'static str) -> &'v [Value] {
        if written.is_null() {
            return &[];
        }
        if let Some(items) = written.items() {
            return items;
        }
        self.fault(written.span, expected, written);
        &[]
    }

    fn event(&mut self, entry: &Entry) -> Vec<HookGroup> {
        let event = SpannedText { text: entry.key.text.clone(), span: entry.key.span };
        let frontmatter = self.frontmatter;
        let items = self.list(frontmatter.resolve(&entry.value), "a list of groups");
        items.iter().filter_map(|it| self.group(&event, it)).collect()
    }

    fn group(&mut self, event: &SpannedText, written: &Value) -> Option<HookGroup> {
        let frontmatter = self.frontmatter;
        let value = frontmatter.resolve(written);
        let Some(entries) = value.entries() else {
            self.fault(written.span, "a map with `hooks`", value);
            return None;
        };
        let [matcher, hooks] = &GROUP;
        let matcher = find(entries, matcher.name).and_then(|it| self.text(&it.value));
        let written_hooks = find(entries, hooks.name);
        let has_hooks = written_hooks.is_some();
        let handlers = written_hooks.map(|it| frontmatter.resolve(&it.value));
        let handlers = handlers.map(|it| self.list(it, "a list of handlers")).unwrap_or_default();
        let handlers = handlers.iter().filter_map(|it| self.handler(it)).collect();
        let others = entries.iter().filter(|it| GROUP.iter().all(|key| key.name != it.key.text));
        let others = others.map(item).collect();
        let (event, span) = (event.clone(), written.span);
        Some(HookGroup { event, matcher, has_hooks, handlers, others, span })
    }

    fn handler(&mut self, written: &Value) -> Option<HookHandler> {
        let frontmatter = self.frontmatter;
        let value = frontmatter.resolve(written);
        let Some(entries) = value.entries() else {
            self.fault(written.span, "a map with `type`", value);
            return None;
        };
        let [kind_key, ..] = &COMMON;
        let kind = find(entries, kind_key.name).and_then(|it| self.text(&it.value));
        let others = entries.iter().filter(|it| it.key.text != kind_key.name);
        let keys = others.clone().map(|it| &*it.key.text);
        let known = infer_handler_kind(kind.as_ref().map(|it| &*it.text), keys);
        let (mut settings, mut mistyped) = (Vec::new(), Vec::new());
        for entry in others {
            let n_faults = self.faults.len();
            match self.setting(find_key(known, &entry.key.text), &entry.value) {
                Some(setting) => settings.push((item(entry), setting)),
                None if self.faults.len() > n_faults => mistyped.push(item(entry)),
                None => {}
            }
        }
        Some(HookHandler { kind, settings, mistyped, span: written.span })
    }

    fn text(&mut self, written: &Value) -> Option<SpannedText> {
        match read_text(self.frontmatter, written) {
            Ok(item) => Some(item),
            Err(YamlType::Null) => None,
            Err(found) => {
                self.faults.push(TypeMismatch { span: written.span, expected: "a text", found });
                None
            }
        }
    }

    fn setting(&mut self, key: Option<&HookKey>, written: &Value) -> Option<HookSetting> {
        let frontmatter = self.frontmatter;
        let value = frontmatter.resolve(written);
        let Some(key) = key else { return Some(HookSetting::Other(written.span)) };
        if value.is_null() {
            return None;
        }
        let (setting, expected) = match key.takes {
            HookValueType::Text | HookValueType::Kind => {
                return self.text(written).map(HookSetting::Text);
            }
            HookValueType::Switch => {
                (value.as_str().and_then(read_switch).map(HookSetting::Switch), "a switch")
            }
            HookValueType::Number => {
                let number = value.as_str().and_then(|it| it.trim().parse().ok());
                (number.map(HookSetting::Number), "a number")
            }
            HookValueType::Texts => {
                if let Some(items) = value.items() {
                    let texts = items.iter().filter_map(|it| self.text(it)).collect();
                    return Some(HookSetting::Texts(texts));
                }
                (None, "a list of texts")
            }
            HookValueType::TextMap | HookValueType::Map => {
                (value.entries().map(|_| HookSetting::Other(written.span)), "a map")
            }
            HookValueType::Handlers => {
                (value.items().map(|_| HookSetting::Other(written.span)), "a list of handlers")
            }
        };
        if setting.is_none() {
            self.fault(written.span, expected, value);
        }
        setting
    }
}
