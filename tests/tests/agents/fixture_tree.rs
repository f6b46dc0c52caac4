//! The common fixture: every place that some agent searches, duplicates, links, depths and broken
//! frontmatter.

use skills_agents::profile;

use crate::agent_trees::Tree;
use crate::claude::Entry;
use crate::listing_agents::scripted;

/// Frontmatter in each form, by the directory of the skill.
const SHAPES: [(&str, &str); 62] = [
    ("no-name", "---\ndescription: desc without name\n---\nBody.\n"),
    ("no-desc", "---\nname: no-desc\n---\n# Heading\n\nFirst text.\nSecond.\n"),
    ("empty-desc", "---\nname: empty-desc\ndescription: \"\"\n---\nBody.\n"),
    ("blank-desc", "---\nname: blank-desc\ndescription: \"  \"\n---\nBody.\n"),
    ("empty-name", "---\nname: \"\"\ndescription: empty name\n---\nBody.\n"),
    ("null-name", "---\nname: null\ndescription: null name\n---\nBody.\n"),
    ("number-name", "---\nname: 123\ndescription: number name\n---\nBody.\n"),
    ("number-desc", "---\nname: number-desc\ndescription: 42\n---\nBody.\n"),
    ("list-desc", "---\nname: list-desc\ndescription: [a, b]\n---\nBody.\n"),
    ("null-desc", "---\nname: null-desc\ndescription: null\n---\nBody.\n"),
    ("other-dir", "---\nname: other-name\ndescription: name differs\n---\nBody.\n"),
    ("upper", "---\nname: Upper-Case\ndescription: upper case\n---\nBody.\n"),
    ("space", "---\nname: has space\ndescription: space in name\n---\nBody.\n"),
    ("under", "---\nname: under_score\ndescription: underscore\n---\nBody.\n"),
    ("dashes", "---\nname: two--dashes\ndescription: two dashes\n---\nBody.\n"),
    ("lead", "---\nname: -lead\ndescription: leading dash\n---\nBody.\n"),
    ("colon", "---\nname: \"ns:colon\"\ndescription: colon in name\n---\nBody.\n"),
    ("slash", "---\nname: \"ns/slash\"\ndescription: slash in name\n---\nBody.\n"),
    ("accent", "---\nname: naïve\ndescription: accent in name\n---\nBody.\n"),
    ("colon-desc", "---\nname: colon-desc\ndescription: foo: bar\n---\nBody.\n"),
    ("colons", "---\nname: colons\ndescription: Use when: asked. Note: more\n---\nBody.\n"),
    ("open-quote", "---\nname: open-quote\ndescription: \"not closed\n---\nBody.\n"),
    ("tab", "---\nname: tab\ndescription: tab in metadata\nmetadata:\n\ta: b\n---\nBody.\n"),
    ("at", "---\nname: at\ndescription: @starts with at\n---\nBody.\n"),
    ("brace", "---\nname: brace\ndescription: {not: closed\n---\nBody.\n"),
    ("comment", "---\nname: comment\ndescription: before # after\n---\nBody.\n"),
    ("twice", "---\nname: twice\ndescription: first\ndescription: second\n---\nBody.\n"),
    ("other-twice", "---\nname: other-twice\ndescription: d\nfoo: 1\nfoo: 2\n---\nBody.\n"),
    ("folded", "---\nname: folded\ndescription: >\n  folded one\n  folded two\n---\nBody.\n"),
    ("literal", "---\nname: literal\ndescription: |\n  line one\n  line two\n---\nBody.\n"),
    ("continued", "---\nname: continued\ndescription: first\n  continued\n---\nBody.\n"),
    (
        "unknown",
        "---\nname: unknown\ndescription: unknown keys\nfoo: bar\nbar: [1,2]\n---\nBody.\n",
    ),
    ("markup", "---\nname: markup\ndescription: 'a <b> & \"c\" </description>'\n---\nBody.\n"),
    ("none", "# no frontmatter\n\ntext\n"),
    ("unclosed", "---\nname: unclosed\ndescription: never closed\n\nbody\n"),
    ("blank-first", "\n---\nname: blank-first\ndescription: leading blank line\n---\nBody.\n"),
    ("mark", "\u{feff}---\nname: mark\ndescription: byte order mark\n---\nBody.\n"),
    ("crlf", "---\r\nname: crlf\r\ndescription: with CRLF\r\n---\r\nBody.\r\n"),
    ("fence-blank", "--- \nname: fence-blank\ndescription: blank behind fences\n--- \nBody.\n"),
    ("close-blank", "---\nname: close-blank\ndescription: blank behind close\n--- \nBody.\n"),
    ("no-body", "---\nname: no-body\ndescription: no body\n---\n"),
    ("no-end", "---\nname: no-end\ndescription: no line end\n---"),
    ("rule", "---\nname: rule\ndescription: rule in body\n---\na\n---\nb\n"),
    ("dots", "---\nname: dots\ndescription: closed by dots\n...\nBody.\n"),
    ("long-dashes", "----\nname: long-dashes\ndescription: four dashes\n----\nBody.\n"),
    ("indented", "---\n  name: indented\n  description: indented keys\n---\nBody.\n"),
    ("inner-close", "---\nname: inner-close\ndescription: d\n ---\nb\n---\nBody.\n"),
    ("glued", "---\nname: glued\ndescription: d\n---b\n---\nBody.\n"),
    ("empty", ""),
    ("empty-block", "---\n---\nBody.\n"),
    ("list-block", "---\n- name: list-block\n- description: list\n---\nBody.\n"),
    (
        "tools-text",
        "---\nname: tools-text\ndescription: d\nallowed-tools: Bash(git:*) Read\n---\nB.\n",
    ),
    ("tools-list", "---\nname: tools-list\ndescription: d\nallowed-tools: [Bash, Read]\n---\nB.\n"),
    ("tools-map", "---\nname: tools-map\ndescription: d\nallowed-tools: {a: b}\n---\nB.\n"),
    ("meta-number", "---\nname: meta-number\ndescription: d\nmetadata:\n  version: 1\n---\nB.\n"),
    (
        "not-for-model",
        "---\nname: not-for-model\ndescription: d\ndisable-model-invocation: true\n---\nB.\n",
    ),
    ("not-for-user", "---\nname: not-for-user\ndescription: d\nuser-invocable: false\n---\nB.\n"),
    ("flag-text", "---\nname: flag-text\ndescription: d\nuser-invocable: 'true'\n---\nB.\n"),
    ("with-paths", "---\nname: with-paths\ndescription: d\npaths: [\"src/**/*.ts\"]\n---\nB.\n"),
    ("alias-use", "---\nname: alias-use\ndescription: &x aliased\nother: *x\n---\nB.\n"),
    ("tagged", "---\nname: tagged\ndescription: !!str 5\n---\nB.\n"),
    ("case-keys", "---\nName: case-keys\nDescription: d\n---\nBody text.\n"),
];

fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\nBody.\n")
}

/// Returns the fixture, with depths, links and shapes in the directory `own` of the working
/// directory, or at the path `own` below the top of the tree if it begins with a slash.
pub(crate) fn fixture(own: &str) -> Tree {
    let mut entries = vec![
        ("w/.git/objects".to_owned(), Entry::Dir),
        ("w/.git/refs".to_owned(), Entry::Dir),
        ("w/.git/HEAD".to_owned(), Entry::File("ref: refs/heads/main\n".to_owned())),
    ];
    let mut add = |path: String, entry: Entry| entries.push((path, entry));
    // `skills` is a root of no agent.
    let mut dirs = vec!["skills".to_owned()];
    for profile in profile::builtin() {
        dirs.extend(scripted::home_dirs(profile));
        dirs.extend(scripted::project_dirs(profile));
    }
    dirs.sort();
    dirs.dedup();
    for dir in dirs {
        for (top, label) in [
            ("h", "home"),
            ("", "above"),
            ("w", "work"),
            ("w/mid", "mid"),
            ("w/mid/pkg", "cwd"),
            ("w/mid/pkg/below", "below"),
        ] {
            let slug = dir.replace(['/', '.'], "-");
            let name = format!("{label}{}{slug}", if slug.starts_with('-') { "" } else { "-" });
            let at = format!("{top}/{dir}").trim_start_matches('/').to_owned();
            add(format!("{at}/own/SKILL.md"), Entry::File(skill(&name, "unique")));
            add(format!("{at}/same/SKILL.md"), Entry::File(skill("same", &format!("from {at}"))));
        }
    }
    let at = own.strip_prefix('/').map_or_else(|| format!("w/mid/pkg/{own}"), ToOwned::to_owned);
    let file = |path: &str, text: String| (format!("{at}/{path}"), Entry::File(text));
    let mut own_entries = Vec::new();
    let mut dir = String::new();
    for level in 1..=8 {
        let name = format!("depth-{level}");
        own_entries.push(file(&format!("{dir}{name}/SKILL.md"), skill(&name, "deep")));
        dir = format!("{dir}l{level}/");
    }
    own_entries.extend([
        file(".hidden/SKILL.md", skill("hidden", "in a hidden directory")),
        file("node_modules/module/SKILL.md", skill("module", "in node_modules")),
        file("outer/SKILL.md", skill("outer", "with one inside")),
        file("outer/inner/SKILL.md", skill("inner", "inside another")),
        file("ignored/SKILL.md", skill("ignored", "ignored by git")),
        file(".gitignore", "ignored\n".to_owned()),
        file("flat.md", skill("flat", "a Markdown file in the root")),
        file("lower/skill.md", skill("lower", "lower-case file name")),
        file("mixed/Skill.md", skill("mixed", "mixed-case file name")),
        file("twin-a/SKILL.md", skill("twin", "from twin-a")),
        file("twin-b/SKILL.md", skill("twin", "from twin-b")),
        file("twin/SKILL.md", skill("twin", "from twin")),
        file("length-64/SKILL.md", skill(&"n".repeat(64), "64 characters")),
        file("length-65/SKILL.md", skill(&"m".repeat(65), "65 characters")),
        file("desc-1024/SKILL.md", skill("desc-1024", &"x".repeat(1024))),
        file("desc-1025/SKILL.md", skill("desc-1025", &"x".repeat(1025))),
        file("desc-5000/SKILL.md", skill("desc-5000", &"x".repeat(5000))),
        file("as-directory/SKILL.md/SKILL.md", skill("as-directory", "in a directory SKILL.md")),
    ]);
    let shapes =
        SHAPES.iter().map(|(dir, text)| file(&format!("{dir}/SKILL.md"), (*text).to_owned()));
    own_entries.extend(shapes);
    entries.extend(own_entries);
    let outside = [
        ("ext/linked/SKILL.md", skill("linked", "a linked directory")),
        ("ext/group/in-group/SKILL.md", skill("in-group", "below a linked directory")),
        // A link to a file outside of the worktree is refused on purpose.
        ("w/file/text.md", skill("linked-file", "a linked file")),
    ];
    entries.extend(outside.map(|(path, text)| (path.to_owned(), Entry::File(text))));
    let links = [
        ("linked", "ext/linked"),
        ("group", "ext/group"),
        ("linked-file/SKILL.md", "w/file/text.md"),
        ("again", "w/mid/pkg/.agents/skills/own"),
        ("dangling", "ext/nowhere"),
    ];
    for (path, target) in links {
        entries.push((format!("{at}/{path}"), Entry::Link(target.to_owned())));
    }
    Tree { entries, cwd: "w/mid/pkg".to_owned() }
}
