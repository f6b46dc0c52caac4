//! The catalogs that give every skill all the room it wants.

use skills_agents::listing::one_line;

use super::{ListedSkill, OneLineTexts};
use crate::{locale, xml};

/// Returns the skills in the order that opencode sorts them in.
fn by_name<'a, 'b>(skills: &'b [ListedSkill<'a>]) -> Vec<&'b ListedSkill<'a>> {
    let mut sorted: Vec<_> = skills.iter().collect();
    sorted.sort_by(|a, b| locale::compare(a.name, b.name));
    sorted
}

/// One skill between tags, indented; name, description and location as they are to stand there.
fn skill(name: &str, description: &str, location: &str) -> String {
    format!(
        "  <skill>\n    <name>{name}</name>\n    <description>{description}</description>\n    <location>{location}</location>\n  </skill>\n"
    )
}

fn available(skills: impl Iterator<Item = String>) -> String {
    format!("<available_skills>\n{}</available_skills>", skills.collect::<String>())
}

fn location(skill: &ListedSkill<'_>) -> String {
    skill.path.to_string_lossy().into_owned()
}

/// The open standard's.
pub(super) fn standard(skills: &[ListedSkill<'_>]) -> String {
    available(skills.iter().map(|it| {
        let [name, description] = [it.name, it.description].map(xml::escape);
        skill(&name, &description, &xml::escape(&one_line(&location(it))))
    }))
}

/// That of the open standard's reference tool: each value on a line of its own.
pub(super) fn skills_ref(skills: &[ListedSkill<'_>]) -> String {
    available(skills.iter().map(|it| {
        let [name, description] = [it.name, it.description].map(xml::escape_html);
        let location = xml::escape_html(&one_line(&location(it)));
        format!(
            "<skill>\n<name>\n{name}\n</name>\n<description>\n{description}\n</description>\n<location>\n{location}\n</location>\n</skill>\n"
        )
    }))
}

/// How opencode 1.18.33 begins.
const OPENCODE: &str = "Skills provide specialized instructions and workflows for specific tasks.
Use the skill tool to load a skill when a task matches its description.";

/// opencode's: only the location is escaped.
pub(super) fn opencode(skills: &[ListedSkill<'_>]) -> String {
    let sorted = by_name(skills);
    let lines = sorted.iter().map(|it| skill(it.name, it.description, &xml::escape(&location(it))));
    format!("{OPENCODE}\n{}", available(lines))
}

/// opencode's as the founding documents describe it: URLs.
pub(super) fn opencode_founding(skills: &[ListedSkill<'_>]) -> String {
    let sorted = by_name(skills);
    let lines =
        sorted.iter().map(|it| skill(it.name, it.description, &xml::file_url(&location(it))));
    format!("{OPENCODE}\n{}", available(lines))
}

/// What opencode says when there are none.
pub(super) const OPENCODE_NONE: &str =
    "Skills provide specialized instructions and workflows for specific tasks.
Use the skill tool to load a skill when a task matches its description.
No skills are currently available.";

/// A list in Markdown, as the founding documents have it in the description of a tool.
pub(crate) fn markdown(skills: &[ListedSkill<'_>]) -> String {
    let sorted = by_name(skills);
    let lines = sorted.iter().map(|it| format!("\n- **{}**: {}", it.name, it.description));
    format!("## Available Skills{}", lines.collect::<String>())
}

/// The same with each text escaped.
pub(super) fn markdown_escaped(skills: &[ListedSkill<'_>]) -> String {
    markdown(&OneLineTexts::of(skills).escaped().listed(skills))
}

/// Gemini CLI's.
pub(super) fn gemini(skills: &[ListedSkill<'_>]) -> String {
    let lines =
        gemini_order(skills).into_iter().map(|it| skill(it.name, it.description, &location(it)));
    format!(
        "# Available Agent Skills\n\nYou have access to the following specialized skills. To activate a skill and receive its detailed instructions, you can call the `activate_skill` tool with the skill's name.\n\n{}",
        available(lines)
    )
}

/// Returns the skills in the order that Gemini CLI 0.61.0 was seen to list them in: root after
/// root, each from its last directory to its first.
pub(crate) fn gemini_order<'a, 'b>(skills: &'b [ListedSkill<'a>]) -> Vec<&'b ListedSkill<'a>> {
    skills.chunk_by(|a, b| a.root == b.root).flat_map(|it| it.iter().rev()).collect()
}

/// The plugin's.
pub(super) fn plugin(skills: &[ListedSkill<'_>]) -> String {
    let lines: String =
        skills.iter().flat_map(|it| ["- ", it.name, ": ", it.description, "\n"]).collect();
    format!(
        "<available-skills>\nUse the use_skill, read_skill_file, run_skill_script, and get_available_skills tools to work with skills.\n\n{lines}</available-skills>"
    )
}
