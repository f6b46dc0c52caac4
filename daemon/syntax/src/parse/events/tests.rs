//! Tests of the tree built from library events, and of error mapping.

use expect_test::expect;

use crate::diagnostic::ProblemCode;
use crate::parse::tests::render::check_yaml as check;

#[test]
fn scalars_are_never_coerced() {
    check(
        "a: yes\nb: 1.0\nc: 2026-04-27\nd: 01789692905\ne: n\nf: 0x79\n",
        expect![[r#"
        a = "yes"
        b = "1.0"
        c = "2026-04-27"
        d = "01789692905"
        e = "n"
        f = "0x79"
    "#]],
    );
}

#[test]
fn null_span_is_the_expected_value_position() {
    check(
        "a:\nb: ~\nc: null\nd: Null # x\ne:   \nf: ''\ng: nul\n",
        expect![[r##"
        a = null ""
        b = null "~"
        c = null "null"
        d = null "Null"
        e = null ""
        f = single ""
        g = "nul"
        comment 5:9 "# x"
    "##]],
    );
}

#[test]
fn scalar_styles_are_recorded() {
    check(
        "a: 'it''s'\nb: \"x\\ty\"\nc: |\n  one\n  two\n\nd: >-\n  one\n  two\ne: |+\n  x\n\n",
        expect![[r#"
        a = single "it's" from "'it''s'"
        b = double "x\ty" from "\"x\\ty\""
        c = literal "one\ntwo\n" from "|\n  one\n  two"
        d = folded "one two" from ">-\n  one\n  two"
        e = literal "x\n\n" from "|+\n  x"
    "#]],
    );
}

#[test]
fn block_header_is_part_of_the_span() {
    check(
        "a: # note > x\n  |  # c\n  text\nb:\n- |-\n  x\n- - >\n    y\n",
        expect![[r##"
        a = literal "text\n" from "|  # c\n  text"
        b = list
          - literal "x" from "|-\n  x"
          - list
            - folded "y\n" from ">\n    y"
        comment 2:4 "# note > x"
        comment 3:6 "# c"
    "##]],
    );
    check(
        "a: &x !t |\n  text\nb: >\nc: d\n",
        expect![[r#"
        a = literal "text\n" from "|\n  text"
        b = folded "" from ">"
        c = "d"
        anchor x = 2:10 "|\n  text"
        Warning yaml/unquoted-start 2:4 "&": `&` starts an anchor here, not text
    "#]],
    );
}

#[test]
fn folded_lines_are_joined() {
    check(
        "a: one\n  two\n\n  three\nb: \"x\n  y\"\nc:\n  - long\n    item\n",
        expect![[r#"
        a = "one two\nthree" from "one\n  two\n\n  three"
        b = double "x y" from "\"x\n  y\""
        c = list
          - "long item" from "long\n    item"
    "#]],
    );
}

#[test]
fn lists_and_mappings_nest() {
    check(
        "a:\n- x\n-\n- - y\n  - z\nb:\n  c:\n    d: [e, {f: g}, h: i]\n  j: {k, l: }\n",
        expect![[r#"
        a = list
          - "x"
          - null ""
          - list
            - "y"
            - "z"
        b = mapping
          c = mapping
            d = [e, {f: g}, h: i]
              - "e"
              - {f: g}
                f = "g"
              - h: i
                h = "i"
          j = {k, l: }
            k = null ""
            l = null ""
    "#]],
    );
}

#[test]
fn flow_list_may_contain_bare_pairs() {
    check(
        "a: [b: c, \"d\": e]\n",
        expect![[r#"
        a = [b: c, "d": e]
          - b: c
            b = "c"
          - "d": e
            d from "\"d\"" = "e"
    "#]],
    );
}

#[test]
fn json_frontmatter_is_a_mapping() {
    check(
        "{\"name\": \"a\", \"tags\": [\"b\"]}\n",
        expect![[r#"
        name from "\"name\"" = double "a"
        tags from "\"tags\"" = ["b"]
          - double "b"
    "#]],
    );
}

#[test]
fn surrogate_pairs_are_one_character() {
    check(
        "m: {\"e\":\"\\ud83d\\udc26\"}\n",
        expect![[r#"
        m = {"e":"\ud83d\udc26"}
          e from "\"e\"" = double "🐦" from "\"\\ud83d\\udc26\""
    "#]],
    );
}

#[test]
fn custom_tags_are_text() {
    check(
        "a: !important use it\nb: !!str 5\nc: !x\nd: !<y> [z]\n",
        expect![[r#"
        a = "!important use it"
        b = "5"
        c = "!x"
        d = [z]
          - "z"
        Warning yaml/unquoted-start 2:4 "!": `!` starts a tag here, not text
        Warning yaml/unquoted-start 4:4 "!": `!` starts a tag here, not text
    "#]],
    );
}

#[test]
fn aliases_are_recorded_and_not_expanded() {
    check(
        "a: &x [b]\nc: *x\nd: &y\n  e: *x\nf: &z g\n<<: *y\n",
        expect![[r#"
        a = [b]
          - "b"
        c = *x -> Some("&x")
        d = mapping
          e = *x -> Some("&x")
        f = "g"
        << = *y -> Some("&y")
        anchor x = 2:7 "[b]"
        anchor y = 5:3 "e: *x"
        anchor z = 6:7 "g"
        Warning yaml/unquoted-start 6:4 "&": `&` starts an anchor here, not text
    "#]],
    );
    check(
        "a: &x\n  b: *x\n",
        expect![[r#"
        a = mapping
          b = *x -> Some("&x")
        anchor x = 3:3 "b: *x"
        Error yaml/recursive-alias 3:6 "*x": the alias refers to a value that contains it
    "#]],
    );
    check(
        "a: &x 1\nb: &x 2\nc: *x\n",
        expect![[r#"
        a = "1"
        b = "2"
        c = *x -> Some("&x")
        anchor x = 2:7 "1"
        anchor x = 3:7 "2"
    "#]],
    );
}

#[test]
fn alias_without_anchor_is_text() {
    check(
        "paths:\n  - **/*.rs\n  - ok\n",
        expect![[r#"
        paths ~ list
          - "**/*.rs"
          - "ok"
        not YAML 3:5 "**/*.rs": `*` refers to an anchor that no `&` defines
        Error yaml/unquoted-start 3:5 "*": `*` starts an alias here, not text
    "#]],
    );
}

#[test]
fn non_scalar_keys_use_their_source() {
    check(
        "2024: a\n'on': b\n\"x y\": c\nDisplay Name: d\nふ: e\n[l]: f\n",
        expect![[r#"
        2024 = "a"
        on from "'on'" = "b"
        x y from "\"x y\"" = "c"
        Display Name = "d"
        ふ = "e"
        [l] = "f"
    "#]],
    );
}

#[test]
fn tab_after_a_colon_is_accepted() {
    check(
        "a:\tb\nc: \t d\n",
        expect![[r#"
        a = "b"
        c = "d"
    "#]],
    );
}

#[test]
fn closing_bracket_may_be_unindented() {
    check(
        "a: [\n  b\n]\nc: {\n  d: e\n}\n",
        expect![[r#"
        a = [
          b
        ]
          - "b"
        c = {
          d: e
        }
          d = "e"
    "#]],
    );
}

#[test]
fn uniformly_indented_keys_are_accepted() {
    check(
        " name: a\n description: b\n",
        expect![[r#"
        name = "a"
        description = "b"
    "#]],
    );
}

#[test]
fn non_mapping_frontmatter_is_reported() {
    check(
        "just text\n",
        expect![[r#"
        Error yaml/not-a-mapping 2:1 "just text": the frontmatter holds no `key: value` lines
    "#]],
    );
    check(
        "- a\n- b\n",
        expect![[r#"
        Error yaml/not-a-mapping 2:1 "- a\n- b": the frontmatter holds no `key: value` lines
    "#]],
    );
    check(
        "descr\n",
        expect![[r#"
        Error yaml/not-a-mapping 2:1 "descr": the frontmatter holds no `key: value` lines
    "#]],
    );
}

#[test]
fn nesting_depth_is_limited() {
    let deep = |levels: usize| {
        format!("---\na: {}{}\nb: c\n---\n", "[".repeat(levels), "]".repeat(levels))
    };
    assert!(crate::parse::parse(&deep(crate::parse::MAX_DEPTH - 1)).diagnostics.is_empty());
    let document = crate::parse::parse(&deep(crate::parse::MAX_DEPTH));
    assert_eq!(document.diagnostics.len(), 1);
    assert_eq!(document.diagnostics[0].code, ProblemCode::TooDeep);
    assert_eq!(document.frontmatter.unwrap().get("b").unwrap().value.as_str(), Some("c"));
}

#[test]
fn directives_and_further_documents_are_refused() {
    check(
        "%YAML 1.2\na: b\n",
        expect![[r#"
        a = "b"
        not YAML 2:1 "%": a `%` directive
        Error yaml/syntax 2:1 "%YAML 1.2": neither a key nor part of a value
    "#]],
    );
    check(
        "a: b\n--- !x\nc: d\n",
        expect![[r#"
        a = "b"
        c = "d"
        not YAML 3:1 "---": a second YAML document
        Error yaml/syntax 3:1 "--- !x": neither a key nor part of a value
    "#]],
    );
}
