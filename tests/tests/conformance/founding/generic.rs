//! The document on a generic protocol: statements 105 to 127.

mod serving;

use serde_json::json;

use super::place::{Place, joined};
use super::{Document, Row, works};

pub(super) const DOCUMENT: Document = Document {
    id: "generic",
    title: "The generic protocol",
    profile: "agentskills",
    parts: &[ROWS, serving::ROWS],
};

const ROWS: &[Row] = &[
    works(105, "A skill is Markdown with a name, a description, a text and a location.", |it| {
        it.skill("w/.agents/skills/a", "", "Do it.\n");
        let entry = it.entry("a");
        assert_eq!((&entry["name"], &entry["description"]), (&json!("a"), &json!("Does a.")));
        assert_eq!(entry["path"], "$W/.agents/skills/a/SKILL.md");
        let raw = it.call("skills/load", json!({"name": "a", "format": "raw"}));
        assert_eq!(raw["output"], "Do it.\n");
    }),
    works(106, "The index has the metadata of skills, without their texts.", |it| {
        it.skill("w/.agents/skills/a", "", "Long text.\n");
        let list = it.call("skills/list", json!({})).to_string();
        assert!(list.contains("Does a.") && !list.contains("Long text."), "{list}");
    }),
    works(107, "The text of a skill is read when it is loaded.", |it| {
        it.skill("w/.agents/skills/a", "", "Old.\n");
        it.lists("a");
        it.skill("w/.agents/skills/a", "", "New.\n");
        let text = it.invoke("a")["output"].to_string();
        assert!(text.contains("New.") && !text.contains("Old."), "{text}");
    }),
    works(108, "Loading a skill does nothing but return its text.", |it| {
        it.skill("w/.agents/skills/a", "", "!`touch done`\n");
        it.trust();
        let loaded = it.invoke("a");
        assert!(loaded["output"].to_string().contains("!`touch done`"), "{loaded:#}");
        assert_eq!(loaded["commands"], json!([]));
        for dir in ["w", "w/.agents/skills/a"] {
            assert!(!std::path::Path::new(&it.path(&format!("{dir}/done"))).exists());
        }
    }),
    works(109, "Skills are found in directories of the project.", |it| {
        it.skills(&["w/.agents/skills/a", "w/elsewhere/b"]);
        it.lists("a");
    }),
    works(110, "And in directories of the user, and in those of other agents.", |it| {
        it.skills(&["home/.agents/skills/a", "home/.config/agents/skills/e"]);
        it.skills(&["w/.claude/skills/b", "w/.codex/skills/c", "w/.gemini/skills/d"]);
        it.lists("b c d a e");
    }),
    works(111, "An environment variable or an argument may name more directories.", |it| {
        it.configure(
            "[profiles.agentskills]\nroots_last = [{ base = \"$HOUSE\", relative = \"skills\" }]\n",
        );
        it.skills(&["home/house/skills/a", "home/more/.agents/skills/b"]);
        it.lists("");
        let more = it.path("home/more");
        let shown = it.run(&["list", "--add-dir", &more]);
        assert!(shown.contains("Does b."), "{shown}");
        it.variable("HOUSE", "$HOME/house");
        it.lists("a");
        it.set("additionalDirs", json!([more]));
        it.lists("b a");
    }),
    works(112, "Directories are searched from the working directory upwards.", |it| {
        it.skills(&["w/.agents/skills/a", "w/p/.agents/skills/b", "w/q/.agents/skills/c"]);
        it.set("cwd", json!(it.path("w/p")));
        it.lists("b a");
    }),
    works(113, "`skill` and `skills` are both names of directories.", |it| {
        it.skills(&["w/.opencode/skill/a", "w/.opencode/skills/b"]);
        it.lists("b a");
    }),
    works(114, "Skills may be in nested directories.", |it| {
        it.skills(&["w/.agents/skills/x/y/a", "w/.agents/skills/b"]);
        assert_eq!(it.entry("a")["dir"], "$W/.agents/skills/x/y/a");
        assert_eq!(it.entry("b")["state"], "active");
    }),
    works(115, "Only a SKILL.md is a skill.", |it| {
        it.skills(&["w/.agents/skills/a"]);
        for name in ["README.md", "SKILLS.md", "b.md", "b/SKILL.txt", "b/MY-SKILL.md"] {
            it.files(&format!(
                "//- /w/.agents/skills/{name}\n---\nname: b\ndescription: d\n---\nDo it.\n"
            ));
        }
        it.lists("a");
    }),
    works(116, "Links are followed; hidden directories are skipped.", |it| {
        it.skills(&["w/elsewhere/a", "w/.agents/skills/.x/b"]);
        it.files("//- /w/.agents/skills/a link=../../elsewhere/a\n");
        it.lists("a");
    }),
    works(117, "A directory that cannot be searched is reported, and the others are read.", |it| {
        it.files("//- /w/.agents/skills link=skills\n");
        it.skills(&["w/.claude/skills/a"]);
        it.lists("a");
        let why = it.call("skills/explain", json!({"name": "a"}));
        let broken = &why["steps"][0];
        assert_eq!(broken["root"], "$W/.agents/skills", "{why:#}");
        assert_eq!(broken["outcome"], "unreadable", "{why:#}");
    }),
    works(118, "A file that cannot be parsed is reported with its place, and left out.", |it| {
        for (name, text, place) in [
            ("a", "---\nname: a\ndescription: [d]\n---\n", "3:14"),
            ("b", "---\nname: b\n---\n", "1:1"),
            ("c", "---\ndescription: d\n---\n", "1:1"),
            ("d", "---\nname: d\ndescription: d\n", "1:1"),
        ] {
            it.files(&format!("//- /w/.agents/skills/{name}/SKILL.md\n{text}"));
            it.lists("");
            let path = format!("$W/.agents/skills/{name}/SKILL.md");
            let entries = it.entries();
            let entry = entries.iter().find(|it| it["path"] == path).expect("it is there");
            assert_eq!(entry["state"], "invalid");
            assert!(entry["reason"].to_string().contains(&format!("(SKILL.md:{place})")));
        }
    }),
    works(119, "A value with `: ` is read without quotes.", |it| {
        it.files("//- /w/.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Use: always\n---\n");
        it.description("a", "Use: always");
    }),
    works(120, "Of skills with one name that of the higher place wins, always the same.", |it| {
        it.skills(&["home/.agents/skills/a", "w/.agents/skills/a", "w/.claude/skills/a"]);
        for _ in 0..3 {
            it.lists_dirs("$W/.agents/skills/a");
        }
        let places: Vec<_> = it.entries().iter().map(|it| it["dir"].clone()).collect();
        assert_eq!(places.len(), 3, "{places:?}");
    }),
    works(121, "A name met again is a warning with both places.", |it| {
        let dirs = ["w/.agents/skills/a", "home/.agents/skills/a"];
        it.skills(&dirs);
        assert_eq!(it.call("skills/list", json!({}))["health"], json!([]));
        let entries = it.entries();
        let shadowed = entries.iter().find(|it| it["state"] == "shadowed").expect("it is there");
        assert_eq!(shadowed["dir"], "$HOME/.agents/skills/a");
        let reason = shadowed["reason"].to_string();
        assert!(reason.contains("$W/.agents/skills/a"), "{shadowed:#}");
        it.configure("[profiles.agentskills]\nwarns_of_duplicates = true\n");
        it.skills(&dirs);
        let health = it.call("skills/list", json!({}))["health"].to_string();
        for place in ["$HOME/.agents/skills/a/SKILL.md", "$W/.agents/skills/a/SKILL.md"] {
            assert!(health.contains(place), "{health}");
            assert!(it.log().contains(place), "{}", it.log());
        }
    })
    .deviates(
        "with `warns_of_duplicates` only, as one skill is often in the directories of several agents; `list --all` has both places",
    ),
    works(122, "The index of a project is kept.", |it| {
        it.skills(&["w/.agents/skills/a", "w/p/.agents/skills/b"]);
        let rebuilds = |it: &mut Place<'_>| {
            it.set("cwd", json!(it.path("w")));
            it.lists("a");
            it.set("cwd", json!(it.path("w/p")));
            it.lists("b a");
            it.call("server/status", json!({}))["rebuilds"].clone()
        };
        let before = rebuilds(it);
        assert_eq!(rebuilds(it), before);
    }),
    works(123, "It is made again when files or the configuration change.", |it| {
        it.skills(&["w/.agents/skills/a"]);
        it.lists("a");
        it.skills(&["w/.agents/skills/b"]);
        it.lists("a b");
        it.restrict("a", "deny");
        it.lists("b");
    }),
    works(124, "The description of the tool has its use and the list of skills.", |it| {
        it.skills(&["w/.agents/skills/a", "w/.agents/skills/b"]);
        let text = it.tool()["description"].as_str().expect("a text").to_owned();
        assert!(text.starts_with("Loads a skill"), "{text}");
        for part in ["<name>a</name>", "Does a.", "<name>b</name>", "Does b."] {
            assert!(text.contains(part), "{text}");
        }
    }),
    works(125, "Its parameter is `name`, a text.", |it| {
        it.skills(&["w/.agents/skills/a"]);
        let schema = it.tool()["inputSchema"].clone();
        assert_eq!(schema["required"], json!(["name"]));
        assert_eq!(schema["properties"]["name"]["type"], "string");
        assert_eq!(schema["properties"].as_object().map(serde_json::Map::len), Some(1));
    }),
    works(126, "It lists only skills that the permissions of the agent do not deny.", |it| {
        it.skills(&["w/.agents/skills/a", "w/.agents/skills/b"]);
        it.restrict("a", "deny");
        let tool = it.tool().to_string();
        assert!(!tool.contains("Does a.") && tool.contains("Does b."), "{tool}");
        it.profile = "opencode";
        let deny = json!({"permission": {"skill": {"b": "deny"}}});
        it.files(&format!("//- /w/.skillsd.toml\n//- /home/.config/opencode/opencode.json\n{}\n", json!({"agent": {"plan": deny}})));
        for (agent, names) in [("plan", "a"), ("build", "a b")] {
            it.set("agent", json!(agent));
            let list = it.call("skills/list", json!({}))["skills"].clone();
            let names_listed = joined(&list, "name").replace("customize-opencode", "");
            assert_eq!(names_listed.trim(), names, "{agent}");
        }
    }),
    works(127, "Before a text is read, the skill's permission decides: deny, ask or allow.", |it| {
        it.skill("w/.agents/skills/a", "", "Do it.\n");
        assert!(it.invoke("a")["output"].to_string().contains("Do it."));
        it.restrict("a", "ask");
        let error = it.refusal("skills/load", json!({"name": "a"}));
        assert!(error.code == -32003 && !error.to_string().contains("Do it."), "{error}");
        it.reply(&error.data["requestId"], "once");
        it.invoke("a");
        let error = it.refusal("skills/load", json!({"name": "a"}));
        assert_eq!(error.code, -32003);
        it.reply(&error.data["requestId"], "reject");
        assert_eq!(it.refusal("skills/load", json!({"name": "a"})).code, -32002);
        it.restrict("a", "deny");
        assert_eq!(it.refusal("skills/load", json!({"name": "a"})).code, -32002);
    }),
];

impl Place<'_> {
    /// Writes a permission rule of the repository.
    #[track_caller]
    fn restrict(&self, pattern: &str, action: &str) {
        self.files(&format!(
            "//- /w/.skillsd.toml\n[permission]\nskill = {{ \"{pattern}\" = \"{action}\" }}\n"
        ));
    }
}
