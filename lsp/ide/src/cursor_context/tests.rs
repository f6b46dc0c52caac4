//! Tests of [`context_at`]; `<CURSOR>` marks the cursor.

use expect_test::{Expect, expect};
use skills_agents::skill::parse;
use skills_syntax::parse::{Document, Value, ValueKind};

use super::{CursorContext, InsertStyle, context_at};

fn shown(text: &str, context: &CursorContext<'_>) -> String {
    match context {
        CursorContext::Empty => "an empty text".to_owned(),
        CursorContext::Other => "elsewhere".to_owned(),
        CursorContext::Variable { word } => format!("variable [{}]", word.slice(text)),
        CursorContext::Key { path, word, has_colon, in_flow } => {
            let colon = if *has_colon { " whole" } else { "" };
            let flow = if *in_flow { " in braces" } else { "" };
            format!("key under {} [{}]{colon}{flow}", path.join("."), word.slice(text))
        }
        CursorContext::Value { path, word, style, is_alone } => {
            let style = match style {
                InsertStyle::Start { in_flow: false } => "first",
                InsertStyle::Start { in_flow: true } => "first in brackets",
                InsertStyle::Continuation { in_flow: false } => "later",
                InsertStyle::Continuation { in_flow: true } => "later in brackets",
                InsertStyle::Quoted(_) => "in quotes",
                InsertStyle::Block => "in a block",
                InsertStyle::Outside => "beside",
            };
            let alone = if *is_alone { ", alone" } else { "" };
            format!("{} [{}] {style}{alone}", path.join("."), word.slice(text))
        }
    }
}

fn at(marked: &str) -> String {
    let offset = marked.find("<CURSOR>").expect("a cursor");
    let text = marked.replacen("<CURSOR>", "", 1);
    shown(&text, &context_at(&text, &parse(&text), offset))
}

/// Checks the context in each frontmatter, also with CRLF, with a byte order mark and multi-byte
/// characters, and without a closing line.
#[track_caller]
fn check(frontmatters: &[&str], expected: &Expect) {
    let mut all = String::new();
    for head in frontmatters {
        let found = at(&format!("---\n{head}\n---\nBody.\n"));
        assert_eq!(at(&format!("---\nx: 技能 🦀\n{head}\n---\n").replace('\n', "\r\n")), found);
        assert_eq!(at(&format!("\u{FEFF}---\n# é\n{head}\nz: 1\n---\n")), found, "{head}");
        all.push_str(&found);
        all.push('\n');
    }
    expected.assert_eq(&all);
}

/// Checks the context at the end of an unclosed frontmatter.
#[track_caller]
fn check_typed(frontmatters: &[&str], expected: &Expect) {
    let found = frontmatters.iter().map(|it| at(&format!("---\n{it}")) + "\n");
    expected.assert_eq(&found.collect::<String>());
}

#[test]
fn opening_line_has_no_context() {
    for text in ["---<CURSOR>", "--<CURSOR>-\n", "---<CURSOR>\nname: a\n---\n"] {
        assert_eq!(at(text), "elsewhere", "{text}");
    }
    assert_eq!(at("---\n<CURSOR>"), "key under  []");
}

#[test]
fn flow_list_continues_over_lines() {
    check(
        &[
            "allowed-tools: [Read,\n  <CURSOR>]",
            "allowed-tools: [Read,\n  Wr<CURSOR>]",
            "allowed-tools: [\n  Read,\n  <CURSOR>\n]",
            "allowed-tools: [\n  Read, # why\n  Wr<CURSOR>ite,\n]",
            "paths: [\n  \"<CURSOR>\"\n]",
            "paths: [\n  'src/<CURSOR>', b\n]",
            "paths:\n  [a,\n   b<CURSOR>]",
            "paths: [a,\n  # no<CURSOR>\n]",
            "paths: [a\n  ]<CURSOR>",
            "paths: [a,\n  b c<CURSOR>]",
        ],
        &expect![[r#"
            allowed-tools [] first in brackets, alone
            allowed-tools [Wr] first in brackets, alone
            allowed-tools [] first in brackets, alone
            allowed-tools [Write] first in brackets, alone
            paths [] in quotes, alone
            paths [src/] in quotes, alone
            paths [b] first in brackets, alone
            elsewhere
            paths [] beside
            paths [c] later in brackets
        "#]],
    );
}

#[test]
fn unclosed_flow_list_ends_at_the_next_key() {
    check(
        &[
            "allowed-tools: [Read,\n  Wr<CURSOR>",
            "allowed-tools: [Read,\n  <CURSOR>",
            "allowed-tools: [Read,\nname: de<CURSOR>",
            "allowed-tools: [Read,\nmod<CURSOR>",
            "metadata:\n  a: [b,\n  ver<CURSOR>",
            "metadata:\n  a: [b,\n    c<CURSOR>",
            "allowed-tools: [\n\"Re<CURSOR>",
        ],
        &expect![[r#"
            allowed-tools [Wr] first in brackets, alone
            allowed-tools [] first in brackets, alone
            name [de] first, alone
            key under  [mod]
            key under metadata [ver]
            metadata.a [c] first in brackets, alone
            allowed-tools [Re] in quotes, alone
        "#]],
    );
    check_typed(
        &[
            "allowed-tools: [Read,\n  <CURSOR>",
            "allowed-tools: [\n  <CURSOR>",
            "allowed-tools: [\n<CURSOR>",
        ],
        &expect![[r#"
            allowed-tools [] first in brackets, alone
            allowed-tools [] first in brackets, alone
            key under  []
        "#]],
    );
}

#[test]
fn plain_scalar_continues_on_indented_lines() {
    check(
        &[
            "allowed-tools: Read,\n  <CURSOR>",
            "allowed-tools: Read,\n  Wr<CURSOR>",
            "allowed-tools: Read,\n\n  Wr<CURSOR>",
            "allowed-tools:\n  Re<CURSOR>",
            "allowed-tools:\n  <CURSOR>",
            "allowed-tools: Read\n<CURSOR>",
            "allowed-tools: Read\nWr<CURSOR>",
            "allowed-tools: Read\n  <CURSOR>  Write",
            "allowed-tools: Read, # why\n  Wr<CURSOR>",
            "user-invocable:\n  <CURSOR>",
            "user-invocable: \"true\"\n  <CURSOR>",
            "name: a\n  description: b<CURSOR>",
        ],
        &expect![[r#"
            allowed-tools [] later
            allowed-tools [Wr] later
            allowed-tools [Wr] later
            allowed-tools [Re] first, alone
            allowed-tools [] first, alone
            key under  []
            key under  [Wr]
            elsewhere
            allowed-tools [Wr] later
            user-invocable [] first, alone
            elsewhere
            description [b] first, alone
        "#]],
    );
}

#[test]
fn quoted_scalar_continues_until_its_closing_quote() {
    check(
        &[
            "allowed-tools: \"Read,\n  Wr<CURSOR>\"",
            "allowed-tools: 'Read,\n  it''s, Wr<CURSOR>'",
            "allowed-tools: \"Read,\n  <CURSOR>\"",
            "allowed-tools: \"Read\" <CURSOR>",
            "allowed-tools: \"Read\"<CURSOR>",
            "allowed-tools: <CURSOR>\"Read\"",
            "description: \"a\n  name: b<CURSOR>\"",
            "user-invocable: \"tr<CURSOR>\"",
        ],
        &expect![[r#"
            allowed-tools [Wr] in quotes
            allowed-tools [Wr] in quotes
            allowed-tools [] in quotes
            allowed-tools [] beside
            allowed-tools [] beside
            allowed-tools [] beside
            description [b] in quotes
            user-invocable [tr] in quotes, alone
        "#]],
    );
    check_typed(
        &[
            "allowed-tools: \"Read,\n  Wr<CURSOR>",
            "allowed-tools: \"Read,\n  Wr\nmod<CURSOR>",
            "description: \"open\nmodel: o<CURSOR>",
            "hooks:\n  Stop:\n    - hooks:\n        - command: \"x\n          ty<CURSOR>",
        ],
        &expect![[r#"
            allowed-tools [Wr] in quotes
            key under  [mod]
            model [o] first, alone
            key under hooks.Stop.hooks [ty]
        "#]],
    );
}

#[test]
fn block_scalar_continues_while_indented() {
    check(
        &[
            "allowed-tools: >\n  Read, <CURSOR>",
            "allowed-tools: >-\n  Read,\n  Wr<CURSOR>ite",
            "allowed-tools: | # why\n  <CURSOR>",
            "paths: |\n  src/<CURSOR>",
            "paths:\n  - >\n    src/<CURSOR>",
            "paths:\n  - |-\n    src/<CURSOR>\n  - b",
            "paths:\n  - >\n    src/\n  - b<CURSOR>",
            "paths: ><CURSOR>",
            "paths: <CURSOR>|-",
            "description: |\n  name: <CURSOR>",
            "description: |\n  # not<CURSOR>e",
            "description: |\n    a\n  <CURSOR>",
            "description: |\n  a\n<CURSOR>",
            "description: |\n  a\n<CURSOR>\n  b",
            "description: |\n  a\n  <CURSOR>\n  b",
            "user-invocable: >\n  t<CURSOR>",
            "disable-model-invocation: |-\n  <CURSOR>",
        ],
        &expect![[r#"
            allowed-tools [] in a block
            allowed-tools [Write] in a block
            allowed-tools [] in a block, alone
            paths [src/] in a block, alone
            paths [src/] in a block, alone
            paths [src/] in a block, alone
            paths [b] first, alone
            paths [] beside
            paths [] beside
            description [] in a block
            description [note] in a block
            elsewhere
            key under  []
            elsewhere
            description [] in a block
            user-invocable [t] in a block, alone
            disable-model-invocation [] in a block, alone
        "#]],
    );
}

#[test]
fn flow_mappings_have_keys_and_values() {
    check(
        &[
            "metadata: {<CURSOR>}",
            "metadata: {author: me, ver<CURSOR>}",
            "metadata: {author: me,\n  ver<CURSOR>: 1}",
            "metadata: {author: m<CURSOR>}",
            "metadata: {author:<CURSOR>}",
            "metadata: {\"ver<CURSOR>\": 1}",
            "hooks: {Pre<CURSOR>}",
            "hooks: {PreToolUse: [{<CURSOR>}]}",
            "hooks: {PreToolUse: [{matcher: Ba<CURSOR>}]}",
            "hooks: {PreToolUse: [{hooks: [{type: co<CURSOR>",
            "hooks:\n  PreToolUse: [{matcher: Bash,\n    hooks: [\n      {type: <CURSOR>}",
            "hooks:\n  PreToolUse:\n    - {matcher: Bash, ho<CURSOR>}",
            "metadata: {a: [b, c<CURSOR>], d: e}",
            "metadata: {a: [b], d<CURSOR>: e}",
            "allowed-tools: [{Read: x<CURSOR>}]",
        ],
        &expect![[r#"
            key under metadata [] in braces
            key under metadata [ver] in braces
            key under metadata [ver] whole in braces
            metadata.author [m] first in brackets, alone
            metadata.author [] first in brackets, alone
            key under metadata [ver] whole in braces
            key under hooks [Pre] in braces
            key under hooks.PreToolUse [] in braces
            hooks.PreToolUse.matcher [Ba] first in brackets, alone
            hooks.PreToolUse.hooks.type [co] first in brackets, alone
            hooks.PreToolUse.hooks.type [] first in brackets, alone
            key under hooks.PreToolUse [ho] in braces
            metadata.a [c] first in brackets, alone
            key under metadata [d] whole in braces
            allowed-tools.Read [x] first in brackets, alone
        "#]],
    );
    let whole = |text: &str| at(&format!("---\n{text}\n---\n"));
    assert_eq!(whole("{name: a, mod<CURSOR>}"), "key under  [mod] in braces");
    let model = whole("{\n  name: a,\n  model: so<CURSOR>\n}");
    assert_eq!(model, "model [so] first in brackets, alone");
}

#[test]
fn indentation_determines_the_parent_keys() {
    check(
        &[
            "metadata:\n  <CURSOR>",
            "metadata:\n  a: b\n  <CURSOR>",
            "metadata:\n  a: b\n    <CURSOR>",
            "metadata:\n  a:\n    <CURSOR>",
            "metadata:\n  a: >\n    b\n  ver<CURSOR>",
            "metadata:\n  a: \"b\n    c<CURSOR>\"",
            "hooks:\n  PreToolUse:\n    - matcher: >-\n        Ba<CURSOR>",
            "hooks:\n  PreToolUse:\n    - hooks:\n        - type:\n            co<CURSOR>",
            "hooks:\n  PreToolUse:\n    - matcher: a\n    <CURSOR>",
            "hooks:\n  PreToolUse:\n    - matcher: a\n      <CURSOR>",
            "hooks:\n  PreToolUse:\n    -<CURSOR>",
            "hooks:\n  PreToolUse:\n    - hooks:\n        - command: >\n            a\n          <CURSOR>",
            "allowed-tools:\n  - Read\n  <CURSOR>",
            "allowed-tools:\n  - Read\n<CURSOR>",
            "allowed-tools:\n- Read\n- W<CURSOR>",
            "allowed-tools:\n  -<CURSOR>",
            "allowed-tools:\n  -\n    Wr<CURSOR>",
            "skills:\n  -\n    a<CURSOR>",
            "hooks:\n  Stop:\n    -\n      <CURSOR>",
            "paths: &a\n  - b<CURSOR>",
            "paths: !!seq [b<CURSOR>]",
            "paths: !not/<CURSOR>",
            "paths: src/*.{ts,t<CURSOR>}",
            "allowed-tools: Bash(git add, git <CURSOR>)",
        ],
        &expect![[r#"
            key under metadata []
            key under metadata []
            metadata.a [] later
            metadata.a [] first, alone
            key under metadata [ver]
            metadata.a [c] in quotes
            hooks.PreToolUse.matcher [Ba] in a block, alone
            hooks.PreToolUse.hooks.type [co] first, alone
            elsewhere
            key under hooks.PreToolUse []
            key under hooks.PreToolUse []
            key under hooks.PreToolUse.hooks []
            elsewhere
            key under  []
            allowed-tools [W] first, alone
            allowed-tools [] first, alone
            allowed-tools [Wr] first, alone
            skills [a] first, alone
            key under hooks.Stop []
            paths [b] later
            paths [b] first in brackets, alone
            paths [!not/] first, alone
            paths [src/*.{ts,t}] first, alone
            allowed-tools [Bash(git add, git )] first, alone
        "#]],
    );
}

/// Asserts that every offset of each scalar has the keys that the parser gives it.
fn assert_matches_parser<'t>(
    text: &'t str,
    document: &'t Document,
    value: &'t Value,
    path: &mut Vec<&'t str>,
) {
    match &value.kind {
        ValueKind::Mapping { entries, .. } => {
            for entry in entries {
                path.push(&entry.key.text);
                assert_matches_parser(text, document, &entry.value, path);
                path.pop();
            }
        }
        ValueKind::Sequence { items, .. } => {
            for item in items {
                assert_matches_parser(text, document, item, path);
            }
        }
        ValueKind::Scalar { .. } => {
            for offset in value.span.start..=value.span.end {
                if text.is_char_boundary(offset) {
                    match context_at(text, document, offset) {
                        CursorContext::Value { path: found, .. } => {
                            assert_eq!(&found, path, "{text:?} at {offset}");
                        }
                        // Blank lines and indentation belong to no value.
                        CursorContext::Other => {
                            let start = text[..offset].rfind('\n').map_or(0, |it| it + 1);
                            let line = text[start..].lines().next().unwrap_or_default();
                            let indented = line.len() - line.trim_start().len();
                            assert!(
                                offset - start < indented || line.is_empty(),
                                "{text:?} at {offset}: elsewhere"
                            );
                        }
                        other => panic!("{text:?} at {offset}: {other:?}"),
                    }
                }
            }
        }
        ValueKind::Null | ValueKind::Alias { .. } => {}
    }
}

#[test]
fn contexts_agree_with_the_parser() {
    let others = [
        "---\nallowed-tools: [Read,\n  'Bash(git add:*)',\n  \"Write\" ]\nname: a\n---\n",
        "---\nname: \"a\n  b: c\n\n  d\"\nmetadata: {a: b, 'c': [d, {e: f}],\n g: \"h, i\"}\n---\n",
        "---\npaths:\n- a\n-  >-\n   b\n   c: d\n\n   # e\n- - f\n  - g: h\n    i: |\n      j\nmodel: x\n---\n",
        "---\n{name: a,\nmetadata: {b: c},\n  paths: [d, e]}\n---\n",
        "---\ndescription: a b\n  c d,\n\n  e\nlicense: x#y\n---\n",
        "---\nallowed-tools: [Read,\nWrite\n]\nx: \"a\nb\"\n---\n",
        "---\n  name: a\n  metadata:\n    b: c\n---\n",
    ];
    for text in skills_lint::testing::SKILLS.iter().chain(&others) {
        let document = parse(text);
        let frontmatter = document.frontmatter.as_ref().unwrap();
        for entry in &frontmatter.entries {
            assert_matches_parser(text, &document, &entry.value, &mut vec![&entry.key.text]);
        }
    }
}
