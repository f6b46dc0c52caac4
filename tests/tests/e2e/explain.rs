//! Reasons why a skill is not listed, on real files: each names agent, place, rule and next step.

use std::fmt::Write as _;

use expect_test::expect;
use serde_json::{Value, json};
use skills_testkit::Home;

use crate::support::{Live, run, stdout};

/// One skill for each possible reason.
const TREE: &str = "\
//- /shop/.gitignore
/gen/
//- /shop/.agents/skills/good/SKILL.md
---
name: good
description: is fine
---
//- /shop/.agents/skills/lower/skill.md
---
name: lower
description: has a name in the wrong case
---
//- /shop/.agents/skills/.dot/hidden/SKILL.md
---
name: hidden
description: lies below a hidden directory
---
//- /shop/.agents/skills/plain/SKILL.md
No frontmatter here.
//- /shop/.agents/skills/broken/SKILL.md
---
name: broken
description: \"never closed
---
//- /shop/.agents/skills/colon/SKILL.md
---
name: colon
description: Use when: asked
---
//- /shop/.agents/skills/nodesc/SKILL.md
---
name: nodesc
---
//- /shop/.agents/skills/bom/SKILL.md bytes
\\xEF\\xBB\\xBF---
name: bom
description: begins with a mark
---
//- /shop/.agents/skills/empty/README.md
Nothing else is here.
//- /shop/.agents/skills/flat.md
---
name: flat
description: is a file
---
//- /shop/.agents/skills/linked/SKILL.md link=../../../../out/skill/SKILL.md
//- /shop/.agents/skills/dangling link=../../../nowhere
//- /out/skill/SKILL.md
---
name: linked
description: is a link
---
//- /shop/.claude/skills/group/deep/SKILL.md
---
name: deep
description: is too deep
---
//- /shop/.claude/skills/off/SKILL.md
---
name: off
description: is switched off
---
//- /shop/.claude/skills/denied/SKILL.md
---
name: denied
description: a rule denies it
---
//- /shop/.claude/skills/rust/SKILL.md
---
name: rust
description: waits
paths: '*.rs'
---
//- /shop/.claude/skills/quiet/SKILL.md
---
name: quiet
description: is for people
disable-model-invocation: true
---
//- /shop/.claude/settings.json
{
  \"skillOverrides\": { \"off\": \"off\" },
  \"permissions\": { \"deny\": [\"Skill(denied)\"] }
}
//- /shop/docs/skills/misplaced/SKILL.md
---
name: misplaced
description: is elsewhere
---
//- /shop/pkg/.claude/skills/nested/SKILL.md
---
name: nested
description: is below
---
//- /shop/gen/.claude/skills/generated/SKILL.md
---
name: generated
description: is ignored by git
---
//- /shop/.gemini/skills/waiting/SKILL.md
---
name: waiting
description: is not trusted
---
//- /home/.agents/skills/good/SKILL.md
---
name: good
description: of the user's own
---
//- /home/.claude/settings.json
{
  \"enabledPlugins\": { \"tools@market\": false }
}
//- /home/plugins/tools/skills/build/SKILL.md
---
name: build
description: of a plugin
---
";

/// Renders an explanation: the verdict, the deciding step and the next step.
fn render_explanation(home: &Home, answer: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let verdict = &answer["verdict"];
    let mut out = format!("{}\n", text(&verdict["summary"]));
    let steps = answer["steps"].as_array().expect("steps").iter();
    let decided = |it: &&Value| {
        matches!(it["outcome"].as_str(), Some("dropped" | "unreadable")) && !it["rule"].is_null()
    };
    for step in steps.filter(decided) {
        for key in ["rule", "agent", "version", "evidence"] {
            assert!(step[key].is_string(), "no `{key}`: {step}");
        }
        let rule = text(&step["rule"]);
        let whose = format!("{} {}", text(&step["agent"]), text(&step["version"]));
        let _ = write!(out, "    {rule} of {whose} ({})", text(&step["evidence"]));
        if step["line"].is_u64() {
            let _ = write!(out, " at {}:{}:{}", text(&step["file"]), step["line"], step["column"]);
        }
        out.push('\n');
    }
    let next = text(&verdict["next"]);
    assert!(!next.is_empty(), "no next step: {answer}");
    let _ = writeln!(out, "    next: {next}");
    home.redact(&out)
}

#[test]
fn every_reason_names_agent_place_rule_and_next_step() {
    let home = Home::new();
    let shop = home.worktree("shop", "");
    home.lay_out(TREE);
    let tools = home.path().join("plugins/tools");
    let installed = json!({
        "version": 2,
        "plugins": { "tools@market": [{ "scope": "user", "installPath": tools }] },
    });
    let plugins = home.path().join(".claude/plugins");
    std::fs::create_dir_all(&plugins).expect("a directory can be made");
    std::fs::write(plugins.join("installed_plugins.json"), installed.to_string())
        .expect("a file can be written");
    home.git(&shop, &["add", "."]);
    home.git(&shop, &["commit", "-q", "-m", "all"]);
    home.lay_out("//- /shop/.claude/skills/later/SKILL.md\n---\nname: later\n---\nAfter.\n");
    home.git(&shop, &["worktree", "add", "-q", "../feature"]);
    let mut live = Live::start_in(home);
    let work = live.home.work();
    let user =
        live.home.path().to_str().expect("a temporary directory has a plain name").to_owned();
    let mut all = String::new();
    let mut ask = |cwd: &str, profile: &str, target: &str| {
        let mut params = json!({"cwd": work.join(cwd), "profile": profile});
        if target.contains('/') {
            params["path"] = json!(work.join(target));
        } else {
            params["name"] = json!(target);
        }
        let answer = live.wire.call("skills/explain", &params);
        let target = live.home.redact(target);
        let _ = write!(all, "{profile} {target}: {}", render_explanation(&live.home, &answer));
    };
    ask("shop", "agentskills", "lower");
    ask("shop", "agentskills", "shop/.agents/skills/lower/SKILL.md");
    ask("shop", "agentskills", "hidden");
    ask("shop", "agentskills", "plain");
    ask("shop", "codex", "broken");
    ask("shop", "opencode-agent-skills", "colon");
    ask("shop", "agentskills", "nodesc");
    ask("shop", "codex", "bom");
    ask("shop", "agentskills", "empty");
    ask("shop", "agentskills", "flat");
    ask("shop", "codex", "linked");
    ask("shop", "agentskills", "dangling");
    ask("shop", "agentskills", "nowhere");
    ask("shop", "agentskills", "shop/.agents/skills/god");
    ask("shop", "claude-code", "deep");
    ask("shop", "claude-code", "off");
    ask("shop", "claude-code", "denied");
    ask("shop", "claude-code", "rust");
    ask("shop", "claude-code", "quiet");
    ask("shop", "claude-code", "misplaced");
    ask("shop", "claude-code", "nested");
    ask("shop", "claude-code", "generated");
    ask("shop", "gemini-cli", "waiting");
    ask("shop", "agentskills", &format!("{user}/.agents/skills/good"));
    ask("shop", "claude-code", "tools:build");
    ask("feature", "claude-code", "later");
    ask("shop", "codex", "feature/.agents/skills/good");
    expect![[r#"
        agentskills lower: An Agent Skills client skips `$WORK/shop/.agents/skills/lower/skill.md`: the file must be called `SKILL.md`, in capitals.
            file/name of Agent Skills standard 69ef37e (standard)
            next: Rename `$WORK/shop/.agents/skills/lower/skill.md` to `$WORK/shop/.agents/skills/lower/SKILL.md`.
        agentskills shop/.agents/skills/lower/SKILL.md: An Agent Skills client finds no skill at `$WORK/shop/.agents/skills/lower/SKILL.md`: `$WORK/shop/.agents/skills/lower/skill.md` must be called `SKILL.md`, in capitals.
            file/name of Agent Skills standard 69ef37e (standard)
            next: Rename `$WORK/shop/.agents/skills/lower/skill.md` to `$WORK/shop/.agents/skills/lower/SKILL.md`.
        agentskills hidden: An Agent Skills client finds no skill called `hidden`. There is `$WORK/shop/.agents/skills/.dot/hidden`, but directories whose names begin with a dot are not searched.
            walk/hidden of Agent Skills standard 69ef37e (standard)
            next: Rename `$WORK/shop/.agents/skills/.dot` to `$WORK/shop/.agents/skills/dot`.
        agentskills plain: An Agent Skills client drops `plain`: the file has no frontmatter.
            frontmatter/required of Agent Skills standard 69ef37e (standard) at $WORK/shop/.agents/skills/plain/SKILL.md:1:1
            next: Insert `---`, `name: plain`, `description: What it does, and when to use it.`, `---` before line 1 of `$WORK/shop/.agents/skills/plain/SKILL.md`.
        codex broken: Codex drops `broken`: the frontmatter is not valid YAML: the value continues on an unindented line.
            yaml/valid of Codex 0.169.0 (running) at $WORK/shop/.agents/skills/broken/SKILL.md:3:26
            next: Write `description: "never closed"` in line 3 of `$WORK/shop/.agents/skills/broken/SKILL.md`.
        opencode-agent-skills colon: opencode-agent-skills finds no skill called `colon`. There is `$WORK/shop/.agents/skills/colon`, but it is in none of the directories that opencode-agent-skills searches.
            roots/searched of opencode-agent-skills 0.7.0 (running)
            next: Write `description: "Use when: asked"` in line 3 of `$WORK/shop/.agents/skills/colon/SKILL.md`. Then run `skillsd link $WORK/shop/.agents/skills/colon --to opencode-agent-skills`.
        agentskills nodesc: An Agent Skills client drops `nodesc`: the frontmatter has no `description`.
            description/required of Agent Skills standard 69ef37e (standard) at $WORK/shop/.agents/skills/nodesc/SKILL.md:1:1
            next: Insert `description: What it does, and when to use it.` before line 3 of `$WORK/shop/.agents/skills/nodesc/SKILL.md`.
        codex bom: Codex drops `bom`: the file begins with a byte order mark.
            encoding/bom of Codex 0.169.0 (running) at $WORK/shop/.agents/skills/bom/SKILL.md:1:1
            next: Run `skillsd check --fix $WORK/shop/.agents/skills/bom/SKILL.md --profile codex`.
        agentskills empty: An Agent Skills client finds no skill called `empty`. There is `$WORK/shop/.agents/skills/empty`, but the directory has no SKILL.md, and none is below it.
            file/there of Agent Skills standard 69ef37e (standard)
            next: Write `$WORK/shop/.agents/skills/empty/SKILL.md`.
        agentskills flat: An Agent Skills client finds no skill called `flat`. There is `$WORK/shop/.agents/skills/flat.md`, but it is a file that belongs to no skill; a skill is a directory with a SKILL.md.
            file/there of Agent Skills standard 69ef37e (standard)
            next: Move `$WORK/shop/.agents/skills/flat.md` to `$WORK/shop/.agents/skills/flat/SKILL.md`.
        codex linked: Codex skips `$WORK/shop/.agents/skills/linked/SKILL.md`: the agent does not follow this symbolic link.
            walk/links of Codex 0.169.0 (running)
            next: Replace the link `$WORK/shop/.agents/skills/linked/SKILL.md` by the file itself.
        agentskills dangling: An Agent Skills client skips `$WORK/shop/.agents/skills/dangling`: it is a dangling symbolic link to `../../../nowhere`.
            file/readable of Agent Skills standard 69ef37e (standard)
            next: Recreate the link's target, or remove the link.
        agentskills nowhere: An Agent Skills client finds no skill called `nowhere`.
            next: Run `skillsd new nowhere --profile agentskills`, or run `skillsd explain` with the path of the SKILL.md that you expect.
        agentskills shop/.agents/skills/god: An Agent Skills client finds no skill at `$WORK/shop/.agents/skills/god`: the path does not exist, but `$WORK/shop/.agents/skills/good` does.
            path/exists of Agent Skills standard 69ef37e (standard)
            next: Did you mean `$WORK/shop/.agents/skills/good`? Run `skillsd explain $WORK/shop/.agents/skills/good --profile agentskills`.
        claude-code deep: Claude Code skips `$WORK/shop/.claude/skills/group/deep`: this is deeper than the 1 level below the root that the agent searches.
            walk/depth of Claude Code 2.1.330 (running)
            next: Move `$WORK/shop/.claude/skills/group/deep` to `$WORK/shop/.claude/skills/deep`.
        claude-code off: Claude Code ignores `off`: `skillOverrides` switches it off.
            settings/off of Claude Code 2.1.330 (running) at $WORK/shop/.claude/settings.json:2:23
            next: Run `skillsd enable off --profile claude-code --scope project`.
        claude-code denied: Claude Code may not use `denied`: the rule `denied` denies it (`$WORK/shop/.claude/settings.json:3:29`).
            permission/denied of Claude Code 2.1.330 (running) at $WORK/shop/.claude/settings.json:3:29
            next: Remove the rule `Skill(denied)` in line 3 of `$WORK/shop/.claude/settings.json`.
        claude-code rust: Claude Code does not show `rust` yet: it waits until a file is touched that matches `*.rs`.
            paths of Claude Code 2.1.330 (running) at $WORK/shop/.claude/skills/rust/SKILL.md:4:1
            next: Touch a matching file, or remove line 4 of `$WORK/shop/.claude/skills/rust/SKILL.md`.
        claude-code quiet: Claude Code does not show `quiet` to its model: `disable-model-invocation` keeps it from the model.
            model-invocation of Claude Code 2.1.330 (running) at $WORK/shop/.claude/skills/quiet/SKILL.md:4:1
            next: Remove line 4 of `$WORK/shop/.claude/skills/quiet/SKILL.md`.
        claude-code misplaced: Claude Code finds no skill called `misplaced`. There is `$WORK/shop/docs/skills/misplaced`, but it is in none of the directories that Claude Code searches.
            roots/searched of Claude Code 2.1.330 (running)
            next: Move `$WORK/shop/docs/skills/misplaced` to `$WORK/shop/.claude/skills/misplaced`.
        claude-code nested: Claude Code finds no skill called `nested`. There is `$WORK/shop/pkg/.claude/skills/nested`, but it is below the working directory; Claude Code searches there once a file near it is touched.
            nested/touched of Claude Code 2.1.330 (running)
            next: Start the agent in `$WORK/shop/pkg`, or let it read or edit a file there.
        claude-code generated: Claude Code finds no skill called `generated`. There is `$WORK/shop/gen/.claude/skills/generated`, but git ignores `$WORK/shop/gen` (`$WORK/shop/.gitignore:1` has `/gen/`), and Claude Code skips ignored directories below the working directory.
            nested/ignored of Claude Code 2.1.330 (running) at $WORK/shop/.gitignore:1:1
            next: Start the agent in `$WORK/shop/gen`, or remove line 1 of `$WORK/shop/.gitignore` and touch a file there.
        gemini-cli waiting: Gemini CLI does not load `waiting` yet: Gemini CLI loads a project's skills only from a trusted folder, and `$HOME/.gemini/trustedFolders.json` does not list it.
            project/trusted of Gemini CLI 0.61.0 (running)
            next: Run `skillsd trust $WORK/shop`, trust the folder in Gemini CLI, or set `GEMINI_CLI_TRUST_WORKSPACE` to `true`.
        agentskills $HOME/.agents/skills/good: An Agent Skills client does not use this `good`: `$WORK/shop/.agents/skills/good/SKILL.md` has the same name and is found earlier.
            name/unique of Agent Skills standard 69ef37e (standard)
            next: Write `name: good-2` in line 2 of `$HOME/.agents/skills/good/SKILL.md`. Then rename `$HOME/.agents/skills/good` to `$HOME/.agents/skills/good-2`.
        claude-code tools:build: Claude Code finds no skill called `tools:build`. There is `$HOME/plugins/tools/skills/build`, but its plugin is off: `$HOME/.claude/settings.json:2:23` switches `tools@market` off.
            plugin/enabled of Claude Code 2.1.330 (running)
            next: Set `tools@market` to `true` in `enabledPlugins` of `$HOME/.claude/settings.json`.
        claude-code later: Claude Code finds no skill called `later`. There is `$WORK/shop/.claude/skills/later`, but it belongs to the main worktree `$WORK/shop`; in the linked worktree `$WORK/feature`, Claude Code reads only the linked one, unless the directory is missing there.
            worktree/linked of Claude Code 2.1.330 (running)
            next: Commit it and merge it into the branch of `$WORK/feature`, or copy its directory there.
        codex feature/.agents/skills/good: Codex finds no skill at `$WORK/feature/.agents/skills/good`: it belongs to the worktree `$WORK/feature`; Codex reads only the one of the working directory, `$WORK/shop`.
            worktree/other of Codex 0.169.0 (running)
            next: Work in `$WORK/feature`, or copy the skill's directory to this worktree.
    "#]].assert_eq(&all);
}

#[test]
fn explain_text_shows_reason_rule_and_next_step() {
    let home = Home::new();
    let shop = home.worktree("shop", "");
    home.lay_out(TREE);
    let text = |args: &[&str]| home.redact(&stdout(&run(&home, &shop, args)));
    let deep = text(&["explain", "deep", "--profile", "claude-code"]);
    for line in [
        "this is deeper than the 1 level below the root that the agent searches",
        "rule walk/depth of Claude Code 2.1.330 (measured on the running agent)",
        "Next: Move `.claude/skills/group/deep` to `.claude/skills/deep`.",
    ] {
        assert!(deep.contains(line), "{line}: {deep}");
    }
    let all = text(&["explain", "bom", "--profile", "all"]);
    for line in [
        "✓ agentskills            An Agent Skills client shows `bom` to its model.",
        "✗ codex                  Codex drops `bom`: the file begins with a byte order mark.",
        "→ Run `skillsd check --fix .agents/skills/bom/SKILL.md --profile codex`.",
        "There is `.agents/skills/bom`, but it is in none of the directories that Claude Code searches.",
    ] {
        assert!(all.contains(line), "{line}: {all}");
    }
}
