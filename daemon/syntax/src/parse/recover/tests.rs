//! Tests of recovery from invalid YAML: each error affects only its own value.

use expect_test::expect;

use crate::parse::tests::render::check_yaml as check;

#[test]
fn unquoted_colon_keeps_the_whole_value() {
    check(
        "name: a\ndescription: Do it. Usage: /a <x>\nlicense: MIT\n",
        expect![[r#"
        name = "a"
        description ~ "Do it. Usage: /a <x>"
        license = "MIT"
        not YAML 3:26 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 3:26 ":": `: ` inside an unquoted value
    "#]],
    );
}

#[test]
fn unquoted_colon_in_a_continuation_line_is_kept() {
    check(
        "description: Use for all: a,\n  b. Invoke for: c;\n\n  d\ntags: [a]\n",
        expect![[r#"
        description ~ "Use for all: a, b. Invoke for: c;\nd" from "Use for all: a,\n  b. Invoke for: c;\n\n  d"
        tags = [a]
          - "a"
        not YAML 2:25 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 2:25 ":": `: ` inside an unquoted value
    "#]],
    );
    check(
        "description: Use for all,\n  b. Invoke for: c\nx: y\n",
        expect![[r#"
        description ~ "Use for all, b. Invoke for: c" from "Use for all,\n  b. Invoke for: c"
        x = "y"
        not YAML 3:16 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 3:16 ":": `: ` inside an unquoted value
    "#]],
    );
}

#[test]
fn invalid_item_does_not_affect_the_indented_one_after_it() {
    check(
        "inputs:\n  - name: url\n    help: Full (scheme: x)\n  - name: kind\n    type: string\n",
        expect![[r#"
            inputs ~ list
              - mapping
                name = "url"
                help ~ "Full (scheme: x)"
              - mapping
                name = "kind"
                type = "string"
            not YAML 4:23 ":": `: ` inside an unquoted value
            Error yaml/unquoted-colon 4:23 ":": `: ` inside an unquoted value
        "#]],
    );
}

#[test]
fn partially_typed_key_hides_no_other_key() {
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
        not YAML 3:5 ":": `: ` inside an unquoted value
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
        not YAML 3:2 ":": `: ` inside an unquoted value
        Error yaml/syntax 2:1 "name:a": no space after the colon of `name`
    "#]],
    );
}

#[test]
fn unclosed_quote_hides_no_other_key() {
    check(
        "name: \"a\ndescription: b\nversion: \"1\"\n",
        expect![[r#"
        name ~ "a" from "\"a"
        description = "b"
        version = double "1"
        not YAML 3:1 "d": the value continues on an unindented line
        Error yaml/syntax 2:7 "\"a": the quote is never closed
    "#]],
    );
    check(
        "name: 'a\ndescription: it's b\n",
        expect![[r#"
        name ~ "a" from "'a"
        description = "it's b"
        not YAML 3:1 "d": the value continues on an unindented line
        Error yaml/syntax 2:7 "'a": the quote is never closed
    "#]],
    );
    check(
        "name: a\ndescription: \"\nversion: 1\n",
        expect![[r#"
        name = "a"
        description ~ "" from "\""
        version = "1"
        not YAML 4:1 "v": the value continues on an unindented line
        Error yaml/syntax 3:14 "\"": the quote is never closed
    "#]],
    );
}

#[test]
fn unclosed_bracket_hides_no_other_key() {
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
fn tab_hides_no_other_key() {
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
fn value_with_leading_indicator_is_text() {
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
            not YAML 2:4 "@": an unquoted value cannot start with `@`
            Error yaml/unquoted-start 2:4 "@": an unquoted value cannot start with `@`
            Error yaml/unquoted-start 3:4 "`": an unquoted value cannot start with a backtick
            Error yaml/unquoted-start 4:4 "%": an unquoted value cannot start with `%`
            Error yaml/unquoted-start 5:4 "*": `*` starts an alias here, not text
            Error yaml/unquoted-start 6:4 "*": `*` starts an alias here, not text
            Error yaml/unquoted-start 7:4 "&": `&` starts an anchor here, not text
            Error yaml/unquoted-start 8:4 ",": an unquoted value cannot start with `,`
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
        Error yaml/unquoted-start 2:4 "[": `[` starts a list or mapping, but text follows its end
        Error yaml/unquoted-start 3:4 "[": `[` starts a list or mapping, but text follows its end
        Error yaml/unquoted-start 4:4 "{": `{` starts a list or mapping, but text follows its end
        Error yaml/unquoted-start 5:4 "-": `- ` on the same line as the key
        Error yaml/syntax 6:4 "]": closing bracket without its opening one
    "#]],
    );
}

#[test]
fn text_after_a_block_header_is_the_value() {
    check(
        "a: | Use when.\nb: > Folded\n  on here.\n\n  And more.\nc: d\n",
        expect![[r#"
        a ~ "Use when." from "| Use when."
        b ~ "Folded on here.\nAnd more." from "> Folded\n  on here.\n\n  And more."
        c = "d"
        not YAML 2:4 "| Use when.": text after the block header `|` or `>`
        Error yaml/syntax 2:4 "| Use when.": text after the block header `|` or `>`
        Error yaml/syntax 3:4 "> Folded": text after the block header `|` or `>`
    "#]],
    );
}

#[test]
fn inner_quotes_are_kept() {
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
fn quoted_value_may_continue_unindented() {
    check(
        "a: \"First\n\\u00e9 line\"\nb: c\n",
        expect![[r#"
        a ~ double "First é line" from "\"First\n\\u00e9 line\""
        b = "c"
        not YAML 3:1 "\\": the value continues on an unindented line
        Warning yaml/unindented-continuation 3:1 "\\u00e9 line\"": the value continues on an unindented line
    "#]],
    );
    check(
        "a: 'First\n\nUse when: it''s so'\nb: c\n",
        expect![[r#"
        a ~ single "First\nUse when: it's so" from "'First\n\nUse when: it''s so'"
        b = "c"
        not YAML 4:1 "U": the value continues on an unindented line
        Warning yaml/unindented-continuation 4:1 "Use when: it''s so'": the value continues on an unindented line
    "#]],
    );
}

#[test]
fn unclosed_quote_before_a_key_excludes_the_key() {
    check(
        "'license:MIT\nx: y\n",
        expect![[r#"
        license from "'license" ~ "MIT"
        x = "y"
        not YAML 2:1 "'": the quote is never closed
        Error yaml/syntax 2:1 "'license:MIT": no space after the colon of `'license`
    "#]],
    );
}

#[test]
fn key_without_space_does_not_continue_a_sentence() {
    check(
        "name: 'a b'\nlicense:MIT or Apache 2.0\n# c\nx: y\n",
        expect![[r##"
            name = single "a b"
            license ~ "MIT or Apache 2.0"
            x = "y"
            comment 4:1 "# c"
            not YAML 3:1 "license:MIT or Apache 2.0": no `: ` on this line
            Error yaml/syntax 3:1 "license:MIT or Apache 2.0": no space after the colon of `license`
        "##]],
    );
    check(
        "name: 'a b'\nand more words after it\nx: y\n",
        expect![[r#"
        name ~ "a b and more words after it" from "'a b'\nand more words after it"
        x = "y"
        not YAML 3:1 "and more words after it": no `: ` on this line
        Error yaml/unindented-continuation 3:1 "and more words after it": the value continues on an unindented line
    "#]],
    );
}

#[test]
fn sentence_may_continue_unindented() {
    check(
        "description: First line\nsecond line at column 0\nand a third\nlicense: MIT\n",
        expect![[r#"
        description ~ "First line second line at column 0 and a third" from "First line\nsecond line at column 0\nand a third"
        license = "MIT"
        not YAML 3:1 "second line at column 0": no `: ` on this line
        Error yaml/unindented-continuation 3:1 "second line at column 0": the value continues on an unindented line
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
fn brackets_may_span_lines_similar_to_keys() {
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
        not YAML 2:5 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 2:5 ":": `: ` inside an unquoted value
    "#]],
    );
}

#[test]
fn invalid_item_affects_only_itself() {
    check(
        "paths:\n  - **/*.rs\n  - src/(x)/**\nowns:\n- @scope/pkg\n- other\n",
        expect![[r#"
        paths ~ list
          - "**/*.rs"
          - "src/(x)/**"
        owns ~ list
          - "@scope/pkg"
          - "other"
        not YAML 6:3 "@": an unquoted value cannot start with `@`
        Error yaml/unquoted-start 3:5 "*": `*` starts an alias here, not text
        Error yaml/unquoted-start 6:3 "@": an unquoted value cannot start with `@`
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
        Error yaml/unquoted-colon 5:9 ":": `: ` inside an unquoted value
    "##]],
    );
}

#[test]
fn invalid_nested_value_affects_only_itself() {
    check(
        "metadata:\n  labels: a\n  keywords: [x, @defer]\n  more: b\nname: c\n",
        expect![[r#"
        metadata ~ mapping
          labels = "a"
          keywords ~ "[x, @defer]"
          more = "b"
        name = "c"
        not YAML 4:17 "@": an unquoted value cannot start with `@`
        Error yaml/unquoted-start 4:17 "@": an unquoted value cannot start with `@`
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
        not YAML 4:17 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 4:17 ":": `: ` inside an unquoted value
        Error yaml/unquoted-start 7:20 "@": an unquoted value cannot start with `@`
    "#]],
    );
}

#[test]
fn misindented_key_is_recovered() {
    check(
        "name: a\n  description: b\n  tags: [c]\nx: y\n",
        expect![[r#"
            name = "a"
            description = "b"
            tags = [c]
              - "c"
            x = "y"
            not YAML 3:14 ":": `: ` inside an unquoted value
            Error yaml/syntax 3:3 "description": `description` is indented deeper than the keys above
        "#]],
    );
    check(
        " name: a\n description: b: c\n",
        expect![[r#"
        name = "a"
        description ~ "b: c"
        not YAML 3:16 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 3:16 ":": `: ` inside an unquoted value
    "#]],
    );
    check(
        "name: a\n description: b: c\n",
        expect![[r#"
        name = "a"
        description ~ "b: c"
        not YAML 3:13 ":": `: ` inside an unquoted value
        Error yaml/syntax 3:2 "description": `description` is indented deeper than the keys above
        Error yaml/unquoted-colon 3:16 ":": `: ` inside an unquoted value
    "#]],
    );
}

#[test]
fn invalid_block_scalar_is_read_line_by_line() {
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
fn control_characters_are_located() {
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
fn swallowed_body_gives_few_diagnostics() {
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
fn anchors_resolve_across_pieces() {
    check(
        "base: &b x\nbroken: a: b\nuse: *b\nnot: *c\n",
        expect![[r#"
        base = "x"
        broken ~ "a: b"
        use = *b -> Some("&b")
        not ~ "*c"
        anchor b = 2:10 "x"
        not YAML 3:10 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 3:10 ":": `: ` inside an unquoted value
        Error yaml/unquoted-start 5:6 "*": `*` starts an alias here, not text
    "#]],
    );
}

#[test]
fn comments_are_kept_in_recovery() {
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
        not YAML 5:5 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 5:5 ":": `: ` inside an unquoted value
        Error yaml/unquoted-start 10:5 "@": an unquoted value cannot start with `@`
    "##]],
    );
}

#[test]
fn explicit_and_unusual_keys_are_read() {
    check(
        "? a\n: b\nc: d: e\n\"quoted key\": 'x\n: nothing\n[a]: b\n",
        expect![[r#"
        a = "b"
        c ~ "d: e"
        quoted key from "\"quoted key\"" ~ "x : nothing" from "'x\n: nothing"
        [a] = "b"
        not YAML 4:5 ":": `: ` inside an unquoted value
        Error yaml/unquoted-colon 4:5 ":": `: ` inside an unquoted value
        Error yaml/syntax 5:15 "'x": the quote is never closed
    "#]],
    );
}

#[test]
fn duplicate_keys_are_marked_in_recovery() {
    check(
        "name: a\nname: b: c\n",
        expect![[r#"
        name = "a"
        name (again, after 0) ~ "b: c"
        not YAML 3:8 ":": `: ` inside an unquoted value
        Error yaml/duplicate-key 3:1 "name": `name` is a duplicate key
        Error yaml/unquoted-colon 3:8 ":": `: ` inside an unquoted value
    "#]],
    );
}

#[test]
fn errors_in_multibyte_text_have_valid_spans() {
    check(
        "é: \"あ\n🦀: [あ, 🦀\nx: あ: 🦀\nあ\n\u{3000}x: y\n",
        expect![[r#"
        é ~ "あ" from "\"あ"
        🦀 ~ "[あ, 🦀"
        x ~ "あ: 🦀"
        　x = "y"
        not YAML 3:1 "🦀": the value continues on an unindented line
        Error yaml/syntax 2:4 "\"あ": the quote is never closed
        Error yaml/syntax 3:4 "[あ, 🦀": `[` is never closed
        Error yaml/unquoted-colon 4:5 ":": `: ` inside an unquoted value
        Error yaml/syntax 5:1 "あ": `あ` has no colon
    "#]],
    );
}
