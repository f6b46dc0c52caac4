//! The listing, the tool and a loaded skill: statements 38 to 61.

use serde_json::{Value, json};

use super::super::place::{Place, joined};
use super::super::{Row, works};

const LEAD: &str = "Skills provide specialized instructions and workflows for specific tasks.\nUse the skill tool to load a skill when a task matches its description.\n<available_skills>\n";

const TOOL: &str = "Load a specialized skill that provides domain-specific instructions and workflows.

When you recognize that a task matches one of the available skills listed below, use this tool to load the full skill instructions.

The skill will inject detailed instructions, workflows, and access to bundled resources (scripts, references, templates) into the conversation context.

Tool output includes a `<skill_content name=\"...\">` block with the loaded content.

The following skills provide specialized sets of instructions for particular tasks
Invoke this tool to load a skill when a task matches one of the available skills listed below:

## Available Skills
- **a**: Does a.";

pub(super) const ROWS: &[Row] = &[
    works(38, "The system prompt has two sentences about skills, then the list.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let listing = it.listing(json!({}));
        assert!(listing.starts_with(LEAD), "{listing}");
    }),
    works(39, "The list is XML with name, description and location.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let listing = it.listing(json!({}));
        let location = it.path("w/.claude/skills/a/SKILL.md");
        let list = format!(
            "  <skill>\n    <name>a</name>\n    <description>Does a.</description>\n    <location>file://{location}</location>\n  </skill>\n</available_skills>"
        );
        let listing = it.expand(listing.strip_prefix(LEAD).expect("it begins so"));
        assert_eq!(listing, list);
    }),
    works(40, "If the skill tool is denied, there is no word about skills.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.opencode(&json!({"permission": {"skill": {"*": "deny"}}}));
        assert_eq!(it.listing(json!({"emptyText": true})), "");
        assert_eq!(it.tool(), Value::Null);
    }),
    works(41, "The location is a `file://` URL.", |it| {
        it.files("//- /w/.claude/skills/a\\x20b/SKILL.md\n---\nname: a\ndescription: d\n---\n");
        let listing = it.listing(json!({}));
        assert!(
            listing.contains("<location>file://$W/.claude/skills/a%20b/SKILL.md<"),
            "{listing}"
        );
    }),
    works(42, "The tool's description has a Markdown list.", |it| {
        it.skills(&["w/.claude/skills/a", "w/.claude/skills/b"]);
        let text = it.tool()["description"].as_str().expect("a text").to_owned();
        let list = "\n## Available Skills\n- **a**: Does a.\n- **b**: Does b.";
        assert!(text.ends_with(list), "{text}");
    }),
    works(43, "Lists have the order in which names were first met.", |it| {
        it.skills(&["home/.claude/skills/b", "w/.claude/skills/a", "w/.opencode/skill/b"]);
        let listing = it.listing(json!({}));
        assert!(listing.find("<name>b<") < listing.find("<name>a<"), "{listing}");
        let text = it.tool()["description"].as_str().expect("a text").to_owned();
        assert!(text.ends_with("- **b**: Does b.\n- **a**: Does a."), "{text}");
    }),
    works(44, "Without skills the list of the system prompt is empty.", |it| {
        let listing = it.listing(json!({"emptyText": true}));
        assert_eq!(listing, format!("{LEAD}</available_skills>"));
    }),
    works(
        45,
        "The tool's description says what the tool does, when to call it, and lists.",
        |it| {
            it.skills(&["w/.claude/skills/a"]);
            assert_eq!(it.tool()["description"], TOOL);
        },
    ),
    works(46, "Without skills it is one sentence.", |it| {
        assert_eq!(it.tool()["description"], "No skills are currently available.");
    }),
    works(47, "The tool is `skill`, with the one parameter `name`.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let tool = it.tool();
        assert_eq!(tool["name"], "skill");
        let schema = &tool["inputSchema"];
        assert_eq!(schema["required"], json!(["name"]));
        assert_eq!(schema["properties"].as_object().map(serde_json::Map::len), Some(1));
    }),
    works(48, "The parameter is described as a name of available_skills.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let tool = it.tool();
        let description = tool["inputSchema"]["properties"]["name"]["description"].as_str();
        let expected = "The name of the skill from available_skills";
        assert!(description.is_some_and(|it| it.starts_with(expected)), "{tool:#}");
    }),
    works(49, "An unknown name is an error that lists the names there are.", |it| {
        it.skills(&["home/.claude/skills/b", "w/.claude/skills/a"]);
        let error = it.refusal("skills/load", json!({"name": "x"}));
        assert_eq!(error.message, "Skill \"x\" not found. Available skills: b, a");
    }),
    works(50, "If there are none, it says `none`.", |it| {
        let error = it.refusal("skills/load", json!({"name": "x"}));
        assert_eq!(error.message, "Skill \"x\" not found. Available skills: none");
    }),
    works(51, "Before a skill is loaded, permission `skill` is asked for its name.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.opencode(&json!({"permission": {"skill": "ask"}}));
        let error = it.refusal("skills/load", json!({"name": "a"}));
        let requests = it.call("permission/pending", json!({}))["requests"].clone();
        let of = |it: &&Value| it["id"] == error.data["requestId"];
        let request = requests.as_array().expect("a list").iter().find(of).expect("it waits");
        assert_eq!(request["permission"], "skill");
        assert_eq!((&request["patterns"], &request["always"]), (&json!(["a"]), &json!(["a"])));
    }),
    works(52, "An `always` of the user holds for the name from then on.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.opencode(&json!({"permission": {"skill": "ask"}}));
        let error = it.refusal("skills/load", json!({"name": "a"}));
        it.reply(&error.data["requestId"], "always");
        it.invoke("a");
        it.invoke("a");
    }),
    works(53, "The output lists at most ten files of the skill's directory.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        for name in 10..25 {
            it.files(&format!("//- /w/.claude/skills/a/{name}.txt\n"));
        }
        assert_eq!(it.sample("a").len(), 10);
    }),
    works(54, "None of them has SKILL.md in its path.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.files("//- /w/.claude/skills/a/x/SKILL.md.bak\n//- /w/.claude/skills/a/b\n");
        assert_eq!(it.sample("a"), ["$W/.claude/skills/a/b"]);
    }),
    works(55, "Hidden files are among them, links are not followed.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.files("//- /w/.claude/skills/a/.b\n//- /w/out/c\n//- /w/.claude/skills/a/l link=../../../out\n");
        assert_eq!(it.sample("a"), ["$W/.claude/skills/a/.b"]);
    }),
    works(56, "The title is `Loaded skill: NAME`.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        assert_eq!(it.invoke("a")["title"], "Loaded skill: a");
    }),
    works(
        57,
        "The output has name, trimmed text, directory, a note on paths, and the files.",
        |it| {
            it.skill("w/.claude/skills/a", "", "\n\nDo it.\n\n");
            it.files("//- /w/.claude/skills/a/b\n");
            let text = "<skill_content name=\"a\">\n# Skill: a\n\nDo it.\n\nBase directory for this skill: file://$W/.claude/skills/a\nRelative paths in this skill (e.g., scripts/, reference/) are relative to this base directory.\nNote: file list is sampled.\n\n<skill_files>\n<file>$W/.claude/skills/a/b</file>\n</skill_files>\n</skill_content>";
            assert_eq!(it.invoke("a")["output"], text);
        },
    ),
    works(58, "The directory is a `file://` URL.", |it| {
        it.files("//- /w/.claude/skills/a\\x20b/SKILL.md\n---\nname: a\ndescription: d\n---\n");
        let text = it.invoke("a")["output"].to_string();
        assert!(
            text.contains("Base directory for this skill: file://$W/.claude/skills/a%20b\\n"),
            "{text}"
        );
    }),
    works(59, "The result has the name and the directory.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let metadata = it.invoke("a")["metadata"].clone();
        assert_eq!(metadata, json!({"name": "a", "dir": "$W/.claude/skills/a"}));
    }),
    works(60, "`OPENCODE_DISABLE_EXTERNAL_SKILLS` turns `.claude` and `.agents` off.", |it| {
        it.skills(&["w/.claude/skills/a", "home/.agents/skills/b", "w/.opencode/skill/c"]);
        it.variable("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1");
        it.lists("c");
    }),
    works(61, "`/NAME` of the user ends in the tool's output.", |it| {
        it.skill("w/.claude/skills/a", "", "Do it.\n");
        let tool = it.invoke("a")["output"].clone();
        assert_eq!(it.load("/a", "")["output"], tool);
    }),
];

impl Place<'_> {
    /// Returns the files that the output of a loaded skill names.
    fn sample(&mut self, name: &str) -> Vec<String> {
        let loaded = self.invoke(name);
        let output = loaded["output"].as_str().expect("a text");
        let files =
            output.lines().filter_map(|it| it.strip_prefix("<file>")?.strip_suffix("</file>"));
        let files: Vec<_> = files.map(str::to_owned).collect();
        let listed = loaded["files"].as_array().expect("a list");
        assert_eq!(json!(files), json!(listed), "{}", joined(&json!([loaded]), "output"));
        files
    }
}
