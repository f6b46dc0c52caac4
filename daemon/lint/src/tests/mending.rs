//! What fixes make of texts that a plain one would break, and what is told where there is none.

use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::apply;

use crate::settle;
use crate::testing::World;

/// Checks a text and renders each finding, with what its only fix makes of the text.
fn told(text: &str) -> Vec<String> {
    let found = World::new(text).check();
    found.iter().map(|it| format!("{} {}", it.rule.id, it.diagnostic.message)).collect()
}

#[track_caller]
fn finds(text: &str, id: &str, message: &str) {
    let told = told(text);
    assert!(
        told.iter().any(|it| it.starts_with(id) && it.contains(message)),
        "{id} {message}\n{told:#?}"
    );
}

#[track_caller]
fn mends(text: &str, id: &str, expected: &str) {
    let found = World::new(text).check();
    let finding = found.iter().find(|it| it.rule.id == id).expect("it is found");
    let fix = finding.only_fix().expect("it has one fix");
    let mended = apply(text, &fix.edits);
    assert_eq!(mended, expected);
    let left = World::new(&mended).check();
    assert!(left.iter().all(|it| it.rule.id != id), "{:#?}", told(&mended));
}

fn hooks(lines: &str) -> String {
    format!(
        "---\nname: pdf\ndescription: Reads. Use when asked.\nhooks:\n  PreToolUse:\n{lines}---\nRead.\n"
    )
}

#[test]
fn a_key_that_is_there_already_is_not_written_twice() {
    let text = hooks(
        "    - hooks:\n        - type: command\n          command: x\n          timeout: 5\n          timout: 5\n",
    );
    let found = World::new(&text).check();
    let finding = found.iter().find(|it| it.rule.id == "hooks/key").expect("it is found");
    assert!(finding.fixes.is_empty(), "{finding:?}");
    let help = finding.diagnostic.help.as_deref().unwrap_or_default();
    assert_eq!(help, "`timeout` is there as well; remove one of them.");
}

#[test]
fn a_group_of_hooks_without_hooks_is_told() {
    let handler = hooks("    - type: command\n      command: ./x.sh\n");
    finds(&handler, "hooks/missing-key", "the group has no `hooks`");
    assert!(!told(&handler).iter().any(|it| it.starts_with("hooks/key")), "{:?}", told(&handler));
    finds(&hooks("    - matcher: Bash\n"), "hooks/missing-key", "the group has no `hooks`");
    let misspelled =
        hooks("    - matchr: Bash\n      hook:\n        - type: command\n          command: x\n");
    finds(&misspelled, "hooks/key", "no `matchr`; did you mean `matcher`?");
    finds(&misspelled, "hooks/key", "no `hook`; did you mean `hooks`?");
    let mistyped = hooks("    - hooks:\n        - type: command\n          command: [a]\n");
    let told = told(&mistyped);
    let n_hooks = told.iter().filter(|it| it.starts_with("hooks/")).count();
    assert_eq!(n_hooks, 1, "{told:?}");
}

#[test]
fn nothing_between_the_lines_is_told_as_what_is_missing() {
    for text in ["---\n---\nDo it.\n", "---\n# To do\n\n---\nDo it.\n"] {
        finds(text, "description/missing", "`description` is missing");
        finds(text, "name/missing", "`name` is missing");
    }
    // What stands there and is no field has a finding of its own.
    let list = told("---\n- pdf\n---\nDo it.\n");
    assert!(list.iter().all(|it| !it.contains("is missing")), "{list:?}");
    finds("---\n- pdf\n---\nDo it.\n", "yaml/not-a-mapping", "drop this skill");
}

#[test]
fn the_frontmatter_is_closed_before_the_body() {
    let head = "---\nname: pdf\ndescription: Reads. Use when asked.\n";
    for body in ["# Title\n\nDo it.\n", "Do it all.\n", "\nDo it.\n"] {
        mends(&format!("{head}{body}"), "yaml/unclosed-frontmatter", &format!("{head}---\n{body}"));
    }
    // A comment above a key or an item is one.
    for inside in [
        "# Who may\nallowed-tools: Read\n",
        "allowed-tools:\n  # To look\n  - Read\n  - Grep\n",
        "compatibility: |\n  # Tools\n  Needs git.\n",
    ] {
        mends(
            &format!("{head}{inside}\nDo it.\n"),
            "yaml/unclosed-frontmatter",
            &format!("{head}{inside}---\n\nDo it.\n"),
        );
    }
}

#[test]
fn a_text_that_begins_like_an_anchor_is_quoted_whole() {
    mends(
        "---\nname: pdf\ndescription: &Reads a pdf. Use when asked\n---\nRead.\n",
        "yaml/unquoted-start",
        "---\nname: pdf\ndescription: \"&Reads a pdf. Use when asked\"\n---\nRead.\n",
    );
}

#[test]
fn a_path_behind_a_slash_is_no_slip_of_a_name() {
    let text = "//- /w/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Use when asked.\n---\nOur parts live in `/components`.\n//- /w/skills/Components/SKILL.md\n---\nname: Components\ndescription: Use when asked.\n---\nb\n";
    let told = told(text);
    assert!(!told.iter().any(|it| it.starts_with("ref/unknown")), "{told:?}");
}

#[test]
fn a_private_key_is_found_whatever_the_line_ends_are() {
    let key = "MIIEowIBAAKCAQEA1x7Zq0b9yRkTn3eWm5Lr8Vh2Jp4Gc6Fd\n".repeat(6);
    let text = format!(
        "---\nname: pdf\ndescription: Reads. Use when asked.\n---\n-----BEGIN RSA PRIVATE KEY-----\n{key}-----END RSA PRIVATE KEY-----\n"
    );
    finds(&text, "security/secret", "private key");
    finds(&text.replace('\n', "\r\n"), "security/secret", "private key");
}

#[test]
fn a_key_that_is_indented_is_told_where_it_stands() {
    let text = "---\n  name: pdf\ndescription: Use when asked.\n---\nRead.\n";
    let found = World::new(text).check();
    let finding = found.iter().find(|it| it.rule.id == "yaml/syntax").expect("it is found");
    assert_eq!(finding.diagnostic.span.slice(text), "name");
}

#[test]
fn a_carriage_return_alone_matters_where_an_agent_looks_for_lines() {
    let well = "---\nname: pdf\ndescription: Use when asked.\n---\nRead it.\nAll.\n";
    let drop = "opencode, Codex and Gemini CLI drop this skill: lines end with";
    mends(&well.replace('\n', "\r"), "yaml/lone-cr", well);
    finds(&well.replace('\n', "\r"), "yaml/lone-cr", drop);
    // Between the keys YAML reads it, and below them nobody looks for lines.
    let told_of = |text: &str| told(text).into_iter().find(|it| it.starts_with("yaml/lone-cr"));
    let alone = Some("yaml/lone-cr a line ends with a carriage return alone".to_owned());
    for text in [well.replacen("pdf\n", "pdf\r", 1), well.replacen("it.\n", "it.\r", 1)] {
        assert_eq!(told_of(&text), alone, "{text:?}");
        mends(&text, "yaml/lone-cr", well);
    }
    assert_eq!(told_of(&well.replace('\n', "\r\n")), None);
    // The line end is the one that the others are.
    let crlf = well.replace('\n', "\r\n");
    mends(&crlf.replacen("asked.\r\n", "asked.\r", 1), "yaml/lone-cr", &crlf);
}

/// Checks what `check --fix` makes of a frontmatter between the lines of dashes.
#[track_caller]
fn settles(lines: &str, expected: &str) {
    let file = |lines: &str| format!("---\n{lines}---\nRead.\n");
    let again = |text: &str| World::new("").with_text(text).check();
    let text = file(lines);
    let settled = settle(&text, again(&text), again);
    assert_eq!(settled.text, file(expected), "{:#?}", told(&text));
}

/// Checks that no fix is made, and that a person can choose this one.
#[track_caller]
fn offers(lines: &str, title: &str) {
    settles(lines, lines);
    let text = format!("---\n{lines}---\nRead.\n");
    let found = World::new(&text).check();
    let mut offered = found.iter().flat_map(|it| &it.offers);
    assert!(offered.any(|it| it.title() == title), "{title}: {found:#?}");
}

const HEAD: &str = "name: pdf\ndescription: Reads. Use when asked\n";

fn head(lines: &str) -> String {
    format!("{HEAD}{lines}")
}

#[test]
fn in_braces_a_fix_leaves_the_rest_as_it_is() {
    settles(
        "{name: pdf, description: Use when asked, license: MIT, license: MIT}\n",
        "{name: pdf, description: Use when asked, license: MIT}\n",
    );
    settles("{description: Use when asked}\n", "{name: pdf, description: Use when asked}\n");
    settles(
        "{name: pdf, description: Use when asked,\n license: MIT,\n license: MIT}\n",
        "{name: pdf, description: Use when asked,\n license: MIT}\n",
    );
    offers("{priority: 1, name: pdf, description: Use when asked}\n", "Remove it");
}

#[test]
fn what_could_be_meant_otherwise_is_for_a_person_to_choose() {
    offers(&head("mode: agent\n"), "Rename it to `model`");
    offers(&head("path: docs/x\n"), "Rename it to `paths`");
    offers(&head("allowed-tools: TodoRead\n"), "Rename it to `TodoWrite`");
    offers(&head("allowed-tools: Bash(\n"), "Remove the parenthesis");
    offers(&head("allowed-tools: Bash()\n"), "Remove the parentheses");
    offers(&head("keys: [a, b]\n"), "Remove it");
    settles(&head("hook:\n  x: z\n"), &head("hook:\n  x: z\n"));
    settles(&head("paths: C:\\\\x\\\\*.ts\n"), &head("paths: C:\\\\x\\\\*.ts\n"));
    settles(&head("paths: src\\\\x\\\\*.ts\n"), &head("paths: src/x/*.ts\n"));
    settles(&head("allowed-tools: LS Glob\n"), &head("allowed-tools: LS Glob\n"));
    settles(&head("allowed-tools: Raed Read\n"), &head("allowed-tools: Raed Read\n"));
    settles(&head("modle: opus\n"), &head("model: opus\n"));
}

#[test]
fn an_amount_is_escaped_where_the_escape_is_known_to_all() {
    let body = "Use $ARGUMENTS. It costs $5 a page.\n";
    let skill = |path: &str| {
        let text = format!("---\n{HEAD}argument-hint: file\n---\n{body}");
        World::new(&format!("//- {path}\n{text}")).check()
    };
    let check = |path: &str, n_fixes: usize, n_offers: usize| {
        let found = skill(path);
        let finding = found.iter().find(|it| it.rule.id == "body/currency").expect("it is found");
        assert_eq!((finding.fixes.len(), finding.offers.len()), (n_fixes, n_offers), "{path}");
    };
    check("/w/.claude/commands/pdf.md", 1, 0);
    check("/w/.claude/skills/pdf/SKILL.md", 0, 1);
    check("/w/.opencode/skills/pdf/SKILL.md", 0, 0);
}

#[test]
fn what_an_alias_stands_for_stays() {
    for lines in
        ["xyz: &a 1\nlicense: *a\n", "foo: &a x\nlicense: *a\n", "foo: &a [x]\nallowed-tools: *a\n"]
    {
        let lines = head(lines);
        settles(&lines, &lines);
        let found = World::new(&format!("---\n{lines}---\nRead.\n")).check();
        let unknown = found.iter().find(|it| it.rule.id == "field/unknown").expect("it is found");
        assert!(unknown.fixes.is_empty() && unknown.offers.is_empty(), "{unknown:?}");
    }
}

/// Moves the key that nobody reads under `metadata`: what the frontmatter becomes, if that is offered.
fn moved(frontmatter: &str) -> Option<String> {
    let text = format!("---\n{HEAD}{frontmatter}---\nRead.\n");
    let found = World::new(&text).check();
    let finding = found.iter().find(|it| it.rule.id == "field/unknown").expect("it is found");
    let mut fixes = finding.fixes.iter();
    let fix = fixes.find(|it| it.title == "Move it under `metadata`")?;
    let mended = apply(&text, &fix.edits);
    let again = World::new(&mended).check();
    assert!(again.iter().all(|it| it.rule.id != "field/unknown"), "{mended}");
    Some(mended[4 + HEAD.len()..].split_once("---").expect("it is closed").0.to_owned())
}

#[test]
fn a_key_that_nobody_reads_is_moved_into_metadata_however_that_is_written() {
    let check = |before: &str, after: &str| assert_eq!(moved(before).as_deref(), Some(after));
    check("metadata: {a: b}\nfoo: bar\n", "metadata: {a: b, foo: \"bar\"}\n");
    check("foo: bar\nmetadata: { a: b, }\n", "metadata: { a: b, foo: \"bar\", }\n");
    check("metadata: {}\nfoo: bar\n", "metadata: {foo: \"bar\"}\n");
    check("metadata: {\n  a: b\n}\nfoo: 1.0 # x\n", "metadata: {\n  a: b, foo: \"1.0\"\n}\n");
    check("metadata: {a: b}\nfoo: to be, or [so]\n", "metadata: {a: b, foo: \"to be, or [so]\"}\n");
    check("metadata: {a: b}\nfoo: 'it''s'\n", "metadata: {a: b, foo: 'it''s'}\n");
    check("metadata: {a: \"b\"} # c\nfoo: bar\n", "metadata: {a: \"b\", foo: \"bar\"} # c\n");
    check("metadata:\nfoo: bar\n", "metadata:\n  foo: \"bar\"\n");
    check("foo: bar\nmetadata: # c\nlicense: x\n", "metadata: # c\n  foo: \"bar\"\nlicense: x\n");
    // It is there already, or there is no map.
    assert_eq!(moved("metadata: {foo: b}\nfoo: bar\n"), None);
    assert_eq!(moved("metadata: [a]\nfoo: bar\n"), None);
    assert_eq!(moved("metadata: ~\nfoo: bar\n"), None);
    assert_eq!(moved("metadata: {a: b\nfoo: bar\n"), None);
}

#[test]
fn a_field_that_is_indented_by_mistake_begins_where_the_others_do() {
    let check = |before: &str, after: &str| {
        let text = |it: &str| format!("---\n{HEAD}{it}---\nRead.\n");
        mends(&text(before), "yaml/syntax", &text(after));
    };
    check("license: MIT\n\tmodel: opus\n", "license: MIT\nmodel: opus\n");
    check("license: MIT\n  model: opus\n", "license: MIT\nmodel: opus\n");
    check("license: MIT\n \tmodel: opus\n", "license: MIT\nmodel: opus\n");
    check("\n\tmodel: opus\n\teffort: high\n", "\nmodel: opus\neffort: high\n");
    check(
        "license: MIT\n  model: opus\neffort: high\n",
        "license: MIT\nmodel: opus\neffort: high\n",
    );
    check(
        "license: MIT\n  allowed-tools:\n    - Read\n    - Grep\n",
        "license: MIT\nallowed-tools:\n  - Read\n  - Grep\n",
    );
    check("license: MIT\n  model:\n", "license: MIT\nmodel:\n");
    // Directly below a sentence it may be more of it: a person chooses.
    let text = format!("---\n{HEAD}  model: opus\n---\nRead.\n");
    let found = World::new(&text).check();
    let finding = found.iter().find(|it| it.rule.id == "yaml/syntax").expect("it is found");
    assert_eq!((finding.fixes.len(), finding.offers.len()), (0, 1), "{finding:?}");
}

#[test]
fn keys_below_an_emptied_line_get_their_metadata_back() {
    let check = |before: &str, after: &str| {
        let text = |it: &str| format!("---\n{HEAD}{it}---\nRead.\n");
        mends(&text(before), "yaml/syntax", &text(after));
    };
    check("\n  version: 1.0.0\n  author: x\n", "metadata:\n  version: 1.0.0\n  author: x\n");
    check("license: x\n  author: x\n", "license: x\nmetadata:\n  author: x\n");
    let text = format!("---\n{HEAD}\n  author: x\n---\nRead.\n").replace('\n', "\r\n");
    mends(&text, "yaml/syntax", &text.replace("asked\r\n\r\n", "asked\r\nmetadata:\r\n"));
    // What stands among them may be meant for either place.
    let text = format!("---\n{HEAD}\n  version: 1.0.0\n  model: opus\n---\nRead.\n");
    let found = World::new(&text).check();
    assert!(found.iter().all(|it| it.rule.id != "yaml/syntax" || it.fixes.is_empty()));
}

#[test]
fn a_key_behind_a_tab_begins_in_the_first_column() {
    settles(&head("\tfoo: bar\n"), &head("foo: bar\n"));
    settles(&head("metadata:\n\ta: b\n"), &head("metadata:\n  a: b\n"));
}

#[test]
fn swapped_letters_are_a_slip_in_a_short_word_too() {
    settles("nmae: pdf\ndescription: Use when asked\n", "name: pdf\ndescription: Use when asked\n");
    settles("naem: pdf\ndescription: Use when asked\n", "name: pdf\ndescription: Use when asked\n");
    assert!(
        !told("---\nnmae: pdf\ndescription: Use when asked\n---\nb\n")
            .iter()
            .any(|it| it.starts_with("name/"))
    );
}

#[test]
fn tools_that_are_written_as_one_are_separated() {
    settles(&head("allowed-tools: [Read Write]\n"), &head("allowed-tools: [Read, Write]\n"));
    settles(&head("allowed-tools: Read;Write\n"), &head("allowed-tools: Read Write\n"));
    settles(
        &head("allowed-tools:\n  - Read Write\n  - Grep\n"),
        &head("allowed-tools:\n  - Read\n  - Write\n  - Grep\n"),
    );
}

#[test]
fn an_emptied_line_above_keys_is_one_finding() {
    let text = format!("---\n{HEAD}\n  version: 1.0.0\n  author: x\n  category: z\n---\nRead.\n");
    let found = World::new(&text).check();
    let syntax: Vec<_> = found.iter().filter(|it| it.rule.family() == "yaml").collect();
    assert_eq!(syntax.len(), 1, "{syntax:#?}");
    assert_eq!(syntax[0].diagnostic.span.slice(&text), "version");
    // What stands among them is no field, and a key all the same.
    let text = text.replace("author", "colour");
    let found = World::new(&text).check();
    assert_eq!(found.iter().filter(|it| it.rule.family() == "yaml").count(), 1, "{found:#?}");
}

#[test]
fn a_heading_below_the_keys_begins_the_body() {
    let head = format!("---\n{HEAD}license: MIT\n");
    for body in [
        "# T\n```sh\nls\n```\n",
        "# T\nuse it\n",
        "# T\n\nNote: this is it.\n\nMore text.\n",
        "\n# T\nUse it.\n",
    ] {
        mends(&format!("{head}{body}"), "yaml/unclosed-frontmatter", &format!("{head}---\n{body}"));
    }
    // Fields go on behind a comment.
    let keys = "# Who may\n\nallowed-tools: Read\n";
    mends(
        &format!("{head}{keys}\nDo it.\n"),
        "yaml/unclosed-frontmatter",
        &format!("{head}{keys}---\n\nDo it.\n"),
    );
}

#[test]
fn dashes_in_a_block_of_text_end_it_for_those_who_look_so() {
    let text = "---\nname: pdf\ndescription: |\n  Use when\n\n  ---\n  more\n---\nBody\n";
    let found = World::new(text).check();
    let closing: Vec<_> = found.iter().filter(|it| it.rule.family() == "yaml").collect();
    assert_eq!(closing.len(), 1, "{closing:#?}");
    assert_eq!(closing[0].diagnostic.severity, Severity::Warning);
    assert!(closing[0].diagnostic.message.starts_with("Codex ends"), "{closing:#?}");
    assert!(closing[0].fixes.is_empty());
    assert_eq!(closing[0].diagnostic.span.slice(text), "---");
}

#[test]
fn dots_above_the_dashes_end_nothing_that_does_not_end() {
    let text = "---\nname: pdf\ndescription: Reads. Use when asked.\n...\n---\nBody\n";
    assert_eq!(told(text), [""; 0]);
    let broken = text.replace("Reads.", "Reads:");
    assert!(
        told(&broken).iter().all(|it| it.starts_with("yaml/unquoted-colon")),
        "{:?}",
        told(&broken)
    );
}

#[test]
fn a_block_of_code_in_an_item_ends_with_it() {
    let text = format!("---\n{HEAD}---\n- a\n\n  ```\n  x\n\nText [a](nope.md)\n");
    let told = told(&text);
    assert!(told.iter().any(|it| it.starts_with("body/broken-link")), "{told:?}");
    assert!(!told.iter().any(|it| it.starts_with("body/unclosed-fence")), "{told:?}");
}

#[test]
fn what_is_quoted_within_a_value_is_the_piece_that_needs_it() {
    for (lines, quoted) in [
        ("metadata:\n  author: @me\n", "metadata:\n  author: \"@me\"\n"),
        (
            "metadata:\n  keywords: [a, @if]\nlicense: MIT\n",
            "metadata:\n  keywords: [a, \"@if\"]\nlicense: MIT\n",
        ),
        ("metadata: {a: b, c: `d}\n", "metadata: {a: b, c: \"`d\"}\n"),
        ("metadata:\n  note: a: b\n", "metadata:\n  note: \"a: b\"\n"),
        ("metadata:\n  tags:\n    - @a\n    - b\n", "metadata:\n  tags:\n    - \"@a\"\n    - b\n"),
        ("paths:\n  - *\n", "paths:\n  - \"*\"\n"),
        (
            "hooks:\n  PreToolUse:\n    - matcher: *\n      hooks:\n        - type: command\n          command: echo a: b\n",
            "hooks:\n  PreToolUse:\n    - matcher: \"*\"\n      hooks:\n        - type: command\n          command: \"echo a: b\"\n",
        ),
    ] {
        settles(&head(lines), &head(quoted));
    }
}

#[test]
fn one_word_behind_an_anchor_or_a_tag_is_quoted_by_choice() {
    for lines in ["model: &a opus\n", "model: ! opus\n"] {
        offers(&head(lines), "Quote the value");
    }
}

#[test]
fn of_two_keys_that_are_meant_as_one_field_none_is_renamed_unasked() {
    for lines in [
        "allowed_tools: Read\nallowedTools: Grep\n",
        "user_invocable: true\nuser-invokable: true\n",
        "argument_hint: a\nargumentHint: b\n",
    ] {
        let (first, _) = lines.split_once(':').unwrap();
        let meant = first.replace('_', "-");
        offers(&head(lines), &format!("Rename it to `{meant}`"));
    }
}

#[test]
fn in_a_list_that_is_still_being_written_nothing_else_is_found() {
    for lines in [
        "allowed-tools: [Raed, Grpe, Bash(git\n",
        "paths: ['src/**\n",
        "allowed-tools: \"Read, Gr\n",
    ] {
        let text = format!("---\n{HEAD}{lines}---\nRead.\n");
        let told = told(&text);
        let others: Vec<_> = told.iter().filter(|it| !it.starts_with("yaml/syntax")).collect();
        assert_eq!((told.len(), others.len()), (1, 0), "{told:?}");
        settles(&head(lines), &head(lines));
    }
}

#[test]
fn a_comma_behind_the_last_tool_goes_with_the_others() {
    settles(&head("allowed-tools: Read, Grep,\n"), &head("allowed-tools: Read Grep\n"));
    settles(&head("allowed-tools: \"Read Grep, \"\n"), &head("allowed-tools: \"Read Grep\"\n"));
}
