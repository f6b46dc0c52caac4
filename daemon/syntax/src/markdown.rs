//! Splits a Markdown body into headings, code, links, definitions, comments and prose ([`Body`]).
//!
//! `pulldown-cmark` decides the structure: CommonMark with tables and footnotes. This module turns
//! its events into spans of the whole text, and never fails. Rules of one agent, such as
//! `` !`command` ``, are not Markdown and stay with their users.

mod body;
mod builder;
mod target;

use crate::text::Span;

pub use body::{Body, Definition, Fence, Heading, LabelUse, heading_anchor};
pub use target::{link_path, percent_decode, percent_decode_text};

impl Body {
    /// Splits the body of `text` at `span`.
    pub fn new(text: &str, span: Span) -> Self {
        #[cfg(feature = "invariants")]
        N_BODIES.with(|it| it.set(it.get() + 1));
        builder::build(text, span)
    }
}

#[cfg(feature = "invariants")]
thread_local! {
    static N_BODIES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the number of bodies that this thread has split, for tests that count work.
#[cfg(feature = "invariants")]
pub fn n_bodies() -> usize {
    N_BODIES.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let body = Body::new(text, Span::new(0, text.len()));
        let mut parts: Vec<(usize, String)> = Vec::new();
        let mut add = |kind: &str, spans: &[Span]| {
            for span in spans {
                parts.push((span.start, format!("{kind} {:?}", span.slice(text))));
            }
        };
        add("code", &body.codes);
        add("link", &body.links);
        add("prose", &body.prose);
        add("comment", &body.comments);
        for fence in &body.fences {
            let closed = if fence.closed { "closed" } else { "open" };
            let info = fence.info.slice(text);
            parts.push((
                fence.open.start,
                format!("{closed} fence {info:?} {:?}", fence.content.slice(text)),
            ));
        }
        parts.sort();
        let parts: Vec<_> = parts.into_iter().map(|(_, it)| it).collect();
        assert_eq!(parts.join("\n"), expected);
    }

    #[test]
    fn links_need_an_opening_bracket_and_may_pad_the_target() {
        check(
            r"\[a](no.md) and [b]( yes.md ) and [c](<x y.md>)",
            r#"prose "\\[a](no.md) and [b"
link "yes.md"
prose " and [c"
link "x y.md""#,
        );
        check("a](no.md)", "prose \"a](no.md)\"");
    }

    #[test]
    fn link_definitions_are_links_and_footnotes_are_not() {
        check(
            "[c][r]\n\n[r]: yes.md\n[s]: <a b.md> 'title'\n\n[^1]: no.md\n\n[note]: see there\n",
            "prose \"[c][r]\"\nlink \"yes.md\"\nlink \"a b.md\"\nprose \"[^1]: no.md\"\nprose \"[note]: see there\"",
        );
    }

    #[test]
    fn prose_excludes_code_links_and_comments() {
        check(
            "See `a b` and [x](y.md \"t\") <!-- no --> end",
            "prose \"See \"\ncode \"a b\"\nprose \" and [x\"\nlink \"y.md\"\nprose \" \"\ncomment \"<!-- no -->\"\nprose \" end\"",
        );
        check("``a ` b`` c", "code \"a ` b\"\nprose \" c\"");
        check("[x](<a b.md>)", "prose \"[x\"\nlink \"a b.md\"");
        check("[x](a(1).md)!", "prose \"[x\"\nlink \"a(1).md\"\nprose \"!\"");
        check("a ` b\n\nc ` d", "prose \"a ` b\"\nprose \"c ` d\"");
        check("\\`a é\\é", "prose \"\\\\`a é\\\\é\"");
    }

    #[test]
    fn indented_text_is_code_except_in_list_items() {
        check("a\n\n    [x](no.md)\n\n\t[y](no.md)\nb", "prose \"a\"\nprose \"b\"");
        check("    [x](no.md)", "");
        check("a\n    b", "prose \"a\\n    b\"");
        check(
            "- a\n\n    b\n\n      c\n\nd\n\n    [x](no.md)",
            "prose \"- a\"\nprose \"    b\"\nprose \"d\"",
        );
        check("12) a\n\n    b", "prose \"12) a\"\nprose \"    b\"");
        check("[^1]: a\n\n    b", "prose \"[^1]: a\"\nprose \"    b\"");
    }

    #[test]
    fn fence_in_a_list_item_ends_with_the_item() {
        check(
            "- a\n\n  ```\n  x\n\nb [c](d)",
            "prose \"- a\"\nclosed fence \"\" \"  x\\n\\n\"\nprose \"b [c\"\nlink \"d\"",
        );
        check(
            "1. a\n   ```\nx\n   ```\nb",
            "prose \"1. a\"\nclosed fence \"\" \"\"\nprose \"x\"\nopen fence \"\" \"b\"",
        );
        check("- a\n\n```\n  x\nb\n```\n", "prose \"- a\"\nclosed fence \"\" \"  x\\nb\\n\"");
        check(
            "- a\n  - b\n    ```\n    x\n",
            "prose \"- a\\n  - b\"\nopen fence \"\" \"    x\\n\"",
        );
    }

    #[test]
    fn verbatim_html_is_not_parsed_as_markdown() {
        for (open, close) in
            [("<pre>", "</pre>"), ("<SCRIPT a=b>", "</script>"), ("  <style", "</style>")]
        {
            check(
                &format!("a\n{open}\n```\n\n[a](no.md)\n{close} x\nb"),
                "prose \"a\"\nprose \"b\"",
            );
        }
        check(
            "<!--\n```\n\n[a](no.md)\n--> x\nb",
            "comment \"<!--\\n```\\n\\n[a](no.md)\\n-->\"\nprose \" x\\nb\"",
        );
        check("<!-- x --> [a](b)", "comment \"<!-- x -->\"\nprose \" [a](b)\"");
        check("<pre>\n\n[a](b)", "");
    }

    #[test]
    fn text_between_tags_is_prose_until_a_blank_line() {
        check(
            "<div>\n`a` <!-- x -->\n\n`b`",
            "prose \"<div>\\n`a` \"\ncomment \"<!-- x -->\"\ncode \"b\"",
        );
        check("<div>\n```\nx", "prose \"<div>\\n```\\nx\"");
        check("a <b>`c`</b>", "prose \"a <b>\"\ncode \"c\"\nprose \"</b>\"");
    }

    #[test]
    fn code_block_below_a_tag_of_a_prompt_is_code() {
        for tag in ["<rules>", "  <Rules-2 a=\"b\"> ", "</rules>", "<rules/>"] {
            let shown = tag.trim_end().replace('"', "\\\"");
            let prose = format!("prose \"{shown}\"\nclosed fence \"\" \"x\\n\"\nprose \"a\"");
            let text = format!("{}\n```\nx\n```\na", tag.trim_end());
            check(&text, &prose);
        }
        check("<a_b>\n<rules> x\n    <rules>\n", "prose \"<a_b>\\n<rules> x\\n    <rules>\"");
    }

    #[test]
    fn fence_indented_like_code_is_not_a_fence() {
        check("a\n    ```\nb", "prose \"a\\n    ```\\nb\"");
        check("a\n\n    ```\n\nb", "prose \"a\"\nprose \"b\"");
        check(
            "1. a\n\n    ```\n    x\n    ```\n",
            "prose \"1. a\"\nclosed fence \"\" \"    x\\n\"",
        );
    }

    #[test]
    fn fence_is_closed_by_a_matching_fence() {
        check(
            "a\n```sh\n`x`\n~~~\n```\nb",
            "prose \"a\"\nclosed fence \"sh\" \"`x`\\n~~~\\n\"\nprose \"b\"",
        );
        check("````\n```\n````", "closed fence \"\" \"```\\n\"");
        check("~~~ x\n[a](b)", "open fence \"x\" \"[a](b)\"");
        check("``` a ``` b", "code \" a \"\nprose \" b\"");
    }

    #[test]
    fn headings_have_level_title_and_lines() {
        let text = "é\r\n# A `b` #\r\n\r\nc\r\nd\r\n---\r\n> # no\r\n\r\n- # no\r\n\r\n#\r\n#no\r\n\r\n  ## [x](y.md)\r\n";
        let body = Body::new(text, Span::new("é".len(), text.len()));
        let shown = body
            .headings
            .iter()
            .map(|it| format!("{} {:?} {:?}", it.level, it.title.slice(text), it.span.slice(text)));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                r##"1 "A `b`" "# A `b` #""##,
                r#"2 "c\r\nd" "c\r\nd\r\n---""#,
                r###"2 "[x](y.md)" "## [x](y.md)""###,
            ]
        );
    }

    #[test]
    fn definitions_and_their_uses_have_normalized_labels() {
        let text = "[a][One\nTwo] ![ONE two][] [one two] x[^N] `[one two]` [none]\n\n> [quoted]: c.md\n\n[one two]:\n  a.md 'title'\n[^N]: note\n\n    more\n\nend\n";
        let body = Body::new(text, Span::new(0, text.len()));
        let shown = body.definitions.iter().map(|it| (&*it.label, it.span.slice(text)));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [("one two", "[one two]:\n  a.md 'title'\n"), ("^n", "[^N]: note\n\n    more\n")]
        );
        let uses = body.references.iter().map(|it| (&*it.label, &text[it.at..it.at + 2]));
        assert_eq!(
            uses.collect::<Vec<_>>(),
            [("one two", "[a"), ("one two", "!["), ("one two", "[o"), ("^n", "[^")]
        );
        assert_eq!(
            body.links.iter().map(|it| it.slice(text)).collect::<Vec<_>>(),
            ["c.md", "a.md"]
        );
    }

    #[test]
    fn targets_may_be_escaped_nested_or_on_the_next_line() {
        for (text, expected) in [
            (r"[x](a\)b.md 'c')", r"a\)b.md"),
            ("[x](\n  a.md\n  \"t\")", "a.md"),
            (r"[a\]](<b\>c> (t))", r"b\>c"),
            ("[![x](a.png)](b.md)", "a.png b.md"),
            ("| a |\n|---|\n| [x](b.md) `\\|` |", "b.md"),
            ("> - [x](b.md)", "b.md"),
            ("[x]() <https://x.org> [y](<>)", ""),
        ] {
            let body = Body::new(text, Span::new(0, text.len()));
            let links: Vec<_> = body.links.iter().map(|it| it.slice(text)).collect();
            assert_eq!(links.join(" "), expected, "{text}");
        }
    }
}
