//! Typed reading of frontmatter: what a value is to us, and to each agent.
//!
//! The parser coerces nothing; here each [`Coercion`] of the catalog has its one reading. A
//! reading gives as much of the value as is usable, with the place of every item (also inside a
//! text that is split), and says for each part of another type what was found instead. Whether
//! a value makes sense (an unknown event, a bad glob) is for the rules to say.

mod align;
mod hooks;
mod json;
mod split;

use std::collections::HashSet;

use serde_json::{Map, Value as Json};
use skills_syntax::parse::{Entry, Frontmatter, ScalarStyle, Value, ValueKind};
use skills_syntax::text::Span;

use crate::catalog::{self, Agent, Coercion, Field, Known, Separators, Shape};
use crate::library::Library;
use crate::scalar::Kind;

pub use hooks::{Group, Handler, Setting};
pub use json::json;

/// A text and where it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// The text.
    pub text: String,
    /// Where it is written, with its quotes; inside a text that is split, the item alone.
    pub span: Span,
}

/// A part of a value that has another type than it should.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The part.
    pub span: Span,
    /// What should stand there, with an article.
    pub expected: &'static str,
    /// What stands there.
    pub found: Kind,
}

/// A key and its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The key.
    pub key: Item,
    /// The value.
    pub value: Item,
}

/// A value as its field takes it.
#[derive(Clone, PartialEq, Debug)]
pub enum Reading {
    /// A text.
    Text(Item),
    /// A switch.
    Switch(bool),
    /// A list of words or globs, without what is not one.
    List(Vec<Item>),
    /// A map, without values that are no text.
    Map(Vec<Pair>),
    /// A word; the catalog knows what it means, when it is one of the field's values.
    Choice(Item),
    /// An integer in the place of a word.
    Integer(i64),
    /// Hooks, in the order they are written.
    Hooks(Vec<Group>),
    /// Anything, as JSON.
    Json(Json),
}

/// What was made of a value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The usable part; nothing when there is none. A null is nothing, and no fault for most.
    pub value: Option<Reading>,
    /// The parts of another type, in the order of the text.
    pub faults: Vec<Fault>,
}

impl Outcome {
    fn of(value: Reading) -> Self {
        Self { value: Some(value), faults: Vec::new() }
    }

    fn fault(span: Span, expected: &'static str, found: Kind) -> Self {
        Self { value: None, faults: vec![Fault { span, expected, found }] }
    }
}

/// The fields of one frontmatter.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    frontmatter: &'a Frontmatter,
    source: &'a str,
}

impl<'a> Fields<'a> {
    /// Takes a frontmatter and the text it was parsed from.
    pub const fn new(frontmatter: &'a Frontmatter, source: &'a str) -> Self {
        Self { frontmatter, source }
    }

    /// Returns the entry of a field; of duplicates the last.
    pub fn entry(&self, field: &Field) -> Option<&'a Entry> {
        self.frontmatter.get(field.key)
    }

    /// Returns our own reading of a field, the most understanding one; nothing when the field
    /// is missing.
    pub fn read(&self, field: &Field) -> Option<Outcome> {
        Some(self.outcome(field, self.entry(field)?, field.shape.coercion()))
    }

    /// Returns what `agent` makes of a field; nothing when the field is missing or the agent
    /// does not read it.
    pub fn read_as(&self, field: &Field, agent: Agent) -> Option<Outcome> {
        let reader = field.reader(agent)?;
        Some(self.outcome(field, self.entry(field)?, reader.reads))
    }

    /// Reads a field's value. What the catalog lists in a map of texts as anything is left out of
    /// it, and no fault there.
    fn outcome(&self, field: &Field, entry: &Entry, coercion: Coercion) -> Outcome {
        let mut outcome = self.coerce(&entry.value, coercion);
        if coercion == Coercion::TextMap && !outcome.faults.is_empty() {
            let is_open =
                |name: &str| field.keys.iter().any(|it| it.name == name && it.shape == Shape::Any);
            let entries = self.frontmatter.resolve(&entry.value).entries().unwrap_or_default();
            let open: HashSet<Span> = entries
                .iter()
                .filter(|it| is_open(&it.key.text))
                .flat_map(|it| [it.key.span, it.value.span])
                .collect();
            outcome.faults.retain(|it| !open.contains(&it.span));
        }
        outcome
    }

    /// Returns a field's text by our own reading.
    pub fn text(&self, field: &Field) -> Option<String> {
        match self.read(field)?.value? {
            Reading::Text(item) | Reading::Choice(item) => Some(item.text),
            _ => None,
        }
    }

    /// Returns a field's switch by our own reading.
    pub fn switch(&self, field: &Field) -> Option<bool> {
        match self.read(field)?.value? {
            Reading::Switch(on) => Some(on),
            _ => None,
        }
    }

    /// Returns a field's items by our own reading; none when the field is missing.
    pub fn list(&self, field: &Field) -> Vec<Item> {
        match self.read(field).and_then(|it| it.value) {
            Some(Reading::List(items)) => items,
            _ => Vec::new(),
        }
    }

    /// Returns the entries whose keys are no fields, in order; known misspellings among them.
    pub fn unknown_entries(&self) -> impl Iterator<Item = &'a Entry> + use<'a> {
        self.frontmatter
            .entries
            .iter()
            .filter(|it| !matches!(catalog::recognise(&it.key.text), Known::Field(_)))
    }

    /// Returns what stands under keys that are no fields, as JSON.
    pub fn unknown(&self) -> Map<String, Json> {
        json(self.frontmatter, self.source, self.unknown_entries())
    }

    /// Reads a value.
    pub fn coerce(&self, written: &Value, coercion: Coercion) -> Outcome {
        let value = self.frontmatter.resolve(written);
        let span = written.span;
        let found = Kind::of(value, Library::Ours);
        let refuses_null = matches!(
            coercion,
            Coercion::String(_) | Coercion::ListOnly(_) | Coercion::StringMap(_)
        );
        if found == Kind::Null && !refuses_null {
            return Outcome::default();
        }
        match coercion {
            Coercion::Text => self.text_item(written).map_or_else(
                |found| Outcome::fault(span, "a text", found),
                |item| Outcome::of(Reading::Text(item)),
            ),
            Coercion::Spelling => match value.text_or_source(self.source) {
                Some(text) => Outcome::of(Reading::Text(Item { text: text.to_owned(), span })),
                None => Outcome::fault(span, "a text", found),
            },
            Coercion::String(library) => self.string_item(written, library).map_or_else(
                |found| Outcome::fault(span, "a string", found),
                |item| Outcome::of(Reading::Text(item)),
            ),
            Coercion::Switch => match value.as_str().and_then(switch) {
                Some(on) => Outcome::of(Reading::Switch(on)),
                None => Outcome::fault(span, "a switch", found),
            },
            Coercion::Boolean => match (&value.kind, value.as_str()) {
                (ValueKind::Scalar { style: ScalarStyle::Plain, .. }, Some("true")) => {
                    Outcome::of(Reading::Switch(true))
                }
                (ValueKind::Scalar { style: ScalarStyle::Plain, .. }, Some("false")) => {
                    Outcome::of(Reading::Switch(false))
                }
                _ => Outcome::fault(span, "`true` or `false`", found),
            },
            Coercion::Words(separators) => self.words(value, span, separators),
            Coercion::ListOnly(library) => match value.items() {
                Some(items) => list(items, "a string", |it| self.string_item(it, library)),
                None => Outcome::fault(span, "a list", found),
            },
            Coercion::TextMap => map(value, span, |_| true, "a text", |it| self.text_item(it)),
            Coercion::TextMapOf(keys) => {
                map(value, span, |it| keys.contains(&it), "a text", |it| self.text_item(it))
            }
            Coercion::StringMap(library) => {
                map(value, span, |_| true, "a string", |it| self.string_item(it, library))
            }
            Coercion::Choice => self.choice(written),
            Coercion::ChoiceOrInteger => {
                let integer = value.as_str().filter(|_| found == Kind::Number);
                match integer.and_then(|it| it.parse().ok()) {
                    Some(integer) => Outcome::of(Reading::Integer(integer)),
                    None => self.choice(written),
                }
            }
            Coercion::Hooks => hooks::read(*self, value, span),
            Coercion::Anything => {
                let entry = self.frontmatter.entries.iter().find(|it| it.value.span == span);
                let map = json(self.frontmatter, self.source, entry);
                Outcome { value: map.into_values().next().map(Reading::Json), faults: Vec::new() }
            }
        }
    }

    fn choice(&self, written: &Value) -> Outcome {
        match self.text_item(written) {
            Ok(item) => {
                let text = item.text.trim().to_owned();
                Outcome::of(Reading::Choice(Item { text, ..item }))
            }
            Err(found) => Outcome::fault(written.span, "a word", found),
        }
    }

    /// Returns a scalar as its text.
    fn text_item(&self, written: &Value) -> Result<Item, Kind> {
        let value = self.frontmatter.resolve(written);
        match value.as_str() {
            Some(text) => Ok(Item { text: text.to_owned(), span: written.span }),
            None => Err(Kind::of(value, Library::Ours)),
        }
    }

    /// Returns a scalar as its text, when it is a string to that library.
    fn string_item(&self, written: &Value, library: Library) -> Result<Item, Kind> {
        match Kind::of(self.frontmatter.resolve(written), library) {
            Kind::Text => self.text_item(written),
            found => Err(found),
        }
    }

    /// Reads a list, or splits a text.
    fn words(&self, value: &Value, span: Span, separators: Separators) -> Outcome {
        if let Some(items) = value.items() {
            return list(items, "a text", |it| self.text_item(it));
        }
        let Some(text) = value.as_str() else {
            return Outcome::fault(span, "a list or a text", Kind::of(value, Library::Ours));
        };
        let places = align::Alignment::new(value, self.source);
        let item = |range: std::ops::Range<usize>| Item {
            text: text[range.clone()].to_owned(),
            span: places.span(range.start, range.end),
        };
        Outcome::of(Reading::List(split::split(text, separators).into_iter().map(item).collect()))
    }
}

/// Reads the items of a list. Nulls and empty texts are left out.
fn list(
    items: &[Value],
    expected: &'static str,
    read: impl Fn(&Value) -> Result<Item, Kind>,
) -> Outcome {
    let mut list = Vec::new();
    let mut faults = Vec::new();
    for item in items {
        match read(item) {
            Ok(item) if item.text.trim().is_empty() => {}
            Ok(item) => list.push(item),
            Err(Kind::Null) => {}
            Err(found) => faults.push(Fault { span: item.span, expected, found }),
        }
    }
    Outcome { value: Some(Reading::List(list)), faults }
}

fn map(
    value: &Value,
    span: Span,
    matters: impl Fn(&str) -> bool,
    expected: &'static str,
    read: impl Fn(&Value) -> Result<Item, Kind>,
) -> Outcome {
    let Some(entries) = value.entries() else {
        return Outcome::fault(span, "a map", Kind::of(value, Library::Ours));
    };
    let mut pairs = Vec::new();
    let mut faults = Vec::new();
    for entry in entries.iter().filter(|it| matters(&it.key.text)) {
        let key = Item { text: entry.key.text.clone(), span: entry.key.span };
        match read(&entry.value) {
            Ok(value) => pairs.push(Pair { key, value }),
            Err(found) => {
                let span = if entry.value.span.is_empty() { key.span } else { entry.value.span };
                faults.push(Fault { span, expected, found });
            }
        }
    }
    Outcome { value: Some(Reading::Map(pairs)), faults }
}

/// Reads a switch: `true`, `yes`, `on`, `1` and their opposites, in any case.
fn switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
