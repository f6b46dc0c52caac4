//! `skillsd/*`: what is about the findings themselves.

use skills_syntax::diagnostic::Severity;

use super::rule::Rule;

const WELL: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";

pub(super) static RULES: [Rule; 2] = [
    Rule::new(
        "skillsd/unknown-rule",
        Severity::Warning,
        "A comment suppresses a rule that there is not.",
        "It has no effect, and the finding that it was written for is shown.",
        "Write the id of a rule, or `family/*`.",
    )
    .texts(
        "---\n# skillsd-ignore: name/no-such\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
        "---\n# skillsd-ignore: name/directory\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n",
    ),
    Rule::new(
        "skillsd/too-many",
        Severity::Information,
        "There are more findings than are shown.",
        "Nobody reads more than a hundred findings of one file.",
        "Mend the first ones; the others follow.",
    )
    .whole_file()
    .texts("(a hundred findings and one)", WELL),
];
