//! Skills that are in none of the agent's directories: bundled skills, registries and MCP prompts.
//!
//! A profile defines their position in the scan order
//! ([`RootBase::Provided`](skills_agents::profile::RootBase)); the [`Tree`](super::Tree) supplies
//! them as [`ProvidedRoot`] roots. A registry's directory is walked like any other; bundled skills
//! and prompts are listed without files. A prompt's path is one that no file can have, see
//! [`super::address`].

use std::fmt::Write;
use std::sync::Arc;

use skills_agents::profile::{OutputFormat, Profile};
use skills_agents::skill::{FileFacts, SkillRecord};
use skills_syntax::path::AbsPath;
use skills_syntax::quote::double_quote_scalar;

use super::address::{prompt_of, prompt_path};
use super::disk::{Fault, FaultKind, FileId, SkillFile};

/// A root supplied by a source other than the agent's directories.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvidedRoot {
    /// Path of its skills; it may not exist.
    pub path: AbsPath,
    /// Description of the source for users; empty if the path is enough.
    pub origin: String,
    /// Its skills.
    pub contents: ProvidedContents,
}

/// Contents of a provided root.
#[derive(Clone, Debug, PartialEq)]
pub enum ProvidedContents {
    /// A directory to walk.
    Directory,
    /// Skills that are not read from the disk.
    Skills(Arc<[ProvidedSkill]>),
    /// No skills yet, for this reason.
    NotReady(String),
    /// No skills, because of this error.
    Failed(String),
}

/// A skill that is not read from the disk.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvidedSkill {
    /// Path of its SKILL.md, which may not exist.
    pub path: AbsPath,
    /// The parsed text.
    pub record: Arc<SkillRecord>,
    /// The name, if the agent's rules do not decide it.
    pub name: Option<Box<str>>,
}

impl ProvidedSkill {
    /// Returns the skill as a file that discovery can evaluate.
    pub(super) fn file(&self) -> SkillFile {
        // No disk uses this device number, so the identity equals that of no real file.
        let hash = self.record.facts.hash;
        let inode = u64::from_le_bytes(std::array::from_fn(|at| hash[at]));
        let mut spread = inode;
        for byte in self.path.as_os_str().as_encoded_bytes() {
            spread = spread.rotate_left(5) ^ u64::from(*byte);
        }
        let id = FileId { device: u64::MAX, inode: spread };
        SkillFile { id, directory: None, record: Arc::clone(&self.record), stale: None }
    }
}

impl ProvidedContents {
    /// Returns an error of the source as a fault.
    pub(super) fn fault(message: &str) -> Fault {
        Fault { kind: FaultKind::Unavailable, detail: message.to_owned() }
    }
}

/// Prefix of the metadata keys that describe a prompt's arguments.
pub const PROMPT_ARGUMENT: &str = "mcp-argument-";

/// Start of the description of an argument that a prompt requires.
pub const PROMPT_REQUIRED: &str = "required";

/// A prompt of an MCP server, listed as a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Name of the server in the configuration.
    pub server: String,
    /// Name of the prompt on the server.
    pub name: String,
    /// Description by the server.
    pub description: Option<String>,
    /// Arguments of the prompt.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Description by the server.
    pub description: Option<String>,
    /// True if the prompt requires it.
    pub required: bool,
}

/// Returns a skill's name in a profile, if the agent's rules do not decide it. The founding notes
/// on Claude Code keep a prompt's name as the server wrote it; ours is on one line.
pub(super) fn name_in(profile: &Profile, skill: &ProvidedSkill) -> Option<Box<str>> {
    match prompt_of(&skill.path) {
        Some((server, prompt)) if profile.output == OutputFormat::ClaudeFounding => {
            let prompt = prompt.replace(char::is_control, "_");
            Some(format!("mcp__{}__{prompt}", plain(&server)).into())
        }
        _ => skill.name.clone(),
    }
}

fn plain(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
    text.chars().map(|it| if is_plain(it) { it } else { '_' }).collect()
}

impl Prompt {
    /// Returns the skill's name: `mcp__server__prompt`, with letters, digits, `_` and `-`.
    pub fn skill_name(&self) -> String {
        format!("mcp__{}__{}", plain(&self.server), plain(&self.name))
    }

    /// Returns the prompt as a skill; `hash` is the file hash function.
    pub fn to_skill(&self, hash: impl FnOnce(&[u8]) -> [u8; 32]) -> ProvidedSkill {
        let name = self.skill_name();
        let text = self.as_file(&name);
        let hash = hash(text.as_bytes());
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash };
        ProvidedSkill {
            path: prompt_path(&self.server, &self.name),
            record: Arc::new(SkillRecord::read(text.as_bytes(), facts)),
            name: Some(name.into()),
        }
    }

    /// Returns a SKILL.md with the server's description of the prompt.
    fn as_file(&self, name: &str) -> String {
        let mut text = format!("---\nname: {}\n", double_quote_scalar(name));
        let described = self.description.as_deref().map(str::trim).filter(|it| !it.is_empty());
        let by_name = || format!("The prompt `{}` of the MCP server `{}`.", self.name, self.server);
        let description = described.map_or_else(by_name, str::to_owned);
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "description: {}", double_quote_scalar(&description));
        if !self.arguments.is_empty() {
            let names = self.arguments.iter().map(|it| double_quote_scalar(&it.name));
            let names = names.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "arguments: [{names}]");
            let hint = self.arguments.iter().map(|it| {
                let name = &it.name;
                if it.required { format!("<{name}>") } else { format!("[{name}]") }
            });
            let hint = hint.collect::<Vec<_>>().join(" ");
            let _ = writeln!(text, "argument-hint: {}", double_quote_scalar(&hint));
        }
        let _ = writeln!(text, "metadata:\n  mcp-server: {}", double_quote_scalar(&self.server));
        let _ = writeln!(text, "  mcp-prompt: {}", double_quote_scalar(&self.name));
        for argument in &self.arguments {
            let described = argument.description.as_deref().unwrap_or_default();
            let required = if argument.required { PROMPT_REQUIRED } else { "optional" };
            let value = format!("{required}: {described}");
            let key = double_quote_scalar(&format!("{PROMPT_ARGUMENT}{}", argument.name));
            let _ = writeln!(
                text,
                "  {key}: {}",
                double_quote_scalar(value.trim_end_matches([':', ' ']))
            );
        }
        text.push_str("---\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use skills_agents::profile;

    use super::*;

    fn prompt(server: &str, name: &str, description: Option<&str>) -> Prompt {
        let argument = |name: &str, required| PromptArgument {
            name: name.to_owned(),
            description: Some("what: it \"is\"".to_owned()),
            required,
        };
        Prompt {
            server: server.to_owned(),
            name: name.to_owned(),
            description: description.map(str::to_owned),
            arguments: vec![argument("topic", true), argument("tone", false)],
        }
    }

    #[test]
    fn prompt_skill_names_have_only_letters_digits_and_underscores() {
        assert_eq!(prompt("my notes", "daily/é", None).skill_name(), "mcp__my_notes__daily__");
        let skill = prompt("my notes", "daily/é\n", None).to_skill(|_| [0; 32]);
        let name = |profile| name_in(profile::find(profile).unwrap(), &skill).unwrap();
        assert_eq!(&*name("claude-code"), "mcp__my_notes__daily___");
        assert_eq!(&*name("claude-code@founding"), "mcp__my_notes__daily/é_");
    }

    #[test]
    fn prompt_skill_has_the_servers_description_and_arguments() {
        let described = "Writes: a \"note\"\nof #all.\u{85}";
        let skill = prompt("notes", "daily", Some(described)).to_skill(|_| [0; 32]);
        assert_eq!(&*skill.record.name.as_ref().unwrap().text, "mcp__notes__daily");
        assert_eq!(&*skill.record.description.as_ref().unwrap().text, described.trim());
        assert_eq!(skill.record.yaml, skills_agents::skill::FrontmatterState::Strict);
        assert!(skill.record.head.contains("argument-hint: \"<topic> [tone]\""));
        let bare = prompt("notes", "daily", Some(" ")).to_skill(|_| [0; 32]);
        let description = &bare.record.description.as_ref().unwrap().text;
        assert_eq!(&**description, "The prompt `daily` of the MCP server `notes`.");
    }
}
