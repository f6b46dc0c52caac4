//! Generates pathological texts of any length. Each repeats a part, so that code that scans the
//! rest of the text, or all earlier matches, for each part takes quadratic time.
//!
//! The tests run every feature on them; the `growth` benchmark measures the time.

/// A text that repeats a part; `%` stands for the number of the repetition.
struct Pattern {
    name: &'static str,
    /// The text before the parts, including the closing line of the frontmatter for bodies.
    head: &'static str,
    part: &'static str,
    /// The text after the parts.
    tail: &'static str,
}

/// A body that repeats `part`.
const fn body(name: &'static str, part: &'static str, tail: &'static str) -> Pattern {
    Pattern { name, head: "---\nname: a\n---\n", part, tail }
}

/// A frontmatter that repeats `part` after `head`.
const fn value(
    name: &'static str,
    head: &'static str,
    part: &'static str,
    tail: &'static str,
) -> Pattern {
    Pattern { name, head, part, tail }
}

const BODIES: [Pattern; 50] = [
    body("links unclosed", "[a](", ""),
    body("links closed at the end", "[a](", ")"),
    body("links in angles unclosed", "[a](<", ""),
    body("links in angles closed at the end", "[a](<", ">"),
    body("links in angles with a title", "[a](<", " ) >"),
    body("links with a title unclosed", "[a](b ", ""),
    body("links with a title", "[a](b ", ")"),
    body("links with a blank", "[a]( ", ""),
    body("links to one file", "[a](b.md) ", ""),
    body("links to many files", "[a](references/b%.md) ", ""),
    body("links to unknown anchors", "## Heading %\n\nSee [x](#headin-%x).\n", ""),
    body(
        "links, code and names",
        "## A %\n\n[x](b/c.md), `b/d.sh`, the `skill-name` skill.\n\n",
        "",
    ),
    body("links in lines", "[a](references/b%.md)\n", ""),
    body("pictures", "![", ""),
    body("brackets", "[", ""),
    body("brackets in brackets", "[[a]", "]("),
    body("closing brackets", "]", ""),
    body("closing brackets with targets", "](", ")"),
    body("comments unclosed", "<!--", ""),
    body("suppressions on one line", "<!-- skillsd-ignore body/long -->", ""),
    body("suppressions with links", "<!-- skillsd-ignore a/b --> [x](y/z.md)\n", ""),
    body("suppressions and findings", "<!-- skillsd-ignore body/long -->\n/home/x%y/z\n", ""),
    body("suppressions and blank lines", "<!-- skillsd-ignore body/long -->\n\n", ""),
    body("code on one line", "`a/b.md` ", ""),
    body("code to many files", "`scripts/a%.sh` ", ""),
    body("backticks", "`", ""),
    body("backticks escaped", "\\`` ", "`"),
    body("backticks unclosed", "`` \\", ""),
    body("dollars", "$", ""),
    body("arguments", "$1 ", ""),
    body("arguments in braces", "${ARGUMENTS} ${ARGUMENT} ", ""),
    body("arguments in many braces", "${ARGUMENT%} ", ""),
    body("amounts", "costs $5 $ARGUMENTS ", ""),
    body("variables unclosed", "${CLAUDE_", ""),
    body("variables unknown", "${CLAUDE_SKIL_DIR} ", ""),
    body("skills named", "`/skill-naem%` ", ""),
    body("words with slashes", "a/", "b.md"),
    body("ways up", "../", "b.md"),
    body("imports", "@a/b.md ", ""),
    body("headings", "# a\n", ""),
    body("headings below headings", "###### a\n## b\n", ""),
    body("fences", "```\n", ""),
    body("quotes", "> ", "x"),
    body("items", "- ", "x"),
    body("commands", "!`curl x | sh` ", ""),
    body("code with arguments", "```sh\nawk $1 ", "\n```\n"),
    body("homes", "/home/x%/y ", ""),
    body("letters that hide", "a\u{200B}", ""),
    body("keys", "-----BEGIN PRIVATE KEY-----\nAKIAIOSFODNN7% ", ""),
    body("lone carriage returns", "a\r", "\n"),
];

const VALUES: [Pattern; 56] = [
    value("keys unknown", "", "k%: v\n", ""),
    value("keys unknown beside metadata", "metadata:\n  a: b\n", "k%: v\n", ""),
    value("keys alike", "", "k: v\n", ""),
    value("keys twice with other values", "", "k: v%\n", ""),
    value("keys misspelled", "", "alowed-tools%: Read\n", ""),
    value("keys without a colon", "", "k%\n", ""),
    value("keys without a blank", "", "k%:v\n", ""),
    value("keys in braces on one line", "{", "k%: v, ", "}\n"),
    value("keys in braces in lines", "{\n", "k%: v,\n", "}\n"),
    value("keys behind a long comment", "", "# %\n", "k: v\n"),
    value("keys with colons", "", "k%: a: b\n", ""),
    value("keys with brackets open", "", "k%: [a\n", ""),
    value("keys with quotes open", "", "k%: \"a\n", ""),
    value("keys with tabs", "k:\n", "\tk%: v\n", ""),
    value("keys indented more and more", "", "k%: v\n j%: w\n", ""),
    value("sentences that go on", "description: a b\n", "and a sentence goes on here\n", ""),
    value("control characters", "", "k%: a\u{8}b\n", ""),
    value("comments and keys", "", "# c\nk%: v\n", ""),
    value("comments indented", "k:\n  a: b\n", "    # c%\n", ""),
    value("comments behind values", "", "description%: a #b\n", ""),
    value("suppressions above", "", "# skillsd-ignore: field/unknown\nk%: v\n", ""),
    value("suppressions behind", "", "k%: v # skillsd-ignore: field/unknown\n", ""),
    value("suppressions of nothing", "", "# skillsd-ignore: a/b%\n", ""),
    value("blank lines", "k: v\n", "\n", "j: v\n"),
    value("maps in a map", "metadata:\n", "  k%: 1.10\n", ""),
    value("maps in lists", "x:\n", "  - k%: yes\n", ""),
    value("lists in lists", "x: ", "[", ""),
    value("maps in braces in braces", "x: ", "{a: ", ""),
    value("deep and wide", "x:\n", "  - [[[[[[[[a]]]]]]]]\n", ""),
    value("anchors and aliases", "", "k%: &a% v\nj%: *a%\n", ""),
    value("one anchor and aliases", "k: &a v\nx:\n", "  - *a\n", ""),
    value("anchors in a list and aliases", "x:\n", "  - &a% v\n  - *a%\n", ""),
    value("aliases of nothing", "", "k%: *a%\n", ""),
    value("aliases in broken keys", "b: c: d\n", "k%: &a% v\nj%: *a%\n", ""),
    value("values that surprise", "x: [", "yes, ", "]\n"),
    value("a quote open", "x: \"", "a ", "\n"),
    value("a long word", "x: ", "a", "\n"),
    value("a long text in lines", "description: >\n", "  I can do. <a \n", ""),
    value("a long text with tags", "description: ", "I <a> ", "\n"),
    value("tools misspelled", "allowed-tools: ", "Raed, ", "\n"),
    value("tools renamed in a list", "allowed-tools: [", "MultiEdit, ", "]\n"),
    value("tools unknown in lines", "allowed-tools:\n", "  - Tool%\n", ""),
    value("tools known in one item", "allowed-tools:\n", "  - Read Write\n", ""),
    value("tools with parentheses", "allowed-tools: ", "Bash(a% *) ", "\n"),
    value("tools with parentheses open", "allowed-tools: ", "Read(", "\n"),
    value("arguments", "arguments: [", "a%, ", "]\n"),
    value("arguments in words", "arguments: ", "a% ", "\n"),
    value("globs", "paths:\n", "  - a%/*.rs\n", ""),
    value("globs that take out", "paths:\n  - '**'\n", "  - '!a%/**'\n", ""),
    value("globs that take out of nothing", "paths:\n", "  - '!a%'\n", ""),
    value("globs that match all", "paths:\n", "  - '**'\n", ""),
    value("globs with braces", "paths: ", "{a,b}", "\n"),
    value("globs with ranges", "paths:\n", "  - a%{1..3}\n", ""),
    value("hooks of no event", "hooks:\n", "  Stpo%:\n    - matcher: (a\n", ""),
    value(
        "hooks in groups",
        "hooks:\n  PreToolUse:\n",
        "    - matcher: a\n      hooks:\n        - command: a\n",
        "",
    ),
    value(
        "hooks with keys on one line",
        "hooks: {PreToolUse: [{hooks: [{type: command, command: a, ",
        "k%: v, ",
        "}]}]}\n",
    ),
];

impl Pattern {
    fn text(&self, length: usize) -> String {
        format!("{}{}{}", self.head, repeated(self.part, length), self.tail)
    }
}

/// Repeats a part up to `length` bytes, replacing `%` by the number of the repetition.
fn repeated(part: &str, length: usize) -> String {
    let mut text = String::with_capacity(length + part.len());
    let mut number = 0;
    while text.len() < length {
        text.push_str(&part.replace('%', &number.to_string()));
        number += 1;
    }
    text
}

/// Returns named texts of about `length` bytes: bodies, then frontmatters.
pub(super) fn texts(length: usize) -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> =
        BODIES.iter().map(|it| (it.name.to_owned(), it.text(length) + "\n")).collect();
    let mut add = |name: &str, text: String| texts.push((name.to_owned(), text));
    let whole = |head: &str, body: &str| format!("---\nname: a\n{head}---\n{body}\n");
    add("named arguments used", whole("arguments: [a]\n", &"$a $5 ".repeat(length / 6)));
    add(
        "programs of awk",
        whole("", &format!("```sh\n{}\n```", "awk {$1} $2 ".repeat(length / 12))),
    );
    let longest = length.isqrt();
    add(
        "backticks more and more",
        whole("", &(1..longest).map(|it| "`".repeat(it) + " ").collect::<String>()),
    );
    let arguments = repeated(" a%", length / 2);
    let used = repeated(" $a%", length / 2);
    add("arguments declared and used", whole(&format!("arguments:{arguments}\n"), &used));
    let tools = repeated(" Bash(a%)", length / 2);
    let both = format!("allowed-tools:{tools}\ndisallowed-tools:{tools}\n");
    add("tools allowed and not", whole(&both, "b"));
    for pattern in &VALUES {
        let values = pattern.text(length);
        let values = values.trim_end_matches('\n');
        let own = |name: &str| format!("{}{name}", pattern.name);
        add(&own(""), format!("---\n{values}\n---\nBody.\n"));
        add(&own(", unclosed"), format!("---\n{values}\n"));
        add(&own(", in CRLF"), format!("---\n{values}\n---\nBody.\n").replace('\n', "\r\n"));
    }
    texts
}
