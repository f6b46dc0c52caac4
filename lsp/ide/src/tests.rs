//! Completion and hover tests; `|` marks the cursor.

mod arguments;
mod multiline;
mod pathological;

use std::fmt::Write as _;
use std::path::Path;

use expect_test::{Expect, expect};
use skills_agents::skill::parse;
use skills_agents::tool_names::ToolNames;
use skills_lint::testing::{SKILLS, SPANNING, record};
use skills_lint::{FsContext, Subject};
use skills_syntax::markdown::Body;
use skills_syntax::parse::Document;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use super::{Completion, FileKind, Hover, SuggestionKind, documentation};

/// Like [`crate::hover`], with the parsed text.
fn hover(text: &str, offset: usize) -> Option<Hover> {
    let document = parse(text);
    crate::hover(text, &document, &Body::new(text, document.body), offset)
}

/// Completes without names of tools beyond the field table.
fn complete(text: &str, offset: usize, written: FileKind<'_>) -> Option<Completion> {
    complete_with(text, offset, written, &ToolNames::default())
}

fn complete_with(
    text: &str,
    offset: usize,
    written: FileKind<'_>,
    names: &ToolNames,
) -> Option<Completion> {
    let document = parse(text);
    let body = Body::new(text, document.body);
    super::complete(text, &document, &body, offset, written, names)
}

/// Completes paths.
fn complete_paths(
    text: &str,
    document: &Document,
    offset: usize,
    fs: &dyn FsContext,
) -> Option<Completion> {
    super::complete_paths(text, document, &Body::new(text, document.body), offset, fs)
}

/// Returns the skill name at an offset.
fn name_at(text: &str, document: &Document, offset: usize) -> Option<Span> {
    let body = Body::new(text, document.body);
    super::mention::name_at(text, document, &body, offset).map(|it| it.span)
}

/// Calls `with` with a text as the skill `/w/.claude/skills/deploy`.
pub(super) fn with_subject<R>(text: &str, with: impl FnOnce(&Subject<'_>) -> R) -> R {
    with_subject_at("/w/.claude/skills/deploy/SKILL.md", text, with)
}

/// Calls `with` with a text at a path.
pub(super) fn with_subject_at<R>(
    path: &str,
    text: &str,
    with: impl FnOnce(&Subject<'_>) -> R,
) -> R {
    let (text, record) = record(text);
    let document = parse(&text);
    let path = AbsPath::new(Path::new(path)).unwrap();
    with(&Subject {
        text: &text,
        document: &document,
        record: &record,
        path: Some(&path),
        parts: None,
    })
}

/// Removes the cursor mark and returns its offset.
fn marked(text: &str) -> (String, usize) {
    let at = text.find('|').expect("a text with a mark");
    (text.replacen('|', "", 1), at)
}

/// Shows the first suggestions, each as the line of the cursor after inserting it.
#[track_caller]
fn check(marked_text: &str, expected: &Expect) {
    let (text, offset) = marked(marked_text);
    let Some(found) = complete(&text, offset, FileKind::Skill(Some("deploy"))) else {
        return expected.assert_eq("nothing\n");
    };
    let mut shown = String::new();
    for item in found.items.iter().take(4) {
        let mut after = text.clone();
        after.replace_range(found.span.start..found.span.end, &item.text);
        let line = after[..found.span.start].matches('\n').count();
        let line = after.lines().nth(line).unwrap_or_default();
        let _ = writeln!(shown, "{} -> {line}", item.label);
    }
    let _ = writeln!(shown, "{} in all", found.items.len());
    expected.assert_eq(&shown);
}

#[track_caller]
fn check_hover(marked_text: &str, expected: &Expect) {
    let (text, offset) = marked(marked_text);
    let shown = hover(&text, offset).map_or("nothing\n".to_owned(), |it| {
        format!("[{}] {}\n", it.span.slice(&text), it.text.lines().next().unwrap_or_default())
    });
    expected.assert_eq(&shown);
}

#[test]
fn empty_file_offers_a_skill_template() {
    check(
        "|",
        &expect![[r#"
        SKILL.md -> ---
        1 in all
    "#]],
    );
    check(
        "\n  |\n",
        &expect![[r#"
        SKILL.md -> ---
        1 in all
    "#]],
    );
}

#[test]
fn empty_command_offers_a_template_without_name() {
    let found = complete("", 0, FileKind::Command).unwrap();
    let [item] = &found.items[..] else { panic!("{found:?}") };
    assert_eq!(
        item.text,
        "---\ndescription: What it does.\nargument-hint: \"[file]\"\n---\n\nWhat to do with $ARGUMENTS, step by step.\n"
    );
    assert!(item.snippet.as_ref().is_some_and(|it| it.contains("\\$ARGUMENTS")), "{item:?}");
}

#[test]
fn missing_keys_are_offered_required_ones_first() {
    check(
        "---\n|\n---\n",
        &expect![[r#"
        name -> name: 
        description -> description: 
        when_to_use -> when_to_use: 
        license -> license: 
        20 in all
    "#]],
    );
    check(
        "---\nname: deploy\n|\n---\n",
        &expect![[r#"
        description -> description: 
        when_to_use -> when_to_use: 
        license -> license: 
        compatibility -> compatibility: 
        19 in all
    "#]],
    );
    check(
        "---\nname: deploy\ndescription: x\nal|\n---\n",
        &expect![[r#"
        when_to_use -> when_to_use: 
        license -> license: 
        compatibility -> compatibility: 
        metadata -> metadata: 
        18 in all
    "#]],
    );
}

#[test]
fn name_that_yaml_does_not_read_as_text_is_completed_in_quotes() {
    let texts = |marked_text: &str| {
        let (text, at) = marked(marked_text);
        let found = complete(&text, at, FileKind::Skill(Some("true"))).unwrap();
        let item =
            found.items.into_iter().find(|it| ["SKILL.md", "name", "true"].contains(&&*it.label));
        let item = item.unwrap();
        (item.text, item.snippet)
    };
    let (text, snippet) = texts("|");
    assert!(text.starts_with("---\nname: \"true\"\n"), "{text}");
    assert!(snippet.unwrap().starts_with("---\nname: ${1:\"true\"}\n"));
    assert_eq!(texts("---\nna|\n---\n").1.unwrap(), "name: ${1:\"true\"}");
    assert_eq!(texts("---\nname: t|\n---\n").0, "\"true\"");
    assert_eq!(texts("---\nname: \"t|\"\n---\n").0, "true");
    assert_eq!(texts("---\nuser-invocable: t|\n---\n").0, "true");
}

#[test]
fn completion_replaces_the_word_under_the_cursor() {
    check(
        "---\nal|lowed: Read\n---\n",
        &expect![[r#"
        name -> name: Read
        description -> description: Read
        when_to_use -> when_to_use: Read
        license -> license: Read
        20 in all
    "#]],
    );
    check(
        "---\n|descr\n---\n",
        &expect![[r#"
        name -> name: 
        description -> description: 
        when_to_use -> when_to_use: 
        license -> license: 
        20 in all
    "#]],
    );
}

#[test]
fn completion_works_in_broken_and_unclosed_frontmatter() {
    check(
        "---\nname: deploy\ndescription: \"open\nmod|",
        &expect![[r#"
        when_to_use -> when_to_use: 
        license -> license: 
        compatibility -> compatibility: 
        metadata -> metadata: 
        18 in all
    "#]],
    );
    check(
        "---\nname: a: b\n\tbad\nmodel: |\n---\n",
        &expect![[r#"
        sonnet -> model: sonnet
        opus -> model: opus
        haiku -> model: haiku
        fable -> model: fable
        5 in all
    "#]],
    );
    check(
        "---\r\nname: deploy\r\nmodel: o|\r\n---\r\n",
        &expect![[r#"
        sonnet -> model: sonnet
        opus -> model: opus
        haiku -> model: haiku
        fable -> model: fable
        5 in all
    "#]],
    );
    check(
        "\u{FEFF}---\nname: 技能 🦀\neffort: |\n---\n",
        &expect![[r#"
        low -> effort: low
        medium -> effort: medium
        high -> effort: high
        xhigh -> effort: xhigh
        5 in all
    "#]],
    );
}

#[test]
fn values_come_from_the_field_table() {
    check(
        "---\nuser-invocable: |\n---\n",
        &expect![[r#"
        true -> user-invocable: true
        false -> user-invocable: false
        2 in all
    "#]],
    );
    check(
        "---\ncontext: f|\n---\n",
        &expect![[r#"
        fork -> context: fork
        inline -> context: inline
        inherit -> context: inherit
        3 in all
    "#]],
    );
    check(
        "---\nname: |\n---\n",
        &expect![[r#"
        deploy -> name: deploy
        1 in all
    "#]],
    );
    check(
        "---\ndescription: Use |\n---\n",
        &expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn tools_are_offered_in_every_list_syntax() {
    check(
        "---\nallowed-tools: Read, Ba|\n---\n",
        &expect![[r#"
            Bash -> allowed-tools: Read, Bash
            BashOutput -> allowed-tools: Read, BashOutput
            KillShell -> allowed-tools: Read, KillShell
            PowerShell -> allowed-tools: Read, PowerShell
            41 in all
        "#]],
    );
    check(
        "---\nallowed-tools: [Read, |]\n---\n",
        &expect![[r#"
            Bash -> allowed-tools: [Read, Bash]
            BashOutput -> allowed-tools: [Read, BashOutput]
            KillShell -> allowed-tools: [Read, KillShell]
            PowerShell -> allowed-tools: [Read, PowerShell]
            41 in all
        "#]],
    );
    check(
        "---\nallowed-tools:\n  - Read\n  - |\n---\n",
        &expect![[r#"
            Bash ->   - Bash
            BashOutput ->   - BashOutput
            KillShell ->   - KillShell
            PowerShell ->   - PowerShell
            41 in all
        "#]],
    );
    check(
        "---\nallowed-tools:\n- \"Gr|\"\n---\n",
        &expect![[r#"
        Bash -> - "Bash"
        BashOutput -> - "BashOutput"
        KillShell -> - "KillShell"
        PowerShell -> - "PowerShell"
        42 in all
    "#]],
    );
    check(
        "---\nallowed-tools: Bash(git |)\n---\n",
        &expect![[r#"
            git * -> allowed-tools: Bash(git *)
            gh * -> allowed-tools: Bash(gh *)
            npm run * -> allowed-tools: Bash(npm run *)
            npx * -> allowed-tools: Bash(npx *)
            9 in all
        "#]],
    );
}

/// Checks the line of the cursor after inserting one suggestion; `nothing` if it is not offered.
#[track_caller]
fn check_with(marked_text: &str, label: &str, expected: &str) {
    let (text, offset) = marked(marked_text);
    let found = complete(&text, offset, FileKind::Skill(Some("deploy")));
    let shown = found.and_then(|found| {
        let item = found.items.iter().find(|it| it.label == label)?;
        let mut after = text.clone();
        after.replace_range(found.span.start..found.span.end, &item.text);
        let line = after[..found.span.start].matches('\n').count();
        Some(after.lines().nth(line).unwrap_or_default().to_owned())
    });
    assert_eq!(shown.as_deref().unwrap_or("nothing"), expected);
}

#[test]
fn unclosed_parentheses_do_not_replace_the_rest_of_the_line() {
    let check = |value: &str, expected: &str| {
        let text = format!("---\nname: deploy\nallowed-tools: {value}\n---\n");
        check_with(&text, "git *", &format!("allowed-tools: {expected}"));
    };
    check("[Read, Bash(|, Write]", "[Read, Bash(git *), Write]");
    check("[Read, Bash(|), Write]", "[Read, Bash(git *), Write]");
    check("[Bash(g|, Read]", "[Bash(git *), Read]");
    check("[Bash(|, Edit(x)]", "[Bash(git *), Edit(x)]");
    check("[\"Bash(|\"]", "[\"Bash(git *)\"]");
    let text = "---\nname: deploy\nallowed-tools: [Read, Agent(|]\n---\n";
    check_with(text, "Explore", "allowed-tools: [Read, Agent(Explore)]");
    check("\"Bash(|\"", "\"Bash(git *)\"");
    check("[Bash(|]", "[Bash(git *)]");
    check("Bash(| Read", "Bash(git *) Read");
    check("Bash(g|)", "Bash(git *)");
}

#[test]
fn a_space_is_inserted_after_colon_and_dash() {
    check_with("---\nmodel:|\n---\n", "sonnet", "model: sonnet");
    check_with("---\nuser-invocable:|\n---\n", "true", "user-invocable: true");
    check_with("---\nallowed-tools:\n  -|\n---\n", "Read", "  - Read");
    check_with("---\nhooks:\n  PreToolUse:\n    -|\n---\n", "matcher", "    - matcher: ");
}

#[test]
fn comments_offer_no_completion() {
    check_with("---\ncontext: fork # |\n---\n", "fork", "nothing");
    check_with("---\ncontext: \"fork\" # x |\n---\n", "fork", "nothing");
    check_with("---\nallowed-tools:\n  - Read # |\n---\n", "Read", "nothing");
}

#[test]
fn hooks_complete_events_keys_and_types() {
    check(
        "---\nhooks:\n  Pre|\n---\n",
        &expect![[r#"
        SessionStart ->   SessionStart:
        Setup ->   Setup:
        UserPromptSubmit ->   UserPromptSubmit:
        UserPromptExpansion ->   UserPromptExpansion:
        33 in all
    "#]],
    );
    check(
        "---\nhooks:\n  PreToolUse:\n    - |\n---\n",
        &expect![[r#"
        matcher ->     - matcher: 
        hooks ->     - hooks: 
        2 in all
    "#]],
    );
    check(
        "---\nhooks:\n  PreToolUse:\n    - matcher: B|\n---\n",
        &expect![[r#"
        Bash ->     - matcher: Bash
        Edit|Write ->     - matcher: Edit|Write
        mcp__.* ->     - matcher: mcp__.*
        3 in all
    "#]],
    );
    check(
        "---\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: |\n---\n",
        &expect![[r#"
        command ->         - type: command
        http ->         - type: http
        mcp_tool ->         - type: mcp_tool
        prompt ->         - type: prompt
        5 in all
    "#]],
    );
    check(
        "---\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          |\n---\n",
        &expect![[r#"
            command ->           command: 
            url ->           url: 
            server ->           server: 
            tool ->           tool: 
            17 in all
        "#]],
    );
}

#[test]
fn keys_that_are_written_are_not_offered() {
    let labels = |marked_text: &str| {
        let (text, offset) = marked(marked_text);
        let found = complete(&text, offset, FileKind::Skill(None));
        let items = found.map(|it| it.items).unwrap_or_default();
        items.into_iter().map(|it| it.label).collect::<Vec<_>>()
    };
    let hooks = |below: &str| labels(&format!("---\nhooks:\n  PreToolUse:\n{below}\n---\n"));
    assert_eq!(hooks("    - matcher: Bash\n      |"), ["hooks"]);
    assert_eq!(hooks("    - matcher: Bash\n      hooks:\n        - type: x\n      |"), [""; 0]);
    assert_eq!(hooks("    - |\n      hooks:\n        - type: x"), ["matcher"]);
    // A new item, and another item's keys.
    assert_eq!(hooks("    - matcher: Bash\n      hooks: []\n    - |"), ["matcher", "hooks"]);
    assert_eq!(hooks("    - |\n    - matcher: Bash"), ["matcher", "hooks"]);
    assert_eq!(hooks("    - {matcher: Bash, |}"), ["hooks"]);
    let inner = |below: &str| {
        let lead = "    - matcher: Bash\n      hooks:\n        - type: command\n";
        let labels = hooks(&format!("{lead}{below}"));
        ["type", "command", "timeout"].map(|key| labels.iter().any(|it| it == key))
    };
    assert_eq!(inner("          |"), [false, true, true]);
    assert_eq!(inner("          |\n          command: x\n"), [false, false, true]);
    assert_eq!(inner("          command: >\n            timeout: 3\n        - |"), [true; 3]);
    let metadata = |below: &str| labels(&format!("---\nmetadata:\n{below}\n---\n"));
    let all = metadata("  |");
    assert!(!all.is_empty());
    let rest = metadata(&format!("  {}: x\n  |", all[0]));
    assert_eq!(rest, all[1..]);
    assert_eq!(metadata(&format!("  |\n  {}: x", all[0])), all[1..]);
    let top = labels("---\nname: a\n|\nlicense: MIT\n---\n");
    assert!(!top.iter().any(|it| it == "name" || it == "license"), "{top:?}");
}

/// Names of tools and agents for completion.
fn tool_names() -> ToolNames {
    let mut names = ToolNames::default();
    names.add_servers(r#"{"mcpServers": {"notes": {}}}"#);
    names.add_settings(r#"{"permissions": {"allow": ["mcp__notes__add"]}}"#);
    names.add_agent("---\nname: reviewer\ndescription: Reads code.\n---\n");
    names.add_agent("---\nname: Explore\ndescription: My own.\n---\n");
    names
}

#[test]
fn configured_tools_and_agents_complete_outside_fences() {
    let names = tool_names();
    let labels = |marked_text: &str| {
        let (text, offset) = marked(marked_text);
        let document = parse(&text);
        let body = Body::new(&text, document.body);
        let can = super::can_name_tool(&text, &document, &body, offset);
        let found = complete_with(&text, offset, FileKind::Skill(None), &names);
        let items = found.map(|it| it.items).unwrap_or_default();
        let is_ours = |it: &str| it.starts_with("mcp__n") || it == "reviewer" || it == "Explore";
        let ours: Vec<_> = items.into_iter().map(|it| it.label).filter(|it| is_ours(it)).collect();
        assert!(can || ours.is_empty(), "{marked_text:?}");
        ours
    };
    let tools = ["mcp__notes", "mcp__notes__add"];
    for text in [
        "---\nallowed-tools: Read, mcp|\n---\n",
        "---\nallowed-tools:\n  - mcp__notes__|\n---\n",
        "---\nhooks:\n  PreToolUse:\n    - matcher: mcp|\n---\n",
        "---\nname: a\n---\nCall mcp__|.\n",
        "---\nname: a\n---\nCall `mcp__no|`.\n",
    ] {
        assert_eq!(labels(text), tools, "{text:?}");
    }
    assert_eq!(labels("---\nallowed-tools: [mcp__notes__add, mcp|]\n---\n"), ["mcp__notes"]);
    let agents = ["Explore", "reviewer"];
    assert_eq!(labels("---\nallowed-tools: Agent(|)\n---\n"), agents);
    assert_eq!(labels("---\nallowed-tools: Agent(reviewer), Agent(|)\n---\n"), ["Explore"]);
    assert_eq!(labels("---\ncontext: fork\nagent: |\n---\n"), agents);
    assert_eq!(labels("---\nname: a\n---\nStart `Agent(re|)`.\n"), agents);
    for text in [
        "---\nname: a\n---\n```sh\nmcp__|\n```\n",
        "---\nname: a\n---\nCall mc|p.\n",
        "---\ndescription: mcp__|\n---\n",
        "---\nhooks:\n  Stop:\n    - matcher: mcp|\n---\n",
    ] {
        assert_eq!(labels(text), [""; 0], "{text:?}");
    }
    let (text, offset) = marked("---\nname: a\n---\n```sh\necho $|\n```\n");
    let found = complete_with(&text, offset, FileKind::Skill(None), &names).expect("items");
    assert!(found.items.iter().all(|it| it.kind == SuggestionKind::Variable));
}

#[test]
fn variables_complete_in_the_body() {
    check(
        "---\nname: a\narguments: issue\n---\nRun $|",
        &expect![[r#"
            $ARGUMENTS -> Run $ARGUMENTS
            $issue -> Run $issue
            $0 -> Run $0
            $1 -> Run $1
            10 in all
        "#]],
    );
    check(
        "---\nname: a\n---\nsee ${CLAUDE_SK|}/x\n",
        &expect![[r#"
        $ARGUMENTS -> see $ARGUMENTS/x
        ${CLAUDE_SKILL_DIR} -> see ${CLAUDE_SKILL_DIR}/x
        ${CLAUDE_PROJECT_DIR} -> see ${CLAUDE_PROJECT_DIR}/x
        ${CLAUDE_SESSION_ID} -> see ${CLAUDE_SESSION_ID}/x
        7 in all
    "#]],
    );
}

#[test]
fn prose_and_delimiters_offer_no_completion() {
    check(
        "---\nname: a\n---\nplain te|xt\n",
        &expect![[r#"
        nothing
    "#]],
    );
    check(
        "-|--\nname: a\n---\n",
        &expect![[r#"
        nothing
    "#]],
    );
    check(
        "---\n# al|\n---\n",
        &expect![[r#"
        nothing
    "#]],
    );
    check(
        "---\ndescription: >\n  some te|xt\n---\n",
        &expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn hover_documents_keys_values_tools_and_variables() {
    check_hover(
        "---\nal|lowed-tools: Read\n---\n",
        &expect![[r#"
        [allowed-tools] **`allowed-tools`**: Tools that the skill may use without asking. It grants and does not restrict: other tools stay available and ask as usual. The standard calls the field experimental. Only words separated by spaces are read the same way by the standard and by Claude Code; the opencode-agent-skills plugin takes a list and nothing else.
    "#]],
    );
    check_hover(
        "---\nuser-invo|kable: true\n---\n",
        &expect![[r#"
        [user-invokable] No agent reads `user-invokable`; the field is `user-invocable`.
    "#]],
    );
    check_hover(
        "---\nmodel: ha|iku\n---\n",
        &expect![[r#"
        [haiku] `haiku`: The current Haiku.
    "#]],
    );
    check_hover(
        "---\nallowed-tools: Bash(git st|atus:*), Read\n---\n",
        &expect![[r#"
        [Bash(git status:*)] **`Bash`** of Claude Code: Runs a command in a shell.
    "#]],
    );
    check_hover(
        "---\nhooks:\n  PreTool|Use:\n---\n",
        &expect![[r#"
        [PreToolUse] **`PreToolUse`**: A tool is about to run; can block it. Since 1.0.38.
    "#]],
    );
    check_hover(
        "---\ndescription: Writes me|ssages.\n---\n",
        &expect![[r#"
        [Writes messages.] 16 characters, about 4 tokens in every skill listing.
    "#]],
    );
    check_hover(
        "---\nname: a\n---\nin ${CLAUDE_SKILL|_DIR}/x\n",
        &expect![[r#"
        [${CLAUDE_SKILL_DIR}] **`${CLAUDE_SKILL_DIR}`**: The directory of the skill. Replaced by Claude Code.
    "#]],
    );
    check_hover(
        "---\nname: de|ploy\n---\n",
        &expect![[r#"
        [deploy] **`name`**: The skill's name, the same as that of its directory. Lower-case letters, digits and single hyphens, at most 64 characters. Claude Code invokes a skill by its directory's name and shows this one as a label.
    "#]],
    );
    check_hover(
        "---\nmodel: opus # o|pus\n---\n",
        &expect![[r#"
        nothing
    "#]],
    );
    check_hover(
        "---\nwhatever: x|\n---\n",
        &expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn every_suggestion_has_documentation() {
    for text in [
        "---\n|\n---\n",
        "---\nallowed-tools: |\n---\n",
        "---\nhooks:\n  |\n---\n",
        "---\nname: a\n---\n$|",
    ] {
        let (text, offset) = marked(text);
        for item in complete(&text, offset, FileKind::Skill(None)).expect("items").items {
            assert!(documentation(item.kind, &item.label).is_some(), "{item:?}");
        }
    }
    assert_eq!(documentation(SuggestionKind::Field, "nothing"), None);
}

#[test]
fn completion_and_hover_never_panic_at_any_offset() {
    let texts = [
        "---\nname: é\n  - : [\nhooks:\n - x:\n   - \"(\n---\n$\u{e9} ${",
        "---\n-\n- -\n-a: (\n'k\": v\n: x\n",
        "\u{FEFF}---\r\n\t- ,)(]\r\n---",
        "$",
    ];
    for text in texts {
        for offset in 0..=text.len() + 1 {
            if let Some(found) = complete(text, offset.min(text.len()), FileKind::Skill(Some("x")))
            {
                let Span { start, end } = found.span;
                assert!(text.get(start..end).is_some(), "{text:?} at {offset}: {:?}", found.span);
            }
            hover(text, offset.min(text.len()));
        }
    }
}

#[test]
fn tool_parentheses_complete_patterns() {
    check(
        "---\nallowed-tools: Read Bash(|)\n---\n```sh\npdftotext a.pdf\n  -layout\n```\n",
        &expect![[r#"
            pdftotext * -> allowed-tools: Read Bash(pdftotext *)
            git * -> allowed-tools: Read Bash(git *)
            gh * -> allowed-tools: Read Bash(gh *)
            npm run * -> allowed-tools: Read Bash(npm run *)
            10 in all
        "#]],
    );
    check(
        "---\nallowed-tools:\n  - Edit(src|\n---\n",
        &expect![[r#"
            ./** ->   - Edit(./**)
            src/** ->   - Edit(src/**)
            **/*.md ->   - Edit(**/*.md)
            ~/** ->   - Edit(~/**)
            5 in all
        "#]],
    );
}

#[test]
fn completion_span_is_the_typed_word_at_each_keystroke() {
    for skill in SKILLS.into_iter().chain(SPANNING) {
        let ends = skill.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for end in std::iter::once(0).chain(ends) {
            let text = &skill[..end];
            let found = complete(text, end, FileKind::Skill(Some("deploy")));
            if let Some(found) = &found {
                assert!(found.span.end == end && !found.items.is_empty(), "{text:?}");
            }
            // A partly typed top-level key is offered in full.
            let line = text.rsplit('\n').next().unwrap_or_default();
            let whole = skill[end - line.len()..].split([':', '\n']).next().unwrap_or_default();
            let is_begun = text.matches("---\n").count() == 1 && line.len() < whole.len();
            if is_begun && !line.is_empty() && skills_agents::field_table::find(whole).is_some() {
                let found = found.unwrap_or_else(|| panic!("nothing is offered: {text:?}"));
                assert_eq!(found.span.slice(text), line);
                assert!(found.items.iter().any(|it| it.label == whole), "{whole}: {text:?}");
            }
        }
    }
}

#[test]
fn hover_shows_the_listing_entry_of_each_agent() {
    let (text, offset) = marked("---\nname: pdf\ndescription: Reads| PDFs.\n---\n");
    let shown = hover(&text, offset).expect("a hover").text;
    for agent in ["Claude Code", "opencode", "Codex", "Gemini CLI"] {
        assert!(shown.contains(&format!("**{agent}**, ")), "{shown}");
    }
    assert!(shown.contains("- pdf: Reads PDFs."), "{shown}");
}

#[test]
fn hover_works_on_each_line_of_a_multiline_value() {
    for text in [
        "---\nname: pdf\ndescription: >\n  Reads| PDFs.\n---\n",
        "---\nname: pdf\ndescription: |-\n  Reads PDFs.\n  Of| all kinds.\n---\n",
        "---\nname: pdf\ndescription: Reads\n  PDFs| of all kinds.\n---\n",
    ] {
        let (text, offset) = marked(text);
        let shown = hover(&text, offset).unwrap_or_else(|| panic!("no hover: {text}")).text;
        assert!(shown.contains("**Codex**, "), "{shown}");
    }
    for text in [
        "---\nallowed-tools: [Read,\n  Wri|te]\n---\n",
        "---\nallowed-tools: Read,\n  Wri|te\n---\n",
        "---\nallowed-tools: >\n  Read, Wri|te\n---\n",
    ] {
        let (text, offset) = marked(text);
        let found = hover(&text, offset).unwrap_or_else(|| panic!("no hover: {text}"));
        assert_eq!(found.span.slice(&text), "Write", "{text}");
    }
}

#[test]
fn hover_omits_listings_of_agents_that_hide_the_skill() {
    let (text, offset) =
        marked("---\nname: pdf\ndescription: Reads| PDFs.\ndisable-model-invocation: true\n---\n");
    let shown = hover(&text, offset).expect("a hover").text;
    assert!(shown.contains("**Claude Code** does not list it"), "{shown}");
    assert!(shown.contains("**Codex**, "), "{shown}");
}

#[test]
fn hover_documents_switches_and_mcp_tools() {
    let hover_text = |text: &str| {
        let (text, offset) = marked(text);
        hover(&text, offset).expect("a hover").text
    };
    assert!(hover_text("---\nuser-invocable: fal|se\n---\n").contains("`user-invocable`"));
    let tool = hover_text("---\nallowed-tools: mcp__git|hub__list_issues\n---\n");
    assert_eq!(tool, "The tool `list_issues` of the MCP server `github`.");
}
