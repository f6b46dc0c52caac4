//! Findings about the skill's other files that the body links to.

use crate::testing::Fixture;

fn skill(body: &str) -> String {
    format!("---\nname: pdf\ndescription: Reads. Use when asked.\n---\n{body}\n")
}

#[test]
fn missing_heading_that_a_linked_file_links_to_is_reported_at_the_link() {
    let body = "Read [the forms](references/forms.md).\n\n## Own title";
    let found = |forms: &str| {
        let files = [("forms.md", forms), ("fields.md", "# Fields\n\n## Two words\n")];
        let files =
            files.map(|(path, text)| format!("//- /w/skills/pdf/references/{path}\n{text}\n"));
        let text = format!("//- /w/skills/pdf/SKILL.md\n{}\n{}", skill(body), files.concat());
        let found = Fixture::new(&text).check().into_iter();
        found.filter(|it| it.rule.id.as_str() == "body/broken-anchor").collect::<Vec<_>>()
    };
    for (forms, expected) in [
        ("# Forms\n\n[a](#nowhere)", ", but the file has no such heading"),
        ("# Forms\n\n[a](fields.md#nowhere)", ", but `references/fields.md` has no such heading"),
        ("# Forms\n\n[a](../SKILL.md#nowhere)", ", but `SKILL.md` has no such heading"),
        (
            "# Forms\n\n[a](#nowhere) [b](#gone) [b](#gone)",
            " and 1 more heading that the file does not have",
        ),
        (
            "# Forms\n\n[a](fields.md#nowhere) [b](fields.md#gone) [c](fields.md#lost)",
            " and 2 more headings that `references/fields.md` does not have",
        ),
        ("# Forms\n\n[a](#nowhere) [b](fields.md#gone)", " and 1 more heading, which do not exist"),
    ] {
        let [finding] = &found(forms)[..] else { panic!("{forms}") };
        let expected = format!("`references/forms.md:3` links to `#nowhere`{expected}");
        assert_eq!(finding.diagnostic.message, expected);
        assert_eq!(finding.diagnostic.span.slice(&skill(body)), "references/forms.md");
        assert_eq!(finding.related.len(), 1);
    }
    for forms in [
        "# Forms\n\n[a](#forms) [b](fields.md#two-words) [c](../SKILL.md#own-title) [d](#top)",
        "# Forms\n\n[a](no.md#x) [b](https://example.org/x.md#y) [c](../../other/x.md#y)",
        "```md\n[a](#nowhere)\n```",
        "- \"See [a](#nowhere) for forms\"",
        "<a id=\"here\"></a>\n\n[a](#here)",
    ] {
        assert_eq!(found(forms).len(), 0, "{forms}");
    }
    // Correct links to SKILL.md do not hide a broken one after them.
    let correct: Vec<_> = (0..200).map(|it| format!("[a](../SKILL.md#own-title-{it})\n")).collect();
    let correct = correct.concat();
    for (target, others) in [("#nowhere", 0), ("../SKILL.md#nowhere", 0), ("#nowhere", 99)] {
        let others: Vec<_> = (0..others).map(|it| format!(" [a](#gone-{it}x)")).collect();
        let others = others.concat();
        let found = found(&format!("# Forms\n\n{correct}[a]({target}){others}"));
        let [finding] = &found[..] else { panic!("{target}: {found:?}") };
        let message = &finding.diagnostic.message;
        assert!(message.contains("forms.md:203` links to `#nowhere`"), "{message}");
        assert_eq!(message.contains(" and 99 more headings"), !others.is_empty(), "{message}");
    }
    let examples = "//- /w/skills/pdf/examples/a.md\n[a](#nowhere)\n";
    let text = skill("Read [a](examples/a.md).");
    let text = format!("//- /w/skills/pdf/SKILL.md\n{text}\n{examples}");
    assert_eq!(Fixture::new(&text).check().len(), 0, "an example");
}

#[test]
fn missing_file_that_a_linked_file_links_to_is_reported_at_the_link() {
    let fixture = |body: &str, forms: &str| {
        let files = [("references/forms.md", forms), ("references/fields.md", "# Fields\n")];
        let files = files.map(|(path, text)| format!("//- /w/skills/pdf/{path}\n{text}")).concat();
        let docs = "//- /w/docs/guide.md\n# Guide\n";
        format!("//- /w/skills/pdf/SKILL.md\n{}\n{files}{docs}", skill(body))
    };
    let finding = |body: &str, forms: &str| {
        let found = Fixture::new(&fixture(body, forms)).check();
        found.into_iter().find(|it| it.rule.id.as_str() == "body/broken-link")
    };
    let links =
        "# Forms\n\nSee [a](fields.md), [b](feilds.md), [c](more/x.md) and [d](more/x.md).\n";
    for body in ["Read [the forms](references/forms.md).", "Read `references/forms.md`."] {
        let finding = finding(body, links).expect("it is found");
        assert_eq!(
            finding.diagnostic.message,
            "`references/forms.md:3` links to `references/feilds.md`, which does not exist, and to 1 more missing file"
        );
        assert_eq!(finding.diagnostic.span.slice(&skill(body)), "references/forms.md");
        assert_eq!(finding.related.len(), 1);
        assert!(finding.offers.iter().any(|it| it.title() == "Create `references/feilds.md`"));
    }
    let own = "Read [the forms](references/forms.md) and [b](references/feilds.md).";
    let found = Fixture::new(&fixture(own, "[b](feilds.md)")).check();
    let told = found.iter().filter(|it| it.rule.id.as_str() == "body/broken-link");
    assert_eq!(told.count(), 1, "the body reports the file");
    let link = "Read [the forms](references/forms.md).";
    for forms in [
        "[a](fields.md) [b](references/fields.md) [c](./) [d](#fields) [e](../SKILL.md)",
        "[a](docs/guide.md) [b](https://example.org/x.md) [c](../../other/x.md) [d](page)",
        "[a](path/to/x.md) [b](your-file.md) Create [c](plan.md)",
        "```markdown\n# N\n```sh\nls\n```\n## M\n[a](gone.md)\n```\n## Links\n",
        "[a](www.example.com) [b](example.org/x.md) items[i](obj.method) [c](fields.html)",
        "```md\n[a](no.md)\n```",
        "- \"See [a](no.md) for forms\"",
    ] {
        assert!(finding(link, forms).is_none(), "{forms}");
    }
    assert!(finding("Read the file.", links).is_none(), "the body does not link to it");
    let found = |body: &str, file: &str| {
        let broken = format!("//- /w/skills/pdf/{file}\n[a](no.md)\n");
        let found = Fixture::new(&(fixture(body, "x") + &broken)).check();
        found.iter().any(|it| it.rule.id.as_str() == "body/broken-link")
    };
    assert!(found("Read `references/resampled.md`.", "references/resampled.md"));
    assert!(!found("Read `references/two-samples.md`.", "references/two-samples.md"));
    assert!(!found("Read `examples/a.md`.", "examples/a.md"));
    let template = fixture("Fill in [it](assets/form.md).", "x")
        + "//- /w/skills/pdf/assets/form.md\n[a](no.md)\n";
    let found = Fixture::new(&template).check();
    assert!(found.iter().all(|it| it.rule.id.as_str() != "body/broken-link"), "{found:?}");
}

#[test]
fn links_in_a_list_of_examples_of_a_linked_file_are_not_followed() {
    let found = |forms: &str| {
        let files = format!("//- /w/skills/pdf/references/forms.md\n{forms}\n");
        let body = skill("Read [the forms](references/forms.md).");
        let found = Fixture::new(&format!("//- /w/skills/pdf/SKILL.md\n{body}{files}")).check();
        let is_about = |it: &&crate::Finding| {
            ["body/broken-link", "body/broken-anchor"].contains(&it.rule.id.as_str())
        };
        found.iter().filter(is_about).count()
    };
    for (forms, n_found) in [
        ("For example:\n\n- [a](gone.md)\n- [b](lost.md#x)\n- [c](#nowhere)", 0),
        ("For example:\n\n**It might include:**\n\n- [a](gone.md)", 0),
        ("| Example |\n|---|\n| [a](gone.md) |", 0),
        ("Read these:\n\n- [a](gone.md)\n- [c](#nowhere)", 2),
        ("For example:\n\nRead [a](gone.md).", 1),
    ] {
        assert_eq!(found(forms), n_found, "{forms}");
    }
}
