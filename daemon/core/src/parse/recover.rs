//! Reading a frontmatter that YAML refuses: key by key.
//!
//! The text is cut where a line starts at the level of the keys, and each piece is read alone. A
//! piece that YAML takes is exactly what YAML makes of it. A piece that YAML refuses is cut again
//! one level deeper, and at the end a value is read as the text that was meant. So one broken
//! value costs nothing but itself, and is reported once, at its own place.
//!
//! Every piece is read a bounded number of times per level and the levels are bounded, so the
//! time is linear in the text.

use crate::diagnostic::Diagnostic;
use crate::parse::cut::{self, rest_of};
use crate::parse::error::{YamlError, YamlErrorKind};
use crate::parse::events;
use crate::parse::line::{KeyHead, Line, lines, quoted_end, split_key};
use crate::parse::notes::Notes;
use crate::parse::problem;
use crate::parse::salvage::{self, Leaf};
use crate::parse::tree::{Entry, Key, ScalarStyle, Value, ValueKind};
use crate::text::Span;

/// How deep a piece that is refused is cut again; below, it is read as text.
const MAX_LEVELS: usize = 8;

/// Reads the keys of `content` one by one.
pub(super) fn recover(
    text: &str,
    content: Span,
    notes: &mut Notes,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Entry> {
    let lines: Vec<Line> = lines(&text[..content.end], content.start).collect();
    Recovery { text, notes, diagnostics, tab_reported: false }.mapping(&lines, 0)
}

struct Recovery<'t, 'n> {
    text: &'t str,
    notes: &'n mut Notes,
    diagnostics: &'n mut Vec<Diagnostic>,
    /// Whether the top-level piece that is being read has had its tab reported.
    tab_reported: bool,
}

impl Recovery<'_, '_> {
    /// Reads lines that hold keys.
    fn mapping(&mut self, lines: &[Line], level: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        let heads = cut::heads(self.text, lines);
        let end_of = |head: usize| heads.get(head).copied().unwrap_or(lines.len());
        self.note_comments(&lines[..end_of(0)]);
        let mut at = 0;
        while at < heads.len() {
            self.tab_reported &= level > 0;
            if !cut::starts_entry(self.text, lines[heads[at]]) {
                at = self.stray(lines, &heads, at, &mut entries);
                continue;
            }
            let alone = at + 1;
            match self.strict(&lines[heads[at]..end_of(alone)]) {
                Ok(mut read) => {
                    entries.append(&mut read);
                    at = alone;
                }
                Err(error) => {
                    let next = cut::joined(self.text, lines, &heads, at);
                    let piece = &lines[heads[at]..end_of(next)];
                    let again = if next == alone { Err(error) } else { self.strict(piece) };
                    match again {
                        Ok(mut read) => entries.append(&mut read),
                        Err(error) => self.refused(piece, &error, level, &mut entries),
                    }
                    at = next;
                }
            }
        }
        entries
    }

    /// Reads a piece strictly: it has to be nothing but entries of a block mapping.
    fn strict(&mut self, piece: &[Line]) -> Result<Vec<Entry>, YamlError> {
        match events::read(self.text, piece_span(piece), self.notes)? {
            Some(Value { kind: ValueKind::Mapping { flow: false, entries }, .. }) => Ok(entries),
            Some(_) | None => Err(YamlError::new(YamlErrorKind::MissingColon, piece[0].span())),
        }
    }

    /// Reads a piece that YAML refuses and that starts an entry.
    fn refused(
        &mut self,
        piece: &[Line],
        error: &YamlError,
        level: usize,
        entries: &mut Vec<Entry>,
    ) {
        let misplaced = cut::misplaced_keys(self.text, piece);
        if misplaced.is_empty() {
            entries.extend(self.entry(piece, error, level));
            return;
        }
        let mut start = 0;
        for end in misplaced.into_iter().chain([piece.len()]) {
            let part = &piece[start..end];
            if start > 0 {
                let key = split_key(self.text, part[0]).map_or(part[0].span(), |head| head.key);
                self.diagnostics.push(problem::misplaced_key(key, key.slice(self.text)));
            }
            match self.strict(part) {
                Ok(mut read) => entries.append(&mut read),
                Err(error) => entries.extend(self.entry(part, &error, level)),
            }
            start = end;
        }
    }

    /// Reads a piece that YAML refuses as one entry.
    fn entry(&mut self, piece: &[Line], error: &YamlError, level: usize) -> Option<Entry> {
        let Some(head) = split_key(self.text, piece[0]) else {
            self.report(error.kind, problem::refused(error));
            return None;
        };
        let value = self.value_of(piece, head, error, level);
        let key = self.key(head.key);
        let span = Span::new(head.key.start, value.span.end.max(head.key.end));
        Some(Entry { key, value, span, duplicate_of: None, recovered: true })
    }

    fn value_of(
        &mut self,
        piece: &[Line],
        head: KeyHead,
        error: &YamlError,
        level: usize,
    ) -> Value {
        let before = self.diagnostics.len();
        if error.kind == YamlErrorKind::TabIndentation {
            self.report(error.kind, problem::refused(error));
        }
        let rest = rest_of(self.text, piece[0], head.after);
        let value = if rest.is_insignificant(self.text) {
            self.note_comments(&[rest]);
            self.block(&piece[1..], head.after, error, level + 1)
        } else {
            let mut lines = vec![rest];
            lines.extend_from_slice(&piece[1..]);
            self.leaf(&lines, error)
        };
        if self.diagnostics.len() == before {
            self.report(error.kind, problem::refused(error));
        }
        value
    }

    /// Reads lines that hold a value: a list, a mapping or a text.
    fn block(&mut self, lines: &[Line], after: usize, error: &YamlError, level: usize) -> Value {
        let Some(first) = lines.iter().position(|line| !line.is_insignificant(self.text)) else {
            self.note_comments(lines);
            return Value::null(after);
        };
        let head = lines[first];
        if level < MAX_LEVELS && head.is_item(self.text) {
            let items = self.sequence(lines, level);
            let end = items.last().map_or(head.end, |item| item.span.end);
            let span = Span::new(head.start, end.max(head.start));
            return Value { span, kind: ValueKind::Sequence { flow: false, items } };
        }
        if level < MAX_LEVELS && split_key(self.text, head).is_some() {
            let entries = self.mapping(lines, level);
            let end = entries.last().map_or(head.end, |entry| entry.span.end);
            let span = Span::new(head.start, end.max(head.start));
            return Value { span, kind: ValueKind::Mapping { flow: false, entries } };
        }
        self.note_comments(&lines[..first]);
        self.leaf(&lines[first..], error)
    }

    /// Reads lines that hold items.
    fn sequence(&mut self, lines: &[Line], level: usize) -> Vec<Value> {
        let first = lines.iter().find(|line| !line.is_insignificant(self.text));
        let base = first.map_or(0, |line| line.indent);
        let starts = |line: &Line| line.indent <= base && line.is_item(self.text);
        let heads: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| starts(line)).map(|(at, _)| at).collect();
        self.note_comments(&lines[..heads.first().copied().unwrap_or(lines.len())]);
        let mut items = Vec::with_capacity(heads.len());
        for (at, &from) in heads.iter().enumerate() {
            let piece = &lines[from..heads.get(at + 1).copied().unwrap_or(lines.len())];
            items.push(match events::read(self.text, piece_span(piece), self.notes) {
                Ok(Some(value)) => single_item(value).unwrap_or_else(|value| value),
                Ok(None) => Value::null(piece[0].end),
                Err(own) => self.item(piece, &own, level),
            });
        }
        items
    }

    /// Reads an item that YAML refuses.
    fn item(&mut self, piece: &[Line], error: &YamlError, level: usize) -> Value {
        let before = self.diagnostics.len();
        let rest = rest_of(self.text, piece[0], piece[0].start + 1);
        let more = piece[1..].iter().any(|line| !line.is_insignificant(self.text));
        let value = if rest.is_insignificant(self.text) {
            self.block(&piece[1..], piece[0].start + 1, error, level + 1)
        } else {
            let mut lines = vec![self.without_remark(rest)];
            lines.extend_from_slice(&piece[1..]);
            if more && split_key(self.text, rest).is_some() {
                self.block(&lines, rest.start, error, level + 1)
            } else {
                self.leaf(&lines, error)
            }
        };
        if self.diagnostics.len() == before {
            self.report(error.kind, problem::refused(error));
        }
        value
    }

    /// Takes ` # …` off the line of an item: items are names and globs, not sentences.
    fn without_remark(&mut self, line: Line) -> Line {
        let Some(at) = line.content(self.text).find(" # ") else { return line };
        self.notes.comments.push(Span::new(line.start + at + 1, line.end));
        let kept = line.content(self.text)[..at].trim_end().len();
        Line { end: line.start + kept, ..line }
    }

    /// Reads lines as the one text that was meant.
    fn leaf(&mut self, lines: &[Line], error: &YamlError) -> Value {
        let Leaf { value, comments } = salvage::read(self.text, lines);
        self.notes.comments.extend(comments);
        let finding = salvage::diagnose(self.text, &value, error);
        self.report(error.kind, finding);
        value
    }

    /// Reports a finding, but only the first tab of a top-level piece: the others are the same.
    fn report(&mut self, kind: YamlErrorKind, finding: Diagnostic) {
        let is_tab = kind == YamlErrorKind::TabIndentation;
        if !(is_tab && self.tab_reported) {
            self.diagnostics.push(finding);
        }
        self.tab_reported |= is_tab;
    }

    /// Handles lines that start no entry from head number `at`; returns the next head's number.
    fn stray(
        &mut self,
        lines: &[Line],
        heads: &[usize],
        at: usize,
        entries: &mut Vec<Entry>,
    ) -> usize {
        let is_stray = |head: &usize| !cut::starts_entry(self.text, lines[*head]);
        let next = at + heads[at..].iter().take_while(|head| is_stray(head)).count();
        let run = &lines[heads[at]..heads.get(next).copied().unwrap_or(lines.len())];
        self.note_comments(run);
        let last = run.iter().rposition(|line| !line.is_insignificant(self.text)).unwrap_or(0);
        let run = &run[..=last];
        let first = run[0];
        let adjacent = heads[at] > 0 && !lines[heads[at] - 1].is_insignificant(self.text);
        let above = entries.last_mut().filter(|entry| {
            let text = entry.value.as_str();
            adjacent && text.is_some_and(|text| cut::is_continuation(self.text, text, first))
        });
        if let Some(above) = above {
            salvage::append(self.text, above, run);
            self.diagnostics.push(problem::unindented(first.span()));
        } else if let Some((key, value)) = cut::key_without_blank(self.text, first)
            && run.len() == 1
        {
            self.diagnostics.push(problem::missing_blank(first.span(), key.slice(self.text)));
            entries.push(self.loose_entry(first, key, value));
        } else if let Some(key) = cut::key_without_colon(self.text, first) {
            self.diagnostics.push(problem::missing_colon(key, key.slice(self.text)));
        } else {
            self.diagnostics.push(problem::stray(Span::new(first.start, run[last].end)));
        }
        next
    }

    /// Reads `key:value`.
    fn loose_entry(&self, line: Line, key: Span, value: Span) -> Entry {
        let text = salvage::unquote(value.slice(self.text)).replace('\0', "");
        Entry {
            key: self.key(key),
            value: Value::plain(value, text),
            span: line.span(),
            duplicate_of: None,
            recovered: true,
        }
    }

    fn key(&self, span: Span) -> Key {
        let written = span.slice(self.text);
        let is_closed = quoted_end(written.as_bytes(), 0) == Some(written.len());
        let style = match written.as_bytes().first() {
            Some(b'"') if is_closed => ScalarStyle::DoubleQuoted,
            Some(b'\'') if is_closed => ScalarStyle::SingleQuoted,
            _ => ScalarStyle::Plain,
        };
        let text = salvage::unquote(written);
        Key { span, text, style }
    }

    fn note_comments(&mut self, lines: &[Line]) {
        let text = self.text;
        self.notes
            .comments
            .extend(lines.iter().filter(|line| line.is_comment(text)).map(|line| line.span()));
    }
}

/// The piece from its first content to the end of its last line.
fn piece_span(piece: &[Line]) -> Span {
    let start = piece.first().map_or(0, |line| line.start);
    Span::new(start, piece.last().map_or(start, |line| line.next))
}

fn single_item(value: Value) -> Result<Value, Value> {
    match value.kind {
        ValueKind::Sequence { flow: false, mut items } if items.len() == 1 => {
            items.pop().ok_or(Value::null(value.span.end))
        }
        _ => Err(value),
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::render::check_yaml as check;
    use expect_test::expect;

    #[test]
    fn an_unquoted_colon_costs_nothing() {
        check(
            "name: a\ndescription: Do it. Usage: /a <x>\nlicense: MIT\n",
            expect![[r#"
            name = "a"
            description ~ "Do it. Usage: /a <x>"
            license = "MIT"
            not YAML 3:26 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 3:26 ":": `: ` inside a value without quotes
        "#]],
        );
    }

    #[test]
    fn an_unquoted_colon_in_a_later_line_is_joined() {
        check(
            "description: Use for all: a,\n  b. Invoke for: c;\n\n  d\ntags: [a]\n",
            expect![[r#"
            description ~ "Use for all: a, b. Invoke for: c;\nd" from "Use for all: a,\n  b. Invoke for: c;\n\n  d"
            tags = [a]
              - "a"
            not YAML 2:25 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 2:25 ":": `: ` inside a value without quotes
        "#]],
        );
        check(
            "description: Use for all,\n  b. Invoke for: c\nx: y\n",
            expect![[r#"
            description ~ "Use for all, b. Invoke for: c" from "Use for all,\n  b. Invoke for: c"
            x = "y"
            not YAML 3:16 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 3:16 ":": `: ` inside a value without quotes
        "#]],
        );
    }

    #[test]
    fn a_half_typed_key_hides_no_other() {
        check(
            "name: a\ndescr\nlicense: MIT\n",
            expect![[r#"
            name = "a"
            license = "MIT"
            not YAML 3:1 "descr": no `: ` on this line
            Error yaml/syntax 3:1 "descr": `descr` has no colon
        "#]],
        );
        check(
            "descr\nname: a\n",
            expect![[r#"
            name = "a"
            not YAML 3:5 ":": `: ` inside a value without quotes
            Error yaml/syntax 2:1 "descr": `descr` has no colon
        "#]],
        );
        check(
            "name: a\ndescr\n",
            expect![[r#"
            name = "a"
            not YAML 3:1 "descr": no `: ` on this line
            Error yaml/syntax 3:1 "descr": `descr` has no colon
        "#]],
        );
        check(
            "name: a b c\nallowed-tools Read, Write, Edit, Bash\nx: y\n",
            expect![[r#"
            name = "a b c"
            x = "y"
            not YAML 3:1 "allowed-tools Read, Write, Edit, Bash": no `: ` on this line
            Error yaml/syntax 3:1 "allowed-tools": `allowed-tools` has no colon
        "#]],
        );
        check(
            "name:a\nx: y\n",
            expect![[r#"
            name ~ "a"
            x = "y"
            not YAML 3:2 ":": `: ` inside a value without quotes
            Error yaml/syntax 2:1 "name:a": no blank after the colon of `name`
        "#]],
        );
    }

    #[test]
    fn an_open_quote_hides_no_other_key() {
        check(
            "name: \"a\ndescription: b\nversion: \"1\"\n",
            expect![[r#"
            name ~ "a" from "\"a"
            description = "b"
            version = double "1"
            not YAML 3:1 "d": the value goes on in a line that is not indented
            Error yaml/syntax 2:7 "\"a": the quote is never closed
        "#]],
        );
        check(
            "name: 'a\ndescription: it's b\n",
            expect![[r#"
            name ~ "a" from "'a"
            description = "it's b"
            not YAML 3:1 "d": the value goes on in a line that is not indented
            Error yaml/syntax 2:7 "'a": the quote is never closed
        "#]],
        );
        check(
            "name: a\ndescription: \"\nversion: 1\n",
            expect![[r#"
            name = "a"
            description ~ "" from "\""
            version = "1"
            not YAML 4:1 "v": the value goes on in a line that is not indented
            Error yaml/syntax 3:14 "\"": the quote is never closed
        "#]],
        );
    }

    #[test]
    fn an_open_bracket_hides_no_other_key() {
        check(
            "tags: [a, b\nname: c\nother: [d]\n",
            expect![[r#"
            tags ~ "[a, b"
            name = "c"
            other = [d]
              - "d"
            not YAML 2:7 "[": `[` is never closed
            Error yaml/syntax 2:7 "[a, b": `[` is never closed
        "#]],
        );
        check(
            "tags: {a: b\nname: c\n",
            expect![[r#"
            tags ~ "{a: b"
            name = "c"
            not YAML 2:7 "{": `{` is never closed
            Error yaml/syntax 2:7 "{a: b": `{` is never closed
        "#]],
        );
        check(
            "tags: [\n  a,\n  b\nname: c\n",
            expect![[r#"
            tags ~ "[ a, b" from "[\n  a,\n  b"
            name = "c"
            not YAML 2:7 "[": `[` is never closed
            Error yaml/syntax 2:7 "[": `[` is never closed
        "#]],
        );
        check(
            "tags: [\nname: c\n",
            expect![[r#"
            tags ~ "["
            name = "c"
            not YAML 2:7 "[": `[` is never closed
            Error yaml/syntax 2:7 "[": `[` is never closed
        "#]],
        );
    }

    #[test]
    fn a_tab_hides_no_other_key() {
        check(
            "metadata:\n\tauthor: me\n\ttags:\n\t\t- a\nname: c\n",
            expect![[r#"
            metadata ~ mapping
              author = "me"
              tags ~ list
                - "a"
            name = "c"
            not YAML 3:1 "\t": a tab indents this line
            Error yaml/tab-indentation 3:1 "\t": a tab indents this line
        "#]],
        );
        check(
            "name: a\n\tdescription: b\nx: y\n",
            expect![[r#"
            name = "a"
            description = "b"
            x = "y"
            not YAML 3:1 "\t": a tab indents this line
            Error yaml/syntax 3:2 "description": `description` is indented deeper than the keys above
        "#]],
        );
    }

    #[test]
    fn text_that_starts_with_an_indicator_is_text() {
        check(
            "a: @x y\nb: `c` d\nc: %x%\nd: **bold** text\ne: *\nf: &\ng: ,x\n",
            expect![[r#"
                a ~ "@x y"
                b ~ "`c` d"
                c ~ "%x%"
                d ~ "**bold** text"
                e ~ "*"
                f ~ "&"
                g ~ ",x"
                not YAML 2:4 "@": a value without quotes cannot start with `@`
                Error yaml/unquoted-start 2:4 "@": a value without quotes cannot start with `@`
                Error yaml/unquoted-start 3:4 "`": a value without quotes cannot start with a backtick
                Error yaml/unquoted-start 4:4 "%": a value without quotes cannot start with `%`
                Error yaml/unquoted-start 5:4 "*": `*` starts the name of an alias here, not text
                Error yaml/unquoted-start 6:4 "*": `*` starts the name of an alias here, not text
                Error yaml/unquoted-start 7:4 "&": `&` starts the name of an anchor here, not text
                Error yaml/unquoted-start 8:4 ",": a value without quotes cannot start with `,`
            "#]],
        );
        check(
            "a: [tag] text: more\nb: [x] [y]\nc: {x} y\nd: - x\ne: ]x\n",
            expect![[r#"
            a ~ "[tag] text: more"
            b ~ "[x] [y]"
            c ~ "{x} y"
            d ~ "- x"
            e ~ "]x"
            not YAML 2:10 "text: more": text after the closing bracket
            Error yaml/unquoted-start 2:4 "[": `[` starts a list or mapping here, with text behind its end
            Error yaml/unquoted-start 3:4 "[": `[` starts a list or mapping here, with text behind its end
            Error yaml/unquoted-start 4:4 "{": `{` starts a list or mapping here, with text behind its end
            Error yaml/unquoted-start 5:4 "-": `- ` on the line of the key
            Error yaml/syntax 6:4 "]": closing bracket without its opening one
        "#]],
        );
    }

    #[test]
    fn text_behind_a_block_header_is_the_text() {
        check(
            "a: | Use when.\nb: > Folded\n  on here.\n\n  And more.\nc: d\n",
            expect![[r#"
            a ~ "Use when." from "| Use when."
            b ~ "Folded on here.\nAnd more." from "> Folded\n  on here.\n\n  And more."
            c = "d"
            not YAML 2:4 "| Use when.": text on the line of the block's `|` or `>`
            Error yaml/syntax 2:4 "| Use when.": text on the line of the block's `|` or `>`
            Error yaml/syntax 3:4 "> Folded": text on the line of the block's `|` or `>`
        "#]],
        );
    }

    #[test]
    fn quotes_that_were_meant_as_text_are_kept() {
        check(
            "a: \"Research\" from 30 days.\nb: \"Say \"hello\" to users\"\nc: 'It's fine'\n",
            expect![[r#"
            a ~ "\"Research\" from 30 days."
            b ~ "Say \"hello\" to users"
            c ~ "It's fine"
            not YAML 2:15 "from 30 days.": text after the closing quote
            Error yaml/syntax 2:15 "from 30 days.": text after the closing quote
            Error yaml/syntax 3:10 "hello\" to users\"": text after the closing quote
            Error yaml/syntax 4:8 "s fine'": text after the closing quote
        "#]],
        );
        check(
            "a: \"x\" and \"y\"\nb: \"C:\\temp \\d+ \\\"q\\\"\"\n",
            expect![[r#"
                a ~ "\"x\" and \"y\""
                b ~ "C:\\temp \\d+ \"q\"" from "\"C:\\temp \\d+ \\\"q\\\"\""
                not YAML 2:8 "and \"y\"": text after the closing quote
                Error yaml/syntax 2:8 "and \"y\"": text after the closing quote
                Error yaml/syntax 3:13 "\\d": unknown escape after `\` in double quotes
            "#]],
        );
    }

    #[test]
    fn a_quoted_value_may_go_on_without_indentation() {
        check(
            "a: \"First\n\\u00e9 line\"\nb: c\n",
            expect![[r#"
            a ~ double "First é line" from "\"First\n\\u00e9 line\""
            b = "c"
            not YAML 3:1 "\\": the value goes on in a line that is not indented
            Warning yaml/unindented-continuation 3:1 "\\u00e9 line\"": the value goes on in a line that is not indented
        "#]],
        );
        check(
            "a: 'First\n\nUse when: it''s so'\nb: c\n",
            expect![[r#"
            a ~ single "First\nUse when: it's so" from "'First\n\nUse when: it''s so'"
            b = "c"
            not YAML 4:1 "U": the value goes on in a line that is not indented
            Warning yaml/unindented-continuation 4:1 "Use when: it''s so'": the value goes on in a line that is not indented
        "#]],
        );
    }

    #[test]
    fn an_open_quote_before_a_key_is_no_part_of_it() {
        check(
            "'license:MIT\nx: y\n",
            expect![[r#"
            license from "'license" ~ "MIT"
            x = "y"
            not YAML 2:1 "'": the quote is never closed
            Error yaml/syntax 2:1 "'license:MIT": no blank after the colon of `'license`
        "#]],
        );
    }

    #[test]
    fn a_key_without_a_blank_continues_no_sentence() {
        check(
            "name: 'a b'\nlicense:MIT or Apache 2.0\n# c\nx: y\n",
            expect![[r##"
                name = single "a b"
                license ~ "MIT or Apache 2.0"
                x = "y"
                comment 4:1 "# c"
                not YAML 3:1 "license:MIT or Apache 2.0": no `: ` on this line
                Error yaml/syntax 3:1 "license:MIT or Apache 2.0": no blank after the colon of `license`
            "##]],
        );
        check(
            "name: 'a b'\nand more words after it\nx: y\n",
            expect![[r#"
            name ~ "a b and more words after it" from "'a b'\nand more words after it"
            x = "y"
            not YAML 3:1 "and more words after it": no `: ` on this line
            Error yaml/unindented-continuation 3:1 "and more words after it": the value goes on in a line that is not indented
        "#]],
        );
    }

    #[test]
    fn a_sentence_may_go_on_without_indentation() {
        check(
            "description: First line\nsecond line at column 0\nand a third\nlicense: MIT\n",
            expect![[r#"
            description ~ "First line second line at column 0 and a third" from "First line\nsecond line at column 0\nand a third"
            license = "MIT"
            not YAML 3:1 "second line at column 0": no `: ` on this line
            Error yaml/unindented-continuation 3:1 "second line at column 0": the value goes on in a line that is not indented
        "#]],
        );
        check(
            "description: First line\n\nsecond line at column 0\nlicense: MIT\n",
            expect![[r#"
            description = "First line"
            license = "MIT"
            not YAML 4:1 "second line at column 0": no `: ` on this line
            Error yaml/syntax 4:1 "second line at column 0": neither a key nor part of a value
        "#]],
        );
    }

    #[test]
    fn brackets_may_reach_over_what_looks_like_keys() {
        check(
            "x: a: b\nmetadata: {tags: [legacy],\nname: legacy-tag}\nname: c\n",
            expect![[r#"
            x ~ "a: b"
            metadata = {tags: [legacy],
            name: legacy-tag}
              tags = [legacy]
                - "legacy"
              name = "legacy-tag"
            name = "c"
            not YAML 2:5 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 2:5 ":": `: ` inside a value without quotes
        "#]],
        );
    }

    #[test]
    fn a_broken_item_degrades_only_itself() {
        check(
            "paths:\n  - **/*.rs\n  - src/(x)/**\nowns:\n- @scope/pkg\n- other\n",
            expect![[r#"
            paths ~ list
              - "**/*.rs"
              - "src/(x)/**"
            owns ~ list
              - "@scope/pkg"
              - "other"
            not YAML 6:3 "@": a value without quotes cannot start with `@`
            Error yaml/unquoted-start 3:5 "*": `*` starts the name of an alias here, not text
            Error yaml/unquoted-start 6:3 "@": a value without quotes cannot start with `@`
        "#]],
        );
        check(
            "tools:\n  - Read\n  - \"a\" b\n  - x: y: z\n  # note\n  -\n",
            expect![[r##"
            tools ~ list
              - "Read"
              - "\"a\" b"
              - "x: y: z"
              - null ""
            comment 6:3 "# note"
            not YAML 4:9 "b": text after the closing quote
            Error yaml/syntax 4:9 "b": text after the closing quote
            Error yaml/unquoted-colon 5:9 ":": `: ` inside a value without quotes
        "##]],
        );
    }

    #[test]
    fn a_broken_nested_value_degrades_only_itself() {
        check(
            "metadata:\n  labels: a\n  keywords: [x, @defer]\n  more: b\nname: c\n",
            expect![[r#"
            metadata ~ mapping
              labels = "a"
              keywords ~ "[x, @defer]"
              more = "b"
            name = "c"
            not YAML 4:17 "@": a value without quotes cannot start with `@`
            Error yaml/unquoted-start 4:17 "@": a value without quotes cannot start with `@`
        "#]],
        );
        check(
            "hooks:\n  Pre:\n    - matcher: a: b\n      hooks:\n        - type: command\n          command: @x\n",
            expect![[r#"
            hooks ~ mapping
              Pre ~ list
                - mapping
                  matcher ~ "a: b"
                  hooks ~ list
                    - mapping
                      type = "command"
                      command ~ "@x"
            not YAML 4:17 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 4:17 ":": `: ` inside a value without quotes
            Error yaml/unquoted-start 7:20 "@": a value without quotes cannot start with `@`
        "#]],
        );
    }

    #[test]
    fn a_key_that_is_indented_by_mistake_is_a_key() {
        check(
            "name: a\n  description: b\n  tags: [c]\nx: y\n",
            expect![[r#"
            name = "a"
            description = "b"
            tags = [c]
              - "c"
            x = "y"
            not YAML 3:14 ":": `: ` inside a value without quotes
            Error yaml/syntax 3:3 "description": `description` is indented deeper than the keys above
            Error yaml/syntax 4:3 "tags": `tags` is indented deeper than the keys above
        "#]],
        );
        check(
            " name: a\n description: b: c\n",
            expect![[r#"
            name = "a"
            description ~ "b: c"
            not YAML 3:16 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 3:16 ":": `: ` inside a value without quotes
        "#]],
        );
        check(
            "name: a\n description: b: c\n",
            expect![[r#"
            name = "a"
            description ~ "b: c"
            not YAML 3:13 ":": `: ` inside a value without quotes
            Error yaml/syntax 3:2 "description": `description` is indented deeper than the keys above
            Error yaml/unquoted-colon 3:16 ":": `: ` inside a value without quotes
        "#]],
        );
    }

    #[test]
    fn a_block_that_yaml_refuses_is_read_by_its_lines() {
        check(
            "a: |\n  x\0\0y\n\n  z\nb: >-\n  one\n  two\u{1}\n\n  three\n",
            expect![[r#"
            a ~ literal "xy\n\nz\n" from "|\n  x\0\0y\n\n  z"
            b ~ folded "one two\u{1}\nthree" from ">-\n  one\n  two\u{1}\n\n  three"
            not YAML 3:4 "\0": control character U+0000
            Error yaml/control-character 3:4 "\0": control character U+0000
            Error yaml/control-character 8:6 "\u{1}": control character U+0001
        "#]],
        );
    }

    #[test]
    fn control_characters_are_reported_where_they_are() {
        check(
            "name: a\ndescription: b \u{80}\u{99} c\n",
            expect![[r#"
            name = "a"
            description ~ "b \u{80}\u{99} c"
            not YAML 3:16 "\u{80}": control character U+0080
            Error yaml/control-character 3:16 "\u{80}": control character U+0080
        "#]],
        );
    }

    #[test]
    fn a_body_that_was_swallowed_gives_few_findings() {
        check(
            "name: a\n\n# Title\n\nSome text.\nMore text here.\n\n* bullet\n",
            expect![[r##"
            name = "a"
            comment 4:1 "# Title"
            not YAML 6:1 "Some text.": no `: ` on this line
            Error yaml/syntax 6:1 "Some text.\nMore text here.\n\n* bullet": neither a key nor part of a value
        "##]],
        );
    }

    #[test]
    fn anchors_are_known_to_other_pieces() {
        check(
            "base: &b x\nbroken: a: b\nuse: *b\nnot: *c\n",
            expect![[r#"
            base = "x"
            broken ~ "a: b"
            use = *b -> Some("&b")
            not ~ "*c"
            anchor b = 2:10 "x"
            not YAML 3:10 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 3:10 ":": `: ` inside a value without quotes
            Error yaml/unquoted-start 5:6 "*": `*` starts the name of an alias here, not text
        "#]],
        );
    }

    #[test]
    fn comments_survive() {
        check(
            "# top\nname: a # one\n# two\nb: c: d\n  # three\n  e\nlist:\n  # four\n  - @x # five\n",
            expect![[r##"
            name = "a"
            b ~ "c: d e" from "c: d\n  # three\n  e"
            list ~ list
              - "@x"
            comment 2:1 "# top"
            comment 3:9 "# one"
            comment 4:1 "# two"
            comment 6:3 "# three"
            comment 9:3 "# four"
            comment 10:8 "# five"
            not YAML 5:5 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 5:5 ":": `: ` inside a value without quotes
            Error yaml/unquoted-start 10:5 "@": a value without quotes cannot start with `@`
        "##]],
        );
    }

    #[test]
    fn explicit_and_odd_keys() {
        check(
            "? a\n: b\nc: d: e\n\"quoted key\": 'x\n: nothing\n[a]: b\n",
            expect![[r#"
            a = "b"
            c ~ "d: e"
            quoted key from "\"quoted key\"" ~ "x : nothing" from "'x\n: nothing"
            [a] = "b"
            not YAML 4:5 ":": `: ` inside a value without quotes
            Error yaml/unquoted-colon 4:5 ":": `: ` inside a value without quotes
            Error yaml/syntax 5:15 "'x": the quote is never closed
        "#]],
        );
    }

    #[test]
    fn duplicate_keys_are_marked_in_recovery_too() {
        check(
            "name: a\nname: b: c\n",
            expect![[r#"
            name = "a"
            name (again, after 0) ~ "b: c"
            not YAML 3:8 ":": `: ` inside a value without quotes
            Error yaml/duplicate-key 3:1 "name": `name` is there a second time
            Error yaml/unquoted-colon 3:8 ":": `: ` inside a value without quotes
        "#]],
        );
    }

    #[test]
    fn offsets_inside_wide_characters_do_not_matter() {
        check(
            "é: \"あ\n🦀: [あ, 🦀\nx: あ: 🦀\nあ\n\u{3000}x: y\n",
            expect![[r#"
            é ~ "あ" from "\"あ"
            🦀 ~ "[あ, 🦀"
            x ~ "あ: 🦀"
            　x = "y"
            not YAML 3:1 "🦀": the value goes on in a line that is not indented
            Error yaml/syntax 2:4 "\"あ": the quote is never closed
            Error yaml/syntax 3:4 "[あ, 🦀": `[` is never closed
            Error yaml/unquoted-colon 4:5 ":": `: ` inside a value without quotes
            Error yaml/syntax 5:1 "あ": `あ` has no colon
        "#]],
        );
    }
}
