//! Tests of opencode's agents in Markdown files.

use expect_test::expect;

use super::{ctx, render};
use crate::discover::memory::MemoryTree;
use crate::discover::{DiscoveryContext, SettingsFile, discover};

const SKILLS: &str = "
//- /w/.git dir
//- /w/.agents/skills/a/SKILL.md
---
name: a
description: d
---
//- /w/.agents/skills/b/SKILL.md
---
name: b
description: d
---
";

/// Returns the states of the skills for an agent, as `a b`, and the problems of the settings.
fn states(fixture: &str, agent: &str) -> (String, String) {
    let tree = MemoryTree::new(&format!("{SKILLS}{fixture}"));
    let ctx = DiscoveryContext { agent: Some(agent.into()), ..ctx("opencode", "/w") };
    let resolution = discover(&ctx, &tree);
    assert!(resolution.complete);
    let shown = resolution.candidates.iter().filter(|it| !it.is_built_in());
    let states: Vec<_> = shown.map(|it| it.state.name()).collect();
    let problems: Vec<_> = resolution.settings.iter().flat_map(SettingsFile::problems).collect();
    (states.join(" "), problems.join("; "))
}

fn file(path: &str, frontmatter: &str) -> String {
    format!("//- {path}\n---\n{frontmatter}\n---\nPrompt.\n")
}

#[test]
fn permissions_of_markdown_agents_apply_to_that_agent() {
    let deny_a = "permission:\n  skill:\n    a: deny";
    let own = "/home/u/.config/opencode";
    for (path, frontmatter, agent, expected) in [
        ("/w/.opencode/agent/x.md", deny_a, "x", "denied active"),
        ("/w/.opencode/agent/x.md", deny_a, "y", "active active"),
        ("/w/.opencode/agents/deep/x.md", deny_a, "deep/x", "denied active"),
        ("/w/.opencode/agent/.dot/x.md", deny_a, ".dot/x", "denied active"),
        ("/w/.opencode/mode/x.md", deny_a, "x", "denied active"),
        ("/w/.opencode/mode/deep/x.md", deny_a, "deep/x", "active active"),
        (&format!("{own}/agent/x.md"), deny_a, "x", "denied active"),
        ("/home/u/.opencode/agents/x.md", deny_a, "x", "denied active"),
        ("/w/.opencode/agent/x.md", "name: y\npermission:\n  skill: ask", "y", "active active"),
        ("/w/.opencode/agent/x.md", "name: y\npermission:\n  skill: deny", "y", "denied denied"),
        ("/w/.opencode/agent/x.md", "description: a: b\npermission: deny", "x", "denied denied"),
        ("/w/.opencode/agent/x.md", "tools:\n  \"*\": false", "x", "denied denied"),
        ("/w/.opencode/agent/x.md", "tools:\n  skill: false", "x", "denied denied"),
        (
            "/w/.opencode/agent/x.md",
            "tools:\n  skill: false\npermission:\n  skill:\n    a: deny",
            "x",
            "denied active",
        ),
        (
            "/w/.opencode/agent/x.md",
            "tools:\n  \"*\": false\npermission:\n  skill:\n    a: allow",
            "x",
            "active denied",
        ),
    ] {
        let fixture = format!("//- /w trusted\n{}", file(path, frontmatter));
        let (found, problems) = states(&fixture, agent);
        assert_eq!((found.as_str(), problems.as_str()), (expected, ""), "{path} {frontmatter}");
    }
}

#[test]
fn later_directories_override_agents_of_earlier_ones() {
    let allow_b = file("/w/.opencode/agent/x.md", "permission:\n  skill:\n    b: allow");
    let deny_b = file("/home/u/.opencode/agent/x.md", "permission:\n  skill:\n    b: deny");
    let trusted = "//- /w trusted\n";
    assert_eq!(states(&format!("{trusted}{allow_b}{deny_b}"), "x").0, "active denied");
    let json = "//- /w/.opencode/opencode.json\n\
                {\"agent\": {\"x\": {\"permission\": {\"skill\": {\"b\": \"deny\"}}}}}\n";
    assert_eq!(states(&format!("{trusted}{allow_b}{json}"), "x").0, "active active");
    let mode = json.replace("agent", "mode");
    assert_eq!(states(&format!("{trusted}{allow_b}{mode}"), "x").0, "active denied");
}

#[test]
fn agent_file_of_an_untrusted_repository_only_restricts() {
    let own = file("/home/u/.config/opencode/agent/x.md", "permission:\n  skill:\n    a: deny");
    let allow = file("/w/.opencode/agent/x.md", "permission:\n  skill: allow");
    assert_eq!(states(&format!("{own}{allow}"), "x").0, "denied active");
    let trusted = format!("//- /w trusted\n{own}{allow}");
    assert_eq!(states(&trusted, "x").0, "active active");
    let deny = file("/w/.opencode/agent/x.md", "permission:\n  skill:\n    b: deny");
    assert_eq!(states(&format!("{own}{deny}"), "x").0, "denied denied");
}

#[test]
fn broken_agent_file_and_links_out_of_the_worktree_have_no_effect() {
    let fixture = format!(
        "//- /w trusted\n{}{}//- /w/.opencode/agent/out -> /outside\n\
         //- /w/.opencode/agent/loop -> /w/.opencode/agent\n\
         //- /w/.opencode/agent/file.md -> /outside/y.md\n",
        file("/w/.opencode/agent/x.md", "permission: [deny"),
        file("/outside/y.md", "permission:\n  skill: deny"),
    );
    let tree = MemoryTree::new(&format!("{SKILLS}{fixture}"));
    for agent in ["x", "out/y", "file", "loop/x"] {
        let ctx = DiscoveryContext { agent: Some(agent.into()), ..ctx("opencode", "/w") };
        expect![[r#"
            `/w/.opencode/agent/file.md` is a link to `/outside/y.md`, outside of the worktree; skillsd does not read it
            `/w/.opencode/agent/x.md:2:13` is not YAML: `[` is never closed; the agent ignores it
            active      a          /w/.agents/skills/a/SKILL.md
            active      b          /w/.agents/skills/b/SKILL.md
        "#]]
        .assert_eq(&render(&discover(&ctx, &tree)));
    }
}

#[test]
fn agent_files_over_the_limit_are_reported() {
    let many = (0..257).map(|n| file(&format!("/w/.opencode/agent/{n}.md"), "mode: all"));
    let fixture = format!("//- /w trusted\n{}", many.collect::<String>());
    let (_, problems) = states(&fixture, "x");
    assert!(problems.contains("reads 256 agent files"), "{problems}");
}

#[test]
fn agent_files_with_much_frontmatter_are_left_out_and_reported() {
    let long = format!("color: {}", "x".repeat(300 * 1024));
    let own = file("/w/.opencode/agent/x.md", "permission:\n  skill:\n    b: deny");
    let two = ["a", "b"].map(|it| file(&format!("/w/.opencode/agent/{it}.md"), &long)).concat();
    let (found, problems) = states(&format!("//- /w trusted\n{two}{own}"), "x");
    assert_eq!(found, "active active");
    assert!(problems.contains("512 KiB of frontmatter"), "{problems}");
}
