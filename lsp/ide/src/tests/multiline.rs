//! Completion and hover in values of several lines, and absence of panics at every offset.

use skills_agents::field_table::{ALLOWED_TOOLS, PATHS};
use skills_agents::fields::Fields;
use skills_agents::skill::parse;
use skills_lint::FsContext;
use skills_lint::testing::SPANNING;
use skills_syntax::markdown::Body;
use skills_syntax::parse::Document;
use skills_syntax::text::Span;

use super::{complete, complete_paths, hover, name_at};
use crate::{FileKind, SuggestionKind, selection_ranges};

/// A worktree with three files.
struct Tree;

impl FsContext for Tree {
    fn first_matches(&self, glob: &str) -> Vec<String> {
        let all = ["src/a.rs", "src/deep/b.ts", "docs/x.md"];
        let dir = glob.trim_end_matches("**");
        all.iter().filter(|it| it.starts_with(dir)).map(|it| (*it).to_owned()).collect()
    }
}

const CURSOR: &str = "<CURSOR>";

/// Inserts the suggestion `label` at the cursor and returns the text; `None` if it is not offered.
fn complete_with(marked: &str, label: &str) -> Option<String> {
    let offset = marked.find(CURSOR).expect("a cursor");
    let text = marked.replacen(CURSOR, "", 1);
    let all = [
        complete(&text, offset, FileKind::Skill(Some("deploy"))),
        complete_paths(&text, &parse(&text), offset, &Tree),
    ];
    let found = all.iter().flatten();
    let mut items = found.flat_map(|it| it.items.iter().map(|item| (it.span, item)));
    let (span, item) = items.find(|(_, it)| it.label == label)?;
    assert!(span.start <= offset && offset <= span.end, "{marked}");
    Some(format!("{}{}{}", &text[..span.start], item.text, &text[span.end..]))
}

fn list(
    text: &str,
    document: &Document,
    field: &'static skills_agents::field_table::Field,
) -> Vec<String> {
    let Some(frontmatter) = &document.frontmatter else { return Vec::new() };
    Fields::new(frontmatter, text).list(field).into_iter().map(|it| it.text).collect()
}

/// Completes a frontmatter in several variants of a text. The result must be valid YAML, and its
/// list must equal `expected`.
#[track_caller]
fn check(head: &str, label: &str, expected: &[&str]) {
    for text in [
        format!("---\n{head}\n---\nBody.\n"),
        format!("---\r\nname: a\r\n{}\r\nlicense: x\r\n---\r\n", head.replace('\n', "\r\n")),
        format!("\u{FEFF}---\nwhen_to_use: 技能 🦀\n{head}\n---\n"),
    ] {
        let after = complete_with(&text, label).unwrap_or_else(|| panic!("no suggestion: {text}"));
        let document = parse(&after);
        let strict = &document.frontmatter.as_ref().expect("frontmatter").strict;
        assert!(strict.is_ok(), "{after}\n{strict:?}");
        let field = if head.starts_with("paths") { &PATHS } else { &ALLOWED_TOOLS };
        let items = list(&after, &document, field);
        let items: Vec<_> = items.iter().flat_map(|it| it.lines()).collect();
        assert_eq!(items, expected, "{after}");
    }
}

#[test]
fn tools_complete_in_every_line_of_a_multiline_value() {
    let check = |head: &str, expected: &[&str]| check(head, "Write", expected);
    check("allowed-tools: [Read,\n  <CURSOR>]", &["Read", "Write"]);
    check("allowed-tools: [Read,\n  Wr<CURSOR>]", &["Read", "Write"]);
    check("allowed-tools: [\n  Read, # why\n  Wr<CURSOR>,\n  Grep\n]", &["Read", "Write", "Grep"]);
    check("allowed-tools: [\n  \"Wr<CURSOR>\",\n  'Read'\n]", &["Write", "Read"]);
    check("allowed-tools:\n  [Read,\n   <CURSOR>]", &["Read", "Write"]);
    check("allowed-tools: Read,\n  Wr<CURSOR>", &["Read", "Write"]);
    check("allowed-tools: Read,\n  <CURSOR>", &["Read", "Write"]);
    check("allowed-tools: Read\n\n  W<CURSOR> Grep", &["Read", "Write", "Grep"]);
    check("allowed-tools:\n  <CURSOR>", &["Write"]);
    check("allowed-tools: \"Read,\n  Wr<CURSOR>\"", &["Read", "Write"]);
    check("allowed-tools: 'Read,\n  <CURSOR>'", &["Read", "Write"]);
    for header in [">", ">-", "|", "|+", "|2-", "> # why"] {
        check(&format!("allowed-tools: {header}\n  Read, <CURSOR>"), &["Read", "Write"]);
        check(&format!("allowed-tools: {header}\n  Read,\n  Wr<CURSOR>"), &["Read", "Write"]);
        check(&format!("allowed-tools: {header}\n  <CURSOR>"), &["Write"]);
    }
    check("allowed-tools:\n  - Read\n  -\n    W<CURSOR>", &["Read", "Write"]);
    check("allowed-tools:\n  - >-\n    W<CURSOR>\n  - Read", &["Write", "Read"]);
    check("allowed-tools:\n- Read\n- \"<CURSOR>\"", &["Read", "Write"]);
    check("allowed-tools: &a !!seq [Read,\n  <CURSOR>]", &["Read", "Write"]);
}

#[test]
fn globs_complete_in_every_line_of_a_multiline_value() {
    check("paths: |\n  <CURSOR>", "src/**", &["src/**"]);
    check("paths: |\n  src/<CURSOR>", "src/**/*.rs", &["src/**/*.rs"]);
    check("paths: |\n  docs/**,\n  s<CURSOR>", "**/*.rs", &["docs/**", "**/*.rs"]);
    check("paths: [\n  \"<CURSOR>\"\n]", "**/*.rs", &["**/*.rs"]);
    check("paths: [\n  <CURSOR>\n]", "**/*.rs", &["**/*.rs"]);
    check("paths: [docs/**,\n  *<CURSOR>]", "**/*.rs", &["docs/**", "**/*.rs"]);
    check("paths:\n  - >\n    src/<CURSOR>", "src/**/*.rs", &["src/**/*.rs"]);
    check("paths:\n  - docs/**\n  - <CURSOR>", "**/*.rs", &["docs/**", "**/*.rs"]);
    check("paths:\n  -\n    <CURSOR>", "**/*.rs", &["**/*.rs"]);
    check("paths: docs/**,\n  <CURSOR>", "**/*.rs", &["docs/**", "**/*.rs"]);
    check("paths:\n  src/<CURSOR>", "src/**/*.rs", &["src/**/*.rs"]);
}

/// Checks the line of the cursor after inserting the suggestion `label`.
#[track_caller]
fn check_line(text: &str, label: &str, expected: &str) {
    let line = text[..text.find(CURSOR).expect("a cursor")].matches('\n').count();
    let after = complete_with(text, label);
    let shown = after.as_deref().map_or("nothing", |it| it.lines().nth(line).unwrap_or_default());
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn unclosed_multiline_values_complete() {
    for end in ["", "\n", "\nmodel: opus\n---\nBody.\n", "\n---\n", "\nhooks:\n  Stop:\n---\n"] {
        let check = |head: &str, label: &str, expected: &str| {
            check_line(&format!("---\nname: a\n{head}{end}"), label, expected);
        };
        check("allowed-tools: [Read,\n  Wr<CURSOR>", "Write", "  Write");
        check("allowed-tools: [Read,\n  <CURSOR>", "Write", "  Write");
        check("allowed-tools: [\n  \"Wr<CURSOR>", "Write", "  \"Write");
        check("allowed-tools: [Read, Bash(<CURSOR>", "git *", "allowed-tools: [Read, Bash(git *)");
        check("allowed-tools: \"Read,\n  Wr<CURSOR>", "Write", "  Write");
        check("allowed-tools: >\n  <CURSOR>", "Write", "  Write");
        check("allowed-tools:\n  - [<CURSOR>", "Write", "  - [Write");
        check("paths: [src/**,\n  '<CURSOR>", "docs/**", "  'docs/**");
        check("hooks: {PreToolUse: [{ma<CURSOR>", "matcher", "hooks: {PreToolUse: [{matcher: ");
        check("hooks:\n  Stop: [{hooks: [\n    {type: <CURSOR>", "http", "    {type: http");
        check("metadata: {<CURSOR>", "author", "metadata: {author: ");
        check("metadata: {author: \"me\",\n  <CURSOR>", "version", "  version: ");
        check("disable-model-invocation:\n  <CURSOR>", "true", "  true");
        check("model: >-\n  <CURSOR>", "opus", "  opus");
    }
}

#[test]
fn nested_values_complete_by_their_key() {
    let head = |text: &str| format!("---\nname: a\n{text}\n---\n");
    let check = |text: &str, label: &str, expected: &str| check_line(&head(text), label, expected);
    let hooks = "hooks:\n  PreToolUse:\n    - matcher: ";
    check(&format!("{hooks}>-\n        <CURSOR>"), "Bash", "        Bash");
    check(&format!("{hooks}\n        <CURSOR>"), "Bash", "        Bash");
    check(
        &format!("{hooks}Bash\n      hooks:\n        - type: |\n            <CURSOR>"),
        "http",
        "            http",
    );
    check(
        &format!("{hooks}Bash\n      hooks: [{{ type: <CURSOR> }}]"),
        "http",
        "      hooks: [{ type: http }]",
    );
    check("hooks: {\n  Pre<CURSOR>\n}", "PreToolUse", "  PreToolUse: ");
    check("metadata: {\n  author: x, \"<CURSOR>\": 1}", "version", "  author: x, \"version\": 1}");
}

#[test]
fn keys_and_values_are_offered_only_at_their_positions() {
    for (text, label) in [
        ("allowed-tools: [Read,\n  <CURSOR>]", "model"),
        ("allowed-tools: >\n  Read,\n  <CURSOR>", "model"),
        ("allowed-tools: Read,\n  mod<CURSOR>", "model"),
        ("description: |\n  a\n<CURSOR>\n  b", "model"),
        ("description: \"a\n  mod<CURSOR>\"", "model"),
        ("allowed-tools:\n  - Read\n<CURSOR>", "Write"),
        ("allowed-tools:\n  - Read\n  <CURSOR>", "Write"),
        ("allowed-tools: [Read]\n  <CURSOR>", "Write"),
        ("allowed-tools: [Read] <CURSOR>", "Write"),
        ("allowed-tools: \"Read\" <CURSOR>", "Write"),
        ("allowed-tools: ><CURSOR>", "Write"),
        ("allowed-tools: <CURSOR>[Read]", "Write"),
        ("metadata: {<CURSOR>}", "model"),
        ("model: opus\n  <CURSOR>", "sonnet"),
        ("model: opus <CURSOR>", "sonnet"),
        ("name: a <CURSOR>", "deploy"),
        ("name: a\nallowed-tools: [Read, # W<CURSOR>\n]", "Write"),
        ("hooks:\n  PreToolUse:\n    - matcher: a\n    <CURSOR>", "matcher"),
    ] {
        check_line(&format!("---\n{text}\n---\n"), label, "nothing");
    }
    // After the end of a value, keys are offered.
    check_line("---\nallowed-tools: [Read,\n  Write]\n<CURSOR>\n---\n", "model", "model: ");
    check_line("---\nallowed-tools: >\n  Read\n<CURSOR>\n---\n", "model", "model: ");
    check_line("---\nallowed-tools: [Read,\nmod<CURSOR>\n---\n", "model", "model: ");
}

#[test]
fn items_already_in_the_list_are_not_offered() {
    for value in [
        "Read, Write <CURSOR>",
        "[Read, Write, <CURSOR>]",
        "[Read,\n  Write,\n  <CURSOR>\n]",
        "Read,\n  Write,\n  <CURSOR>",
        "\n  - Read\n  - Write\n  - <CURSOR>",
        ">\n  Read, Write,\n  <CURSOR>",
        "[\"Read\",\n  'Write', <CURSOR>",
    ] {
        let text = format!("---\nallowed-tools: {value}\n---\n");
        for label in ["Read", "Write"] {
            check_line(&text, label, "nothing");
        }
        assert!(complete_with(&text, "Grep").is_some(), "{text}");
    }
    // The item under the cursor does not count as present.
    assert!(
        complete_with("---\nallowed-tools: [Read,\n  Wri<CURSOR>te]\n---\n", "Write").is_some()
    );
    check_line("---\npaths: |\n  src/**, <CURSOR>\n---\n", "src/**", "nothing");
    check_line("---\nallowed-tools: Bash(git *) Bash(<CURSOR>)\n---\n", "git *", "nothing");
    check_line("---\nmetadata:\n  author: x\n  <CURSOR>\n---\n", "author", "nothing");
    check_line("---\nhooks: {Stop: [], <CURSOR>}\n---\n", "Stop", "nothing");
}

#[test]
fn hook_event_in_flow_mapping_is_inserted_in_flow_style() {
    let text = "---\nhooks: {}\n---\n";
    let found = complete(text, text.find('}').unwrap(), FileKind::Skill(None)).unwrap();
    let event = found.items.iter().find(|it| it.label == "PreToolUse").unwrap();
    assert_eq!(event.kind, SuggestionKind::Event);
    let written = event.snippet.as_ref().unwrap().replace("${1:Bash}", "Bash").replace("$0", "x");
    let text = text.replace("{}", &format!("{{{written}}}"));
    let document = parse(&text);
    assert_eq!(document.diagnostics, [], "{text}");
    assert!(written.starts_with("PreToolUse: [{matcher: \"Bash\", hooks: [{type: command"));
}

#[test]
fn multiline_values_complete_at_each_keystroke() {
    // Index of the text, the text before a word, and the word.
    let words = [
        (0, "[\n  ", "Read"),
        (0, "  \"", "Bash"),
        (0, ",\n  ", "Grep"),
        (0, "|\n  ", "src/**"),
        (0, "src/**,\n  ", "docs/**"),
        (1, ">\n  ", "Read"),
        (1, "Read, ", "Grep"),
        (1, "Grep,\n  ", "Edit"),
        (1, "disallowed-tools: ", "Write"),
        (1, "Write,\n  ", "WebFetch"),
        (1, "{", "author"),
        (1, "me,\n  ", "version"),
        (1, "user-invocable:\n  ", "true"),
        (2, "hooks: {", "PreToolUse"),
        (2, "  {", "matcher"),
        (2, "matcher: ", "Bash"),
        (2, "\n   ", "hooks"),
        (2, "[{", "type"),
        (2, "type: ", "command"),
        (2, ", ", "command"),
        (2, ">-\n    ", "src/**"),
        (2, "\n  - ", "docs/**"),
        (3, "allowed-tools: \"", "Read"),
        (3, ",\n  ", "Grep"),
        (3, ">\n    ", "Write"),
        (3, "- '", "WebFetch"),
        (3, "Tidy ", "$what"),
        (3, "in ", "$where"),
    ];
    for (nth, before, word) in words {
        let skill = SPANNING[nth];
        let found = skill.find(&format!("{before}{word}"));
        let start = found.unwrap_or_else(|| panic!("{before}{word} is there")) + before.len();
        // A variable is offered once its `$` is typed.
        for length in usize::from(word.starts_with('$'))..word.len() {
            let typed = &skill[..start + length];
            let offered = [
                complete(typed, typed.len(), FileKind::Skill(None)),
                complete_paths(typed, &parse(typed), typed.len(), &Tree),
            ];
            let is_offered = offered.iter().flatten().any(|it| {
                it.span.slice(typed) == &word[..length]
                    && it.items.iter().any(|it| it.label == word)
            });
            // A fully typed directory is not offered again.
            let is_whole = word.strip_suffix("**").is_some_and(|it| length >= it.len());
            assert!(is_offered || is_whole, "{word} behind {typed:?}");
        }
    }
}

#[test]
fn skill_names_are_found_in_every_list_syntax() {
    let check = |value: &str, expected: Option<&str>| {
        let text = format!("---\nskills: {value}\n---\n");
        let offset = text.find(CURSOR).expect("a cursor");
        let text = text.replacen(CURSOR, "", 1);
        let word = name_at(&text, &parse(&text), offset).map(|it| it.slice(&text).to_owned());
        assert_eq!(word.as_deref(), expected, "{text}");
    };
    check("[pdf,\n  re<CURSOR>]", Some("re"));
    check("[pdf,\n  re<CURSOR>", Some("re"));
    check("\n  - \"re<CURSOR>\"", Some("re"));
    check("\n  -\n    re<CURSOR>", Some("re"));
    check("[pdf] # re<CURSOR>", None);
    check("[pdf] re<CURSOR>", None);
}

/// Runs completion, hover and selection at each offset of a text.
fn run_at_each_offset(text: &str) {
    let document = parse(text);
    let body = Body::new(text, document.body);
    for offset in (0..=text.len()).filter(|it| text.is_char_boundary(*it)) {
        let is_in_end = text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
        let is_sound = |it: Span| {
            let is_around = it.start <= offset && offset <= it.end + usize::from(is_in_end);
            is_around && text.get(it.range()).is_some()
        };
        let all = [
            complete(text, offset, FileKind::Skill(Some("x"))),
            complete_paths(text, &document, offset, &Tree),
        ];
        for found in all.iter().flatten() {
            assert!(is_sound(found.span) && !found.items.is_empty(), "{text:?} at {offset}");
        }
        if let Some(found) = hover(text, offset) {
            assert!(text.get(found.span.range()).is_some(), "{text:?} at {offset}");
        }
        selection_ranges(text, &document, &body, offset);
        name_at(text, &document, offset);
    }
}

#[test]
fn malformed_frontmatters_never_panic() {
    for text in [
        "---\n- - - a: [\n - {b: \"\n  c: |\n\t d\r\n  >\n---\n",
        "---\n{a: [b, {c: 'd', e\n: f}, g]\n: h\n---\n",
        "---\r\rname: é\r  - ]}\r---\r$",
        "---\n? a\n: b\n\"c: d\n'e': f\n*g : h\n&i j: k\n!l m\n---\n",
        "---\na: |9\n b\n- c\n  - d:\n- ? e\n ,\n#\n # f\n---",
        "---\n\u{2028}a: \u{85}[\u{a0}b\u{FEFF}: c\n\u{0}: \u{0}\n---\n",
    ] {
        run_at_each_offset(text);
    }
}

mod random {
    use proptest::prelude::*;

    use super::run_at_each_offset;

    /// Fragments from which random frontmatters are built.
    const PARTS: [&str; 46] = [
        "name", "allowed-tools", "paths", "hooks", "metadata", "PreToolUse", "matcher", "type",
        "model", ":", ": ", ":", ",", ", ", "[", "]", "{", "}", "(", ")", "\"", "'", "|", ">",
        ">-", "&a ", "*a", "!!x ", "#", " # ", "- ", "-", "? ", "\n", "\n", "\n", "\n  ", "\n    ",
        "\r\n", "\r", "\t", "é", "🦀", "\\", "Read", "src/**",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn random_frontmatters_never_panic(
            parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..28),
            ending in prop::sample::select(&["", "\n", "\n---\n", "\n---\n$1 /x `a`"][..]),
        ) {
            run_at_each_offset(&format!("---\n{}{ending}", parts.concat()));
        }
    }
}

#[test]
fn ten_thousand_lines_are_processed_in_linear_time() {
    let line = |it: &str| it.repeat(10_000);
    for head in [
        format!("allowed-tools: [\n{}", line("  Read,\n")),
        format!("allowed-tools: [\n{}", line("Read,\n")),
        format!("allowed-tools: [\n{}]\n", line("\"Read\",\n")),
        format!("allowed-tools: >\n{}", line("  Read,\n")),
        format!("allowed-tools: \"\n{}", line("  Read,\n")),
        format!("allowed-tools: \"\n{}\"\n", line("Read,\n")),
        format!("allowed-tools: Read,\n{}", line("  Read,\n")),
        format!("allowed-tools:\n{}", line("  - Read\n")),
        format!("allowed-tools:\n{}", line("\n")),
        format!("hooks:\n{}", line("  Stop:\n    - {a: [b\n")),
        format!("paths: [{}", line("{a: [")),
        format!("paths: {}", line("- ")),
    ] {
        let text = format!("---\n{head}  <CURSOR>\n---\n");
        let offset = text.find(CURSOR).expect("a cursor");
        let text = text.replacen(CURSOR, "", 1);
        complete(&text, offset, FileKind::Skill(None));
        complete_paths(&text, &parse(&text), offset, &Tree);
        hover(&text, offset);
    }
}
