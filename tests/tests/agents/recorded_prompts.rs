//! Recorded prompts: the list of skills, the tool and loaded skills that each agent gives its model
//! are those that skillsd renders for its profile, byte for byte.
//!
//! A recording has a line for each tree: the common skills, few of them, and more than the list has
//! room for. The recordings are compared everywhere. With `SKILLSD_MORE_AGENTS`, the agents
//! themselves run, and `UPDATE_EXPECT=1` writes what they say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use skills_testkit::{Daemon, Framing, Home, Model, ModelRequest, Turn, Wire};

use crate::agent_fixture::finish;
use crate::agent_trees::Tree;
use crate::catalogs::with_sorted_files;
use crate::claude::{Entry, lay_out};
use crate::listing_agents::{ListingAgent, OPENCLAW, scripted};
use crate::recorded_lists::{entry_from, entry_json};

/// An agent whose prompts are recorded.
pub(crate) struct PromptAgent {
    pub(crate) agent: &'static ListingAgent,
    /// Prepares the command with a model at the URL; the prompt follows.
    pub(crate) prepare: fn(&mut Command, &Path, &str),
    /// The way in which the model, or the user, loads a skill.
    pub(crate) loading: Loading,
    /// Returns the text of a request that has the list.
    pub(crate) text: fn(&ModelRequest) -> String,
    /// The first and the last words of the list, and what separates its entries.
    pub(crate) listing: [&'static str; 3],
    /// Returns whether an entry is of the agent's own skills.
    pub(crate) is_own: fn(&str) -> bool,
    /// The names of the agent's own skills after the names of skills that do not fit.
    pub(crate) own_names: &'static str,
    /// True if the order of the list is that of the file system.
    pub(crate) is_race: bool,
}

/// The way to load a skill.
pub(crate) enum Loading {
    /// The model calls this tool.
    Tool(&'static str, fn(&str, &str) -> Value),
    /// The model calls this tool with the name as this parameter.
    Parameter(&'static str, &'static str),
    /// The user types a command, instead of another prompt.
    Typed(fn(&str, &str) -> String),
    /// None: the model reads the file.
    Never,
}

/// The skills to load, with arguments.
const LOADS: [(&str, &str); 9] = [
    ("deploy", ""),
    ("deploy", "one \"two <three>\""),
    ("empty-body", ""),
    ("hidden", ""),
    ("no-arguments", ""),
    ("no-arguments", "one"),
    ("marks", ""),
    ("mine", ""),
    ("missing", ""),
];

/// The skills of the first tree: frontmatter and body.
const SKILLS: [(&str, &str, &str); 12] = [
    (
        "deploy",
        "description: Deploys the application. Use when asked to deploy.\nargument-hint: \"[environment]\"\nallowed-tools: Read Bash(git:*)\nlicense: MIT\n",
        "\n# Deploy\n\nDeploy to $ARGUMENTS, first $1, then $0.\nSee [the guide](references/guide.md) and ${CLAUDE_SKILL_DIR}/scripts/run.sh. <tag> & \"quotes\".\n\n\n",
    ),
    (
        "marks",
        "description: 'Uses <a> & \"b\" ''c'' > d, `e` | f.'\n",
        "Body with {name} and {body}.\n",
    ),
    (
        "lines",
        "description: |\n  First line.\n  Second line:\n    - indented\n\n  Last line.\n",
        "Lines.\n",
    ),
    ("plain", "description: Is plain.\n", "No end of line."),
    ("no-arguments", "description: Takes none.\n", "\n\n  Indented first.\n\nLast.\n\n"),
    ("accents", "description: Résumé — 日本語 🎉 done.\n", "Été.\n"),
    ("hidden", "description: Is hidden.\ndisable-model-invocation: true\n", "Hidden body.\n"),
    ("for-the-model", "description: Not for the user.\nuser-invocable: false\n", "Body.\n"),
    ("when", "description: Has more.\nwhen_to_use: When \"it\" is needed.\n", "Body.\n"),
    ("empty-body", "description: Has no body.\n", ""),
    ("Upper_case", "description: Has an upper-case letter.\n", "Body.\n"),
    ("zulu", "description: Is last.\n", "Body.\n"),
];

const FILES: [&str; 6] = [
    "scripts/run.sh",
    "references/guide.md",
    "references/deep/more.md",
    "assets/logo.svg",
    ".hidden",
    "SKILL.md.bak",
];

fn skill(name: &str, fields: &str, body: &str) -> String {
    format!("---\nname: {name}\n{fields}---\n{body}")
}

/// Returns the trees of an agent's recording, or else new ones. The working directory is `w`, HOME
/// is `h`. Only a skill that is loaded has files.
fn trees(agent: &ListingAgent, loading: &Loading) -> Vec<Tree> {
    if let Ok(recorded) = fs::read_to_string(recording(agent)) {
        return recorded
            .lines()
            .map(|line| tree_of(&serde_json::from_str(line).unwrap()))
            .collect();
    }
    let own = match agent.own.strip_prefix('/') {
        Some(own) => own.to_owned(),
        None => format!("w/{}", agent.own),
    };
    let file = |path: String, text: &str| (path, Entry::File(text.to_owned()));
    let tree = |skills: Vec<(String, Entry)>| {
        let mut entries = vec![
            ("h/.cache".to_owned(), Entry::Dir),
            ("w/.git/objects".to_owned(), Entry::Dir),
            ("w/.git/refs".to_owned(), Entry::Dir),
            file("w/.git/HEAD".to_owned(), "ref: refs/heads/main\n"),
        ];
        entries.extend(skills);
        Tree { cwd: "w".to_owned(), entries }
    };
    let one = |(name, fields, body): &(&str, &str, &str)| {
        file(format!("{own}/{name}/SKILL.md"), &skill(name, fields, body))
    };
    let mut all: Vec<_> = SKILLS.iter().map(one).collect();
    if !matches!(loading, Loading::Never) {
        all.extend(FILES.map(|it| file(format!("{own}/deploy/{it}"), "text\n")));
    }
    let long = format!("description: {}end\n", "long words ".repeat(95));
    all.push(file(format!("{own}/long/SKILL.md"), &skill("long", &long, "Body.\n")));
    let longer = format!("description: {}end\n", "longer ".repeat(200));
    all.push(file(format!("{own}/longer/SKILL.md"), &skill("longer", &longer, "Body.\n")));
    let mine = skill("mine", "description: Is the user's.\n", "Mine.\n");
    if let Some(home) = agent.home.first() {
        all.push(file(format!("h/{home}/mine/SKILL.md"), &mine));
        all.push(file(format!("h/{home}/mine/notes.md"), "text\n"));
    }
    let few = SKILLS.iter().filter(|it| ["lines", "marks", "when"].contains(&it.0)).map(one);
    let words = [900, 20, 500, 60, 300, 10, 950, 30, 200, 100, 700];
    let many = (0..60).map(|nth| {
        let text = format!("Number {nth} {}", "word ".repeat(200));
        let fields = format!("description: {}\n", text[..words[nth % words.len()]].trim());
        let name = format!("skill-{nth:02}");
        file(format!("{own}/{name}/SKILL.md"), &skill(&name, &fields, "Body.\n"))
    });
    vec![tree(all), tree(few.collect()), tree(many.collect())]
}

/// Runs the agent on a tree and returns its requests.
fn run(
    it: &PromptAgent,
    program: &Path,
    tree: &Tree,
    top: &Path,
    (prompt, script): (Option<&str>, Vec<Turn>),
) -> Vec<ModelRequest> {
    lay_out(&tree.entries, &tree.cwd, top);
    let model = Model::start(script);
    let mut command = it.agent.command(program, &tree.cwd, top);
    (it.prepare)(&mut command, top, &model.url());
    command.arg(prompt.unwrap_or("say hello")).stdin(Stdio::null());
    let output = finish(&mut command);
    let turns = model.turns();
    assert!(!turns.is_empty(), "no request: {output:?}");
    turns
}

/// Records what the agent gives its model on a tree.
fn record(it: &PromptAgent, program: &Path, tree: &Tree, loads: &[(&str, &str)]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let said = || Turn::say("Done.");
    let mut texts = Vec::new();
    let first = match &it.loading {
        Loading::Tool(..) | Loading::Parameter(..) => {
            let call = |(name, args): &(&str, &str)| match &it.loading {
                Loading::Tool(tool, arguments) => Turn::call(tool, arguments(name, args)),
                Loading::Parameter(tool, parameter) => Turn::call(tool, json!({*parameter: name})),
                Loading::Typed(_) | Loading::Never => unreachable!(),
            };
            let calls = loads.iter().map(call);
            let turns = run(it, program, tree, &top, (None, calls.chain([said()]).collect()));
            texts.extend(turns[1..].iter().map(|turn| last_text(turn, true)));
            turns[0].clone()
        }
        Loading::Typed(typed) => {
            for (name, args) in loads {
                let again = tempfile::tempdir().unwrap();
                let again = fs::canonicalize(again.path()).unwrap();
                let typed = typed(name, args);
                let turns = run(it, program, tree, &again, (Some(&typed), vec![said()]));
                let text = last_text(&turns[0], false);
                texts.push(text.replace(&*again.to_string_lossy(), &top.to_string_lossy()));
            }
            run(it, program, tree, &top, (None, vec![said()])).remove(0)
        }
        Loading::Never => run(it, program, tree, &top, (None, vec![said()])).remove(0),
    };
    let (all, listing) = it.listing_of(&(it.text)(&first));
    let mut line = json!({"cwd": tree.cwd, "listing": listing,
        "entries": tree.entries.iter().map(entry_json).collect::<Vec<_>>()});
    if let (Loading::Tool(name, _) | Loading::Parameter(name, _), false) =
        (&it.loading, loads.is_empty())
    {
        let tools = first.body["tools"].as_array().unwrap().iter();
        let tool = tools.map(|it| it.get("function").unwrap_or(it)).find(|it| it["name"] == *name);
        let tool = tool.unwrap();
        let description = tool["description"].as_str().unwrap().replace(&all, "{listing}");
        line["tool"] =
            json!({"name": name, "description": description, "schema": tool["parameters"]});
    }
    let loads = loads.iter().zip(&texts);
    let load = |((name, args), text): (&(&str, &str), &String)| json!({"name": name, "args": args, "text": text});
    line["loads"] = loads.map(load).collect();
    let text = line.to_string().replace(&*top.to_string_lossy(), "$TOP");
    serde_json::from_str(&text).unwrap()
}

/// Returns the text of the last message, or of all messages after the model's.
fn last_text(request: &ModelRequest, after_call: bool) -> String {
    let messages = request.body["messages"].as_array().unwrap();
    let start = messages.iter().rposition(|it| it["role"] == "assistant").map_or(0, |it| it + 1);
    let messages = if after_call { &messages[start..] } else { &messages[messages.len() - 1..] };
    let part = |it: &Value| it["text"].as_str().unwrap_or_default().to_owned();
    let text = |it: &Value| match &it["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ => String::new(),
    };
    messages.last().map(|it| with_sorted_files(&text(it))).unwrap_or_default()
}

impl PromptAgent {
    /// Returns the agent's list in a text, whole and without the agent's own skills.
    fn listing_of(&self, text: &str) -> (String, String) {
        let [start, end, _] = self.listing;
        let found = if start.is_empty() { Some(0) } else { text.rfind(start) };
        let Some(at) = found else { return ("?".to_owned(), String::new()) };
        let rest = &text[at..];
        let length = match end {
            _ if start.is_empty() => rest.len(),
            "" => rest.len(),
            _ => {
                rest[start.len()..].find(end).map_or(rest.len(), |it| it + start.len() + end.len())
            }
        };
        let whole = rest[..length].to_owned();
        let is_inside = start.is_empty() || end == "." || end.contains("available");
        let end = if is_inside { "" } else { end };
        let whole = whole.strip_suffix(end).unwrap_or(&whole).to_owned();
        (whole.clone(), self.without_own(&whole))
    }

    /// Removes the agent's own skills, and sorts the entries if their order is by chance.
    fn without_own(&self, listing: &str) -> String {
        let [start, end, separator] = self.listing;
        let end = if listing.ends_with(end) { end } else { "" };
        let inner = &listing[start.len()..listing.len() - end.len()];
        let mut entries: Vec<_> = inner.split(separator).filter(|it| !(self.is_own)(it)).collect();
        if self.is_race {
            let first = usize::from(entries.first().is_some_and(|it| it.is_empty()));
            entries[first..].sort_unstable();
        }
        let inner = entries
            .join(separator)
            .replace(self.own_names, if self.own_names.is_empty() { self.own_names } else { "" });
        format!("{start}{inner}{end}")
    }
}

fn recording(agent: &ListingAgent) -> PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/agents");
    golden.join(agent.profile).join("prompts.jsonl")
}

/// Returns the tree of a line.
fn tree_of(line: &Value) -> Tree {
    let entries = line["entries"].as_array().unwrap().iter().map(entry_from).collect();
    Tree { entries, cwd: line["cwd"].as_str().unwrap().to_owned() }
}

/// Returns true if the agent's answer to a load says that it loads nothing.
fn is_refusal(text: &str) -> bool {
    let words = [
        "not found",
        "not available",
        "can only be triggered",
        "is invalid",
        "/skill:",
        "Unknown skill",
    ];
    words.iter().any(|it| text.contains(it))
}

/// Returns the differences between a recorded line and what skillsd renders for the same tree.
fn differences(it: &PromptAgent, wire: &mut Wire, line: &Value) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let Tree { entries, cwd } = tree_of(line);
    lay_out(&entries, &cwd, &top);
    wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    let params = |more: Value| {
        let mut params = json!({"cwd": top.join(&cwd), "profile": it.agent.profile,
            "environment": {"HOME": top.join("h")}});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let redacted = |text: &str| text.replace(&*top.to_string_lossy(), "$TOP");
    let mut faults = Vec::new();
    let mut compare = |what: String, ours: &str, theirs: &str| {
        if ours != theirs {
            faults.push(format!("{what}\nours:\n{ours}\ntheirs:\n{theirs}"));
        }
    };
    let rendered = wire.call("catalog/render", &params(json!({})));
    let whole = rendered["text"].as_str().unwrap().to_owned();
    let listing = it.without_own(&redacted(&whole));
    compare("listing".to_owned(), &listing, line["listing"].as_str().unwrap());
    if let Some(theirs) = line["tool"].as_object() {
        let mut tool = wire.call("catalog/tool", &params(json!({})))["tool"].take();
        let properties = tool["inputSchema"]["properties"].as_object_mut().unwrap();
        for (_, property) in properties {
            property.as_object_mut().unwrap().remove("enum");
        }
        let description = tool["description"].as_str().unwrap().replace(&whole, "{listing}");
        compare("tool".to_owned(), &description, theirs["description"].as_str().unwrap());
        compare(
            "name".to_owned(),
            tool["name"].as_str().unwrap(),
            theirs["name"].as_str().unwrap(),
        );
        compare(
            "schema".to_owned(),
            &tool["inputSchema"].to_string(),
            &theirs["schema"].to_string(),
        );
    }
    for load in line["loads"].as_array().unwrap() {
        let by = if matches!(it.loading, Loading::Typed(_)) { "user" } else { "model" };
        let more = json!({"name": load["name"], "args": load["args"], "by": by});
        let what = format!("load of {} with {}", load["name"], load["args"]);
        let theirs = load["text"].as_str().unwrap();
        if theirs.ends_with("is already loaded in context.") {
            // Qwen Code loads a skill once in a session.
            continue;
        }
        match wire.try_call("skills/load", &params(more)) {
            Ok(result) => compare(what, &redacted(result["output"].as_str().unwrap()), theirs),
            Err(_) if is_refusal(theirs) => {}
            // A skill that is hidden from the model is never loaded by it, whatever the agent does.
            Err(error) if error.message.contains("a model may not invoke") => {}
            Err(error) => compare(what, &format!("{error:?}"), theirs),
        }
    }
    faults
}

/// Prints the texts that the agent gives its model now, and those of its recording, where they
/// differ.
fn print_changes(agent: &ListingAgent, recorded: &str, now: &str) {
    let lines = |all: &str| -> Vec<Value> {
        all.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (recorded, now) = (lines(recorded), lines(now));
    println!("{}: {} trees recorded, {} before", agent.profile, now.len(), recorded.len());
    for (nth, (before, now)) in recorded.iter().zip(&now).enumerate() {
        for part in ["listing", "tool", "loads"] {
            let (before, now) = (&before[part], &now[part]);
            let items = |it: &Value| it.as_array().cloned().unwrap_or_else(|| vec![it.clone()]);
            for (before, now) in items(before).iter().zip(items(now)).filter(|it| *it.0 != it.1) {
                println!("{}: tree {nth}, {part}\n- {before}\n+ {now}", agent.profile);
            }
        }
    }
}

#[track_caller]
fn compare(it: &PromptAgent) {
    if let Some(program) = it.agent.program() {
        let mut trees = trees(it.agent, &it.loading);
        if it.agent.profile == OPENCLAW.profile {
            // It shortens all descriptions by what its own skills leave, which is not rendered.
            trees.truncate(2);
        }
        let loads = |nth| if nth == 0 { &LOADS[..] } else { &[] };
        let lines = trees.iter().enumerate();
        let lines: Vec<_> =
            lines.map(|(nth, tree)| record(it, &program, tree, loads(nth)).to_string()).collect();
        let lines = lines.join("\n") + "\n";
        let path = recording(it.agent);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            print_changes(it.agent, &fs::read_to_string(&path).unwrap_or_default(), &lines);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &lines).unwrap();
        } else {
            let recorded = fs::read_to_string(&path).unwrap_or_default();
            assert!(recorded == lines, "{} is stale:\n{lines}", path.display());
        }
    }
    let home = Home::new();
    let daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
    let mut wire = daemon.connect(Framing::Header);
    let recorded = fs::read_to_string(recording(it.agent)).unwrap();
    let lines = recorded.lines().map(|line| serde_json::from_str(line).unwrap());
    let faults: Vec<_> = lines.flat_map(|line| differences(it, &mut wire, &line)).collect();
    println!("{}: {} differences", it.agent.profile, faults.len());
    assert!(faults.is_empty(), "{} differences\n{}", faults.len(), faults.join("\n\n"));
}

macro_rules! agents {
    ($($name:ident = $agent:expr,)*) => {
        $(#[test]
        fn $name() {
            compare(&$agent);
        })*
    };
}

agents! {
    copilot_cli_prompts_are_what_we_render = crate::listing_agents::prompts::COPILOT_CLI,
    cline_prompts_are_what_we_render = crate::listing_agents::prompts::CLINE,
    qwen_code_prompts_are_what_we_render = crate::listing_agents::prompts::QWEN_CODE,
    kilo_prompts_are_what_we_render = crate::listing_agents::prompts::KILO,
    kimi_code_prompts_are_what_we_render = crate::listing_agents::prompts::KIMI_CODE,
    droid_prompts_are_what_we_render = crate::listing_agents::prompts::DROID,
    continue_prompts_are_what_we_render = crate::listing_agents::prompts::CONTINUE,
    mistral_vibe_prompts_are_what_we_render = crate::listing_agents::prompts::MISTRAL_VIBE,
    openhands_prompts_are_what_we_render = crate::listing_agents::prompts::OPENHANDS,
    openclaw_prompts_are_what_we_render = crate::listing_agents::prompts::OPENCLAW,
}

#[test]
fn scripted_agent_prompts_are_what_we_render() {
    // A variant's texts are those of its base.
    for agent in scripted::agents().into_iter().filter(|it| !it.profile.contains('@')) {
        compare(&scripted::prompts(Box::leak(Box::new(agent))));
    }
}
