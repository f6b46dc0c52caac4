//! Files generated from the table of configuration keys: the reference page and the JSON Schemas.

use serde_json::{Value, json};
use skills_agents::profile;
use skills_config::{ConfigSource, KEYS, KnownNames};
use skills_protocol::PROFILES;
use skills_protocol::env::{DISCOVERY, RUN_VARIABLES};

use crate::frontmatter::stale;
use crate::tree::none;

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
        .map(|(path, source)| (path, text(&skills_config::schema(source, &skills_lint::ids()))));
    let files = schemas.into_iter().chain([(PAGE, skills_config::page())]);
    none(&files.filter_map(|(path, text)| stale(path, &text, write)).collect::<Vec<_>>());
}

#[test]
fn profile_reference_is_up_to_date() {
    let write = std::env::var_os("CI").is_none();
    none(&stale(PROFILE_PAGE, &profile::page(), write).into_iter().collect::<Vec<_>>());
}

#[test]
fn protocol_profile_names_match_the_profiles() {
    let ids: Vec<_> = profile::builtin().iter().map(|it| &*it.id).collect();
    assert_eq!(ids, PROFILES);
}

#[test]
fn clients_send_every_environment_variable_of_profiles() {
    for profile in profile::builtin() {
        for name in profile.environment.iter().chain(&profile.run_variable) {
            assert!(DISCOVERY.contains(&&**name), "{}: {name}", profile.id);
        }
    }
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
    jsonschema::draft202012::is_valid(&skills_config::schema(source, &skills_lint::ids()), &file)
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
