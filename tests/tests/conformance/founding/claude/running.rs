//! Forks, activation, hooks, permissions and records: statements 111 to 157.

use serde_json::{Value, json};

use super::super::place::{Place, joined};
use super::super::{Row, works};

/// Frontmatter of a skill that only runs with approval.
const TOOLS: &str = "allowed-tools: Bash\n";

pub(super) const ROWS: &[Row] = &[
    works(111, "A fork has an agent id of its own.", |it| {
        it.skill("w/.claude/skills/a", "context: fork\n", "Do it.\n");
        let ids = [(); 2].map(|()| it.load("a", "")["metadata"]["agentId"].clone());
        assert!(ids[0].is_string() && ids[1].is_string() && ids[0] != ids[1], "{ids:?}");
    }),
    works(112, "It is counted as a fork.", |it| {
        it.skill("w/.claude/skills/a", "context: fork\n", "Do it.\n");
        it.counts(&["contexts", "fork"], |it| {
            it.load("a", "");
        });
    }),
    works(113, "Its prompt is the skill's text with arguments.", |it| {
        it.skill("w/.claude/skills/a", "context: fork\n", "Do $0.\n");
        let loaded = it.load("a", "this");
        let messages = loaded["metadata"]["promptMessages"].as_array().expect("a list");
        assert_eq!(messages.len(), 1, "{loaded:#}");
        assert!(messages[0].to_string().contains("Do this."), "{loaded:#}");
    }),
    works(114, "Its tools are the skill's `allowed-tools`.", |it| {
        it.skill("w/.claude/skills/a", "context: fork\nallowed-tools: Read, Grep\n", "");
        it.metadata("a", "allowedTools", json!(["Read", "Grep"]));
    }),
    works(115, "Its agent is the skill's `agent`, else `general-purpose`.", |it| {
        it.skill("w/.claude/skills/a", "context: fork\n", "");
        it.skill("w/.claude/skills/b", "context: fork\nagent: Plan\n", "");
        it.metadata("a", "agent", "general-purpose");
        it.metadata("b", "agent", "Plan");
    }),
    works(116, "The main agent waits for the fork.", |it| {
        it.skill("w/.claude/skills/a", "context: fork\n", "");
        it.metadata("a", "background", Value::Null);
    }),
    works(117, "The skill's model and effort are those of the fork.", |it| {
        it.skill("w/.claude/skills/a", "context: fork\nmodel: opus\neffort: high\n", "");
        it.metadata("a", "model", "opus");
        it.metadata("a", "effort", "high");
    }),
    works(118, "When the fork ends, the skills that it loaded are forgotten.", |it| {
        it.hooked("a", "context: fork\n");
        let agent = it.load("a", "")["metadata"]["agentId"].clone();
        assert_eq!(it.invoked(&agent), "a");
        let ended = it.call("session/agentEnd", json!({"agent": agent}));
        assert_eq!(ended["forgotten"], json!(["a"]));
        assert_eq!(it.invoked(&agent), "");
    }),
    works(119, "A skill with `paths` is not there for the model before a match.", |it| {
        it.skill("w/.claude/skills/a", "paths: '*.rs'\n", "Do it.\n");
        it.lists("");
        assert_eq!(it.listing(json!({})), "");
        it.fails("a", 2);
        let path = it.path("w/.claude/skills/a");
        assert_eq!(it.refusal("skills/load", json!({"path": path})).data["errorCode"], 2);
        let file = json!({"path": path, "relative": "SKILL.md", "by": "model"});
        assert_eq!(it.refusal("skills/read", file.clone()).code, -32009);
        it.session();
        it.touch(&["a.rs"]);
        it.invoke("a");
        it.call("skills/read", file);
    }),
    works(120, "Touching a matching file activates it.", |it| {
        it.skill("w/.claude/skills/a", "paths: '*.rs'\n", "Do it.\n");
        it.session();
        assert_eq!(it.touch(&["a.md"]), "");
        assert_eq!(it.touch(&["a.rs"]), "a");
        it.body("a", "Do it.\n");
    }),
    works(121, "An activated skill is listed, and no longer waits.", |it| {
        it.skill("w/.claude/skills/a", "paths: '*.rs'\n", "Do it.\n");
        it.session();
        it.touch(&["a.rs"]);
        it.lists("a");
        it.state("a", "activated");
    }),
    works(122, "It stays active for the session.", |it| {
        it.skill("w/.claude/skills/a", "paths: '*.rs'\n", "Do it.\n");
        it.session();
        assert_eq!(it.touch(&["a.rs"]), "a");
        assert_eq!(it.touch(&["b.rs", "c.md"]), "");
        it.skills(&["w/.claude/skills/b"]);
        it.lists("a b");
        it.set("session", json!("another"));
        it.call("session/open", json!({}));
        it.lists("b");
    }),
    works(123, "Patterns match as in a gitignore, without regard to case.", |it| {
        for (name, pattern) in
            [("a", "'*.RS'"), ("b", "docs/"), ("c", "['*.md', '!readme.md']"), ("d", "/top.txt")]
        {
            it.skill(&format!("w/.claude/skills/{name}"), &format!("paths: {pattern}\n"), "");
        }
        it.session();
        assert_eq!(it.touch(&["deep/er/x.rs"]), "a");
        assert_eq!(it.touch(&["x/docs/y"]), "b");
        assert_eq!(it.touch(&["README.md", "x/top.txt"]), "");
        assert_eq!(it.touch(&["more.md", "top.txt"]), "c d");
    }),
    works(124, "All waiting skills are compared with all touched files.", |it| {
        it.skill("w/.claude/skills/a", "paths: '*.rs'\n", "");
        it.skill("w/.claude/skills/b", "paths: '*.md'\n", "");
        it.session();
        assert_eq!(it.touch(&["x.rs", "x.md"]), "a b");
    }),
    works(125, "The list is made again after an activation.", |it| {
        it.skill("w/.claude/skills/a", "paths: '*.rs'\n", "");
        it.session();
        assert_eq!(it.listing(json!({"onlyNew": true})), "");
        it.touch(&["a.rs"]);
        assert!(it.listing(json!({"onlyNew": true})).contains("- a: Does a."));
    }),
    works(126, "An activation is counted.", |it| {
        it.skill("w/.claude/skills/a", "paths: '*.rs'\n", "");
        it.session();
        it.counts(&["changes", "activated"], |it| {
            it.touch(&["a.rs"]);
        });
    }),
    works(127, "A touched path is compared relative to the working directory.", |it| {
        it.skill("w/p/.claude/skills/a", "paths: 'src/*.rs'\n", "");
        it.set("cwd", json!(it.path("w/p")));
        it.session();
        assert_eq!(it.touch(&["src/a.rs"]), "");
        assert_eq!(it.touch(&["p/docs/../src/a.rs"]), "a");
    }),
    works(
        128,
        "Touching a file finds the skill directories from it up to the working directory.",
        |it| {
            it.skills(&["w/p/.claude/skills/a", "w/p/q/.claude/skills/b", "w/r/.claude/skills/c"]);
            it.session();
            it.lists("");
            it.touch(&["p/q/s/x.rs"]);
            it.lists("b a");
        },
    ),
    works(129, "The working directory itself is not found that way; it is a source.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.session();
        assert_eq!(it.discovered("x.rs"), "");
        it.lists("a");
    }),
    works(130, "A directory is looked for once, and only an existing one counts.", |it| {
        it.skills(&["w/p/.claude/skills/a"]);
        it.session();
        assert_eq!(it.discovered("p/q/x.rs"), "$W/p/.claude/skills");
        assert_eq!(it.discovered("p/q/x.rs"), "");
    }),
    works(131, "Directories that git ignores are skipped.", |it| {
        it.git(&["init", "-q"]);
        it.files("//- /w/.gitignore\nout/\ntracked/\n");
        it.skills(&["w/out/.claude/skills/a", "w/tracked/.claude/skills/b"]);
        it.git(&["add", "--force", "tracked"]);
        it.session();
        assert_eq!(it.discovered("out/x.rs"), "");
        assert_eq!(it.discovered("tracked/x.rs"), "$W/tracked/.claude/skills");
    }),
    works(132, "Found directories are ordered by depth, the deepest first.", |it| {
        it.skills(&["w/p/.claude/skills/a", "w/p/q/.claude/skills/b"]);
        it.session();
        assert_eq!(it.discovered("p/q/x.rs"), "$W/p/q/.claude/skills $W/p/.claude/skills");
    }),
    works(133, "The skill nearest to the file wins its name.", |it| {
        it.skills(&["w/p/.claude/skills/a", "w/p/q/.claude/skills/a", "w/.claude/skills/a"]);
        it.session();
        it.touch(&["p/q/x.rs"]);
        it.lists_dirs("$W/p/q/.claude/skills/a");
    }),
    works(134, "Changes of skills make every kept list invalid.", |it| {
        it.skills(&["w/p/.claude/skills/a"]);
        it.session();
        it.lists("");
        let tool = it.tool();
        it.touch(&["p/x.rs"]);
        it.lists("a");
        assert_ne!(it.tool(), tool);
        let found = it.call("skills/search", json!({"query": "a"}));
        assert_eq!(joined(&found["skills"], "name"), "a");
    }),
    works(135, "The next turn gets the new list.", |it| {
        it.skills(&["w/p/.claude/skills/a"]);
        it.session();
        it.touch(&["p/x.rs"]);
        assert!(it.listing(json!({})).contains("- a: Does a."));
    }),
    works(136, "Hooks of a skill are those of the session in which it was loaded.", |it| {
        it.hooked("a", "");
        it.load("a", "");
        assert_eq!(it.hooks("Stop", ""), "./a");
        it.set("session", json!("another"));
        it.call("session/open", json!({}));
        assert_eq!(it.hooks("Stop", ""), "");
    }),
    works(137, "Each event of the agent may have hooks.", |it| {
        it.hooked("a", "");
        let hooks = ["PreToolUse", "PostToolUse", "Stop"].map(|event| {
            format!(
                "  {event}:\n    - hooks:\n        - type: command\n          command: ./{event}\n"
            )
        });
        it.skill("home/.claude/skills/a", &format!("hooks:\n{}", hooks.concat()), "");
        it.load("a", "");
        for event in ["PreToolUse", "PostToolUse", "Stop"] {
            assert_eq!(it.hooks(event, "Read"), format!("./{event}"));
        }
    }),
    works(138, "A hook runs if its matcher matches the tool; an empty one matches all.", |it| {
        it.hooked("a", "");
        let hook = |matcher: &str, command: &str| {
            format!(
                "    - matcher: {matcher}\n      hooks:\n        - type: command\n          command: {command}\n"
            )
        };
        let hooks = [hook("Bash", "./b"), hook("''", "./all"), hook("Edit|Write", "./e")].concat();
        it.skill("home/.claude/skills/a", &format!("hooks:\n  PreToolUse:\n{hooks}"), "");
        it.load("a", "");
        assert_eq!(it.hooks("PreToolUse", "Bash"), "./b ./all");
        assert_eq!(it.hooks("PreToolUse", "Write"), "./all ./e");
        assert_eq!(it.hooks("PreToolUse", "Read"), "./all");
    }),
    works(139, "A hook with `once` is removed after its first success.", |it| {
        it.hooked("a", "          once: true\n");
        it.load("a", "");
        let matched = it.call("hooks/match", json!({"event": "Stop"}));
        let done = json!({"id": matched["hooks"][0]["id"], "ok": true});
        assert_eq!(it.call("hooks/done", done)["removed"], true);
        assert_eq!(it.hooks("Stop", ""), "");
    }),
    works(140, "A hook gets the skill's directory as `CLAUDE_PLUGIN_ROOT`.", |it| {
        it.hooked("a", "");
        it.load("a", "");
        let matched = it.call("hooks/match", json!({"event": "Stop"}));
        let environment = &matched["hooks"][0]["environment"];
        assert_eq!(environment["CLAUDE_PLUGIN_ROOT"], "$HOME/.claude/skills/a");
    }),
    works(141, "A hook without `once` runs each time until the session ends.", |it| {
        it.hooked("a", "");
        it.load("a", "");
        let matched = it.call("hooks/match", json!({"event": "Stop"}));
        let done = json!({"id": matched["hooks"][0]["id"], "ok": true});
        assert_eq!(it.call("hooks/done", done)["removed"], false);
        assert_eq!(it.hooks("Stop", ""), "./a");
    }),
    works(142, "Rules that deny come first.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.rules(&json!({"allow": ["Skill(a)"], "deny": ["Skill(a)"]}));
        assert_eq!(it.decision("a"), "deny");
        assert_eq!(it.refusal("skills/load", json!({"name": "a"})).code, -32002);
    }),
    works(143, "A rule names a skill exactly.", |it| {
        it.rules(&json!({"deny": ["Skill(commit)"]}));
        assert_eq!(it.decision("commit"), "deny");
        assert_ne!(it.decision("commits"), "deny");
    }),
    works(144, "`review:*` in a rule stands for every name that begins with `review`.", |it| {
        it.rules(&json!({"deny": ["Skill(review:*)"]}));
        for name in ["review", "review-pr", "reviewer"] {
            assert_eq!(it.decision(name), "deny", "{name}");
        }
        assert_ne!(it.decision("pre-review"), "deny");
    }),
    works(145, "Remote skills of the vendor are allowed without a question.", |it| {
        it.skill("w/.claude/skills/_canonical_a", TOOLS, "");
        it.profile = "claude-code";
        assert_eq!(it.refusal("skills/load", json!({"name": "_canonical_a"})).code, -32003);
    })
    .deviates(
        "anyone may publish a skill with such a name, so that it is asked about as any other",
    ),
    works(146, "Then a rule that allows decides.", |it| {
        it.skill("w/.claude/skills/a", TOOLS, "");
        assert_eq!(it.decision("a"), "ask");
        it.rules(&json!({"allow": ["Skill(a)"]}));
        assert_eq!(it.decision("a"), "allow");
    }),
    works(147, "Without a rule a skill with harmless fields only is allowed.", |it| {
        it.skill("w/.claude/skills/a", "model: haiku\nargument-hint: x\n", "");
        assert_eq!(it.decision("a"), "allow");
        for more in [TOOLS, "context: fork\n", "hooks:\n  Stop: []\n"] {
            it.skill("w/.claude/skills/b", more, "");
            assert_eq!(it.decision("b"), "ask", "{more}");
        }
    }),
    works(148, "Else the user is asked, with the name and a prefix as suggestions.", |it| {
        it.skill("w/.claude/skills/commit", TOOLS, "");
        let params = json!({"permission": "skill", "patterns": ["commit"]});
        let answer = it.call("permission/check", params);
        assert_eq!(answer["action"], "ask");
        assert_eq!(answer["suggestions"], json!(["commit", "commit:*"]));
    }),
    works(149, "A denied skill is still in the listing.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.rules(&json!({"deny": ["Skill(a)"]}));
        it.state("a", "denied");
        let listing = it.listing(json!({}));
        assert!(listing.contains("\n- a: "), "{listing}");
    }),
    works(150, "A field that is not known as harmless needs approval.", |it| {
        it.skill("w/.claude/skills/a", "colour: red\n", "");
        assert_eq!(it.decision("a"), "ask");
    }),
    works(151, "After a compaction the loaded skills are given again.", |it| {
        it.skill("w/.claude/skills/a", "", "Do it.\n");
        it.session();
        it.invoke("a");
        let compacted = it.call("session/compacted", json!({}));
        assert_eq!(joined(&compacted["skills"], "name"), "a");
        assert!(compacted["skills"][0]["body"].as_str().is_some_and(|it| it.ends_with("Do it.\n")));
    }),
    works(152, "Each agent is given only its own.", |it| {
        it.hooked("a", "context: fork\n");
        let agent = it.load("a", "")["metadata"]["agentId"].clone();
        assert_eq!(it.invoked(&Value::Null), "");
        assert_eq!(it.hooks("Stop", ""), "");
        assert_eq!(joined(&it.call("session/compacted", json!({}))["skills"], "name"), "");
        assert_eq!(it.invoked(&agent), "a");
        it.set("agent", agent);
        assert_eq!(it.hooks("Stop", ""), "./a");
    }),
    works(
        153,
        "The result of a fork has its agent's id, and no message for the main agent.",
        |it| {
            it.skill("w/.claude/skills/a", "context: fork\n", "Do it.\n");
            let loaded = it.load("a", "");
            let metadata = &loaded["metadata"];
            assert_eq!(
                (&metadata["status"], &metadata["success"]),
                (&json!("forked"), &json!(true))
            );
            assert!(
                !metadata["promptMessages"].to_string().contains("<command-name>"),
                "{metadata:#}"
            );
        },
    ),
    works(154, "Each load is counted, with its place and its origin.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.counts(&["contexts", "inline"], |it| {
            it.invoke("a");
        });
        it.counts(&["triggers", "model"], |it| {
            it.invoke("a");
        });
    }),
    works(155, "A name with `/` from the model is counted.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.counts(&["slashPrefixed"], |it| {
            it.invoke("/a");
        });
        it.counts(&["slashPrefixed"], |it| it.fails("/b", 2));
    }),
    works(156, "Each change of the skills by touched files is counted.", |it| {
        it.skills(&["w/p/.claude/skills/a"]);
        it.session();
        it.counts(&["changes", "discovered"], |it| {
            it.touch(&["p/x.rs"]);
        });
    }),
    works(157, "Shortened descriptions are counted.", |it| {
        it.files(&format!(
            "//- /w/.claude/skills/a/SKILL.md\n---\ndescription: {}\n---\n",
            "x".repeat(200)
        ));
        it.counts(&["descriptionsShortened"], |it| {
            it.listing(json!({"budgetChars": 100}));
        });
    }),
];

impl Place<'_> {
    /// Asserts that a counter of the daemon grows by one.
    #[track_caller]
    fn counts(&mut self, path: &[&str], act: impl FnOnce(&mut Self)) {
        let count = |actions: Value| {
            path.iter().fold(&actions, |it, key| &it[*key]).as_u64().unwrap_or_default()
        };
        let before = count(self.actions());
        act(self);
        assert_eq!(count(self.actions()), before + 1, "{path:?}");
    }

    /// Returns the names of the skills that an agent has loaded.
    fn invoked(&mut self, agent: &Value) -> String {
        joined(&self.call("session/invoked", json!({"agent": agent}))["skills"], "name")
    }

    /// Touches a file of the worktree and returns the directories that this discovers.
    fn discovered(&mut self, path: &str) -> String {
        let path = self.path(&format!("w/{path}"));
        joined(&self.call("session/touch", json!({"paths": [path]}))["discovered"], "dir")
    }

    /// Writes the user's permission rules.
    fn rules(&self, rules: &Value) {
        self.settings(&json!({"permissions": rules}));
    }
}
