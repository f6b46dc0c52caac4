//! Agents that scripts of `tests/agents/run` start. All else comes from their profiles: a new agent
//! needs no code here.
//!
//! A script gets the address of a model and a prompt, runs the agent, and finds its programs in
//! PATH. HOME is a new directory. The list of skills is read from the first request.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::json;
use skills_agents::profile::template::{ListingTemplate, PromptTemplate};
use skills_agents::profile::{
    self, AncestorStop, DuplicatePolicy, OutputFormat, Profile, RootBase, Scope,
};
use skills_testkit::ModelRequest;

use super::{ListingAgent, first_request, relative, unescaped};
use crate::agent_trees::{Found, first_line};
use crate::recorded_prompts::{Loading, PromptAgent};

/// Returns the directory of the scripts.
pub(super) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/run")
}

/// Returns the agents that have a script.
pub(crate) fn agents() -> Vec<ListingAgent> {
    let files = fs::read_dir(scripts()).unwrap();
    let mut names: Vec<_> = files.map(|it| it.unwrap().file_name()).collect();
    names.sort();
    names.iter().map(|it| agent(profile::find(it.to_str().unwrap()).unwrap())).collect()
}

/// Returns an agent whose rules are those of its profile.
fn agent(profile: &'static Profile) -> ListingAgent {
    let home = home_dirs(profile);
    let mut project = project_dirs(profile);
    let mut own = home.first().map_or(String::new(), |it| format!("/h/{it}"));
    for root in &profile.roots {
        let RootBase::Ancestors { stop } = &root.base else { continue };
        if root.relative.contains(&profile.own) {
            let top = if *stop == AncestorStop::WorktreeTop { "/w/" } else { "" };
            own = format!("{top}{}", profile.own);
        }
    }
    if project.is_empty() {
        project.clone_from(&home);
    }
    let kept = |all: Vec<String>| -> &'static [&'static str] {
        all.into_iter().map(|it| &*it.leak()).collect::<Vec<_>>().leak()
    };
    ListingAgent {
        profile: &profile.id,
        program: "",
        own: own.leak(),
        home: kept(home),
        project: kept(project),
        has_descriptions: template(profile).listing.entry.contains("{description}"),
        lists_hidden: false,
        lists_conditional: false,
        is_race: profile.duplicates == DuplicatePolicy::LastWinsByRace,
        list: |it, command, top| {
            list(&template(profile::find(it.profile).unwrap()).listing, command, top)
        },
    }
}

/// Returns the directories of skills below home.
pub(crate) fn home_dirs(profile: &Profile) -> Vec<String> {
    let mut dirs = Vec::new();
    for root in profile.roots.iter().filter(|it| it.scope == Scope::User) {
        let below = match &root.base {
            RootBase::Home => Path::new(""),
            RootBase::Variable { below_home, .. } => Path::new(&**below_home),
            _ => continue,
        };
        dirs.extend(root.relative.iter().map(|it| text(&below.join(&**it))));
    }
    dirs
}

/// Returns the directories of skills in a project.
pub(crate) fn project_dirs(profile: &Profile) -> Vec<String> {
    let roots = profile.roots.iter();
    let roots = roots
        .filter(|it| matches!(it.base, RootBase::Ancestors { .. }) && it.scope == Scope::Project);
    roots.flat_map(|it| it.relative.iter().map(ToString::to_string)).collect()
}

/// Returns an agent whose prompts are recorded.
pub(crate) fn prompts(agent: &'static ListingAgent) -> PromptAgent {
    let PromptTemplate { listing, load, tool, .. } =
        template(profile::find(agent.profile).unwrap());
    PromptAgent {
        agent,
        prepare: |command, _, url| {
            command.arg(url);
        },
        loading: match tool {
            Some(tool) => Loading::Parameter(tool.name, tool.parameter),
            // As pi does, the only agent without such a tool whose users load skills.
            None if load.is_some() => {
                Loading::Typed(|name, args| format!("/skill:{name} {args}").trim().to_owned())
            }
            None => Loading::Never,
        },
        text: ModelRequest::text,
        listing: [listing.head.lines().next().unwrap_or_default(), listing.tail, listing.separator],
        is_own: |_| false,
        own_names: "",
        is_race: false,
    }
}

fn template(profile: &Profile) -> &'static PromptTemplate {
    let OutputFormat::Template(template) = profile.output else {
        panic!("`{}` has no template of its texts", profile.id)
    };
    template
}

/// Runs the script, and reads the list by the template.
fn list(template: &ListingTemplate, command: &mut Command, top: &Path) -> Found {
    let request = first_request(command, |command, url| {
        command.args([url, "hi"]);
    });
    entries(template, &request, top)
}

/// Returns the skills of the list in a request.
fn entries(template: &ListingTemplate, request: &str, top: &Path) -> Found {
    let list = request.rsplit_once(template.head).map_or("", |it| it.1);
    let list = list.split_once(template.tail).map_or(list, |it| it.0);
    let mut pattern = regex::escape(template.entry);
    for word in ["name", "description", "path", "dir", "when", "scope"] {
        pattern = pattern.replace(&format!(r"\{{{word}\}}"), &format!("(?<{word}>.*?)"));
    }
    let pattern = format!(r"(?s){pattern}(?:{}|\z)", regex::escape(template.separator));
    let pattern = Regex::new(&pattern).unwrap();
    let entry = |it: regex::Captures<'_>| {
        let text = |word| it.name(word).map(|it| unescaped(it.as_str())).unwrap_or_default();
        let path = match text("path").strip_prefix('~') {
            Some(below) => format!("/h{below}"),
            None => relative(&text("path"), top),
        };
        (text("name"), first_line(&text("description")), path)
    };
    pattern.captures_iter(list).map(entry).collect()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn entries_of_a_list_are_read_by_the_template() {
    let pi = &template(profile::find("pi").unwrap()).listing;
    let entry = pi.entry.replace("{name}", "a").replace("{description}", "A &lt;b>\nc.");
    let entry = entry.replace("{path}", "/t/w/a/SKILL.md");
    let request = format!("x{}{entry}{}{entry}{}y", pi.head, pi.separator, pi.tail);
    let found = entries(pi, &request, Path::new("/t"));
    assert_eq!(json!(found), json!([["a", "A <b>", "/w/a/SKILL.md"]]));
}
