//! Tries a profile's load strategies in order until one yields the fields.

use skills_syntax::config_tree::{self, Node, Syntax, Value};
use skills_syntax::parse::ScalarStyle;
use skills_syntax::text::LineColumn;

use super::bun::scalar_text;
use super::dialect::{YamlRefusal, parse_strict_after};
use super::line_fields::{LineValue, any_lines, colon_lines};
use super::mapping::{Mapping, TypedValue};
use super::outcome::{FIX_YAML, LoadRule, RecordLoader, START, line_column, repair_description};
use super::{extract_lines, has_plain_opening, quote_values, rewrite_as_blocks};
use crate::fence::{Fence, Language};
use crate::field_table::{Field, NAME};
use crate::fields::Fields;
use crate::profile::{EncodingPolicy, LoadStrategy, OnInvalidYaml};
use crate::scalar::{YamlType, plain_scalar_type};
use crate::skill::{FrontmatterState, RecordField, split};
use crate::yaml_library::YamlLibrary;

/// The name, the description and, where a library parsed the block, the other fields.
pub(super) struct LoadedValues {
    pub(super) name: Option<TypedValue>,
    pub(super) description: Option<TypedValue>,
    /// The whole block, if a library parsed it.
    pub(super) mapping: Option<Mapping>,
    /// True if these values come from skillsd's own parser because the agent has none.
    pub(super) is_own_reading: bool,
}

impl RecordLoader<'_> {
    /// Returns the fields as the agent gets them, or `None` if there is no frontmatter.
    pub(super) fn values(&mut self) -> Option<LoadedValues> {
        self.read_portable().or_else(|| self.parse_values())
    }

    /// Returns the fields as the agent's library reads them, or `None` if there is no frontmatter.
    fn parse_values(&mut self) -> Option<LoadedValues> {
        if self.hides_frontmatter() {
            self.body = 0;
            return None;
        }
        if self.profile.fence != Fence::FirstLine {
            return match self.profile.fence.find(&self.record.head) {
                Ok(fenced) => {
                    self.body = fenced.body;
                    let (content, start) =
                        (fenced.content.slice(&self.record.head), fenced.content.start);
                    Some(match fenced.language {
                        Language::Yaml => self.load(content, start),
                        Language::Json => self.load_json(content, start),
                        Language::JavaScript => self.load_code(),
                    })
                }
                Err(_) if self.record.yaml == FrontmatterState::Absent => {
                    self.body = 0;
                    None
                }
                Err(unfenced) => {
                    self.body = 0;
                    let at = line_column(&self.record.head, unfenced.offset);
                    Some(self.load_without_fence(unfenced.message, at))
                }
            };
        }
        if self.record.yaml == FrontmatterState::Absent {
            self.body = 0;
            return None;
        }
        let (content, body) = split(&self.record.head);
        self.body = body.start;
        match &self.record.yaml {
            FrontmatterState::Absent => None,
            FrontmatterState::Undelimited { message, at } => {
                Some(self.load_without_fence(message, *at))
            }
            FrontmatterState::Strict | FrontmatterState::Broken { .. } => {
                let content = content?;
                Some(self.load(content.slice(&self.record.head), content.start))
            }
        }
    }

    /// Returns the text of a field as the agent reads it, or `None` if it has none.
    pub(super) fn read_text(&mut self, field: &Field) -> Option<String> {
        if !self.record.head.contains(field.key) {
            return None;
        }
        let is_name = field.key == NAME.key;
        let portable = if is_name { self.read_portable() } else { None };
        let values = portable.or_else(|| self.parse_values())?;
        let typed = match values.mapping {
            Some(mapping) => mapping.typed(field.key)?,
            None if is_name => values.name?,
            None => {
                self.strategy?;
                let document = self.record.document();
                return Fields::new(document.frontmatter.as_ref()?, &self.record.head).text(field);
            }
        };
        match typed.kind {
            YamlType::Null => None,
            YamlType::List | YamlType::Map if self.profile.library != YamlLibrary::Bun => None,
            _ => Some(typed.text),
        }
    }

    /// Takes the fields from the record if every library reads the file alike, so that no strategy
    /// has to run.
    fn read_portable(&self) -> Option<LoadedValues> {
        let asks = |key: &str| self.record.head.contains(key);
        let alike = self.record.portable
            && !self.hides_frontmatter()
            && self.profile.load_strategies.first() == Some(&LoadStrategy::Strict)
            && !self.profile.requires.iter().filter_map(|it| it.key()).any(asks);
        if !alike {
            return None;
        }
        let values = self.own_fields(false);
        let is_indented = || {
            let first = self.record.head.lines().nth(1);
            first.is_some_and(|it| it.starts_with([' ', '\t']))
        };
        if self.profile.fence == Fence::TrimmedText && is_indented() {
            return None;
        }
        let is_null =
            |it: &Option<TypedValue>| it.as_ref().is_some_and(|it| it.kind == YamlType::Null);
        if self.profile.library == YamlLibrary::NpmYamlAsJson
            && (is_null(&values.name) || is_null(&values.description))
        {
            return None;
        }
        let structured = [&values.name, &values.description]
            .into_iter()
            .flatten()
            .any(|it| matches!(it.kind, YamlType::List | YamlType::Map));
        (!structured && !self.wants_lines(&values, 0)).then_some(values)
    }

    /// Returns whether the agent takes the frontmatter for text because of a byte order mark.
    fn hides_frontmatter(&self) -> bool {
        self.record.bom && self.profile.bom == EncodingPolicy::AsBody
    }

    /// Returns the record's fields, typed by the agent's library.
    fn own_fields(&self, is_own_reading: bool) -> LoadedValues {
        let library = self.profile.library;
        let typed = |field: &Option<RecordField>| field.as_ref().map(|it| type_of(it, library));
        LoadedValues {
            name: typed(&self.record.name),
            description: typed(&self.record.description),
            mapping: None,
            is_own_reading,
        }
    }

    /// Returns whether a later strategy extracts by line a value that the library does not give as
    /// text.
    fn wants_lines(&self, values: &LoadedValues, strategy: usize) -> bool {
        let is_text =
            |it: &Option<TypedValue>| it.as_ref().is_some_and(|it| it.kind == YamlType::Text);
        let later = self.profile.load_strategies.get(strategy + 1..).unwrap_or_default();
        later.contains(&LoadStrategy::Lines)
            && !(is_text(&values.name) && is_text(&values.description))
    }

    /// Handles a file whose frontmatter the agent does not recognise. No measured agent reads
    /// fields from such a file.
    fn load_without_fence(&mut self, message: &str, at: LineColumn) -> LoadedValues {
        let next =
            "Add a line `---` at the start of the file and another one after the last field.";
        if self.needs_fields() {
            self.drop_skill(LoadRule::FrontmatterDelimited, message, Some(at), next);
            // Name the skill in messages by our own reading.
            return self.own_fields(true);
        }
        self.note(LoadRule::FrontmatterDelimited, message, at, next);
        self.strategy = None;
        LoadedValues { name: None, description: None, mapping: None, is_own_reading: false }
    }

    /// Reads JSON. `start` is the offset of `content` in the file.
    fn load_json(&mut self, content: &str, start: usize) -> LoadedValues {
        match config_tree::parse(content, Syntax::Json) {
            Ok(document) => LoadedValues {
                name: document.get("name").map(typed_json),
                description: document.get("description").map(typed_json),
                mapping: None,
                is_own_reading: false,
            },
            Err(error) => {
                let before = line_column(&self.record.head, start).line;
                let at = LineColumn { line: before + error.at.line - 1, ..error.at };
                let message = format!("the frontmatter is {}", error.message);
                let next = "Correct the JSON, or write the fields in YAML.";
                self.drop_skill(LoadRule::YamlValid, message, Some(at), next);
                self.own_fields(true)
            }
        }
    }

    /// Drops a skill whose frontmatter is a program.
    fn load_code(&mut self) -> LoadedValues {
        let message = format!(
            "the frontmatter is JavaScript, which {} runs when it lists skills; skillsd runs none, so the name is unknown",
            self.profile.subject()
        );
        let next = "Remove the skill if you do not trust its code; write the fields in YAML.";
        self.drop_skill(LoadRule::FrontmatterCode, message, Some(START), next);
        self.own_fields(true)
    }

    /// Tries the strategies. `start` is the offset of `content` in the file.
    fn load(&mut self, content: &str, start: usize) -> LoadedValues {
        let mut refused: Option<YamlRefusal> = None;
        // A successful reading that a later strategy may improve.
        let mut improvable = None;
        for (index, strategy) in self.profile.load_strategies.iter().enumerate() {
            let read = match self.apply(*strategy, content) {
                None => continue,
                Some(Err(refusal)) => {
                    refused.get_or_insert(refusal);
                    continue;
                }
                Some(Ok(values)) => values,
            };
            if self.wants_lines(&read, index) {
                improvable = Some(read);
                continue;
            }
            self.strategy = Some(*strategy);
            self.note_repair(*strategy, refused.as_ref(), start, improvable.as_ref());
            return read;
        }
        if let Some(values) = improvable {
            self.needs_text = true;
            return values;
        }
        let refusal =
            refused.unwrap_or(YamlRefusal { message: "nothing to read".into(), offset: 0 });
        let at = line_column(&self.record.head, start + refusal.offset);
        let message = format!("the frontmatter is not valid YAML: {}", refusal.message);
        match self.profile.unreadable_yaml {
            OnInvalidYaml::Drop => {
                self.drop_skill(LoadRule::YamlValid, message, Some(at), FIX_YAML);
                self.own_fields(true)
            }
            OnInvalidYaml::EmptyMetadata => {
                let message = format!("{message}; the body is loaded without it");
                self.note(LoadRule::YamlValid, message, at, FIX_YAML);
                self.strategy = None;
                LoadedValues { name: None, description: None, mapping: None, is_own_reading: false }
            }
        }
    }

    /// Adds a note about the repair that `strategy` made.
    fn note_repair(
        &mut self,
        strategy: LoadStrategy,
        refused: Option<&YamlRefusal>,
        start: usize,
        before: Option<&LoadedValues>,
    ) {
        if strategy == LoadStrategy::Strict {
            return;
        }
        let repair = repair_description(strategy);
        if let Some(refusal) = refused {
            let at = line_column(&self.record.head, start + refusal.offset);
            let why = &refusal.message;
            let message = format!("the frontmatter is not valid YAML: {why}; {repair}");
            self.note(LoadRule::YamlValid, message, at, FIX_YAML);
        } else if let Some(values) = before {
            let fields = [("name", &values.name), ("description", &values.description)];
            for (key, typed) in fields {
                if let Some(typed) = typed.as_ref().filter(|it| it.kind != YamlType::Text) {
                    let message = format!("`{key}` is {}, not text; {repair}", typed.kind.name());
                    let at = self.position(key);
                    self.note(LoadRule::YamlText, message, at, "Put the value in quotes.");
                }
            }
        }
    }

    /// Applies one strategy. Returns `None` if it does not apply to `content`.
    fn apply(
        &self,
        strategy: LoadStrategy,
        content: &str,
    ) -> Option<Result<LoadedValues, YamlRefusal>> {
        let library = self.profile.library;
        let whole = |content: &str| {
            parse_strict_after(self.last_block, content, library).map(LoadedValues::of)
        };
        match strategy {
            LoadStrategy::Strict => Some(whole(content)),
            LoadStrategy::Quote(quoting) => Some(whole(&quote_values(content, quoting)?)),
            LoadStrategy::Block => {
                let is_plain = !self.record.bom && has_plain_opening(&self.record.head);
                Some(whole(&rewrite_as_blocks(content).filter(|_| is_plain)?))
            }
            LoadStrategy::Lines => {
                let rescue = extract_lines(content);
                let text = |(text, _): (String, _)| Some(TypedValue { kind: YamlType::Text, text });
                let (name, description) = (text(rescue.name?), text(rescue.description?));
                Some(Ok(LoadedValues { name, description, mapping: None, is_own_reading: false }))
            }
            LoadStrategy::InvalidLines => {
                let rescue = extract_lines(content);
                let text = |(text, _): (String, _)| TypedValue { kind: YamlType::Text, text };
                let (name, description) = (rescue.name.map(text), rescue.description.map(text));
                Some(Ok(LoadedValues { name, description, mapping: None, is_own_reading: false }))
            }
            LoadStrategy::ColonLines => {
                let (name, description) = colon_lines(content);
                let typed = |text: &str| {
                    let kind = plain_scalar_type(text, library);
                    TypedValue { kind, text: scalar_text(kind, text) }
                };
                let quoted = |text: String| TypedValue { kind: YamlType::Text, text };
                let value = |it: LineValue| match it {
                    LineValue::Plain(text) => typed(&text),
                    LineValue::Quoted(text) => quoted(text),
                };
                let (name, description) = (name.map(value), description.map(value));
                Some(Ok(LoadedValues { name, description, mapping: None, is_own_reading: false }))
            }
            LoadStrategy::AnyLines => {
                let [name, description, metadata] =
                    any_lines(content, ["name", "description", "metadata"]);
                // The agent requires a map.
                if metadata.is_some_and(|it| typed_line(it).kind != YamlType::Map) {
                    let message = "`metadata` is not a map in JSON".to_owned();
                    return Some(Err(YamlRefusal { message, offset: 0 }));
                }
                let (name, description) = (name.map(typed_line), description.map(typed_line));
                Some(Ok(LoadedValues { name, description, mapping: None, is_own_reading: false }))
            }
            LoadStrategy::PerKey => Some(Ok(self.own_fields(false))),
        }
    }

    /// Returns the position of a key's value.
    fn position(&self, key: &str) -> LineColumn {
        let field = match key {
            "name" => &self.record.name,
            _ => &self.record.description,
        };
        field.as_ref().map_or(START, |it| it.at)
    }
}

impl LoadedValues {
    fn of(mapping: Mapping) -> Self {
        Self {
            name: mapping.typed("name"),
            description: mapping.typed("description"),
            mapping: Some(mapping),
            is_own_reading: false,
        }
    }
}

/// Types a value on a line of the `any-lines` strategy.
fn typed_line(text: &str) -> TypedValue {
    let kind = match text.chars().next() {
        Some('[') if config_tree::parse(text, Syntax::Json).is_ok() => YamlType::List,
        Some('{') if config_tree::parse(text, Syntax::Json).is_ok() => YamlType::Map,
        _ if matches!(text, "true" | "false") => YamlType::Boolean,
        _ => YamlType::Text,
    };
    TypedValue { kind, text: text.to_owned() }
}

fn typed_json(node: &Node) -> TypedValue {
    let (kind, text) = match &node.value {
        Value::Null => (YamlType::Null, String::new()),
        Value::Flag(flag) => (YamlType::Boolean, flag.to_string()),
        Value::Other(text) => (YamlType::Number, text.to_string()),
        Value::Text(text) => (YamlType::Text, text.to_string()),
        Value::List(_) => (YamlType::List, String::new()),
        Value::Map(_) => (YamlType::Map, String::new()),
    };
    TypedValue { kind, text }
}

/// Types a field of the record as `library` would.
fn type_of(field: &RecordField, library: YamlLibrary) -> TypedValue {
    let found = match field.style {
        _ if field.structured => YamlType::List,
        None => YamlType::Null,
        Some(ScalarStyle::Plain) => plain_scalar_type(&field.text, library),
        Some(_) => YamlType::Text,
    };
    let text = match library {
        YamlLibrary::Bun | YamlLibrary::NpmYamlAsText => scalar_text(found, &field.text),
        _ => field.text.to_string(),
    };
    TypedValue { kind: found, text }
}
