//! Tests of skill arguments: hover, completion and highlights.

use expect_test::{Expect, expect};
use skills_agents::skill::parse;
use skills_syntax::markdown::Body;

use super::{complete, hover};
use crate::{FileKind, argument, documentation};

const CURSOR: &str = "<CURSOR>";

fn unmarked(marked: &str) -> (String, usize) {
    let at = marked.find(CURSOR).expect("a cursor");
    (marked.replacen(CURSOR, "", 1), at)
}

/// Checks the hover at the cursor in a body below the given frontmatter.
#[track_caller]
fn check(head: &str, body: &str, expected: &Expect) {
    let (text, offset) = unmarked(&format!("---\nname: a\n{head}---\n{body}\n"));
    let shown = hover(&text, offset)
        .map_or("nothing".to_owned(), |it| format!("[{}] {}", it.span.slice(&text), it.text));
    expected.assert_eq(&(shown + "\n"));
}

const TWO_ARGUMENTS: &str = "arguments: issue branch\n";

#[test]
fn hover_explains_numbered_arguments_per_agent() {
    check(
        TWO_ARGUMENTS,
        "Fix $<CURSOR>0 on $1.",
        &expect![[r#"
            [$0] **`$0`**: the first word after the skill's name (`issue` of `arguments`). Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

            In a slash command, opencode inserts nothing, because it counts from 1.
        "#]],
    );
    check(
        TWO_ARGUMENTS,
        "Fix $0 on $1<CURSOR>.",
        &expect![[r#"
            [$1] **`$1`**: the second word after the skill's name (`branch` of `arguments`). Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

            In a slash command, opencode inserts the first word after the skill's name (`issue` of `arguments`) and all following words.
        "#]],
    );
    check(
        TWO_ARGUMENTS,
        "Fix $<CURSOR>1 on $2.",
        &expect![[r#"
            [$1] **`$1`**: the second word after the skill's name (`branch` of `arguments`). Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

            In a slash command, opencode inserts the first word after the skill's name (`issue` of `arguments`).
        "#]],
    );
    check(
        "",
        "Fix $<CURSOR>3.",
        &expect![[r#"
        [$3] **`$3`**: the fourth word after the skill's name. Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

        In a slash command, opencode inserts the third word after the skill's name and all following words.
    "#]],
    );
    check(
        "argument-hint: \"[issue number] <branch>\"\n",
        "Fix <CURSOR>$1.",
        &expect![[r#"
            [$1] **`$1`**: the second word after the skill's name (`branch` of `argument-hint`). Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

            In a slash command, opencode inserts the first word after the skill's name (`issue number` of `argument-hint`) and all following words.
        "#]],
    );
    check(
        "argument-hint: [issue] [branch]\n",
        "Fix <CURSOR>$1.",
        &expect![[r#"
            [$1] **`$1`**: the second word after the skill's name (`branch` of `argument-hint`). Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

            In a slash command, opencode inserts the first word after the skill's name (`issue` of `argument-hint`) and all following words.
        "#]],
    );
    check(
        TWO_ARGUMENTS,
        "```sh\ngit checkout $<CURSOR>1\n```",
        &expect![[r#"
            [$1] **`$1`**: the second word after the skill's name (`branch` of `arguments`). Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

            In a slash command, opencode inserts the first word after the skill's name (`issue` of `arguments`) and all following words.
        "#]],
    );
}

#[test]
fn hover_explains_named_arguments() {
    check(
        TWO_ARGUMENTS,
        "Fix $iss<CURSOR>ue.",
        &expect![[r#"
            [$issue] **`$issue`**: the first word after the skill's name (`issue` of `arguments`). Replaced by Claude Code; it is empty if the argument is missing.

            opencode does not replace it.
        "#]],
    );
    check(
        "arguments: [a-b, a]\n",
        "Fix $a-b<CURSOR> and $a.",
        &expect![[r#"
            [$a-b] **`$a-b`**: the first word after the skill's name (`a-b` of `arguments`). Replaced by Claude Code; it is empty if the argument is missing.

            opencode does not replace it.
        "#]],
    );
    check(
        "arguments:\n  - é\nargument-hint: \"[x]\"\n",
        "Fix $é<CURSOR>.",
        &expect![[r#"
            [$é] **`$é`**: the first word after the skill's name (`é` of `arguments`). Replaced by Claude Code; it is empty if the argument is missing.

            opencode does not replace it.
        "#]],
    );
}

#[test]
fn hover_explains_indexed_arguments() {
    check(
        TWO_ARGUMENTS,
        "Fix $ARGU<CURSOR>MENTS[1].",
        &expect![[r#"
            [$ARGUMENTS[1]] **`$ARGUMENTS[1]`**: the second word after the skill's name (`branch` of `arguments`). Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

            In a slash command, opencode inserts all arguments and leaves `[1]` after them.
        "#]],
    );
    check(
        TWO_ARGUMENTS,
        "Fix $ARGUMENTS[0<CURSOR>].",
        &expect![[r#"
            [$ARGUMENTS[0]] **`$ARGUMENTS[0]`**: the first word after the skill's name (`issue` of `arguments`). Replaced by Claude Code, which counts from 0 and keeps the placeholder if the argument is missing.

            In a slash command, opencode inserts all arguments and leaves `[0]` after them.
        "#]],
    );
    check(
        TWO_ARGUMENTS,
        "Fix $ARGU<CURSOR>MENTS.",
        &expect![[r#"
        [$ARGUMENTS] **`$ARGUMENTS`**: The text typed after the skill's name; `$ARGUMENTS[0]` is its first word. Replaced by Claude Code, opencode.
    "#]],
    );
}

#[test]
fn amounts_and_escaped_placeholders_have_no_hover() {
    for body in [
        "It costs $<CURSOR>5 a month.",
        "The price is $<CURSOR>5.",
        "About $<CURSOR>100.",
        "Write \\$<CURSOR>1.",
        "Write \\$is<CURSOR>sue.",
        "See $HO<CURSOR>ME.",
        "See $issue<CURSOR>s.",
        "See ${iss<CURSOR>ue}.",
        "It is 5<CURSOR>$.",
    ] {
        check(TWO_ARGUMENTS, body, &expect!["nothing\n"]);
    }
    // opencode ends the number at the first letter.
    check(
        TWO_ARGUMENTS,
        "The $<CURSOR>1st.",
        &expect![[r#"
            [$1] **`$1`**: In a slash command, opencode inserts the first word after the skill's name (`issue` of `arguments`) and all following words.
        "#]],
    );
}

#[test]
fn argument_names_and_numbers_complete() {
    let offered = |head: &str, body: &str| {
        let (text, offset) = unmarked(&format!("---\nname: a\n{head}---\n{body}\n"));
        let found = complete(&text, offset, FileKind::Skill(None));
        let items = found.into_iter().flat_map(|it| it.items);
        let items = items.filter(|it| !it.label.contains('{'));
        items.flat_map(|it| [it.label, " (".into(), it.detail, ")\n".into()]).collect::<String>()
    };
    expect![[r#"
        $ARGUMENTS (The text typed after the skill's name; `$ARGUMENTS[0]` is its first word.)
        $issue (an argument of this skill)
        $branch (an argument of this skill)
        $0 (`issue` in Claude Code)
        $1 (`branch` in Claude Code, `issue` in opencode)
        $2 (`branch` in opencode)
    "#]]
    .assert_eq(&offered(TWO_ARGUMENTS, "Fix $<CURSOR>"));
    expect![[r#"
        $ARGUMENTS (The text typed after the skill's name; `$ARGUMENTS[0]` is its first word.)
        $0 (`a b` in Claude Code)
        $1 (`a b` in opencode)
    "#]]
    .assert_eq(&offered("argument-hint: \"[a b]\"\n", "Fix $<CURSOR>"));
    assert_eq!(offered("", "Fix $<CURSOR>").lines().count(), 1);
    assert_eq!(offered(TWO_ARGUMENTS, "Fix \\$<CURSOR>"), "");
    for label in ["$0", "$1", "$issue"] {
        assert!(documentation(super::SuggestionKind::Variable, label).is_some(), "{label}");
    }
}

/// Checks the declaration and the uses of the argument at the cursor.
#[track_caller]
fn check_places(marked: &str, expected: &str) {
    let (text, offset) = unmarked(marked);
    let document = parse(&text);
    let body = Body::new(&text, document.body);
    let shown = argument(&text, &document, &body, offset).map_or("nothing".to_owned(), |it| {
        let uses: Vec<_> = it.uses.iter().map(|it| it.slice(&text)).collect();
        let declared = it.declared.map_or("nowhere", |it| it.slice(&text));
        format!("{declared}: {}", uses.join(" "))
    });
    assert_eq!(shown, expected, "{marked}");
}

#[test]
fn argument_is_found_by_name_number_and_declaration() {
    let body = "Fix $issue, $0, $ARGUMENTS[0] on $branch; \\$issue costs $0 a month.\n";
    let text = |body: &str| format!("---\narguments: [issue, 'branch']\n---\n{body}");
    check_places(
        &text(&body.replace("$issue,", "$iss<CURSOR>ue,")),
        "issue: $issue $0 $ARGUMENTS[0]",
    );
    check_places(&text(&body.replace("$0,", "$<CURSOR>0,")), "issue: $issue $0 $ARGUMENTS[0]");
    check_places(&text(&body.replace("branch", "bra<CURSOR>nch")), "'branch': $branch");
    let head = text(body).replace("[issue", "[iss<CURSOR>ue");
    check_places(&head, "issue: $issue $0 $ARGUMENTS[0]");
    check_places("Fix $<CURSOR>7.\n", "nowhere: $7");
    check_places(&text("Fix $ARGU<CURSOR>MENTS.\n"), "nothing");
    check_places(&text("Fix<CURSOR> it.\n"), "nothing");
}
