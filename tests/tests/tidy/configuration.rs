//! Files generated from the table of configuration keys: the reference page and the JSON Schemas.

use serde_json::{Value, json};
use std::fmt::Write as _;

use skills_agents::profile::{self, AncestorStop, Profile, RootBase, RootRule, Scope};
use skills_config::{ConfigSource, KEYS, KnownNames};
use skills_protocol::env::RUN_VARIABLES;

use crate::frontmatter::stale;
use crate::pages::{config_page, profiles_page};
use crate::tree::{none, text_of, top};

const PAGE: &str = "docs/configuration.md";
const PROFILE_PAGE: &str = "docs/profiles.md";
const SCHEMAS: [(&str, ConfigSource); 2] = [
    ("docs/schema/config.schema.json", ConfigSource::User),
    ("docs/schema/repository-config.schema.json", ConfigSource::Repository),
];

fn text(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).expect("JSON can be written") + "\n"
}

#[test]
fn configuration_schema_and_page_are_up_to_date() {
    let write = std::env::var_os("CI").is_none();
    let schemas = SCHEMAS
        .map(|(path, source)| (path, text(&config_page::schema(source, &skills_lint::ids()))));
    let files = schemas.into_iter().chain([(PAGE, config_page::page())]);
    none(&files.filter_map(|(path, text)| stale(path, &text, write)).collect::<Vec<_>>());
}

#[test]
fn profile_reference_is_up_to_date() {
    let write = std::env::var_os("CI").is_none();
    none(&stale(PROFILE_PAGE, &profiles_page::page(), write).into_iter().collect::<Vec<_>>());
}

/// Returns the page about agents with its generated parts.
fn agents_page(page: &str) -> String {
    let sections = profiles_page::agent_sections(|it| registered(page, it), recordings);
    let parts = [("presence", profiles_page::presence_table()), ("agents", sections)];
    parts.iter().fold(page.to_owned(), |page, (name, text)| {
        let start =
            format!("<!-- {name}: generated from the profile table; a test rewrites it -->\n");
        let end = format!("<!-- end of {name} -->");
        let (before, rest) = page.split_once(&start).expect("the page has the mark");
        let (_, after) = rest.split_once(&end).expect("the page has the mark");
        format!("{before}{start}{text}\n{end}{after}")
    })
}

/// Returns the files in which an agent is registered, from the page's tables of registrations.
fn registered(page: &str, profile: &Profile) -> Option<String> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect()
    };
    let rows = page.lines().filter(|it| it.starts_with('|')).map(cells);
    let is_it = |row: &Vec<String>| {
        let name = row[0].strip_prefix(&*profile.agent);
        // The agent's version may follow.
        name.is_some_and(|it| {
            it.is_empty() || it.trim_start().starts_with(|it: char| it.is_ascii_digit())
        })
    };
    rows.filter(is_it).find_map(|row| match &row[1..] {
        [hook, file, server] if hook.contains("skillsd hook") => Some(format!(
            "`skillsd install` adds {hook} to {file}; with `--only mcp`, the MCP server to {server}"
        )),
        [server] => Some(format!("`skillsd install --only mcp` adds the MCP server to {server}")),
        _ => None,
    })
}

/// Returns the names of an agent's recordings.
fn recordings(profile: &Profile) -> Option<String> {
    let dir = top().join("tests/golden/agents").join(&*profile.id);
    let names =
        std::fs::read_dir(dir).ok()?.filter_map(|it| it.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names.collect();
    names.sort();
    let names: Vec<_> = names.iter().map(|it| format!("`{it}`")).collect();
    Some(names.join(", "))
}

#[test]
fn agents_page_has_a_section_for_each_profile() {
    let write = std::env::var_os("CI").is_none();
    let page = agents_page(&text_of("docs/agents.md"));
    none(&stale("docs/agents.md", &page, write).into_iter().collect::<Vec<_>>());
}

/// Returns the levels of a project at which an agent looks for its own directory.
fn levels(profile: &Profile) -> &'static str {
    let is_own = |it: &&RootRule| it.scope == Scope::Project && it.relative.contains(&profile.own);
    match profile.roots.iter().find(is_own).map(|it| &it.base) {
        None => "None",
        Some(RootBase::Ancestors { stop: AncestorStop::Cwd | AncestorStop::CwdAndTop }) => {
            "WorkingDirectory"
        }
        Some(RootBase::Ancestors { stop: AncestorStop::WorktreeTop }) => "WorktreeTop",
        Some(_) => "EachLevel",
    }
}

/// Returns the directory of a user's own skills, by its variable, the base below home without it
/// and the path below the base: the one in the agent's directory, or else the first.
fn user_directory(profile: &Profile) -> (&str, &str, &str) {
    let roots = profile.roots.iter().filter(|it| it.scope == Scope::User);
    let all = roots.flat_map(|root| {
        let base = match &root.base {
            RootBase::Home => Some(("HOME", "")),
            RootBase::Variable { name, below_home } => Some((&**name, &**below_home)),
            _ => None,
        };
        let relative = root.relative.iter().filter(|it| it.ends_with("skills"));
        relative.filter_map(move |it| base.map(|(name, below)| (name, below, &**it)))
    });
    let all: Vec<_> = all.collect();
    let path = |(_, below, it): &(&str, &str, &str)| format!("{below}/{it}");
    let is_own = |it: &(&str, &str, &str)| match &profile.presence {
        Some(signs) => {
            let own = format!("{}/{}", signs.below_home, signs.directory);
            path(it).trim_matches('/').starts_with(own.trim_matches('/'))
        }
        None => path(it).trim_matches('/') == profile.own,
    };
    let own = all.iter().find(|it| is_own(it)).or(all.first());
    own.copied().unwrap_or(("HOME", "", ""))
}

/// Returns the source file with what clients know of the profiles.
fn protocol_profiles() -> String {
    let mut text = PROTOCOL_HEAD.to_owned();
    // Writing to a `String` cannot fail.
    for it in profile::builtin() {
        let _ = writeln!(text, "    \"{}\",", it.id);
    }
    text.push_str(PROTOCOL_DIRECTORIES);
    for it in profile::agents() {
        let (variable, below_home, user) = user_directory(it);
        let _ = writeln!(
            text,
            "    (\"{}\", OwnDirectory {{ project: \"{}\", levels: ProjectLevels::{}, variable: \"{variable}\", below_home: \"{below_home}\", user: \"{user}\" }}),",
            it.id,
            it.own,
            levels(it)
        );
    }
    text.push_str(PROTOCOL_VARIABLES);
    let mut all: Vec<&str> = Vec::new();
    for it in profile::builtin() {
        for name in it.environment.iter().chain(&it.run_variable) {
            if !all.contains(&&**name) {
                all.push(name);
            }
        }
    }
    for name in all {
        let _ = writeln!(text, "    \"{name}\",");
    }
    text + "];\n"
}

const PROTOCOL_HEAD: &str = "\
//! Built-in profiles, as far as clients know them.
//!
//! Generated from the profile table in daemon/agents/src/profile/table.rs; a test rewrites it.

use crate::own_directory::{OwnDirectory, ProjectLevels};

/// Names of the built-in profiles, variants last. A user may define more.
#[rustfmt::skip]
pub const PROFILES: &[&str] = &[
";

const PROTOCOL_DIRECTORIES: &str = "\
];

/// Directories of an agent's own skills.
#[rustfmt::skip]
pub(crate) const OWN_DIRECTORIES: &[(&str, OwnDirectory)] = &[
";

const PROTOCOL_VARIABLES: &str = "\
];

/// Variables that the built-in profiles read, and those by which their agents are recognised.
#[rustfmt::skip]
pub(crate) const VARIABLES: &[&str] = &[
";

#[test]
fn protocol_profiles_match_the_profile_table() {
    let write = std::env::var_os("CI").is_none();
    let path = "daemon/protocol/src/profiles.rs";
    none(&stale(path, &protocol_profiles(), write).into_iter().collect::<Vec<_>>());
}

#[test]
fn run_variables_of_the_protocol_match_the_profiles() {
    let all: Vec<_> = profile::agents().filter_map(|it| it.run_variable.as_deref()).collect();
    assert_eq!(all, RUN_VARIABLES);
}

/// Returns whether the schema accepts a file in which one key has this value.
fn schema_accepts(source: ConfigSource, name: &str, value: &str) -> bool {
    // A TOML inline table with quoted keys differs from JSON only in `=`.
    let value = value.replace("\" = ", "\": ");
    let value: Value = serde_json::from_str(&value).expect("as in TOML");
    let file = match name.split_once('.') {
        Some((table, name)) => json!({table: {name: value}}),
        None => json!({name: value}),
    };
    jsonschema::draft202012::is_valid(&config_page::schema(source, &skills_lint::ids()), &file)
}

#[test]
fn configuration_schema_and_reader_agree() {
    for key in KEYS {
        let values = ["0", "-1", "\"x\"", "true", key.example, "1e40"];
        for value in values.into_iter().chain(key.default) {
            for (_, source) in SCHEMAS {
                let text = format!("{} = {value}\n", key.name);
                let rules = skills_lint::ids();
                let names = KnownNames { rules: Some(&rules), profiles: &[] };
                let read = skills_config::read_with_names(text.as_bytes(), source, names)
                    .problems
                    .is_empty();
                assert_eq!(schema_accepts(source, key.name, value), read, "{source:?}: {text}");
            }
        }
    }
    assert!(
        !schema_accepts(ConfigSource::User, "nope", "1")
            && !schema_accepts(ConfigSource::User, "log.nope", "1")
    );
}
