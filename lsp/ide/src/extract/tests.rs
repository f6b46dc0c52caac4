//! Tests of extraction: pages, links, definitions, and random sections.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use skills_agents::skill::parse;
use skills_lint::PathKind;

use super::*;
use crate::tests::with_subject_at;

const SKILL: &str = "/w/.claude/skills/a/SKILL.md";

/// The files of the skill's directory.
struct SkillFiles(Vec<String>);

impl SkillFiles {
    fn new(files: &[&str]) -> Self {
        Self(files.iter().map(|it| (*it).to_owned()).collect())
    }
}

impl FsContext for SkillFiles {
    fn look(&self, relative: &str) -> Option<PathKind> {
        let is_there = self.0.iter().any(|it| it == relative);
        let file = PathKind::File { executable: true, script: true };
        Some(if is_there { file } else { PathKind::Missing })
    }

    fn files(&self) -> Option<&[String]> {
        Some(&self.0)
    }
}

/// Returns the remaining text and the page, if the section is long enough.
fn split(text: &str, at: usize, files: &[&str]) -> Option<(String, String)> {
    with_subject_at(SKILL, text, |subject| {
        let body = Body::new(subject.text, subject.document.body);
        let fs = SkillFiles::new(files);
        let change = extract_section(subject, &body, &fs, at)?.change();
        Some((apply(text, &change.edits), change.created_text))
    })
}

/// `…` stands for lines that make the section long enough.
#[track_caller]
fn check(marked: &str, files: &[&str], expected: &Expect) {
    let at = marked.find('|').unwrap();
    let lines = "line\n".repeat(MIN_LINES);
    let text = marked.replacen('|', "", 1).replace("…\n", &lines);
    let shown = split(&text, at, files)
        .map_or_else(String::new, |(rest, page)| format!("{rest}=\n{page}").replace(&lines, "…\n"));
    expected.assert_eq(&shown);
}

#[test]
fn long_section_is_extracted_to_a_page() {
    check(
        "---\nname: a\n---\n# A\n\n## All forms!\n\nSee [x](references/x.md), [y](scripts/y.py#a), [m](<SKILL.md>) and [z](https://z).\n\n…\n### Deep|er\nx\n\n## Next\nx\n",
        &[],
        &expect![[r##"
            ---
            name: a
            ---
            # A

            ## All forms!

            Read [All forms!](references/all-forms.md).

            ## Next
            x
            =
            # All forms!

            See [x](x.md), [y](../scripts/y.py#a), [m](<../SKILL.md>) and [z](https://z).

            …
            ## Deeper
            x
        "##]],
    );
}

#[test]
fn underlined_headings_are_sections_and_raised_with_their_section() {
    check(
        "---\nname: a\n---\nA\n=\n\nBig|\n---\n\n…\n### Sub\nx\n\nNext\n---\nx\n",
        &[],
        &expect![[r##"
            ---
            name: a
            ---
            A
            =

            Big
            ---

            Read [Big](references/big.md).

            Next
            ---
            x
            =
            Big
            ===

            …
            ## Sub
            x
        "##]],
    );
}

#[test]
fn sections_with_variables_are_not_extracted() {
    for with in ["$ARGUMENTS", "${CLAUDE_SKILL_DIR}", "!`ls`"] {
        check(&format!("---\nname: a\n---\n# A|\n{with}\n…\n"), &[], &expect![[""]]);
    }
    check("---\nname: a\n---\n# Short|\nx\n", &[], &expect![[""]]);
}

#[test]
fn heading_links_follow_the_extracted_headings() {
    check(
        "---\nname: a\n---\n[in](#sub) [own](#big--one) [two](#use-1)\n## Use\n## Big 😀 one|\n[self](#after) [sub](#sub) [own](#big--one) [use](#use-1) [first](#use) [file](SKILL.md#after) [no](#nowhere)\n…\n### Sub\n### Use\n## After\n[up](SKILL.md#sub), [here](#after)\n",
        &[],
        &expect![[r##"
            ---
            name: a
            ---
            [in](references/big-one.md#sub) [own](#big--one) [two](references/big-one.md#use)
            ## Use
            ## Big 😀 one

            Read [Big 😀 one](references/big-one.md).

            ## After
            [up](references/big-one.md#sub), [here](#after)
            =
            # Big 😀 one
            [self](../SKILL.md#after) [sub](#sub) [own](#big--one) [use](#use) [first](../SKILL.md#use) [file](../SKILL.md#after) [no](#nowhere)
            …
            ## Sub
            ## Use
        "##]],
    );
}

#[test]
fn label_definitions_move_with_their_uses() {
    check(
        "---\nname: a\n---\n## Big|\n\nSee [self](#after), [ref][r], [both] and note[^1].\n\n…\n## After\n\n[both], [^2] [inner][i]\n\n[r]: x.md 't'\n[both]: #after\n[^1]: foot [r]\n[^2]: other\n\n## Last\nx\n",
        &["x.md"],
        &expect![[r##"
            ---
            name: a
            ---
            ## Big

            Read [Big](references/big.md).

            ## After

            [both], [^2] [inner][i]

            [both]: #after
            [^2]: other

            ## Last
            x
            =
            # Big

            See [self](../SKILL.md#after), [ref][r], [both] and note[^1].

            …

            [r]: ../x.md 't'
            [both]: ../SKILL.md#after
            [^1]: foot [r]
        "##]],
    );
    // The last section holds definitions that other sections use.
    check(
        "---\nname: a\n---\n[a], [b]\n\n## Big|\n\n[b]\n\n…\n\n[a]: x.md\n[b]: references/y.md\n",
        &["x.md"],
        &expect![[r##"
            ---
            name: a
            ---
            [a], [b]

            ## Big

            Read [Big](references/big.md).

            [a]: x.md
            [b]: references/y.md
            =
            # Big

            [b]

            …

            [b]: y.md
        "##]],
    );
    // Removing the definitions also removes the blank line before them.
    check(
        "---\nname: a\n---\n## Big|\n\n[r], [^1]\n\n…\n## After\n\nx\n\n[r]: https://e.org\n[^1]: foot\n",
        &[],
        &expect![[r##"
            ---
            name: a
            ---
            ## Big

            Read [Big](references/big.md).

            ## After

            x
            =
            # Big

            [r], [^1]

            …

            [r]: https://e.org
            [^1]: foot
        "##]],
    );
}

#[test]
fn pointer_mentions_files_that_only_the_page_names() {
    check(
        "---\nname: a\n---\n## Big|\n\nRun `scripts/x.sh`, assets/y.json, and/or `python scripts/x.sh`; [it](LICENSE) [no](word).\n\n```sh\nscripts/x.sh\n```\n\n…\n## After\nx\n",
        &["scripts/x.sh", "assets/y.json", "references/z.md", "LICENSE"],
        &expect![[r##"
            ---
            name: a
            ---
            ## Big

            Read [Big](references/big.md), which mentions `scripts/x.sh` and `assets/y.json`.

            ## After
            x
            =
            # Big

            Run `../scripts/x.sh`, ../assets/y.json, and/or `python scripts/x.sh`; [it](../LICENSE) [no](word).

            ```sh
            scripts/x.sh
            ```

            …
        "##]],
    );
}

/// Returns the broken links of a file: paths, headings and labels without a target.
fn broken(text: &str, dir: &str, other: &str) -> BTreeSet<String> {
    let document = parse(text);
    let body = Body::new(text, document.body);
    let names = |text: &str| {
        let document = parse(text);
        let all = sections(&document, &Body::new(text, document.body));
        let end = Span::empty(text.len());
        let found = anchors(text, &all, end, end).into_iter();
        found.filter_map(|(_, it)| it.in_text).collect::<BTreeSet<_>>()
    };
    let at = |it: &str| AbsPath::new(std::path::Path::new(it)).unwrap();
    let mut broken = BTreeSet::new();
    for link in &body.links {
        let target = link.slice(text);
        let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
        let is_there = match path {
            "" => names(text).contains(fragment),
            it if it.contains("://") => true,
            it => {
                let path = at(dir).join_lexically(it);
                let is_file = [at("/s/references/x.md"), at("/s/scripts/y.sh")].contains(&path);
                let is_skill = path == at("/s/SKILL.md");
                let is_own = is_skill == (dir == "/s");
                let names = names(if is_own { text } else { other });
                let is_ours = is_skill || path == at("/s/references/b.md");
                is_file || is_ours && (fragment.is_empty() || names.contains(fragment))
            }
        };
        if !is_there {
            broken.insert(target.to_owned());
        }
    }
    let labels = ["[r]", "[q]", "[^1]", "[^2]"];
    for label in labels {
        let is_used = text.matches(label).count() > text.matches(&format!("{label}:")).count();
        if is_used && !text.contains(&format!("\n{label}:")) {
            broken.insert(label.to_owned());
        }
    }
    broken
}

#[test]
fn extraction_breaks_no_link_in_random_sections() {
    const SAID: [&str; 12] = [
        "[a](references/x.md)",
        "[b](scripts/y.sh#z)",
        "[c](#b)",
        "[d](#one)",
        "[e](#two)",
        "[f](SKILL.md#two)",
        "[g][r]",
        "[q]",
        "note[^1]",
        "other[^2]",
        "`scripts/y.sh`",
        "[h](#one-1)",
    ];
    const DEFINED: [&str; 5] =
        ["[r]: references/x.md", "[q]: #two", "[^1]: see [r]", "[^2]: [i](#one)", "plain"];
    let files = ["references/x.md", "scripts/y.sh"];
    // Deterministic pseudo-random numbers.
    let mut state = 7_u32;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % limit
    };
    for round in 0..200 {
        let mut say = |n: usize| {
            let said: Vec<_> = (0..n).map(|_| SAID[below(SAID.len())]).collect();
            said.join(" ")
        };
        let (first, inner, last) = (say(4), say(6), say(4));
        let place = below(3);
        let defined = DEFINED.join("\n");
        let here = |it: usize| if it == place { &*defined } else { "plain" };
        let lines = "line\n".repeat(MIN_LINES);
        let text = format!(
            "---\nname: s\n---\n# One\n\n{first}\n\n{}\n\n## B\n\n{inner}\n\n{lines}\n{}\n\n### One\n\nx\n\n## Two\n\n{last}\n\n{}\n",
            here(0),
            here(1),
            here(2)
        );
        let before = broken(&text, "/s", &text);
        assert!(before.is_empty(), "{round}: {before:?}\n{text}");
        let at = text.find("## B").unwrap();
        let (rest, page) = split(&text, at, &files).unwrap();
        let found = broken(&rest, "/s", &page);
        assert!(found.is_empty(), "{round}: {found:?}\n{rest}\n=\n{page}");
        let found = broken(&page, "/s/references", &rest);
        assert!(found.is_empty(), "{round}: {found:?}\n{rest}\n=\n{page}");
        assert!(rest.contains("scripts/y.sh") || !text.contains("scripts/y.sh"), "{rest}");
    }
}
