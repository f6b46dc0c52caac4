//! Arguments in the body of a skill.

use crate::testing::Fixture;

const HEAD: &str = "---\nname: pdf\ndescription: Reads. Use when asked.\narguments: [id, issues]\nargument-hint: issues\n---\n";

#[test]
fn argument_in_braces_is_reported_everywhere_and_fixed_where_it_is_certain() {
    let found = |body: &str| {
        let text = format!("{HEAD}{body}\n");
        let mut found = Fixture::new(&text).check_for_fixing();
        found.retain(|it| it.rule.id.as_str() == "body/unknown-variable");
        found
    };
    for (body, is_certain) in
        [("Fix ${issues}.", true), ("Fix `${issues}`.", false), ("Fix ${id}.", false)]
    {
        let found = found(body);
        assert_eq!(found.len(), 1, "{body}");
        assert_eq!(found[0].only_fix().is_some(), is_certain, "{body}");
    }
    assert_eq!(found(&"${issues} ".repeat(500)).len(), 500);
    // Each word is looked up once, and only so many words.
    let others = (0..64).map(|it| format!("${{other_{it}}}")).collect::<Vec<_>>().join(" ");
    assert_eq!(found(&format!("${{issues}} {others} ${{issues}} ${{isues}}")).len(), 2);
}
