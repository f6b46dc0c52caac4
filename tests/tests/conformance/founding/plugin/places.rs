//! Places, their order and the walk: statements 62 to 75 and 89 to 99 of the installed plugins.

use serde_json::json;

use super::super::{Row, works};

pub(super) const ROWS: &[Row] = &[
    works(62, "Skills are found in six places without any setting.", |it| {
        it.skills(&[
            "w/.opencode/skills/a",
            "w/.claude/skills/b",
            "home/.config/opencode/skills/c",
            "home/.claude/skills/d",
            "home/.claude/plugins/cache/p/skills/e",
            "home/opt/q/skills/f",
        ]);
        it.installed(2, &json!({"q@m": [{"scope": "user", "installPath": "$HOME/opt/q"}]}));
        it.lists("a b c d e f");
    }),
    works(63, "Each of the four local places has a label.", |it| {
        it.skills(&[
            "w/.opencode/skills/a",
            "w/.claude/skills/b",
            "home/.config/opencode/skills/c",
            "home/.claude/skills/d",
        ]);
        let found = it.listing(json!({"query": ""}));
        for label in ["a (project)", "b (claude-project)", "c (user)", "d (claude-user)"] {
            assert!(found.contains(label), "{found}");
        }
    }),
    works(64, "`.opencode/skills` is searched three levels below the first.", |it| {
        it.skills(&["w/.opencode/skills/1/2/3/a", "w/.opencode/skills/1/2/3/4/b"]);
        it.lists("a");
    }),
    works(65, "`.claude/skills` is searched one level below the first.", |it| {
        it.skills(&["w/.claude/skills/1/a", "w/.claude/skills/1/2/b"]);
        it.lists("a");
    }),
    works(66, "`~/.config/opencode/skills` is searched three levels below the first.", |it| {
        let root = "home/.config/opencode/skills";
        it.skills(&[&format!("{root}/1/2/3/a"), &format!("{root}/1/2/3/4/b")]);
        it.lists("a");
    }),
    works(67, "`~/.claude/skills` is searched one level below the first.", |it| {
        it.skills(&["home/.claude/skills/1/a", "home/.claude/skills/1/2/b"]);
        it.lists("a");
    }),
    works(68, "The places are searched in this order.", |it| {
        it.skills(&["home/.claude/skills/a", "home/.config/opencode/skills/b"]);
        it.skills(&["w/.claude/skills/c", "w/.opencode/skills/d"]);
        it.lists("d c b a");
    }),
    works(69, "The project's places are in its top directory, not above.", |it| {
        it.skills(&["w/.opencode/skills/a", "w/p/.opencode/skills/b"]);
        it.set("cwd", json!(it.path("w/p")));
        it.lists("b");
    }),
    works(70, "A skill that is deeper is not found, and `explain` says so.", |it| {
        it.skills(&["w/.claude/skills/1/2/b"]);
        let path = it.path("w/.claude/skills/1/2/b");
        let why = it.call("skills/explain", json!({"path": path}));
        let why = why["verdict"]["summary"].as_str().expect("a text");
        assert!(why.contains("deeper"), "{why}");
    }),
    works(71, "A directory with a SKILL.md is not searched further.", |it| {
        it.skills(&["w/.opencode/skills/a", "w/.opencode/skills/a/b"]);
        it.lists("a");
    }),
    works(72, "Only directories are searched; a SKILL.md in the place itself is no skill.", |it| {
        it.files("//- /w/.opencode/skills/SKILL.md\n---\nname: a\ndescription: d\n---\nDo it.\n");
        it.lists("");
    }),
    works(73, "Links to directories are followed.", |it| {
        it.skills(&["home/elsewhere/a"]);
        it.files("//- /home/.claude/skills/b link=../../elsewhere/a\n");
        it.lists_dirs("$HOME/.claude/skills/b");
    }),
    works(74, "Of skills with one name the first found is kept.", |it| {
        it.skills(&["w/.opencode/skills/a", "home/.config/opencode/skills/a"]);
        it.lists_dirs("$W/.opencode/skills/a");
    }),
    works(
        75,
        "The later ones are left out, so that a project's skill wins over the user's.",
        |it| {
            it.skills(&["w/.claude/skills/a", "home/.config/opencode/skills/a"]);
            it.lists_dirs("$W/.claude/skills/a");
            let entries = it.entries();
            assert!(entries.iter().any(|it| it["state"] == "shadowed"), "{entries:?}");
        },
    ),
];

pub(super) const PLUGINS: &[Row] = &[
    works(89, "A missing or broken list of installed plugins brings no skills.", |it| {
        it.skills(&["home/.claude/skills/a", "home/opt/q/skills/b"]);
        it.lists("a");
        it.files("//- /home/.claude/plugins/installed_plugins.json\n{\n");
        it.lists("a");
    }),
    works(90, "The plugins' cache comes before the installed plugins.", |it| {
        it.skills(&["home/opt/q/skills/a", "home/.claude/plugins/cache/p/skills/b"]);
        it.installed(2, &json!({"q@m": [{"installPath": "$HOME/opt/q"}]}));
        it.lists("b a");
    }),
    works(
        91,
        "A plugin of the cache may be `NAME/skills`; then it is not searched further.",
        |it| {
            let cache = "home/.claude/plugins/cache";
            it.skills(&[&format!("{cache}/p/skills/a"), &format!("{cache}/p/q/1/skills/b")]);
            it.lists("a");
        },
    ),
    works(92, "Or it is `MARKETPLACE/NAME/VERSION/skills`.", |it| {
        it.skills(&["home/.claude/plugins/cache/m/p/1/skills/a"]);
        it.skills(&["home/.claude/plugins/cache/m/p/skills/b"]);
        it.lists("a");
    }),
    works(
        93,
        "In version 1 the marketplace's manifest names the skills, or there are none.",
        |it| {
            let market = "home/.claude/plugins/marketplaces/m";
            let plugins = json!({"plugins": [{"name": "p", "skills": ["./x/a"]}, {"name": "q"}]});
            it.files(&format!("//- /{market}/.claude-plugin/marketplace.json\n{plugins}\n"));
            it.skills(&[&format!("{market}/x/a"), &format!("{market}/skills/b")]);
            let root = json!({"installPath": format!("$HOME/{}", &market[5..])});
            it.installed(1, &json!({"p@m": root, "q@m": root, "r@m": root}));
            it.lists("a");
        },
    ),
    works(94, "In version 2 `installPath` is the plugin's directory, at any place.", |it| {
        it.skills(&["home/opt/q/skills/a"]);
        it.installed(2, &json!({"q@m": [{"installPath": "$HOME/opt/q"}]}));
        it.lists("a");
    }),
    works(95, "The scope may be `managed`, `user`, `project` or `local`.", |it| {
        let plugins: serde_json::Map<_, _> = ["managed", "user", "project", "local"]
            .map(|scope| {
                it.skills(&[&format!("home/opt/{scope}/skills/{scope}")]);
                let path = format!("$HOME/opt/{scope}");
                let entry = json!([{"scope": scope, "projectPath": "/else", "installPath": path}]);
                (format!("{scope}@m"), entry)
            })
            .into_iter()
            .collect();
        it.installed(2, &json!(plugins));
        let list = it.call("skills/list", json!({}));
        assert_eq!(list["skills"].as_array().map(Vec::len), Some(4), "{list:#}");
    }),
    works(96, "Any key is a plugin, also one without a marketplace.", |it| {
        it.skills(&["home/opt/q/skills/a"]);
        it.installed(2, &json!({"q": [{"installPath": "$HOME/opt/q"}]}));
        it.lists("a");
    }),
    works(97, "An entry may be one object instead of a list.", |it| {
        it.skills(&["home/opt/q/skills/a"]);
        it.installed(2, &json!({"q@m": {"installPath": "$HOME/opt/q"}}));
        it.lists("a");
    }),
    works(98, "A list stands for version 2 whatever the version says.", |it| {
        it.skills(&["home/opt/q/skills/a", "home/opt/r/skills/b"]);
        let both = json!([{"installPath": "$HOME/opt/q"}, {"installPath": "$HOME/opt/r"}]);
        it.installed(1, &json!({"q@m": both}));
        it.lists("a b");
    }),
    works(99, "Skills are the directories in the plugin's `skills`.", |it| {
        it.skills(&["home/opt/q/skills/a", "home/opt/q/skills/x/b", "home/opt/q/c"]);
        it.installed(2, &json!({"q@m": [{"installPath": "$HOME/opt/q"}]}));
        it.lists("a");
    }),
];
