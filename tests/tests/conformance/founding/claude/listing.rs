//! The listing for the model and the tool that loads a skill: statements 74 to 110.

use serde_json::{Value, json};

use super::super::place::{Place, joined};
use super::super::{Row, works};
use super::SKILL;

pub(super) const ROWS: &[Row] = &[
    works(74, "The listing reaches the model between `<system-reminder>` tags.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let listing = it.listing(json!({}));
        assert!(listing.starts_with("<system-reminder>\n"), "{listing}");
        assert!(listing.ends_with("\n</system-reminder>"), "{listing}");
    }),
    works(75, "It is made again at every turn.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        assert_eq!(it.listed(), ["a: Does a."]);
        it.skills(&["w/.claude/skills/b"]);
        assert_eq!(it.listed(), ["a: Does a.", "b: Does b."]);
    }),
    works(76, "It has only the skills that the model may invoke.", |it| {
        it.skill("w/.claude/skills/a", "disable-model-invocation: true\n", "");
        it.skill("w/.claude/skills/b", "user-invocable: false\n", "");
        assert_eq!(it.listed(), ["b: Does b."]);
    }),
    works(77, "It has the prompts of MCP servers.", |it| {
        it.every_source();
        let listed = it.listed();
        let is_there = listed.iter().any(|it| it == "mcp__my_notes__Daily notes: Writes notes.");
        assert!(is_there, "{listed:?}");
    }),
    works(78, "Each agent of a session is told of a skill once.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.session();
        let new = json!({"onlyNew": true});
        assert_ne!(it.listing(new.clone()), "");
        assert_eq!(it.listing(new.clone()), "");
        it.set("agent", json!("reviewer"));
        assert_ne!(it.listing(new.clone()), "");
        it.skills(&["w/.claude/skills/b"]);
        let listing = it.listing(new);
        assert!(listing.contains("- b: ") && !listing.contains("- a: "), "{listing}");
    }),
    works(79, "The result has the number of skills, and whether it is the first.", |it| {
        it.skills(&["w/.claude/skills/a", "w/.claude/skills/b"]);
        it.session();
        let first = it.call("catalog/render", json!({"onlyNew": true}));
        assert_eq!((&first["skillCount"], &first["isInitial"]), (&json!(2), &json!(true)));
        let second = it.call("catalog/render", json!({"onlyNew": true}));
        assert_eq!((&second["skillCount"], &second["isInitial"]), (&json!(2), &json!(false)));
    }),
    works(80, "Its first line says that the skills are used with the Skill tool.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let head =
            "<system-reminder>\nThe following skills are available for use with the Skill tool:\n";
        let listing = it.listing(json!({}));
        assert!(listing.starts_with(head), "{listing}");
    }),
    works(81, "Each skill is a line `- name: description`.", |it| {
        it.skills(&["w/.claude/skills/a", "w/.claude/skills/b"]);
        let listing = it.listing(json!({}));
        assert!(listing.contains("\n- a: Does a.\n- b: Does b.\n"), "{listing}");
    }),
    works(82, "Its limit is one percent of the context window.", |it| {
        it.describe(&[("a", 200), ("b", 200)]);
        assert_eq!(it.lengths(json!({"contextTokens": 11_000})), [200, 200]);
        assert_eq!(it.lengths(json!({"contextTokens": 7_500})), [144, 144]);
    }),
    works(83, "A token counts as four characters; without a window the limit is 8,000.", |it| {
        let names: Vec<_> = (10..50).map(|it| format!("s{it}")).collect();
        let skills: Vec<_> = names.iter().map(|it| (it.as_str(), 250)).collect();
        it.describe(&skills);
        // 39 line ends and 40 times `- `, a name of 3 and `: `.
        let share = (8_000 - 39 - 40 * 7) / 40;
        assert_eq!(it.lengths(json!({})), [share; 40]);
    }),
    works(84, "A description has at most 250 characters in it.", |it| {
        it.describe(&[("a", 300), ("b", 250)]);
        assert_eq!(it.lengths(json!({})), [250, 250]);
        let tool = it.tool()["description"].to_string();
        assert!(!tool.contains(&"x".repeat(251)), "{tool}");
    }),
    works(85, "All descriptions are complete if they fit.", |it| {
        it.describe(&[("a", 200), ("b", 10)]);
        assert_eq!(it.lengths(json!({"budgetChars": 221})), [200, 10]);
    }),
    works(86, "Descriptions of bundled skills are never shortened.", |it| {
        it.every_source();
        it.describe(&[("a", 200)]);
        let shown = it.listing(json!({"budgetChars": 300}));
        for name in ["debug-skills", "writing-skills"] {
            let entry = it.entry(name);
            let description = entry["description"].as_str().expect("a text");
            let line: String = format!("- {name}: {description}").chars().take(250).collect();
            assert!(shown.contains(&line), "{line}\n{shown}");
        }
    }),
    works(87, "The others share the rest equally.", |it| {
        it.describe(&[("a", 200), ("b", 30), ("c", 200)]);
        // Two line ends and three times `- `, a name and `: `.
        assert_eq!(it.lengths(json!({"budgetChars": 2 + 3 * 5 + 3 * 50})), [50, 30, 50]);
    }),
    works(88, "If less than 20 characters are left for each, only the names are listed.", |it| {
        it.describe(&[("a", 200), ("b", 200)]);
        assert_eq!(it.lengths(json!({"budgetChars": 1 + 2 * 5 + 2 * 20})), [20, 20]);
        assert_eq!(it.lengths(json!({"budgetChars": 1 + 2 * 5 + 2 * 20 - 1})), [0, 0]);
    }),
    works(89, "The tool's description tells when and how to invoke a skill.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let tool = it.tool();
        let description = tool["description"].as_str().expect("a text");
        assert!(
            description.starts_with("Execute a skill within the main conversation\n"),
            "{tool}"
        );
        assert!(description.contains("system-reminder"), "{tool}");
    }),
    works(90, "The tool is `Skill`, with the parameters `skill` and optional `args`.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let tool = it.tool();
        assert_eq!(tool["name"], "Skill");
        let schema = &tool["inputSchema"];
        assert_eq!(schema["properties"]["skill"]["type"], "string");
        assert_eq!(schema["properties"]["args"]["type"], "string");
        assert_eq!(schema["required"], json!(["skill"]));
    }),
    works(91, "The result says whether the skill runs inline or in a fork.", |it| {
        it.skill("w/.claude/skills/a", "", "");
        it.skill("w/.claude/skills/b", "context: fork\n", "");
        it.metadata("a", "status", "inline");
        it.metadata("b", "status", "forked");
        it.metadata("a", "success", true);
    }),
    works(92, "A leading `/` and blanks around the name are removed.", |it| {
        it.skill("w/.claude/skills/a", "", "Do it.\n");
        for name in ["a", "/a", "  a ", " /a\n"] {
            it.body(name, "Do it.\n");
        }
    }),
    works(93, "Names with `_canonical_` are checked before the lookup.", |it| {
        it.skills(&["w/.claude/skills/_canonical_a"]);
        it.fails("_canonical_a", 6);
    }),
    works(94, "Then the name is looked up among all skills and commands.", |it| {
        it.plugin(&json!({"name": "tools"}), &["skills/a/SKILL.md"]);
        it.files("//- /w/.claude/commands/b.md\nDo it.\n");
        it.invoke("tools:a");
        it.invoke("b");
        it.fails("c", 2);
    }),
    works(95, "The use of a skill is recorded.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.session();
        it.invoke("a");
        let got = it.call("session/get", json!({}));
        assert_eq!(got["invoked"][0]["paths"], json!(["$W/.claude/skills/a/SKILL.md"]));
    }),
    works(96, "Its use ranks a skill higher.", |it| {
        it.skill("w/.claude/skills/one", "", "");
        it.skill("w/.claude/skills/two", "", "");
        let found = |it: &mut Place<'_>| {
            joined(&it.call("skills/search", json!({"query": "does"}))["skills"], "name")
        };
        assert_eq!(found(it), "one two");
        it.invoke("two");
        assert_eq!(found(it), "two one");
    }),
    works(97, "A skill without `context` runs inline.", |it| {
        it.skill("w/.claude/skills/a", "", "");
        it.metadata("a", "status", "inline");
        it.metadata("a", "agentId", Value::Null);
    }),
    works(98, "Loading a skill inline registers its hooks.", |it| {
        it.hooked("a", "");
        assert_eq!(it.hooks("Stop", ""), "");
        it.load("a", "");
        assert_eq!(it.hooks("Stop", ""), "./a");
    }),
    works(99, "It records the skill, for the time after a compaction.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.session();
        it.invoke("a");
        let invoked = it.call("session/invoked", json!({}));
        assert_eq!(joined(&invoked["skills"], "name"), "a");
        let body = invoked["skills"][0]["body"].as_str().expect("a text");
        assert!(body.ends_with("Body of w/.claude/skills/a.\n"), "{body}");
    }),
    works(100, "The first message names the skill in `<command-name>` tags.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let loaded = it.load("a", "");
        let first = loaded["metadata"]["promptMessages"][0].to_string();
        assert!(first.contains("<command-name>/a</command-name>"), "{first}");
    }),
    works(101, "The messages are tagged with the id of the tool call.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let loaded = it.load("a", "");
        let messages = loaded["metadata"]["promptMessages"].as_array().expect("a list");
        assert_eq!(messages.len(), 2, "{loaded:#}");
    })
    .deviates("only the caller knows its tool call; it gets the messages in order and tags them"),
    works(102, "The result has the tools to allow from then on.", |it| {
        it.skill("w/.claude/skills/a", "allowed-tools: Bash, Read\n", "");
        it.metadata("a", "allowedTools", json!(["Bash", "Read"]));
        it.metadata("a", "commandName", "a");
    }),
    works(103, "It has the model to use; the suffix `[1m]` of the current one is kept.", |it| {
        it.skill("w/.claude/skills/a", "model: sonnet\n", "");
        it.metadata("a", "model", "sonnet");
        it.set("model", json!("opus[1m]"));
        let loaded = it.call("skills/load", json!({"name": "a", "by": "user"}));
        assert_eq!(loaded["metadata"]["model"], "sonnet[1m]");
    }),
    works(104, "It has the effort to use.", |it| {
        it.skill("w/.claude/skills/a", "effort: max\n", "");
        it.metadata("a", "effort", "max");
    }),
    works(105, "An empty name is error 1.", |it| {
        it.fails("", 1);
        it.fails(" / ", 1);
    }),
    works(106, "An unknown name is error 2.", |it| it.fails("a", 2)),
    works(107, "A skill that the model may not invoke is error 4.", |it| {
        it.skill("w/.claude/skills/a", "disable-model-invocation: true\n", "");
        it.fails("a", 4);
    }),
    works(108, "A command of the agent that is no prompt is error 5.", |it| it.fails("/clear", 5)),
    works(109, "A remote skill that was not discovered is error 6.", |it| {
        it.fails("_canonical_notes", 6);
    }),
    works(110, "Of a local skill and an MCP prompt with one name the local one wins.", |it| {
        it.every_source();
        let dir = it.path("w/.claude/skills/mcp__my_notes__Daily notes");
        std::fs::create_dir_all(&dir).expect("it can be made");
        std::fs::write(format!("{dir}/SKILL.md"), SKILL).expect("it can be written");
        let entries = it.entries();
        let mcp = entries.iter().find(|it| it["scope"] == "mcp").expect("it is there");
        assert_eq!(mcp["state"], "shadowed", "{mcp:#}");
    }),
];

impl Place<'_> {
    /// Returns the lines of the listing without their `- `.
    fn listed(&mut self) -> Vec<String> {
        let listing = self.listing(json!({}));
        listing.lines().filter_map(|it| it.strip_prefix("- ")).map(str::to_owned).collect()
    }

    /// Writes skills with descriptions of these lengths.
    fn describe(&self, skills: &[(&str, usize)]) {
        for (name, length) in skills {
            let description = "x".repeat(*length);
            let text = format!("---\ndescription: {description}\n---\nBody.\n");
            self.files(&format!("//- /w/.claude/skills/{name}/SKILL.md\n{text}"));
        }
    }

    /// Returns the lengths of the listed descriptions.
    fn lengths(&mut self, params: Value) -> Vec<usize> {
        let listing = self.listing(params);
        let lines = listing.lines().filter_map(|it| it.strip_prefix("- "));
        lines.map(|it| it.split_once(": ").map_or(0, |(_, it)| it.chars().count())).collect()
    }

    /// Opens a session and writes a skill of the user whose hook runs `./NAME` on `Stop`.
    pub(super) fn hooked(&mut self, name: &str, more: &str) {
        let hook = format!("        - type: command\n          command: ./{name}\n");
        let hooks = format!("hooks:\n  Stop:\n    - hooks:\n{hook}{more}");
        self.skill(&format!("home/.claude/skills/{name}"), &hooks, "Do it.\n");
        self.session();
    }

    /// Returns the commands of the hooks for an event about a tool.
    pub(super) fn hooks(&mut self, event: &str, tool: &str) -> String {
        let tool = if tool.is_empty() { Value::Null } else { json!(tool) };
        let matched = self.call("hooks/match", json!({"event": event, "tool": tool}));
        let handlers: Value = matched["hooks"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| it["handler"].clone())
            .collect();
        joined(&handlers, "command")
    }
}
