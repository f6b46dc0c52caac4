//! What fixes make of texts that a plain one would break, and what is told where there is none.

use super::world::World;
use crate::rules::apply;

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
