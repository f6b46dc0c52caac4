//! Frontmatter, scripts and the plugin's tools: statements 76 to 88 and 100 to 104.

use serde_json::{Value, json};

use super::super::place::{Place, joined};
use super::super::{Row, works};

const HEAD: &str = "---\nname: a\ndescription: d\n";

pub(super) const ROWS: &[Row] = &[
    works(76, "The frontmatter is between two lines `---`, the first at the very top.", |it| {
        it.accepts(&format!("{HEAD}---\nDo it.\n"), true);
        it.accepts(&format!("\n{HEAD}---\nDo it.\n"), false);
        it.accepts(&format!("{HEAD}Do it.\n"), false);
    }),
    works(77, "A file without text below it is left out.", |it| {
        it.accepts(&format!("{HEAD}---\n"), false);
    }),
    works(78, "One whose YAML cannot be read is left out.", |it| {
        it.accepts("---\nname: a\ndescription: a: b\n---\nDo it.\n", false);
    }),
    works(79, "A name has only lower-case letters, digits and hyphens.", |it| {
        for (name, is_accepted) in [
            ("my-skill", true),
            ("é2", true),
            ("MySkill", false),
            ("git_helper", false),
            ("Git Helper", false),
            ("''", false),
        ] {
            it.accepts(&format!("---\nname: {name}\ndescription: d\n---\nDo it.\n"), is_accepted);
        }
    }),
    works(80, "A description is a text that is not empty.", |it| {
        it.accepts("---\nname: a\ndescription: ''\n---\nDo it.\n", false);
        it.accepts("---\nname: a\ndescription: 5\n---\nDo it.\n", false);
        it.accepts("---\nname: a\n---\nDo it.\n", false);
    }),
    works(81, "`license` is a text, if it is there.", |it| {
        it.accepts(&format!("{HEAD}license: MIT\n---\nDo it.\n"), true);
        it.accepts(&format!("{HEAD}license: [MIT]\n---\nDo it.\n"), false);
    }),
    works(82, "`allowed-tools` is a list of texts, if it is there.", |it| {
        it.accepts(&format!("{HEAD}allowed-tools: [Read]\n---\nDo it.\n"), true);
        it.accepts(&format!("{HEAD}allowed-tools: Read\n---\nDo it.\n"), false);
    }),
    works(83, "`metadata` is a map of texts, if it is there.", |it| {
        it.accepts(&format!("{HEAD}metadata: {{v: '1'}}\n---\nDo it.\n"), true);
        it.accepts(&format!("{HEAD}metadata: {{v: 1}}\n---\nDo it.\n"), false);
    }),
    works(84, "A file that is left out stops nothing.", |it| {
        it.files("//- /w/.opencode/skills/a/SKILL.md\nNo frontmatter.\n");
        it.skills(&["w/.opencode/skills/b"]);
        it.lists("b");
        it.state("a", "invalid");
    }),
    works(85, "Files with an executable bit are scripts.", |it| {
        it.skills(&["w/.opencode/skills/a"]);
        it.files(
            "//- /w/.opencode/skills/a/tools/build.sh mode=0755\n//- /w/.opencode/skills/a/b.sh\n",
        );
        assert_eq!(it.scripts("a"), "tools/build.sh");
    }),
    works(86, "Hidden ones, and those of dependencies, are skipped.", |it| {
        it.skills(&["w/.opencode/skills/a"]);
        for dir in [".x", "node_modules", "__pycache__", "venv", ".tox", "good"] {
            it.files(&format!("//- /w/.opencode/skills/a/{dir}/run mode=0755\n"));
        }
        it.files("//- /w/.opencode/skills/a/.run mode=0755\n");
        assert_eq!(it.scripts("a"), "good/run");
    }),
    works(87, "Scripts are found in ten levels of directories.", |it| {
        it.skills(&["w/.opencode/skills/a"]);
        let ten = "1/2/3/4/5/6/7/8/9/10";
        it.files(&format!("//- /w/.opencode/skills/a/{ten}/run mode=0755\n"));
        it.files(&format!("//- /w/.opencode/skills/a/{ten}/11/run mode=0755\n"));
        assert_eq!(it.scripts("a"), format!("{ten}/run"));
    }),
    works(88, "Links to scripts and to their directories are followed.", |it| {
        it.skills(&["w/.opencode/skills/a"]);
        let dir = "//- /w/.opencode/skills/a";
        it.files(&format!(
            "{dir}/real/run mode=0755\n{dir}/dir link=real\n{dir}/file link=real/run\n"
        ));
        assert_eq!(it.scripts("a"), "dir/run file real/run");
    }),
];

pub(super) const TOOLS: &[Row] = &[
    works(100, "`get_available_skills` lists all skills with label and description.", |it| {
        it.skills(&["w/.opencode/skills/a", "home/.claude/skills/b"]);
        let expected = "a (project)\n  Does a.\n\nb (claude-user)\n  Does b.";
        assert_eq!(it.listing(json!({"query": ""})), expected);
    }),
    works(101, "A search that finds nothing names a similar skill.", |it| {
        it.skills(&["w/.opencode/skills/review"]);
        let found = it.listing(json!({"query": "reveiw", "emptyText": true}));
        assert_eq!(found, "No skills found matching \"reveiw\". Did you mean \"review\"?");
        let error = it.refusal("skills/load", json!({"name": "reveiw"}));
        assert_eq!(error.message, "Skill \"reveiw\" not found. Did you mean \"review\"?");
        let said = it.run(&["load", "reveiw", "--profile", "opencode-agent-skills"]);
        assert!(said.contains("Did you mean") && said.contains("review\""), "{said}");
    }),
    works(102, "A label or a namespace may stand before a name.", |it| {
        it.skill("w/.opencode/skills/a", "metadata:\n  namespace: team\n", "Do it.\n");
        it.invoke("project:a");
        it.invoke("team:a");
        assert_eq!(it.refusal("skills/load", json!({"name": "user:a"})).code, -32001);
    }),
    works(103, "`use_skill` lists the files, those of dependencies too, four levels deep.", |it| {
        it.skills(&["w/.opencode/skills/a"]);
        for path in [".git/x", "node_modules/x", "1/2/3/x", "1/2/3/4/x", "__pycache__/x"] {
            it.files(&format!("//- /w/.opencode/skills/a/{path}\n"));
        }
        let loaded = it.invoke("a");
        let listed: Vec<_> = loaded["output"]
            .as_str()
            .expect("a text")
            .lines()
            .filter_map(|it| it.trim().strip_prefix("<file>")?.strip_suffix("</file>"))
            .collect();
        assert_eq!(listed, [".git/x", "1/2/3/x", "__pycache__/x", "node_modules/x"]);
    }),
    works(104, "There are four tools, each with its own description.", |it| {
        let tools = it.call("catalog/tool", json!({}))["tools"].clone();
        let names = "get_available_skills read_skill_file run_skill_script use_skill";
        assert_eq!(joined(&tools, "name"), names);
        let all = tools.as_array().expect("a list");
        let is_described = |it: &Value| it["description"].as_str().is_some_and(|it| it.len() > 20);
        assert!(all.iter().all(is_described), "{tools:#}");
    }),
];

impl Place<'_> {
    /// Returns the scripts that the text of a loaded skill names.
    fn scripts(&mut self, name: &str) -> String {
        let loaded = self.invoke(name);
        let text = loaded["output"].as_str().expect("a text");
        let scripts = text.lines().filter_map(|it| it.trim().strip_prefix("<script>"));
        scripts.filter_map(|it| it.strip_suffix("</script>")).collect::<Vec<_>>().join(" ")
    }
}
