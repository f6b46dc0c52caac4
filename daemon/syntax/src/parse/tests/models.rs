//! Generates frontmatter models for property tests, and writes them in every YAML style.

use std::fmt::Write;

use proptest::prelude::*;

/// A value, independent of its YAML style.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Model {
    Text(String),
    List(Vec<Model>),
    Map(Vec<(String, Model)>),
}

/// Words that every YAML parser reads as text.
fn word() -> impl Strategy<Value = String> {
    "(w[a-z0-9-]{0,6}[a-z]|é[a-zあ🦀]{1,4}x|W[a-z]{2,5})"
}

pub(super) fn sentence() -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 1..7).prop_map(|words| words.join(" "))
}

/// Text that needs quotes in some styles.
fn awkward() -> impl Strategy<Value = String> {
    "w[a-z:# \"'\\[\\]{},&*!|>%@`\\\\é🦀-]{0,20}x"
}

fn model() -> impl Strategy<Value = Model> {
    let leaf = prop_oneof![sentence().prop_map(Model::Text), awkward().prop_map(Model::Text)];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Model::List),
            prop::collection::vec((word(), inner), 1..4).prop_map(|mut entries| {
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                entries.dedup_by(|a, b| a.0 == b.0);
                Model::Map(entries)
            }),
        ]
    })
}

pub(super) fn frontmatter() -> impl Strategy<Value = Vec<(String, Model)>> {
    prop::collection::vec(model(), 1..6).prop_map(|values| {
        values.into_iter().enumerate().map(|(at, value)| (format!("key{at}"), value)).collect()
    })
}

/// Writes models, choosing styles by the digits of a seed.
pub(super) struct Writer {
    out: String,
    seed: u64,
}

impl Writer {
    pub(super) fn write(entries: &[(String, Model)], seed: u64) -> String {
        let mut writer = Self { out: String::from("---\n"), seed };
        writer.entries(entries, 0);
        writer.out.push_str("---\nbody\n");
        writer.out
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("writing to a string does not fail");
    }

    fn choose(&mut self, of: u64) -> u64 {
        let chosen = self.seed % of;
        self.seed =
            self.seed.wrapping_mul(6_364_136_223_846_793_005).rotate_left(17).wrapping_add(of);
        chosen
    }

    fn entries(&mut self, entries: &[(String, Model)], indent: usize) {
        for (key, value) in entries {
            if self.choose(8) == 0 {
                self.put(format_args!("{:indent$}# remark\n", ""));
            }
            self.put(format_args!("{:indent$}{key}:", ""));
            self.value(value, indent);
        }
    }

    /// Writes the value after a colon, including its line end.
    fn value(&mut self, value: &Model, indent: usize) {
        if self.choose(3) == 0 {
            self.out.push(' ');
            self.flow(value);
            self.out.push('\n');
            return;
        }
        match value {
            Model::Text(text) => self.text(text, indent),
            Model::List(items) => {
                self.out.push('\n');
                for item in items {
                    self.put(format_args!("{:1$}-", "", indent + 2));
                    self.value(item, indent + 2);
                }
            }
            Model::Map(entries) => {
                self.out.push('\n');
                self.entries(entries, indent + 2);
            }
        }
    }

    fn text(&mut self, text: &str, indent: usize) {
        let simple =
            text.chars().all(|it| it.is_alphanumeric() || it == ' ') && !text.contains("  ");
        match self.choose(6) {
            0 | 1 if simple => self.put(format_args!(" {text}\n")),
            2 if simple => {
                let folded = text.replace(' ', &format!("\n{:1$}", "", indent + 3));
                self.put(format_args!("\n{:1$}{folded}\n", "", indent + 3));
            }
            3 => self.put(format_args!(" |-\n{:1$}{text}\n", "", indent + 2)),
            4 if simple => {
                let folded = text.replace(' ', &format!("\n{:1$}", "", indent + 2));
                self.put(format_args!(" >-\n{:1$}{folded}\n", "", indent + 2));
            }
            _ => {
                self.out.push(' ');
                self.flow(&Model::Text(text.to_owned()));
                self.out.push('\n');
            }
        }
    }

    fn flow(&mut self, value: &Model) {
        match value {
            Model::Text(text) => {
                let quoted = match self.choose(2) {
                    0 => format!("'{}'", text.replace('\'', "''")),
                    _ => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
                };
                self.out.push_str(&quoted);
            }
            Model::List(items) => {
                self.out.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.out.push_str(if at > 0 { ", " } else { "" });
                    self.flow(item);
                }
                self.out.push(']');
            }
            Model::Map(entries) => {
                self.out.push('{');
                for (at, (key, item)) in entries.iter().enumerate() {
                    self.out.push_str(if at > 0 { ", " } else { "" });
                    self.put(format_args!("{key}: "));
                    self.flow(item);
                }
                self.out.push('}');
            }
        }
    }
}
