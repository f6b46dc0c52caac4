//! Sources, reading and the registry: statements 1 to 37.

use serde_json::json;

use super::super::place::{Place, joined};
use super::super::{Row, kept, works};

const REMOTE: &str = "tests/tests/e2e/sources/remote.rs";

pub(super) const ROWS: &[Row] = &[
    works(1, "A skill is a SKILL.md whose body goes into the chat when it is loaded.", |it| {
        it.skill("w/.claude/skills/commit", "", "Run git status.\n");
        let text = it.invoke("commit")["output"].to_string();
        assert!(text.contains("Run git status."), "{text}");
    }),
    works(2, "Its name is the frontmatter's `name`.", |it| {
        it.files("//- /w/.claude/skills/dir/SKILL.md\n---\nname: other\ndescription: d\n---\n");
        it.lists("other");
    }),
    works(3, "Its description is the frontmatter's `description`.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        it.description("a", "Does a.");
    }),
    works(4, "Its location is the absolute path of its SKILL.md.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        assert_eq!(it.entry("a")["path"], "$W/.claude/skills/a/SKILL.md");
    }),
    works(5, "Its content is the text below the frontmatter.", |it| {
        it.skill("w/.claude/skills/a", "", "Only this.\n");
        let raw = it.call("skills/load", json!({"name": "a", "format": "raw"}));
        assert_eq!(raw["output"], "Only this.\n");
    }),
    works(6, "There are five sources; the fifth, URLs, is shown below.", |it| {
        it.opencode(&json!({"skills": {"paths": ["~/own"]}}));
        it.skills(&[
            "home/.claude/skills/a",
            "w/.agents/skills/b",
            "w/.opencode/skill/c",
            "home/own/d",
        ]);
        it.lists("a b c d");
    }),
    works(7, "`.claude` and `.agents` are searched for `skills/**/SKILL.md`.", |it| {
        it.skills(&["w/.claude/skills/x/y/a", "w/.agents/skills/b", "w/.agents/skill/c"]);
        it.lists("a b");
    }),
    works(8, "Hidden directories are searched in these.", |it| {
        it.skills(&["w/.claude/skills/.x/a", "w/.opencode/skills/.x/b"]);
        it.lists("a");
    }),
    works(9, "Directories of configuration are searched for `{skill,skills}/**/SKILL.md`.", |it| {
        it.skills(&["w/.opencode/skill/x/a", "w/.opencode/skills/b", "w/.opencode/c"]);
        it.lists("a b");
    }),
    works(10, "Directories of the user's choice are searched for `**/SKILL.md`.", |it| {
        it.opencode(&json!({"skills": {"paths": ["~/own"]}}));
        it.skills(&["home/own/x/y/z/a", "home/own/b"]);
        it.lists("b a");
    }),
    works(11, "Found files are a set: one that is met again keeps its place.", |it| {
        it.opencode(&json!({"skills": {"paths": ["~/.claude/skills/a"]}}));
        it.skill("home/.claude/skills/a", "", "");
        it.files("//- /w/.claude/skills/b/SKILL.md\n---\nname: a\ndescription: Later.\n---\n");
        it.description("a", "Later.");
    }),
    works(12, "Only files are found, no directories.", |it| {
        it.files("//- /w/.claude/skills/a/SKILL.md/ dir\n");
        it.skills(&["w/.claude/skills/a/SKILL.md/b"]);
        it.lists("b");
    }),
    works(13, "Links are followed.", |it| {
        it.skills(&["home/elsewhere/a"]);
        it.files("//- /home/.claude/skills/x link=../../elsewhere\n");
        it.lists_dirs("$HOME/.claude/skills/x/a");
    }),
    works(14, "First come `~/.claude` and `~/.agents`.", |it| {
        it.skills(&["w/.claude/skills/c", "home/.agents/skills/b", "home/.claude/skills/a"]);
        it.lists("a b c");
    }),
    works(15, "A missing directory is skipped.", |it| {
        it.skills(&["home/.agents/skills/b"]);
        it.lists("b");
        let list = it.call("skills/list", json!({}));
        assert_eq!(list["health"], json!([]));
    }),
    works(16, "Then both in each directory from the working one up to the worktree's top.", |it| {
        it.git(&["init", "-q"]);
        it.skills(&["w/.claude/skills/b", "w/p/q/.agents/skills/a", "w/p/.claude/skills/c"]);
        it.set("cwd", json!(it.path("w/p/q")));
        it.lists("a c b");
    }),
    works(17, "Then the directories of the agent's configuration.", |it| {
        it.skills(&["w/.opencode/skills/c", "home/.config/opencode/skill/b", "w/.claude/skills/a"]);
        it.lists("a b c");
    }),
    works(18, "Then `skills.paths`: with `~/`, absolute, or relative to the project.", |it| {
        let paths = json!(["~/x", it.path("home/y"), "z"]);
        it.opencode(&json!({"skills": {"paths": paths}}));
        it.skills(&["home/x/a", "home/y/b", "w/z/c", "w/.opencode/skill/d"]);
        it.lists("d a b c");
    }),
    works(19, "One of them that is no directory is a warning.", |it| {
        it.opencode(&json!({"skills": {"paths": ["~/gone", "~/file"]}}));
        it.files("//- /home/file\n");
        let list = it.call("skills/list", json!({}));
        let health = list["health"].to_string();
        assert!(health.contains("$HOME/gone") && health.contains("$HOME/file"), "{health}");
    }),
    kept(
        20,
        "Then `skills.urls`: skills are downloaded from each.",
        REMOTE,
        "nested_skill_file_of_a_registry_is_a_skill_for_opencode",
    ),
    kept(
        21,
        "What is downloaded is searched for `**/SKILL.md`.",
        REMOTE,
        "nested_skill_file_of_a_registry_is_a_skill_for_opencode",
    ),
    kept(
        22,
        "URLs in a project's configuration are used as well.",
        "tests/tests/attacks/loosening.rs",
        "registry_of_a_repository_is_not_fetched_before_trust",
    )
    .deviates("only if the user trusts the worktree; the hint names the remedy"),
    works(23, "A source that cannot be searched is reported, and the others are read.", |it| {
        it.files("//- /w/.claude/skills link=skills\n");
        it.skills(&["w/.agents/skills/a"]);
        it.lists("a");
    }),
    works(24, "A file is found by each path that leads to it.", |it| {
        it.skills(&["home/.claude/skills/x/a"]);
        it.files("//- /home/.claude/skills/y link=x\n");
        let dirs = it.entries();
        assert_eq!(
            joined(&json!(dirs), "dir"),
            "$HOME/.claude/skills/x/a $HOME/.claude/skills/y/a"
        );
    }),
    works(25, "A file is parsed as YAML frontmatter and Markdown.", |it| {
        it.files("//- /w/.claude/skills/a/SKILL.md\n---\nname: 'a'\ndescription: >-\n  Does\n  it.\n---\n# A\n");
        it.description("a", "Does it.");
    }),
    works(26, "One that cannot be parsed is reported, and the others are read.", |it| {
        it.files("//- /w/.claude/skills/a/SKILL.md\n---\nname: [a\n---\n");
        it.skills(&["w/.claude/skills/b"]);
        it.lists("b");
        let broken = it.entries().remove(0);
        assert_eq!(broken["state"], "invalid");
        assert!(broken["reason"].as_str().is_some_and(|it| it.contains("SKILL.md:2:7")));
    }),
    works(27, "`name` and `description` must be texts.", |it| {
        it.files("//- /w/.claude/skills/a/SKILL.md\n---\nname: 5\ndescription: d\n---\n");
        it.files("//- /w/.claude/skills/b/SKILL.md\n---\nname: b\ndescription: [d]\n---\n");
        it.lists("");
    }),
    works(28, "A file without one of them is left out.", |it| {
        it.files("//- /w/.claude/skills/a/SKILL.md\n---\ndescription: d\n---\n");
        it.files("//- /w/.claude/skills/b/SKILL.md\n---\nname: b\n---\n");
        it.lists("");
        it.state("b", "invalid");
    }),
    works(29, "Of files with one name the last read wins.", |it| {
        it.skills(&["w/.claude/skills/a", "w/.opencode/skill/a"]);
        it.lists_dirs("$W/.opencode/skill/a");
    }),
    works(30, "So a project's skill wins over the user's.", |it| {
        it.skills(&["home/.claude/skills/a", "w/.claude/skills/a"]);
        it.lists_dirs("$W/.claude/skills/a");
    }),
    works(31, "A name met again is a warning with both places.", |it| {
        it.configure("");
        it.skills(&["home/.claude/skills/a", "w/.claude/skills/a"]);
        let health = it.call("skills/list", json!({}))["health"].to_string();
        for place in ["$HOME/.claude/skills/a/SKILL.md", "$W/.claude/skills/a/SKILL.md"] {
            assert!(health.contains(place), "{health}");
            assert!(it.log().contains(place), "{}", it.log());
        }
    }),
    works(32, "The number of skills is logged.", |it| {
        it.configure("");
        it.skills(&["w/.claude/skills/a", "w/.claude/skills/b"]);
        it.lists("a b");
        let log = it.log();
        assert!(log.lines().any(|it| it.contains("listed skills count=2")), "{log}");
    }),
    works(33, "What was found and read is kept.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        let rebuilds = |it: &mut Place<'_>| {
            it.lists("a");
            it.call("server/status", json!({}))["rebuilds"].clone()
        };
        let before = rebuilds(it);
        assert_eq!(rebuilds(it), before);
    }),
    works(34, "A skill is found by its name.", |it| {
        it.skills(&["w/.claude/skills/a"]);
        assert_eq!(it.call("skills/get", json!({"name": "a"}))["name"], "a");
        assert_eq!(it.refusal("skills/get", json!({"name": "b"})).code, -32001);
    }),
    works(35, "All skills can be listed.", |it| {
        it.skills(&["w/.claude/skills/a", "home/.agents/skills/b"]);
        it.lists("b a");
    }),
    works(36, "Those of an agent are all but the ones that its permissions deny.", |it| {
        it.skills(&["w/.claude/skills/a", "w/.claude/skills/b"]);
        let deny = json!({"permission": {"skill": {"a": "deny"}}});
        it.opencode(&json!({"agent": {"plan": deny}}));
        it.files(
            "//- /w/.opencode/agent/review.md\n---\npermission:\n  skill:\n    b: deny\n---\n",
        );
        for (agent, names) in [("plan", "b"), ("review", "a"), ("build", "a b")] {
            it.set("agent", json!(agent));
            it.lists(names);
        }
    }),
    works(37, "The directories of all found files can be listed.", |it| {
        it.skills(&["home/.claude/skills/a", "w/.claude/skills/a"]);
        it.files("//- /w/.claude/skills/bad/SKILL.md\n---\nname: bad\n---\n");
        let dirs = it.call("skills/dirs", json!({}));
        assert_eq!(dirs["dirs"], json!(["$W/.claude/skills/a"]));
    })
    .deviates("those of shadowed and invalid files are left out; `list --all` has them"),
];
