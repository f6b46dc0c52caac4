//! [`ToolNames`]: the MCP tools and the agents that a list of tools can name, read from Claude
//! Code's files.
//!
//! Tools are known only where a permission or a skill names them: a server tells its tools when it
//! runs, and none is started here.

use std::collections::{BTreeMap, BTreeSet};

use skills_syntax::config_tree::{self, Node, Syntax};

use crate::field_table::{DESCRIPTION, NAME};
use crate::fields::Fields;
use crate::skill::parse;

/// The lists of permissions in Claude Code's settings.
const PERMISSIONS: [&str; 3] = ["allow", "ask", "deny"];

/// Maximum length of a server's, a tool's or an agent's name.
const MOST_NAME_BYTES: usize = 64;

/// Maximum number of servers, tools or agents that are kept.
const MOST_NAMES: usize = 1000;

/// Maximum number of characters of an agent's description that are kept.
const MOST_DESCRIPTION: usize = 200;

/// The MCP tools and the agents that are known in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolNames {
    /// Agents by name, with their description.
    pub agents: BTreeMap<String, String>,
    /// The names of the configured servers, as tools spell them.
    servers: BTreeSet<String>,
    /// The servers that the settings refuse.
    refused: BTreeSet<String>,
    /// Tools of servers: `mcp__server__tool`.
    tools: BTreeSet<String>,
}

impl ToolNames {
    /// Adds the servers of a `.mcp.json`.
    pub fn add_servers(&mut self, text: &str) {
        if let Ok(document) = config_tree::parse(text, Syntax::Json) {
            self.add_server_table(&document);
        }
    }

    /// Adds the servers of the user's `.claude.json`: those for all directories, and those for the
    /// directories in `projects`.
    pub fn add_user_servers(&mut self, text: &str, projects: &[&str]) {
        let Ok(document) = config_tree::parse(text, Syntax::Json) else { return };
        self.add_server_table(&document);
        for project in projects {
            if let Some(own) = document.at_path(&["projects", project]) {
                self.add_server_table(own);
                self.add_refused(own);
            }
        }
    }

    /// Adds the tools in the permissions of a settings file, and the servers that it refuses.
    pub fn add_settings(&mut self, text: &str) {
        let Ok(document) = config_tree::parse(text, Syntax::Json) else { return };
        self.add_refused(&document);
        for list in PERMISSIONS {
            let items = document.at_path(&["permissions", list]).map(Node::items);
            for rule in items.unwrap_or_default().iter().filter_map(Node::text) {
                let name = rule.split('(').next().unwrap_or_default().trim();
                if is_mcp_tool(name) && self.tools.len() < MOST_NAMES {
                    self.tools.insert(name.to_owned());
                }
            }
        }
    }

    /// Adds the agent that a file defines; one without a name is none, and neither is one whose
    /// name could end a pattern or a line.
    pub fn add_agent(&mut self, text: &str) {
        let document = parse(text);
        let Some(fields) = document.frontmatter.as_ref().map(|it| Fields::new(it, text)) else {
            return;
        };
        let Some(name) = fields.text(&NAME) else { return };
        let name = name.trim();
        if !is_agent_name(name) || self.agents.len() >= MOST_NAMES {
            return;
        }
        let description = fields.text(&DESCRIPTION).unwrap_or_default();
        let line = description.trim().lines().next().unwrap_or_default();
        let line = line.chars().filter(|it| !it.is_control()).take(MOST_DESCRIPTION).collect();
        self.agents.entry(name.to_owned()).or_insert(line);
    }

    /// Returns the servers (`mcp__server`) and the tools (`mcp__server__tool`) that are not
    /// refused, sorted by name.
    pub fn mcp(&self) -> impl Iterator<Item = String> + '_ {
        let is_refused = |name: &str| self.refused.contains(name);
        let servers = self.servers.iter().filter(move |it| !is_refused(it));
        let servers = servers.map(|it| format!("mcp__{it}"));
        let tools =
            self.tools.iter().filter(move |it| server_of(it).is_some_and(|it| !is_refused(it)));
        servers.chain(tools.cloned()).collect::<BTreeSet<_>>().into_iter()
    }

    fn add_server_table(&mut self, document: &Node) {
        let servers = document.get("mcpServers").map(Node::entries).unwrap_or_default();
        let n_left = MOST_NAMES.saturating_sub(self.servers.len());
        let servers = servers.iter().filter(|it| is_short(&it.key)).take(n_left);
        self.servers.extend(servers.map(|it| plain(&it.key)));
    }

    fn add_refused(&mut self, document: &Node) {
        let names = document.get("disabledMcpjsonServers").map(Node::items).unwrap_or_default();
        self.refused.extend(names.iter().filter_map(Node::text).map(plain));
    }
}

/// Returns a name as Claude Code spells it in a tool: other characters than letters, digits, `_`
/// and `-` become `_`.
fn plain(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    text.chars().map(|it| if is_plain(it) { it } else { '_' }).collect()
}

fn is_short(name: &str) -> bool {
    (1..=MOST_NAME_BYTES).contains(&name.len())
}

/// Returns whether an agent's name can be written as a value and in the parentheses after a tool.
fn is_agent_name(name: &str) -> bool {
    is_short(name) && name.chars().all(|it| it.is_alphanumeric() || "-_. ".contains(it))
}

fn server_of(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?.split("__").next()
}

/// Returns whether a rule names one tool of a server.
fn is_mcp_tool(name: &str) -> bool {
    let parts = name.strip_prefix("mcp__").and_then(|it| it.split_once("__"));
    parts.is_some_and(|(server, tool)| {
        let is_word = |it: &str| is_short(it) && plain(it) == it;
        is_word(server) && is_word(tool)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_servers_permissions_and_agent_files() {
        let mut names = ToolNames::default();
        names.add_servers(r#"{"mcpServers": {"my notes": {}, "off": {}}}"#);
        let user = r#"{"mcpServers": {"git-hub": {}}, "projects": {
            "/w": {"mcpServers": {"local": {}}}, "/other": {"mcpServers": {"elsewhere": {}}}}}"#;
        names.add_user_servers(user, &["/w"]);
        names.add_settings(
            r#"{"permissions": {"allow": ["mcp__git-hub__list_issues", "Bash(ls)", "mcp__off__x"],
            "deny": ["mcp__git-hub__drop(x)", "mcp__git-hub", "mcp__git-hub__*", 3]},
            "disabledMcpjsonServers": ["off"]}"#,
        );
        names.add_settings("not JSON");
        let expected = [
            "mcp__git-hub",
            "mcp__git-hub__drop",
            "mcp__git-hub__list_issues",
            "mcp__local",
            "mcp__my_notes",
        ];
        assert_eq!(names.mcp().collect::<Vec<_>>(), expected);
        names.add_agent("---\nname: reviewer\ndescription: Reads code.\n---\nYou review.\n");
        names.add_agent("---\nname: reviewer\ndescription: Another.\n---\n");
        names.add_agent("---\ndescription: Nameless.\n---\n");
        names.add_agent("text");
        let agents: Vec<_> = names.agents.iter().map(|(name, it)| (&**name, &**it)).collect();
        assert_eq!(agents, [("reviewer", "Reads code.")]);
    }

    #[test]
    fn names_of_an_untrusted_worktree_insert_nothing_else_and_are_bounded() {
        let mut names = ToolNames::default();
        for name in ["x), Bash(*", "\"a\\nhooks: b\"", "\"a\\u202Eb\"", "\"a: b\"", &"n".repeat(65)]
        {
            names.add_agent(&format!("---\nname: {name}\n---\n"));
        }
        let long = "d".repeat(300);
        names.add_agent(&format!("---\nname: Ünï-1\ndescription: \"\\e[2J{long}\\nb\"\n---\n"));
        let agents: Vec<_> = names.agents.iter().map(|(name, it)| (&**name, it.len())).collect();
        assert_eq!(agents, [("Ünï-1", MOST_DESCRIPTION)]);
        assert!(names.agents["Ünï-1"].starts_with("[2Jd"));
        let keys: Vec<_> = (0..3000).map(|it| format!("\"s{it}\": {{}}")).collect();
        names.add_servers(&format!("{{\"mcpServers\": {{\"{long}\": {{}}, {}}}}}", keys.join(",")));
        let tools: Vec<_> = (0..3000).map(|it| format!("\"mcp__s__t{it}\"")).collect();
        let (tools, long) = (tools.join(","), format!("\"mcp__s__{long}\""));
        names.add_settings(&format!("{{\"permissions\": {{\"ask\": [{long}, {tools}]}}}}"));
        assert_eq!(names.mcp().count(), 2 * MOST_NAMES);
        assert!(names.mcp().all(|it| it.len() <= 20));
    }
}
