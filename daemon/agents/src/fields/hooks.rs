//! The `hooks` field: events, groups with a matcher, handlers.
//!
//! Everything of the right type is kept, known to the catalog or not, with its place; what is
//! unknown, missing or pointless is for the rules to find.

use skills_syntax::parse::{Entry, Value, find};
use skills_syntax::text::Span;

use super::{Fault, Fields, Item, Outcome, Reading, switch};
use crate::catalog::hooks::{COMMON, GROUP, Key, Takes, find_key, kind_meant};
use crate::library::Library;
use crate::scalar::Kind;

/// A group of handlers with its matcher.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// The event it is bound to.
    pub event: Item,
    /// The matcher; nothing when there is none.
    pub matcher: Option<Item>,
    /// Whether there is the key that they stand below.
    pub has_hooks: bool,
    /// What runs.
    pub handlers: Vec<Handler>,
    /// The keys that are none of a group.
    pub others: Vec<Item>,
    /// The whole group.
    pub span: Span,
}

/// One handler.
#[derive(Clone, PartialEq, Debug)]
pub struct Handler {
    /// Its `type`; nothing when it is missing or no text.
    pub kind: Option<Item>,
    /// Its other keys that have the right type, known ones and unknown ones, in order.
    pub settings: Vec<(Item, Setting)>,
    /// Its keys that have another type than they take.
    pub mistyped: Vec<Item>,
    /// The whole handler.
    pub span: Span,
}

impl Handler {
    /// Returns the text of a key.
    pub fn text(&self, key: &str) -> Option<&Item> {
        self.settings.iter().rev().find_map(|(name, setting)| match setting {
            Setting::Text(item) if name.text == key => Some(item),
            _ => None,
        })
    }

    /// Returns whether a switch is on; off when it is missing.
    pub fn is_on(&self, key: &str) -> bool {
        let named = self.settings.iter().rev().find(|(name, _)| name.text == key);
        named.is_some_and(|(_, setting)| *setting == Setting::Switch(true))
    }
}

/// The value of a handler's key.
#[derive(Clone, PartialEq, Debug)]
pub enum Setting {
    /// A text.
    Text(Item),
    /// A switch.
    Switch(bool),
    /// A number.
    Number(f64),
    /// A list of texts.
    Texts(Vec<Item>),
    /// A map, or the value of a key that the catalog does not know: where it is written.
    Other(Span),
}

/// Reads the value of the field.
pub(super) fn read(fields: Fields<'_>, value: &Value, span: Span) -> Outcome {
    let mut reader = HookReader { fields, faults: Vec::new() };
    let Some(entries) = value.entries() else {
        reader.fault(span, "a map of events", value);
        return Outcome { value: None, faults: reader.faults };
    };
    let groups = entries.iter().flat_map(|it| reader.event(it)).collect();
    Outcome { value: Some(Reading::Hooks(groups)), faults: reader.faults }
}

/// Returns a key as it is written.
fn item(entry: &Entry) -> Item {
    Item { text: entry.key.text.clone(), span: entry.key.span }
}

struct HookReader<'a> {
    fields: Fields<'a>,
    faults: Vec<Fault>,
}

impl HookReader<'_> {
    fn fault(&mut self, span: Span, expected: &'static str, value: &Value) {
        self.faults.push(Fault { span, expected, found: Kind::of(value, Library::Ours) });
    }

    /// Returns the items of a list; a null is an empty one.
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

    fn event(&mut self, entry: &Entry) -> Vec<Group> {
        let event = Item { text: entry.key.text.clone(), span: entry.key.span };
        let fields = self.fields;
        let items = self.list(fields.frontmatter.resolve(&entry.value), "a list of groups");
        items.iter().filter_map(|it| self.group(&event, it)).collect()
    }

    fn group(&mut self, event: &Item, written: &Value) -> Option<Group> {
        let fields = self.fields;
        let value = fields.frontmatter.resolve(written);
        let Some(entries) = value.entries() else {
            self.fault(written.span, "a map with `hooks`", value);
            return None;
        };
        let [matcher, hooks] = &GROUP;
        let matcher = find(entries, matcher.name).and_then(|it| self.text(&it.value));
        let written_hooks = find(entries, hooks.name);
        let has_hooks = written_hooks.is_some();
        let handlers = written_hooks.map(|it| fields.frontmatter.resolve(&it.value));
        let handlers = handlers.map(|it| self.list(it, "a list of handlers")).unwrap_or_default();
        let handlers = handlers.iter().filter_map(|it| self.handler(it)).collect();
        let others = entries.iter().filter(|it| GROUP.iter().all(|key| key.name != it.key.text));
        let others = others.map(item).collect();
        let (event, span) = (event.clone(), written.span);
        Some(Group { event, matcher, has_hooks, handlers, others, span })
    }

    fn handler(&mut self, written: &Value) -> Option<Handler> {
        let fields = self.fields;
        let value = fields.frontmatter.resolve(written);
        let Some(entries) = value.entries() else {
            self.fault(written.span, "a map with `type`", value);
            return None;
        };
        let [kind_key, ..] = &COMMON;
        let kind = find(entries, kind_key.name).and_then(|it| self.text(&it.value));
        let others = entries.iter().filter(|it| it.key.text != kind_key.name);
        let keys = others.clone().map(|it| &*it.key.text);
        let known = kind_meant(kind.as_ref().map(|it| &*it.text), keys);
        let (mut settings, mut mistyped) = (Vec::new(), Vec::new());
        for entry in others {
            let n_faults = self.faults.len();
            match self.setting(find_key(known, &entry.key.text), &entry.value) {
                Some(setting) => settings.push((item(entry), setting)),
                None if self.faults.len() > n_faults => mistyped.push(item(entry)),
                None => {}
            }
        }
        Some(Handler { kind, settings, mistyped, span: written.span })
    }

    fn text(&mut self, written: &Value) -> Option<Item> {
        match self.fields.text_item(written) {
            Ok(item) => Some(item),
            Err(Kind::Null) => None,
            Err(found) => {
                self.faults.push(Fault { span: written.span, expected: "a text", found });
                None
            }
        }
    }

    fn setting(&mut self, key: Option<&Key>, written: &Value) -> Option<Setting> {
        let fields = self.fields;
        let value = fields.frontmatter.resolve(written);
        let Some(key) = key else { return Some(Setting::Other(written.span)) };
        if value.is_null() {
            return None;
        }
        let (setting, expected) = match key.takes {
            Takes::Text | Takes::Kind => return self.text(written).map(Setting::Text),
            Takes::Switch => (value.as_str().and_then(switch).map(Setting::Switch), "a switch"),
            Takes::Number => {
                let number = value.as_str().and_then(|it| it.trim().parse().ok());
                (number.map(Setting::Number), "a number")
            }
            Takes::Texts => {
                if let Some(items) = value.items() {
                    let texts = items.iter().filter_map(|it| self.text(it)).collect();
                    return Some(Setting::Texts(texts));
                }
                (None, "a list of texts")
            }
            Takes::TextMap | Takes::Map => {
                (value.entries().map(|_| Setting::Other(written.span)), "a map")
            }
            Takes::Handlers => {
                (value.items().map(|_| Setting::Other(written.span)), "a list of handlers")
            }
        };
        if setting.is_none() {
            self.fault(written.span, expected, value);
        }
        setting
    }
}
