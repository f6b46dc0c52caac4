//! Sources of skills and their order: statements 1 to 39.

use serde_json::{Value, json};

use super::super::place::{EVERY_SOURCE, joined};
use super::super::{Row, kept, works};

const DISCOVERY: &str = "daemon/discovery/src/discover/tests/listing.rs";

pub(super) const ROWS: &[Row] = &[
    works(1, "Skills come from six kinds of source.", |it| {
        it.every_source();
        it.skills(&["home/.claude/skills/a"]);
        it.plugin(&json!({"name": "tools"}), &["skills/b/SKILL.md", "commands/c.md"]);
        let list = it.call("skills/list", json!({}));
        let names = joined(&list["skills"], "name");
        assert!(names.contains(" a tools:c tools:b"), "{names}");
    })
    .deviates("two of them, built-in plugins and workflows, are only in the agent's program"),
    works(2, "Bundled skills come first and win their names.", |it| {
        it.every_source();
        it.skills(&["home/.claude/skills/debug-skills"]);
        assert_eq!(it.winner("debug-skills"), "bundled");
        let list = it.call("skills/list", json!({}));
        assert_eq!(list["skills"][0]["scope"], "bundled");
    }),
    works(3, "Skills of built-in plugins come second.", |it| {
        it.every_source();
        let list = it.call("skills/list", json!({}));
        let scopes = joined(&list["skills"], "scope");
        assert!(scopes.contains("bundled") && !scopes.contains("plugin"), "{scopes}");
    })
    .deviates("they are only in the agent's program; the document names no directory for them"),
    works(4, "Skills of directories come before commands of plugins.", |it| {
        it.plugin(&json!({"name": "tools"}), &["commands/a.md"]);
        it.skills(&["w/.claude/skills/z"]);
        it.lists("z tools:a");
    }),
    kept(
        5,
        "Of directories the managed one comes first, then the user's, then the project's.",
        DISCOVERY,
        "claude_code_uses_directory_name_and_first_body_line",
    ),
    works(6, "Commands of plugins come before skills of plugins.", |it| {
        it.plugin(&json!({"name": "tools"}), &["commands/z.md", "skills/a/SKILL.md"]);
        it.lists("tools:z tools:a");
    }),
    works(7, "Skills of plugins come after those of directories and commands.", |it| {
        it.plugin(&json!({"name": "tools"}), &["skills/a/SKILL.md"]);
        it.skills(&["w/.claude/skills/y"]);
        it.files("//- /w/.claude/commands/z.md\nDo it.\n");
        it.lists("y z tools:a");
    }),
    works(8, "The agent's own commands come last, and a skill may take their names.", |it| {
        it.fails("clear", 5);
        it.skills(&["w/.claude/skills/clear"]);
        it.lists("clear");
        it.invoke("clear");
    }),
    works(9, "The combined list is kept, and not read from the disk each time.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let rebuilds = |it: &mut super::Place<'_>| {
            it.lists("a");
            it.call("server/status", json!({}))["rebuilds"]["views"]["count"].clone()
        };
        let before = rebuilds(it);
        assert_eq!(rebuilds(it), before);
    }),
    works(10, "One list has the skills of directories and of plugins.", |it| {
        it.plugin(&json!({"name": "tools"}), &["skills/a/SKILL.md"]);
        it.skills(&["home/.claude/skills/b", "w/.claude/skills/c"]);
        it.lists("b c tools:a");
    }),
    works(11, "Commands of workflows are a source after the directories.", |it| {
        it.files("//- /w/.claude/workflows/a.md\nDo it.\n");
        it.lists("");
    })
    .deviates("they run code in the agent's program; the document names no files for them"),
    kept(
        12,
        "Managed skills are in the `.claude/skills` of the managed directory.",
        DISCOVERY,
        "claude_code_uses_directory_name_and_first_body_line",
    ),
    works(13, "The user's skills are in `~/.claude/skills`.", |it| {
        it.skills(&["home/.claude/skills/a"]);
        it.lists_dirs("$HOME/.claude/skills/a");
    }),
    works(14, "The project's are in `.claude/skills` of each directory up to HOME.", |it| {
        it.files("//- /home/p/q/.git dir\n");
        it.skills(&[
            "home/.claude/skills/a",
            "home/p/.claude/skills/b",
            "home/p/q/.claude/skills/c",
        ]);
        it.set("cwd", json!(it.path("home/p/q")));
        it.lists("a c b");
    }),
    works(15, "Directories named with `--add-dir` bring their `.claude/skills`.", |it| {
        it.skills(&["home/more/.claude/skills/a", "w/.claude/skills/b"]);
        it.set("additionalDirs", json!([it.path("home/more")]));
        it.lists("b a");
    }),
    works(16, "Files with one real path are one skill, the first found.", |it| {
        it.skills(&["home/.claude/skills/a", "home/else/b"]);
        it.files("//- /home/.claude/skills/b link=../../else/b\n//- /w/.claude/skills/z link=$HOME/else/b\n");
        it.trust();
        it.lists("a b");
        let file = it.path("home/.claude/skills/a/SKILL.md");
        let hard = it.path("home/.claude/skills/hard");
        std::fs::create_dir(&hard).expect("it can be made");
        std::fs::hard_link(file, format!("{hard}/SKILL.md")).expect("it can be linked");
        it.lists("a b hard");
    }),
    works(17, "Command files of `.claude/commands` are still read.", |it| {
        it.files("//- /w/.claude/commands/git/push.md\n---\ndescription: d\n---\nPush $0.\n");
        it.lists("git:push");
        it.loads("git:push", "now", "Push now.\n");
    }),
    works(18, "Skills without `paths` are available at once, those with `paths` wait.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.skill("w/.claude/skills/b", "paths: '*.rs'\n", "Body.\n");
        it.lists("a");
        it.state("b", "conditional");
    }),
    works(
        19,
        "A bundled skill is registered by the program, with `bundled` as its source.",
        |it| {
            it.every_source();
            assert_eq!(it.entry("writing-skills")["scope"], "bundled");
        },
    ),
    works(
        20,
        "The files of a bundled skill are written to the disk when it is first loaded.",
        |it| {
            it.every_source();
            let extracted = it.path("home/.cache/skillsd/bundled");
            it.load("writing-skills", "");
            let count = std::fs::read_dir(extracted).expect("it is there").flatten();
            let count =
                count.flat_map(|it| std::fs::read_dir(it.path()).into_iter().flatten()).count();
            assert!(count >= 3, "{count}");
        },
    )
    .deviates("the files of all three are written at once; they are small"),
    works(21, "A loaded bundled skill names the directory of its files.", |it| {
        it.every_source();
        let loaded = it.load("writing-skills", "");
        let dir = loaded["metadata"]["dir"].as_str().expect("a text");
        let head = format!("Base directory for this skill: {dir}\n\n");
        assert!(loaded["output"].as_str().expect("a text").starts_with(&head), "{loaded}");
    }),
    works(22, "Bundled skills are registered at the start, before any directory is read.", |it| {
        it.every_source();
        let list = it.call("skills/list", json!({}));
        let names = joined(&list["skills"], "name");
        assert!(names.starts_with("debug-skills migrate-command writing-skills"), "{names}");
    }),
    works(23, "The bundled skills are verify, debug, remember and others of the agent.", |it| {
        it.every_source();
        it.fails("verify", 2);
        assert_eq!(it.entry("debug-skills")["scope"], "bundled");
    })
    .deviates("their texts belong to the agent; skillsd has three of its own"),
    works(24, "Some bundled skills are registered only with their own feature switch.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.lists("a");
        it.every_source();
        assert_eq!(it.entry("debug-skills")["state"], "active");
        it.configure(&format!("bundled.disabled = [\"debug-skills\"]\n{EVERY_SOURCE}"));
        it.fails("debug-skills", 2);
        assert_eq!(it.entry("writing-skills")["state"], "active");
    })
    .deviates(
        "the user's configuration is the switch: `bundled.disabled` names those to leave out",
    ),
    works(25, "Only enabled plugins bring skills.", |it| {
        it.plugin(&json!({"name": "tools"}), &["skills/a/SKILL.md"]);
        it.lists("tools:a");
        it.files(
            "//- /home/.claude/settings.json\n{\"enabledPlugins\": {\"tools@market\": false}}\n",
        );
        it.lists("");
    }),
    works(26, "`skillsPath` in a plugin's manifest names its directory of skills.", |it| {
        let manifest = json!({"name": "tools", "skillsPath": "./own"});
        it.plugin(&manifest, &["own/a/SKILL.md"]);
        it.lists("tools:a");
    }),
    works(27, "`skillsPaths` in a plugin's manifest names more directories.", |it| {
        let manifest = json!({"name": "tools", "skillsPaths": ["./b", "./c"]});
        it.plugin(&manifest, &["skills/z/SKILL.md", "b/x/SKILL.md", "c/y/SKILL.md"]);
        it.lists("tools:z tools:x tools:y");
    }),
    works(28, "In such a directory each SKILL.md is a skill.", |it| {
        it.plugin(&json!({"name": "tools"}), &["skills/a/SKILL.md", "skills/b/README.md"]);
        it.lists("tools:a");
    }),
    works(29, "A plugin's skill is named `plugin:namespace:skill`.", |it| {
        it.plugin(&json!({"name": "tools"}), &["skills/git/push/SKILL.md"]);
        it.lists("tools:git:push");
    }),
    works(30, "Without a deeper directory the name is `plugin:skill`.", |it| {
        let manifest = json!({"name": "superpowers"});
        it.plugin(&manifest, &["skills/code-reviewer/SKILL.md"]);
        it.lists("superpowers:code-reviewer");
    }),
    works(31, "`${CLAUDE_PLUGIN_ROOT}` is the plugin's directory.", |it| {
        it.substitutes("${CLAUDE_PLUGIN_ROOT}", "$HOME/.claude/plugins/cache/market/tools/1");
    }),
    works(32, "`${CLAUDE_PLUGIN_DATA}` is the plugin's data directory.", |it| {
        it.substitutes("${CLAUDE_PLUGIN_DATA}", "$HOME/.claude/plugins/data/tools-market");
    }),
    works(33, "`${CLAUDE_SKILL_DIR}` is the skill's directory in a plugin too.", |it| {
        let dir = "$HOME/.claude/plugins/cache/market/tools/1/skills/a";
        it.substitutes("${CLAUDE_SKILL_DIR}", dir);
    }),
    works(34, "`${user_config.X}` is the user's value of the plugin's option X.", |it| {
        it.substitutes("${user_config.mode}", "fast");
    }),
    works(35, "A prompt of an MCP server is a skill.", |it| {
        it.every_source();
        assert_eq!(it.entry("mcp__my_notes__Daily notes")["scope"], "mcp");
    }),
    works(36, "It is named `mcp__server__prompt`, the prompt's name unchanged.", |it| {
        it.every_source();
        let loaded = it.load("mcp__my_notes__Daily notes", "tea");
        assert_eq!(loaded["metadata"]["commandName"], "mcp__my_notes__Daily notes");
    }),
    works(37, "The server's name is normalised in it.", |it| {
        it.every_source();
        let list = it.call("skills/list", json!({}));
        let names = joined(&list["skills"], "name");
        assert!(names.contains("mcp__my_notes__"), "{names}");
    }),
    works(38, "A feature switch decides whether MCP prompts are skills.", |it| {
        let off = EVERY_SOURCE.replace(
            "[mcp]\nprofiles = [\"claude-code\", \"claude-code@founding\"]",
            "[mcp]\nprofiles = []",
        );
        it.configure(&off);
        let all = it.entries();
        assert!(all.iter().all(|it| it["scope"] != "mcp"), "{all:?}");
        it.every_source();
        assert_eq!(it.entry("mcp__my_notes__Daily notes")["scope"], "mcp");
    }),
    works(39, "The text of such a skill is fetched from the server when it is loaded.", |it| {
        it.every_source();
        let loaded = it.load("mcp__my_notes__Daily notes", "tea");
        let text = loaded["output"].as_str().expect("a text");
        assert!(text.contains("\"Daily notes\" with {\"topic\":\"tea\"}"), "{text}");
    }),
];

impl super::Place<'_> {
    /// Returns the scope of the active skill with this name.
    #[track_caller]
    fn winner(&mut self, name: &str) -> String {
        let entries = self.entries();
        let active = entries.iter().find(|it| it["name"] == name && it["state"] == "active");
        active.and_then(|it| it["scope"].as_str()).unwrap_or_default().to_owned()
    }

    /// Asserts the value of a variable in a plugin's skill.
    #[track_caller]
    fn substitutes(&mut self, variable: &str, value: &str) {
        let declared = json!({"mode": {"type": "string", "default": "fast"}});
        self.plugin(&json!({"name": "tools", "userConfig": declared}), &[]);
        self.skill(
            "home/.claude/plugins/cache/market/tools/1/skills/a",
            "",
            &format!("Value: {variable}\n"),
        );
        let loaded = self.load("tools:a", "");
        let text = loaded["output"].as_str().expect("a text");
        assert!(text.ends_with(&format!("Value: {value}\n")), "{text}");
        assert_ne!(loaded["hash"], Value::Null);
    }
}
