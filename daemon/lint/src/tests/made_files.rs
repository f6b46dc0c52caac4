//! Paths of files that the text tells to make, and of files in examples.

use skills_syntax::diagnostic::Severity;

use super::false_positives::body;
use crate::testing::Fixture;

/// Files beside the SKILL.md.
const FILES: &str = "//- /w/.claude/skills/pdf/scripts/read.py\nx = 1\n//- /w/.claude/skills/pdf/run.sh\ntrue\n//- /w/.claude/skills/pdf/references/forms.md\n# Forms\n";

/// Returns the severities of findings about paths in a body, of all rules that start with `rule`.
fn severities(rule: &str, text: &str) -> Vec<Severity> {
    let skill = format!("//- /w/.claude/skills/pdf/SKILL.md\n{}{FILES}", body(text));
    let mut found = Fixture::new(&skill).check();
    found.retain(|it| it.rule.id.as_str().starts_with(rule));
    found.iter().map(|it| it.diagnostic.severity).collect()
}

/// Returns the severities of findings about missing files.
fn missing(text: &str) -> Vec<Severity> {
    [severities("body/missing-script", text), severities("body/broken-path", text)].concat()
}

#[test]
fn file_that_the_text_tells_to_make_and_then_uses_is_not_reported() {
    for text in [
        "Create `scripts/new.py` with this text, then run `python scripts/new.py`.",
        "Save the code as `scripts/gen.py` and run `python scripts/gen.py`.",
        "Write the script to `scripts/new.py`, then run:\n\n```sh\npython scripts/new.py\n```",
        "If you need it, write `scripts/helper.py` first, then call `python scripts/helper.py`.",
        "The user provides `scripts/deploy.sh`; run it with `bash scripts/deploy.sh`.",
        "Create `references/new.md`, then read `references/new.md`.",
    ] {
        assert_eq!(missing(text), [], "{text}");
    }
    for text in [
        "Run `python scripts/new.py`.",
        "Create the report, then run `python scripts/new.py`.",
        "Create the report with `python scripts/new.py`.",
        "Never write to `scripts/new.py`. Run `python scripts/new.py`.",
        "Write it as described in `references/new.md`. Read `references/new.md`.",
        "Create `scripts/other.py`, then run `python scripts/new.py`.",
    ] {
        assert!(missing(text).contains(&Severity::Warning), "{text}: {:?}", missing(text));
    }
}

#[test]
fn path_in_an_example_or_of_the_project_is_a_hint_at_most() {
    for text in [
        "Imagine a skill with `scripts/rotate_pdf.py`.",
        "Old: `references/v1.md` → New: `references/forms.md`",
        "A skill that has a script would say \"Run `python scripts/rotate_pdf.py`\".",
        "### Example\n\n```sh\npython scripts/example_task.py\n```",
        "Use project-local validators. Run `./scripts/validate.sh`.",
        "Use project-local validators such as\n`./scripts/validate.sh` to check.",
    ] {
        let found = missing(text);
        assert!(found.iter().all(|it| *it == Severity::Hint), "{text}: {found:?}");
    }
    for text in [
        "New: read `references/v1.md`.",
        "### Usage\n\n```sh\npython scripts/example_task.py\n```",
        "Use project-local validators.\n\nRun `./scripts/validate.sh`.",
        "Imagine a form. Run `python scripts/rotate_pdf.py`.",
    ] {
        assert!(missing(text).contains(&Severity::Warning), "{text}: {:?}", missing(text));
    }
}

#[test]
fn file_named_by_an_escaped_link_or_by_its_directory_is_mentioned() {
    let check = |text: &str| {
        let file = "//- /w/.claude/skills/pdf/references/my file.md\n# A\n";
        let skill = format!("//- /w/.claude/skills/pdf/SKILL.md\n{}{file}", body(text));
        let found = Fixture::new(&skill).check();
        found.iter().filter(|it| it.rule.id.as_str() == "body/unreferenced-file").count()
    };
    assert_eq!(check("Read [a](references/my%20file.md)."), 0);
    assert_eq!(check("Read all in references/."), 0);
    assert_eq!(check("Read [a](references/my%20form.md)."), 1);
    assert_eq!(check("Read references/.hidden."), 1);
}
