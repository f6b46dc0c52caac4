//! Renders the prompt listings of agents that set no size limit.

use skills_agents::listing::one_line;

use super::listed_skill::{ListedSkill, OneLineTexts};
use crate::{locale, xml};

/// Returns the skills in opencode's order.
fn by_name<'a, 'b>(skills: &'b [ListedSkill<'a>]) -> Vec<&'b ListedSkill<'a>> {
    let mut sorted: Vec<_> = skills.iter().collect();
    sorted.sort_by(|a, b| locale::compare(a.name, b.name));
    sorted
}

/// Renders one skill as indented tags. The arguments are already escaped.
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

/// The open standard's listing.
pub(super) fn standard(skills: &[ListedSkill<'_>]) -> String {
    available(skills.iter().map(|it| {
        let [name, description] = [it.name, it.description].map(xml::escape);
        skill(&name, &description, &xml::escape(&one_line(&location(it))))
    }))
}

/// The listing of the open standard's reference tool: each value on its own line.
pub(super) fn skills_ref(skills: &[ListedSkill<'_>]) -> String {
    available(skills.iter().map(|it| {
        let [name, description] = [it.name, it.description].map(xml::escape_html);
        let location = xml::escape_html(&one_line(&location(it)));
        format!(
            "<skill>\n<name>\n{name}\n</name>\n<description>\n{description}\n</description>\n<location>\n{location}\n</location>\n</skill>\n"
        )
    }))
}

/// The introduction of opencode 1.18.33.
const OPENCODE: &str = "Skills provide specialized instructions and workflows for specific tasks.
Use the skill tool to load a skill when a task matches its description.";

/// opencode's listing: only the location is escaped, quotes included.
pub(super) fn opencode(skills: &[ListedSkill<'_>]) -> String {
    let sorted = by_name(skills);
    let quotes = |text: String| text.replace('"', "&quot;").replace('\'', "&#39;");
    let lines =
        sorted.iter().map(|it| skill(it.name, it.description, &quotes(xml::escape(&location(it)))));
    format!("{OPENCODE}\n{}", available(lines))
}

/// opencode's listing as the founding documents describe it: with URLs, in the order of its
/// registry.
pub(super) fn opencode_founding(skills: &[ListedSkill<'_>]) -> String {
    let lines =
        skills.iter().map(|it| skill(it.name, it.description, &xml::file_url(&location(it))));
    format!("{OPENCODE}\n{}", available(lines))
}

/// opencode's text for an empty list.
pub(super) const OPENCODE_NONE: &str =
    "Skills provide specialized instructions and workflows for specific tasks.
Use the skill tool to load a skill when a task matches its description.
No skills are currently available.";

/// opencode's text for an empty list in the founding documents.
pub(super) const OPENCODE_FOUNDING_NONE: &str =
    "Skills provide specialized instructions and workflows for specific tasks.
Use the skill tool to load a skill when a task matches its description.
<available_skills>
</available_skills>";

/// A Markdown list, as the founding documents show it in the tool description.
pub(crate) fn markdown<'a: 'b, 'b>(
    skills: impl IntoIterator<Item = &'b ListedSkill<'a>>,
) -> String {
    let line = |it: &ListedSkill<'_>| format!("\n- **{}**: {}", it.name, it.description);
    let lines = skills.into_iter().map(line);
    format!("## Available Skills{}", lines.collect::<String>())
}

/// The Markdown list with all texts escaped.
pub(super) fn markdown_escaped(skills: &[ListedSkill<'_>]) -> String {
    let lines = OneLineTexts::of(skills).escaped();
    markdown(by_name(&lines.listed(skills)))
}

/// Gemini CLI's listing.
pub(super) fn gemini(skills: &[ListedSkill<'_>]) -> String {
    let lines = skills.iter().map(|it| skill(it.name, it.description, &location(it)));
    format!(
        "# Available Agent Skills\n\nYou have access to the following specialized skills. To activate a skill and receive its detailed instructions, you can call the `activate_skill` tool with the skill's name.\n\n{}",
        available(lines)
    )
}

/// The listing of opencode-agent-skills.
pub(super) fn plugin(skills: &[ListedSkill<'_>]) -> String {
    let lines: String =
        skills.iter().flat_map(|it| ["- ", it.name, ": ", it.description, "\n"]).collect();
    format!(
        "<available-skills>\nUse the use_skill, read_skill_file, run_skill_script, and get_available_skills tools to work with skills.\n\n{lines}</available-skills>"
    )
}
