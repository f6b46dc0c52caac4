//! Plugins, commands, configuration files and monorepos in realistic layouts, and each profile's
//! list.
//!
//! `conformance/layouts.txt` is the tree and `conformance/layouts.PROFILE.txt` an agent's list in
//! order; the plugins of the corpus are installed unchanged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use expect_test::{ExpectFile, expect_file};
use skills_agents::profile;
use skills_discovery::discover::{DiscoveryContext, Policy, SkillState, TrustDecisions};
use skills_engine::{Engine, Freshness, Options, View, ViewKey};
use skills_syntax::path::AbsPath;
use skills_testkit::Corpus;
use skills_testkit::fixture::lay_out;

const LAYOUTS: &str = include_str!("../conformance/layouts.txt");

/// Layouts of plugins, and what opencode-agent-skills 0.7.0 lists on each; `$P` is Claude Code's
/// directory of plugins.
const RECORDED: &str = include_str!("../golden/agents/opencode-agent-skills/layouts.jsonl");

fn view(profile: &str, cwd: &Path, home: &Path, trusted: Option<&Path>) -> Arc<View> {
    let engine = Engine::start(Options::new("layouts".to_owned())).unwrap();
    // The agents obey a repository's settings without trust.
    let trusts = TrustDecisions::new(trusted.map(|it| (AbsPath::new(it).unwrap(), true)));
    engine.set_policy(Policy { trusts, ..Policy::default() });
    let view = view_in(&engine, profile, cwd, home);
    engine.stop();
    view
}

fn view_in(engine: &Engine, profile: &str, cwd: &Path, home: &Path) -> Arc<View> {
    let profile = profile::find(profile).unwrap();
    let cwd = AbsPath::new(cwd).unwrap();
    let environment: std::collections::BTreeMap<String, OsString> =
        [("HOME".to_owned(), home.into())].into();
    let key = ViewKey {
        cwd: cwd.clone(),
        profile: profile.id.to_string(),
        environment: environment.clone(),
        additional: Vec::new(),
        overlay: Arc::default(),
        agent: None,
    };
    let (additional, overlay, agent) = (Vec::new(), Arc::default(), None);
    let profile = Arc::clone(profile);
    let ctx = DiscoveryContext { profile, cwd, additional, environment, overlay, agent };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(engine.view(key, || ctx, Freshness::Synced)).unwrap()
}

/// Checks a profile's list on the tree: state, name, path.
fn check(profile: &str, expected: &ExpectFile) {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let home = top.join("home");
    let text = LAYOUTS.replace("$HOME", home.to_str().unwrap());
    lay_out(&top, &text.replace("$TOP", top.to_str().unwrap()));
    let view = view(profile, &top.join("w/packages/web"), &home, Some(&top.join("w")));
    // Built-in skills are listed on any tree.
    let met = view.resolution.candidates.iter().filter(|it| !it.is_built_in());
    let lines = met.map(|it| {
        let path = it.path.strip_prefix(&top).unwrap().display().to_string();
        format!("{:<9}\t{}\t/{path}\n", it.state.name(), it.name)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn claude_code_lists_plugins_and_commands() {
    check("claude-code", &expect_file!["../conformance/layouts.claude-code.txt"]);
}

#[test]
fn opencode_lists_configured_skill_paths() {
    check("opencode", &expect_file!["../conformance/layouts.opencode.txt"]);
}

#[test]
fn opencode_agent_skills_lists_plugins_without_namespace() {
    check(
        "opencode-agent-skills",
        &expect_file!["../conformance/layouts.opencode-agent-skills.txt"],
    );
}

/// Writes a recorded layout below a directory.
fn write_layout(top: &Path, layout: &serde_json::Value) {
    let plugins = "home/.claude/plugins";
    let path = |relative: &str| top.join(relative.replace("$P", plugins));
    let put = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let entries = |of: &str| layout[of].as_object().cloned().unwrap_or_default();
    for dir in layout["dirs"].as_array().into_iter().flatten() {
        fs::create_dir_all(path(dir.as_str().unwrap())).unwrap();
    }
    for skill in layout["skills"].as_array().into_iter().flatten() {
        let text =
            format!("---\nname: {}\ndescription: d\n---\nbody\n", skill[1].as_str().unwrap());
        put(&path(skill[0].as_str().unwrap()).join("SKILL.md"), &text);
    }
    for (relative, text) in entries("files") {
        let text = text.as_str().unwrap().replace("$P", &format!("$TOP/{plugins}"));
        put(&path(&relative), &text.replace("$TOP", top.to_str().unwrap()));
    }
    for (relative, target) in entries("links") {
        let link = path(&relative);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(path(target.as_str().unwrap()), link).unwrap();
    }
}

#[test]
fn opencode_agent_skills_lists_recorded_plugin_layouts_alike() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let engine = Engine::start(Options::new("layouts".to_owned())).unwrap();
    let (mut n_layouts, mut wrong) = (0, Vec::new());
    for line in RECORDED.lines() {
        let layout: serde_json::Value = serde_json::from_str(line).unwrap();
        let top = base.join(n_layouts.to_string());
        n_layouts += 1;
        write_layout(&top, &layout);
        let view = view_in(&engine, "opencode-agent-skills", &top.join("w"), &top.join("home"));
        let listed = view.resolution.listed().map(|it| {
            let dir = it.path.parent().unwrap();
            let path = dir.strip_prefix(&top).unwrap().to_str().unwrap();
            let path = path.replace("home/.claude/plugins/", "$P/");
            match view.resolution.roots[it.root].label.as_deref() {
                Some("claude-plugins") => serde_json::json!([it.name, path]),
                label => serde_json::json!([it.name, path, label]),
            }
        });
        let listed: serde_json::Value = listed.collect();
        if listed != layout["listed"] {
            wrong.push(format!("layout {n_layouts}: {listed} for {}", layout["listed"]));
        }
    }
    engine.stop();
    assert!(n_layouts >= 300, "{n_layouts} layouts are recorded");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn codex_leaves_out_disabled_skills() {
    check("codex", &expect_file!["../conformance/layouts.codex.txt"]);
}

#[test]
fn gemini_cli_reads_trust_from_its_own_files() {
    check("gemini-cli", &expect_file!["../conformance/layouts.gemini-cli.txt"]);
}

#[test]
fn corpus_plugins_are_listed_under_their_namespaces() {
    let Some(corpus) = Corpus::open("the plugins of real repositories") else { return };
    let top = corpus.top();
    let mut plugins = Vec::new();
    let mut expected = BTreeSet::new();
    for repository in corpus.repositories() {
        let market = repository.file_name().unwrap().to_string_lossy().replace('@', "-");
        let Ok(found) = fs::read_dir(repository.join("plugins")) else { continue };
        for plugin in found.map(Result::unwrap).filter(|it| it.path().join("skills").is_dir()) {
            let name = plugin.file_name().to_string_lossy().into_owned();
            let real = fs::canonicalize(plugin.path()).unwrap();
            for skill in fs::read_dir(plugin.path().join("skills")).unwrap().map(Result::unwrap) {
                let Ok(file) = fs::canonicalize(skill.path().join("SKILL.md")) else { continue };
                // A link out of a plugin is not followed.
                if file.starts_with(&real) && !skill.file_name().to_string_lossy().starts_with('.')
                {
                    expected.insert(file);
                }
            }
            plugins.push((format!("{name}@{market}"), plugin.path()));
        }
    }
    assert!(plugins.len() > 20, "{}", plugins.len());
    let home = top.join("home");
    let records = plugins.iter().map(|(key, path)| {
        (key.clone(), serde_json::json!([{"scope": "user", "installPath": path}]))
    });
    let records: serde_json::Map<_, _> = records.collect();
    let enabled: serde_json::Map<_, _> =
        plugins.iter().map(|(key, _)| (key.clone(), true.into())).collect();
    fs::create_dir_all(home.join(".claude/plugins")).unwrap();
    let installed = serde_json::json!({"version": 2, "plugins": records});
    fs::write(home.join(".claude/plugins/installed_plugins.json"), installed.to_string()).unwrap();
    let mut markets = BTreeMap::<_, Vec<_>>::new();
    for (key, _) in &plugins {
        let (name, market) = key.rsplit_once('@').unwrap();
        markets.entry(market).or_default().push(serde_json::json!({"name": name, "source": {}}));
    }
    for (market, plugins) in markets {
        let dir = home.join(".claude/plugins/marketplaces").join(market).join(".claude-plugin");
        fs::create_dir_all(&dir).unwrap();
        let text = serde_json::json!({"name": market, "owner": {"name": "o"}, "plugins": plugins});
        fs::write(dir.join("marketplace.json"), text.to_string()).unwrap();
    }
    let settings = serde_json::json!({"enabledPlugins": enabled});
    fs::write(home.join(".claude/settings.json"), settings.to_string()).unwrap();
    let view = view("claude-code", &home, &home, None);
    let mut met = BTreeSet::new();
    for it in &view.resolution.candidates {
        met.insert(fs::canonicalize(&it.path).unwrap());
        let plugin = view.resolution.plugin_of(it).unwrap();
        assert!(it.name.starts_with(&format!("{}:", plugin.name)), "{}", it.name);
        assert!(it.path.starts_with(&*plugin.root));
        assert!(it.state != SkillState::Invalid || it.file.is_none(), "{:?}", it.reason);
    }
    let missing: Vec<_> = expected.difference(&met).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    eprintln!("{} plugins, {} skills", plugins.len(), met.len());
}
