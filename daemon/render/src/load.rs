//! Renders a loaded skill: the text for the model, and its metadata.

use skills_agents::claude_text;
use skills_agents::field_table;
use skills_agents::profile::OutputFormat;
use skills_agents::profile::template::ArgumentsTemplate;

use super::claude_words::without_commands;
use super::command::{CommandSyntax, ShellCommand};
use super::expand::expand;
use super::load_request::{Invoker, LoadRequest};
use super::metadata::{Metadata, hook_faults, list, metadata};
use super::placeholder::PlaceholderSyntax;
use super::substitute::{ARGUMENTS_TOO_LONG, Substitutions};
use super::{invisible_chars, locale, template_load, xml};

#[derive(Clone, Debug, PartialEq)]
pub struct LoadedSkill {
    /// A short title for people.
    pub title: String,
    /// The text for the model.
    pub output: String,
    pub metadata: Metadata,
    /// The commands to run before the model reads the text.
    pub commands: Vec<ShellCommand>,
    /// True if commands were replaced by a notice.
    pub has_disabled_commands: bool,
    /// Warnings, as sentences.
    pub warnings: Vec<String>,
}

pub fn load(loading: &LoadRequest<'_>) -> LoadedSkill {
    let body = loading.body.body();
    let mut commands = Vec::new();
    let mut has_disabled_commands = false;
    let mut warnings: Vec<String> = invisible_chars::warning(body).into_iter().collect();
    let output = match loading.format {
        OutputFormat::Claude | OutputFormat::ClaudeFounding => {
            let braced = loading.format == OutputFormat::ClaudeFounding;
            let filled = fill(loading, PlaceholderSyntax::Claude { braced }, CommandSyntax::Claude);
            commands = filled.commands;
            warnings.extend(hook_faults(loading.body));
            has_disabled_commands = filled.has_disabled_commands;
            warnings.extend(filled.warnings);
            if loading.is_command {
                filled.text
            } else {
                let (dir, variants) = (loading.dir, variants(loading));
                format!("Base directory for this skill: {dir}\n\n{}{variants}", filled.text)
            }
        }
        OutputFormat::Opencode if loading.by == Invoker::User => {
            let filled = fill(loading, PlaceholderSyntax::Slash, CommandSyntax::Slash);
            commands = filled.commands;
            warnings.extend(filled.warnings);
            filled.text.trim().to_owned()
        }
        OutputFormat::Opencode => opencode(loading, loading.dir),
        OutputFormat::OpencodeFounding => opencode(loading, &xml::file_url(loading.dir)),
        OutputFormat::AgentSkills => standard(loading),
        OutputFormat::Codex => {
            let LoadRequest { name, path, .. } = loading;
            let text = &loading.body.text;
            format!("<skill>\n<name>{name}</name>\n<path>{path}</path>\n{text}\n</skill>")
        }
        OutputFormat::Gemini => {
            let LoadRequest { name, files, .. } = loading;
            let (body, tree) = (body.trim(), &files.tree);
            format!(
                "<activated_skill name=\"{name}\">\n  <instructions>\n    {body}\n  </instructions>\n\n  <available_resources>\n    {tree}\n  </available_resources>\n</activated_skill>"
            )
        }
        OutputFormat::Plugin => plugin(loading),
        OutputFormat::Raw => body.to_owned(),
        OutputFormat::Template(it) => match &it.load {
            Some(load) => template_load::load(load, loading, &mut warnings),
            None => standard(loading),
        },
    };
    if !takes_arguments(loading) && !loading.arguments.trim().is_empty() {
        warnings
            .push("The arguments are ignored: this format does not support arguments.".to_owned());
    }
    let metadata = metadata(loading, &output);
    let title = format!("Loaded skill: {}", loading.name);
    LoadedSkill { title, output, metadata, commands, has_disabled_commands, warnings }
}

fn takes_arguments(loading: &LoadRequest<'_>) -> bool {
    use ArgumentsTemplate::{Directory, Ignored};

    match loading.format {
        OutputFormat::Template(it) => {
            let load = it.load.as_ref();
            load.is_none_or(|it| !matches!(it.arguments, Ignored | Directory(_)))
        }
        OutputFormat::Opencode => loading.by == Invoker::User,
        format => format.is_claude() || format == OutputFormat::AgentSkills,
    }
}

/// Returns Claude Code's reminder of the variants of a skill; empty if it has none.
fn variants(loading: &LoadRequest<'_>) -> String {
    let LoadRequest { name, variants, .. } = loading;
    let mut dirs = variants.clone();
    dirs.sort_by(|a, b| locale::compare(a, b));
    if dirs.is_empty() {
        return String::new();
    }
    let parts = |it| ["- `", it, ":", name, "` — for files under ", it, "/\n"];
    let lines: String = dirs.into_iter().flat_map(parts).collect();
    format!(
        "\n\n<system-reminder>\nDirectory-scoped variants of the \"{name}\" skill exist in this repo:\n{lines}The bare name always resolves to this unscoped skill; the variants are reachable only by their exact qualified names. If the files you are working on are under a variant's directory, invoke that variant now with the Skill tool and follow it instead — it carries that subtree's own instructions. If your changes span more than one variant's directory, run each matching variant.\n</system-reminder>"
    )
}

struct FilledBody {
    text: String,
    commands: Vec<ShellCommand>,
    has_disabled_commands: bool,
    warnings: Vec<String>,
}

fn fill(
    loading: &LoadRequest<'_>,
    placeholders: PlaceholderSyntax,
    marks: CommandSyntax,
) -> FilledBody {
    let body = loading.body.body();
    // Claude Code's pattern for the closing dashes also consumes the white space after them.
    let is_behind_fields = body.len() < loading.body.text.len();
    let is_trimmed = marks == CommandSyntax::Claude && is_behind_fields;
    let body = if is_trimmed { claude_text::trim_start(body) } else { body };
    let mut names = list(loading.body, &field_table::ARGUMENTS);
    if loading.format == OutputFormat::Claude {
        // Measured: a number is no name, and the other names move up.
        names.retain(|it| it.contains(|c: char| !c.is_ascii_digit()));
    }
    let arguments = match (loading.format, loading.by) {
        (OutputFormat::Claude, Invoker::User) => claude_text::trim(loading.arguments),
        _ => loading.arguments,
    };
    // opencode 1.18.33; its tool uses another example in the parentheses.
    let base = (marks == CommandSyntax::Slash && !loading.is_command).then(|| {
        format!(
            "\n\nBase directory for this skill: {}\nRelative paths in this skill (e.g., scripts/, references/) are relative to this base directory.",
            loading.dir
        )
    });
    let base = base.unwrap_or_default();
    let whole = format!("{body}{base}");
    // Claude Code leaves the variable in a command as it is.
    let dir = match loading.format {
        OutputFormat::Claude if loading.is_command => "",
        _ => loading.dir,
    };
    let mut values =
        Substitutions::new(placeholders, arguments, &names, dir, loading.variables, &whole);
    let mut expanded = expand(body, marks, &mut values, loading.shell, loading.results);
    if !base.is_empty() {
        expanded.text.push_str(&values.fill(&base));
    }
    if !values.used && !arguments.trim().is_empty() {
        let append = if marks == CommandSyntax::Claude { "\n\nARGUMENTS: " } else { "\n\n" };
        expanded.text.push_str(append);
        if values.guards_commands() {
            expanded.text.push_str(&without_commands(arguments));
        } else {
            expanded.text.push_str(arguments);
        }
    }
    let strays = loading.results.keys().filter(|it| !expanded.filled.contains(it));
    let warnings = strays.map(|id| {
        format!("The body no longer contains the command `{id}`; its result is ignored.")
    });
    let mut warnings: Vec<_> = warnings.collect();
    if values.is_full {
        warnings.push(ARGUMENTS_TOO_LONG.to_owned());
    }
    FilledBody {
        text: expanded.text,
        commands: expanded.commands,
        has_disabled_commands: expanded.has_disabled,
        warnings,
    }
}

fn opencode(loading: &LoadRequest<'_>, base: &str) -> String {
    let name = loading.name;
    let body = loading.body.body().trim();
    let files: Vec<_> = loading.files.paths.iter().map(|it| format!("<file>{it}</file>")).collect();
    let files = files.join("\n");
    format!(
        "<skill_content name=\"{name}\">\n# Skill: {name}\n\n{body}\n\nBase directory for this skill: {base}\nRelative paths in this skill (e.g., scripts/, reference/) are relative to this base directory.\nNote: file list is sampled.\n\n<skill_files>\n{files}\n</skill_files>\n</skill_content>"
    )
}

fn standard(loading: &LoadRequest<'_>) -> String {
    let LoadRequest { dir, files, .. } = loading;
    let name = xml::escape_html(loading.name);
    let body = loading.body.body().trim();
    // The standard has no placeholders; arguments are appended to the body.
    let arguments = match loading.arguments.trim() {
        "" => String::new(),
        arguments => format!("\n\nARGUMENTS: {arguments}"),
    };
    let mut text = format!(
        "<skill_content name=\"{name}\">\n{body}{arguments}\n\nSkill directory: {dir}\nRelative paths in this skill are relative to the skill directory.\n"
    );
    if !files.paths.is_empty() {
        text.push_str("\n<skill_resources>\n");
        for path in &files.paths {
            text.extend(["  <file>", &xml::escape(path), "</file>\n"]);
        }
        text.push_str("</skill_resources>\n");
    }
    text + "</skill_content>"
}

/// The note of opencode-agent-skills 0.7.0 about tools named in Claude Code's skills.
const TRANSLATION: &str = "<tool-translation>
This skill may reference Claude Code tools. Use OpenCode equivalents:
- TodoWrite/TodoRead -> todowrite/todoread
- Task (subagents) -> task tool with subagent_type parameter
- Skill tool -> use_skill tool
- Read/Write/Edit/Bash/Glob/Grep/WebFetch -> lowercase (read/write/edit/bash/glob/grep/webfetch)
</tool-translation>";

fn plugin(loading: &LoadRequest<'_>) -> String {
    let LoadRequest { name, dir, files, .. } = loading;
    let label = loading.label.unwrap_or_default();
    let body = loading.body.body().trim();
    let block = |tag: &str, one: &str, paths: &[String]| {
        let lines = paths.iter().flat_map(|it| ["      <", one, ">", it, "</", one, ">\n"]);
        let lines: String = lines.collect();
        if lines.is_empty() {
            return String::new();
        }
        format!("\n    <{tag}>\n{lines}    </{tag}>")
    };
    let scripts = block("scripts", "script", &files.scripts);
    let files = block("files", "file", &files.paths);
    format!(
        "<skill name=\"{name}\">\n  <metadata>\n    <source>{label}</source>\n    <directory>{dir}</directory>{scripts}{files}\n  </metadata>\n\n  {TRANSLATION}\n\n  <content>\n{body}\n  </content>\n</skill>"
    )
}
