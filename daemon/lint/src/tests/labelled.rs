//! Precision and recall on findings labelled by hand.
//!
//! `labelled.jsonl` has one finding a line: an excerpt of a public skill with the files beside it
//! and excerpts of them (`texts`), and the label, given by reading before the rules were tuned. The
//! repository `own text` stands for a text of ours with the form of several public ones; the table
//! leaves it out.
//! `right` is true if the text is wrong at that place. Recall also counts the planted defects of
//! `samples`. The counts are in a table of `docs/check.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_yaml::Value;
use skills_syntax::diagnostic::Severity;
use skills_syntax::text::LineIndex;

use crate::testing::Fixture;

const LABELLED: &str = include_str!("labelled.jsonl");
const PAGE: &str = include_str!("../../../../docs/check.md");

/// A labelled finding.
struct Label {
    rule: String,
    right: bool,
    /// Line of the text, from 1; 0 for the whole file.
    line: usize,
    /// Text that the finding is about.
    target: String,
    place: String,
    text: String,
    fixture: String,
}

impl Label {
    fn new(line: &str) -> Self {
        // JSON is also YAML.
        let value: Value = serde_yaml::from_str(line).unwrap();
        let field = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let list = |key: &str| -> Vec<String> {
            let items = value[key].as_sequence().into_iter().flatten();
            items.map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        let path = field("path");
        let mut text = field("text");
        let mut line = usize::try_from(value["line"].as_u64().unwrap()).unwrap();
        if !text.starts_with("---\n") && field("rule") != "yaml/no-frontmatter" {
            let name = path.rsplit('/').nth(1).unwrap();
            let head = format!("---\nname: {name}\ndescription: Reads. Use when asked.\n---\n");
            line += head.lines().count();
            text = head + &text;
        }
        let mut fixture = format!("//- /w/{path}\n{text}");
        for file in list("files") {
            // Another skill has the same name.
            let default = if file.ends_with("/SKILL.md") { &*text } else { "Text.\n" };
            let content = value["texts"][&*file].as_str().unwrap_or(default);
            let _ = write!(fixture, "//- /w/{file}\n{content}");
        }
        for name in list("skills") {
            let head = format!("---\nname: {name}\ndescription: Reads. Use when asked.\n---\n");
            let _ = write!(fixture, "//- /w/.claude/skills/{name}/SKILL.md\n{head}Text.\n");
        }
        let place = format!("{} {path}:{line}", field("repo"));
        let right = value["right"].as_bool().unwrap();
        Self { rule: field("rule"), right, line, target: field("target"), place, text, fixture }
    }

    /// Returns true for a text of ours.
    fn is_own_text(&self) -> bool {
        self.place.starts_with("own text ")
    }

    /// Returns the severity of the finding that the rule reports at the place.
    fn reported(&self) -> Option<Severity> {
        let lines = LineIndex::new(&self.text);
        let found = Fixture::new(&self.fixture).check();
        let here = found.iter().filter(|it| {
            let span = it.diagnostic.span;
            let (line, _) = lines.display(&self.text, span.start);
            let written = span.slice(&self.text);
            it.rule.id.as_str() == self.rule
                && (self.line == 0 || line as usize == self.line)
                && (self.rule == "description/unwritten"
                    || written.contains(&self.target)
                    || self.target.contains(written)
                    || self.target.is_empty())
        });
        here.map(|it| it.diagnostic.severity).min()
    }
}

/// Counts of one rule.
#[derive(Default)]
struct Counts {
    right: usize,
    wrong: usize,
    /// Right and wrong places reported as an error or a warning.
    told: (usize, usize),
    /// Right and wrong places reported as information or a hint.
    hinted: (usize, usize),
    /// Planted defects, and those that are found.
    planted: (usize, usize),
}

impl Counts {
    /// Returns the precision of errors and warnings in percent.
    fn precision(&self) -> Option<usize> {
        let all = self.told.0 + self.told.1;
        (all > 0).then(|| self.told.0 * 100 / all)
    }

    fn recall(&self) -> Option<usize> {
        let all = self.right + self.planted.0;
        let found = self.told.0 + self.hinted.0 + self.planted.1;
        (all > 0).then(|| found * 100 / all)
    }
}

#[test]
fn errors_and_warnings_on_labelled_findings_are_right() {
    let mut rules: BTreeMap<String, Counts> = BTreeMap::new();
    let (mut own, mut mistakes) = (Counts::default(), String::new());
    for line in LABELLED.lines() {
        let label = Label::new(line);
        let reported = label.reported();
        // The table counts public texts only.
        let counts = if label.is_own_text() {
            &mut own
        } else {
            rules.entry(label.rule.clone()).or_default()
        };
        let is_told = reported.is_some_and(|it| it <= Severity::Warning);
        let (all, told) = if label.right {
            (&mut counts.right, (&mut counts.told.0, &mut counts.hinted.0))
        } else {
            (&mut counts.wrong, (&mut counts.told.1, &mut counts.hinted.1))
        };
        *all += 1;
        match reported {
            Some(_) if is_told => *told.0 += 1,
            Some(_) => *told.1 += 1,
            None => {}
        }
        if label.right != reported.is_some() || is_told && !label.right {
            let Label { rule, right, place, target, .. } = &label;
            let _ = writeln!(mistakes, "{rule} {right} {reported:?} {place} {target}");
        }
    }
    for (rule, is_found) in super::samples::planted_defects() {
        let counts = rules.entry(rule.to_owned()).or_default();
        counts.planted.0 += 1;
        counts.planted.1 += usize::from(is_found);
    }
    let shown = |it: Option<usize>| it.map_or("–".to_owned(), |it| format!("{it} %"));
    let mut table = String::from(
        "| Rule | Places with a fault | Planted defects | Places without | Precision of errors and warnings | Recall | Hints at places without |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for (rule, counts) in &rules {
        let Counts { right, wrong, hinted, planted: (planted, _), .. } = counts;
        let (precision, recall) = (shown(counts.precision()), shown(counts.recall()));
        let hints = hinted.1;
        let _ = writeln!(
            table,
            "| `{rule}` | {right} | {planted} | {wrong} | {precision} | {recall} | {hints} |"
        );
    }
    assert!(LABELLED.lines().count() >= 300);
    assert_eq!((own.precision(), own.recall()), (Some(100), Some(100)), "{mistakes}");
    for (rule, counts) in &rules {
        assert!(counts.precision().is_none_or(|it| it >= 98), "{rule}\n{table}\n{mistakes}");
    }
    assert!(PAGE.contains(&table), "docs/check.md needs this table:\n{table}\n{mistakes}");
}
