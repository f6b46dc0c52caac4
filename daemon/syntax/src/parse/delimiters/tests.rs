//! Tests of opening and closing lines and of missing frontmatter.

use expect_test::expect;

use crate::parse::tests::render::check;

#[test]
fn second_dashes_line_closes() {
    check(
        "---\nname: a\n---\nx\n---\ny: z\n---\n",
        expect![[r#"
        name = "a"
        body "x\n---\ny: z\n---\n"
    "#]],
    );
}

#[test]
fn white_space_after_dashes_is_ignored() {
    check(
        "--- \t\nname: a\n---  \nbody\n",
        expect![[r#"
        name = "a"
    "#]],
    );
}

#[test]
fn all_line_endings_are_supported() {
    check(
        "---\r\nname: a\r\n---\r\nbody\n",
        expect![[r#"
        name = "a"
    "#]],
    );
    check(
        "---\rname: a\r---\rbody\n",
        expect![[r#"
        name = "a"
    "#]],
    );
    check(
        "---\nname: a\r\nb: c\n---\r\nbody\n",
        expect![[r#"
        name = "a"
        b = "c"
    "#]],
    );
}

#[test]
fn final_line_end_is_optional() {
    check(
        "---\nname: a\n---",
        expect![[r#"
        name = "a"
        body ""
    "#]],
    );
    check(
        "---\nname: a",
        expect![[r#"
        name = "a"
        closing Missing None
        body ""
        Error yaml/unclosed-frontmatter 1:1 "---": the frontmatter is never closed
    "#]],
    );
    check(
        "---",
        expect![[r#"
        closing Missing None
        body ""
        Error yaml/unclosed-frontmatter 1:1 "---": the frontmatter is never closed
    "#]],
    );
    check(
        "---\n",
        expect![[r#"
        closing Missing None
        body ""
        Error yaml/unclosed-frontmatter 1:1 "---": the frontmatter is never closed
    "#]],
    );
}

#[test]
fn byte_order_mark_is_skipped() {
    check(
        "\u{FEFF}---\nname: a\n---\nbody\n",
        expect![[r#"
        name = "a"
    "#]],
    );
    check(
        "\u{FEFF}",
        expect![[r#"
        body ""
        Error yaml/no-frontmatter 1:2 "": the file is empty
    "#]],
    );
}

#[test]
fn empty_frontmatter_is_found() {
    check("---\n---\nbody\n", expect![[""]]);
    check(
        "---\n\n# nothing\n---\nbody\n",
        expect![[r##"
        comment 3:1 "# nothing"
    "##]],
    );
}

#[test]
fn text_before_the_opening_line_is_reported_and_skipped() {
    check(
        "\n\n---\nname: a\n---\nbody\n",
        expect![[r#"
        opening Later 3:1 "---"
        name = "a"
        Error yaml/text-before-frontmatter 1:1 "\n\n": the opening `---` is not on the first line
    "#]],
    );
    check(
        "<!-- generated -->\n---\nname: a\n---\nbody\n",
        expect![[r#"
        opening Later 2:1 "---"
        name = "a"
        Error yaml/text-before-frontmatter 1:1 "<!-- generated -->": the opening `---` is not on the first line
    "#]],
    );
    check(
        "# Title\n\n---\n# note\nname: a\n---\nbody\n",
        expect![[r##"
        opening Later 3:1 "---"
        name = "a"
        comment 4:1 "# note"
        Error yaml/text-before-frontmatter 1:1 "# Title": the opening `---` is not on the first line
    "##]],
    );
    check(
        "```markdown\n---\ndescription: a\n---\nbody\n",
        expect![[r#"
        opening Later 2:1 "---"
        description = "a"
        Error yaml/text-before-frontmatter 1:1 "```markdown": the opening `---` is not on the first line
    "#]],
    );
}

#[test]
fn rule_in_the_body_is_not_an_opening_line() {
    check(
        "# Title\n\n---\n\n**Name**: x\n\n---\n",
        expect![[r##"
        body "# Title\n\n---\n\n**Name**: x\n\n---\n"
        Error yaml/no-frontmatter 1:1 "# Title": the file has no frontmatter
    "##]],
    );
    check(
        "# Title\n\n---\n\nNote: x\n\n---\n",
        expect![[r##"
        body "# Title\n\n---\n\nNote: x\n\n---\n"
        Error yaml/no-frontmatter 1:1 "# Title": the file has no frontmatter
    "##]],
    );
    check(
        "How to:\n\n```\n---\nname: a\n---\n```\n",
        expect![[r#"
        body "How to:\n\n```\n---\nname: a\n---\n```\n"
        Error yaml/no-frontmatter 1:1 "How to:": the file has no frontmatter
    "#]],
    );
    check(
        "Text\n\n---\nname: a\n",
        expect![[r#"
        body "Text\n\n---\nname: a\n"
        Error yaml/no-frontmatter 1:1 "Text": the file has no frontmatter
    "#]],
    );
}

#[test]
fn keys_without_opening_line_are_read() {
    check(
        "name: a\ntags:\n  - b\n---\nbody\n",
        expect![[r#"
        opening Missing 1:1 ""
        name = "a"
        tags = list
          - "b"
        Error yaml/missing-opening 1:1 "": the frontmatter has no opening `---`
    "#]],
    );
    check(
        "\n\ndescription: a\n---\nbody\n",
        expect![[r#"
        opening Missing 3:1 ""
        description = "a"
        Error yaml/missing-opening 3:1 "": the frontmatter has no opening `---`
    "#]],
    );
}

#[test]
fn text_similar_to_keys_is_a_body() {
    check(
        "name: a\n\nSome text.\n\n---\nmore\n",
        expect![[r#"
        body "name: a\n\nSome text.\n\n---\nmore\n"
        Error yaml/no-frontmatter 1:1 "name: a": the file has no frontmatter
    "#]],
    );
    check(
        "Note: a\n---\nmore\n",
        expect![[r#"
        body "Note: a\n---\nmore\n"
        Error yaml/no-frontmatter 1:1 "Note: a": the file has no frontmatter
    "#]],
    );
}

#[test]
fn unclosed_frontmatter_keeps_its_fields() {
    check(
        "---\nname: a\ndescription: b\n\n# Heading\n\nBody: text.\n",
        expect![[r#"
        name = "a"
        description = "b"
        closing Missing None
        body "\n# Heading\n\nBody: text.\n"
        Error yaml/unclosed-frontmatter 1:1 "---": the frontmatter is never closed
    "#]],
    );
    check(
        "---\nname: a\n\ndescription: b\n",
        expect![[r#"
        name = "a"
        description = "b"
        closing Missing None
        body ""
        Error yaml/unclosed-frontmatter 1:1 "---": the frontmatter is never closed
    "#]],
    );
    check(
        "---\nname: a\ndescr",
        expect![[r#"
        name = "a"
        closing Missing None
        not YAML 3:1 "descr": no `: ` on this line
        body ""
        Error yaml/unclosed-frontmatter 1:1 "---": the frontmatter is never closed
        Error yaml/syntax 3:1 "descr": `descr` has no colon
    "#]],
    );
    check(
        "---\nname: |\n  a\n\n  b\n\nText without a key.\n",
        expect![[r#"
        name = literal "a\n\nb\n" from "|\n  a\n\n  b"
        closing Missing None
        body "\nText without a key.\n"
        Error yaml/unclosed-frontmatter 1:1 "---": the frontmatter is never closed
    "#]],
    );
    check(
        "---\nname: a\n\n# About the next key\ntags:\n- b\n\n# Heading\n\n    code\n",
        expect![[r##"
        name = "a"
        tags = list
          - "b"
        comment 4:1 "# About the next key"
        closing Missing None
        body "\n# Heading\n\n    code\n"
        Error yaml/unclosed-frontmatter 1:1 "---": the frontmatter is never closed
    "##]],
    );
}

#[test]
fn odd_closing_lines_are_accepted_and_reported() {
    check(
        "---\nname: a\n------\nbody\n",
        expect![[r#"
        name = "a"
        closing LongDashes Some("3:1 \"------\"")
        Error yaml/odd-closing 3:1 "------": the frontmatter is closed by more than three dashes
    "#]],
    );
    check(
        "---\nname: a\n---**Base:** x\nbody\n",
        expect![[r#"
        name = "a"
        closing Glued Some("3:1 \"---\"")
        body "**Base:** x\nbody\n"
        Error yaml/odd-closing 3:1 "---": the frontmatter is closed by `---` followed by text
    "#]],
    );
    check(
        "---\nname: a\n...\nbody\n",
        expect![[r#"
        name = "a"
        closing Dots Some("3:1 \"...\"")
        Error yaml/odd-closing 3:1 "...": the frontmatter is closed by `...`
    "#]],
    );
    check(
        "---\nname: a\n  ---\nbody\n",
        expect![[r#"
        name = "a"
        closing Indented Some("3:1 \"  ---\"")
        Error yaml/odd-closing 3:1 "  ---": the frontmatter is closed by an indented `---`
    "#]],
    );
}

#[test]
fn real_closing_line_wins_unless_body_text_precedes_it() {
    check(
        "---\nname: a\n----\nb: c\n---\nbody\n",
        expect![[r#"
        name = "a"
        b = "c"
        not YAML 3:1 "----": no `: ` on this line
        Error yaml/syntax 3:1 "----": neither a key nor part of a value
    "#]],
    );
    check(
        "---\nname: a\n------\n\n## Body\n\n---\n\nmore\n",
        expect![[r#"
        name = "a"
        closing LongDashes Some("3:1 \"------\"")
        body "\n## Body\n\n---\n\nmore\n"
        Error yaml/odd-closing 3:1 "------": the frontmatter is closed by more than three dashes
    "#]],
    );
}

#[test]
fn dashes_inside_values_do_not_close() {
    check(
        "---\nname: a --- b\nd: |\n  ---x\n---\nbody\n",
        expect![[r#"
        name = "a --- b"
        d = literal "---x\n" from "|\n  ---x"
    "#]],
    );
}
