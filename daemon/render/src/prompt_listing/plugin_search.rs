//! Renders the search results of opencode-agent-skills: matching skills with label and scripts, or
//! a suggestion.

use fancy_regex::{Regex, RegexBuilder};
use skills_agents::hooks::describe_regex_error;

/// Maximum number of backtracking steps on one text; there may be thousands of texts.
const MAX_BACKTRACKS: usize = 10_000;

/// Maximum size of a compiled query, in bytes.
const MAX_COMPILED_BYTES: usize = 1024 * 1024;

/// A search query: a case-insensitive expression in which `*` matches anything.
#[derive(Clone, Debug)]
pub struct SkillQuery {
    text: String,
    pattern: Regex,
}

#[derive(Clone, Copy, Debug)]
pub struct FoundSkill<'a> {
    pub name: &'a str,
    /// The plugin's label for its source.
    pub label: &'a str,
    pub description: &'a str,
    /// Its scripts, as relative paths.
    pub scripts: &'a [String],
}

impl SkillQuery {
    /// Parses a query. The error describes the fault.
    pub fn new(text: &str) -> Result<Self, String> {
        let pattern = text.replace('*', ".*");
        let read = RegexBuilder::new(&pattern)
            .case_insensitive(true)
            .backtrack_limit(MAX_BACKTRACKS)
            .delegate_size_limit(MAX_COMPILED_BYTES)
            .delegate_dfa_size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|error| describe_regex_error(&error, &pattern))?;
        Ok(Self { text: text.to_owned(), pattern: read })
    }

    pub fn matches(&self, name: &str, description: &str) -> bool {
        // An expression that reaches a limit on a text does not match it.
        [name, description].iter().any(|it| self.pattern.is_match(*it).unwrap_or_default())
    }

    /// Returns the plugin's text for a query without matches. `names` are all skills' names.
    pub fn no_results_text(&self, names: &[&str]) -> String {
        let meant = Some(&self.text).filter(|it| !it.is_empty()).and_then(|it| closest(it, names));
        match meant {
            Some(name) => {
                format!("No skills found matching \"{}\". Did you mean \"{name}\"?", self.text)
            }
            None => "No skills found matching your query.".to_owned(),
        }
    }
}

/// Returns the plugin's text for matching skills.
pub fn format_results(skills: &[FoundSkill<'_>]) -> String {
    let one = |it: &FoundSkill<'_>| {
        let scripts = match it.scripts {
            [] => String::new(),
            scripts => format!(" [scripts: {}]", scripts.join(", ")),
        };
        format!("{} ({})\n  {}{scripts}", it.name, it.label, it.description)
    };
    skills.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// Returns the plugin's text for an unknown name.
pub fn format_not_found(name: &str, names: &[&str]) -> String {
    match closest(name, names) {
        Some(meant) => format!("Skill \"{name}\" not found. Did you mean \"{meant}\"?"),
        None => format!(
            "Skill \"{name}\" not found. Use get_available_skills to list available skills."
        ),
    }
}

/// The minimum similarity of a suggestion.
const ALIKE: f64 = 0.4;

/// Returns the most similar name by the plugin's measure; the first of equally similar ones.
fn closest<'a>(input: &str, names: &[&'a str]) -> Option<&'a str> {
    let input = input.to_lowercase();
    let mut best = (0.0, None);
    for name in names {
        let score = similarity(&input, &name.to_lowercase());
        if score > best.0 {
            best = (score, Some(*name));
        }
    }
    best.1.filter(|_| best.0 >= ALIKE)
}

fn similarity(input: &str, name: &str) -> f64 {
    if let Some(rest) = name.strip_prefix(input) {
        let ends_a_word = rest.starts_with(['-', '_', '/', '.']);
        // Names are short.
        let length = |it: &str| f64::from(u32::try_from(it.chars().count()).unwrap_or(u32::MAX));
        let part = length(input) / length(name).max(1.0);
        return 0.9 + part * 0.1 + if ends_a_word { 0.05 } else { 0.0 };
    }
    if input.starts_with(name) {
        return 0.8;
    }
    if name.contains(input) || input.contains(name) {
        return 0.7;
    }
    strsim::normalized_levenshtein(input, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_show_label_and_scripts() {
        let scripts = ["build.sh".to_owned(), "tools/run".to_owned()];
        let skill =
            |name, scripts| FoundSkill { name, label: "user", description: "Does it.", scripts };
        assert_eq!(
            format_results(&[skill("a", &scripts), skill("b", &[])]),
            "a (user)\n  Does it. [scripts: build.sh, tools/run]\n\nb (user)\n  Does it."
        );
    }

    #[test]
    fn query_star_matches_anything_in_any_case() {
        let matches =
            |query: &str| SkillQuery::new(query).unwrap().matches("git-Commit", "Writes it.");
        for query in ["", "*", "GIT", "git*mit", "writes", "^git", "c.mmit"] {
            assert!(matches(query), "{query}");
        }
        for query in ["svn", "^commit", "git mit"] {
            assert!(!matches(query), "{query}");
        }
        assert!(SkillQuery::new("a(").is_err());
    }

    #[test]
    fn similar_name_is_suggested() {
        let names = ["brainstorming", "git-helper", "git"];
        let said = |query: &str| SkillQuery::new(query).unwrap().no_results_text(&names);
        assert_eq!(said("brian"), "No skills found matching your query.");
        assert_eq!(
            said("brainstormign"),
            "No skills found matching \"brainstormign\". Did you mean \"brainstorming\"?"
        );
        assert_eq!(closest("gi", &names), Some("git"));
        assert_eq!(closest("git", &["git-helper", "gitter"]), Some("git-helper"));
        assert_eq!(closest("helper", &names), Some("git-helper"));
        assert_eq!(said(""), "No skills found matching your query.");
        let gone = |name: &str| format_not_found(name, &names);
        assert_eq!(gone("gitt"), "Skill \"gitt\" not found. Did you mean \"git\"?");
        assert!(gone("zzzzz").ends_with("Use get_available_skills to list available skills."));
    }
}
