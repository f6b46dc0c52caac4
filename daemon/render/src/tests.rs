//! Tests of loaded skills in each agent's format, and properties of substitution.

use std::collections::BTreeMap;
use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use skills_agents::profile::{self, OutputFormat, Profile, Scope};
use skills_agents::skill::FileFacts;

use super::placeholder::PlaceholderSyntax;
use super::substitute::{ARGUMENTS_TOO_LONG, MAX_INSERTED, Substitutions};
use super::template_load::BodyValues;
use super::*;

const FACTS: FileFacts = FileFacts { size: 0, truncated: false, hash: [0; 32] };

/// A skill with the parameters of one load.
struct Case {
    format: OutputFormat,
    by: Invoker,
    text: String,
    arguments: &'static str,
    shell: ShellMode,
    results: ShellResults,
    model: Option<&'static str>,
}

impl Case {
    fn new(format: OutputFormat, text: &str) -> Self {
        Self {
            format,
            by: Invoker::Model,
            text: text.to_owned(),
            arguments: "",
            shell: ShellMode::List,
            results: BTreeMap::new(),
            model: None,
        }
    }

    /// Creates a case with this body after a small frontmatter.
    fn body(format: OutputFormat, body: &str) -> Self {
        Self::new(format, &format!("---\nname: n\ndescription: d\narguments: one two\n---\n{body}"))
    }

    fn with(self, arguments: &'static str) -> Self {
        Self { arguments, ..self }
    }

    fn loaded(&self) -> LoadedSkill {
        let profile = profile::builtin().iter().find(|it| it.output == self.format);
        let profile = profile.or(profile::find("claude-code").as_ref().copied()).unwrap();
        let body = SkillFile::read(self.text.as_bytes(), FACTS, profile, "n");
        let variables = Variables {
            project_dir: Some("/w".to_owned()),
            session_id: Some("s1".to_owned()),
            user_config: [("key".to_owned(), "$ARGUMENTS".to_owned())].into(),
            ..Variables::default()
        };
        let files = SkillFiles {
            paths: vec!["a.md".to_owned(), "scripts/run.sh".to_owned()],
            scripts: vec!["scripts/run.sh".to_owned()],
            tree: "TREE".to_owned(),
        };
        load(&LoadRequest {
            format: self.format,
            by: self.by,
            name: "n",
            description: "d",
            scope: Scope::Project,
            label: Some("project"),
            variants: Vec::new(),
            is_command: false,
            dir: "/w/s/n",
            path: "/w/s/n/SKILL.md",
            root: Path::new("/w/s"),
            cwd: Path::new("/w"),
            body: &body,
            arguments: self.arguments,
            variables: &variables,
            files: &files,
            shell: self.shell,
            results: &self.results,
            model: self.model,
        })
    }
}

const SKILL: &str = "---\nname: n\ndescription: d\n---\n\n# N\n\nDo $1 & <it>.\n\n";

#[track_caller]
fn check(format: OutputFormat, expected: &Expect) {
    expected.assert_eq(&Case::new(format, SKILL).loaded().output);
}

#[test]
fn opencode_wraps_the_body() {
    check(
        OutputFormat::Opencode,
        &expect![[r#"
            <skill_content name="n">
            # Skill: n

            # N

            Do $1 & <it>.

            Base directory for this skill: /w/s/n
            Relative paths in this skill (e.g., scripts/, reference/) are relative to this base directory.
            Note: file list is sampled.

            <skill_files>
            <file>a.md</file>
            <file>scripts/run.sh</file>
            </skill_files>
            </skill_content>"#]],
    );
    let founding = Case::new(OutputFormat::OpencodeFounding, SKILL).loaded();
    assert!(founding.output.contains("\nBase directory for this skill: file:///w/s/n\n"));
    assert_eq!(founding.title, "Loaded skill: n");
}

#[test]
fn standard_wraps_the_body() {
    check(
        OutputFormat::AgentSkills,
        &expect![[r#"
            <skill_content name="n">
            # N

            Do $1 & <it>.

            Skill directory: /w/s/n
            Relative paths in this skill are relative to the skill directory.

            <skill_resources>
              <file>a.md</file>
              <file>scripts/run.sh</file>
            </skill_resources>
            </skill_content>"#]],
    );
}

#[test]
fn arguments_without_placeholder_are_appended_or_warned_about() {
    let loaded = Case::new(OutputFormat::AgentSkills, SKILL).with(" a 'b c' ").loaded();
    let expected = "Do $1 & <it>.\n\nARGUMENTS: a 'b c'\n\nSkill directory: ";
    assert!(loaded.output.contains(expected), "{}", loaded.output);
    assert_eq!(loaded.warnings, [""; 0]);
    let loaded = Case::new(OutputFormat::Codex, SKILL).with("a").loaded();
    assert_eq!(
        loaded.warnings,
        ["The arguments are ignored: this format does not support arguments."]
    );
}

#[test]
fn codex_embeds_the_whole_file() {
    check(
        OutputFormat::Codex,
        &expect![[r#"
            <skill>
            <name>n</name>
            <path>/w/s/n/SKILL.md</path>
            ---
            name: n
            description: d
            ---

            # N

            Do $1 & <it>.


            </skill>"#]],
    );
}

#[test]
fn gemini_wraps_body_and_tree() {
    check(
        OutputFormat::Gemini,
        &expect![[r#"
            <activated_skill name="n">
              <instructions>
                # N

            Do $1 & <it>.
              </instructions>

              <available_resources>
                TREE
              </available_resources>
            </activated_skill>"#]],
    );
}

#[test]
fn plugin_lists_scripts_and_files() {
    check(
        OutputFormat::Plugin,
        &expect![[r#"
            <skill name="n">
              <metadata>
                <source>project</source>
                <directory>/w/s/n</directory>
                <scripts>
                  <script>scripts/run.sh</script>
                </scripts>
                <files>
                  <file>a.md</file>
                  <file>scripts/run.sh</file>
                </files>
              </metadata>

              <tool-translation>
            This skill may reference Claude Code tools. Use OpenCode equivalents:
            - TodoWrite/TodoRead -> todowrite/todoread
            - Task (subagents) -> task tool with subagent_type parameter
            - Skill tool -> use_skill tool
            - Read/Write/Edit/Bash/Glob/Grep/WebFetch -> lowercase (read/write/edit/bash/glob/grep/webfetch)
            </tool-translation>

              <content>
            # N

            Do $1 & <it>.
              </content>
            </skill>"#]],
    );
}

#[test]
fn raw_format_is_the_body() {
    let case = Case::new(OutputFormat::Raw, SKILL).with("x");
    assert_eq!(case.loaded().output, "\n# N\n\nDo $1 & <it>.\n\n");
    assert_eq!(case.loaded().warnings.len(), 1, "arguments that nobody takes");
}

/// Checks Claude Code's rendering of a body, after the line with the directory.
#[track_caller]
fn claude(body: &str, arguments: &'static str, expected: &str) {
    let output = Case::body(OutputFormat::Claude, body).with(arguments).loaded().output;
    let rest = output.strip_prefix("Base directory for this skill: /w/s/n\n\n").unwrap();
    assert_eq!(rest, expected, "{body:?} with {arguments:?}");
}

#[test]
fn claude_substitutes_arguments() {
    claude("Fix $ARGUMENTS now", "a \"b c\"", "Fix a \"b c\" now");
    claude("$ARGUMENTS[0] $ARGUMENTS[1] $ARGUMENTS[2]", "a 'b c'", "a b c $ARGUMENTS[2]");
    claude("$0 $1 $2 $10", "a 'b c'", "a b c $2 $10");
    claude("$one-$two!", "a", "a-!");
    claude("$ones $one[0] $two_x $onetwo", "a b", "$ones $one[0] $two_x $onetwo\n\nARGUMENTS: a b");
    claude("costs $1st $", "a", "costs $1st $\n\nARGUMENTS: a");
    claude("处理$0的文件", "a", "处理a的文件");
    claude("no placeholder\n", "a b", "no placeholder\n\n\nARGUMENTS: a b");
    claude("no placeholder", "  ", "no placeholder");
    claude("only $5", "a", "only $5\n\nARGUMENTS: a");
    claude("$0$1$ARGUMENTS", "a b", "aba b");
}

#[test]
fn backslash_escapes_a_placeholder() {
    claude(r"\$1 $1 \$ARGUMENTS \$one \$9", "a b", r"$1 b $ARGUMENTS $one $9");
    claude(r"\$x \n \\$0", "a", r"\$x \n \\a");
}

#[test]
fn variables_are_substituted_without_arguments() {
    claude(
        "${CLAUDE_SKILL_DIR}/x ${CLAUDE_PROJECT_DIR} ${CLAUDE_SESSION_ID} ${CLAUDE_PLUGIN_ROOT} ${X} ${",
        "a",
        "/w/s/n/x /w s1 ${CLAUDE_PLUGIN_ROOT} ${X} ${\n\nARGUMENTS: a",
    );
    // Values are not scanned again.
    claude("${user_config.key} ${user_config.other} $0", "a", "$ARGUMENTS ${user_config.other} a");
    claude("$0 $1", "'$1' '${CLAUDE_SKILL_DIR}'", "$1 ${CLAUDE_SKILL_DIR}");
    claude("$0 $1 $ARGUMENTS", "!a b!", "\\!a b! \\!a b!");
}

#[test]
fn founding_format_substitutes_braced_arguments() {
    let case =
        |format| Case::body(format, "${ARG1} ${ARG2} ${ARG3} ${one} ${ARGUMENTS}").with("a b");
    let end = |loaded: LoadedSkill| loaded.output.lines().last().unwrap().to_owned();
    assert_eq!(end(case(OutputFormat::ClaudeFounding).loaded()), "a b ${ARG3} a a b");
    assert_eq!(end(case(OutputFormat::Claude).loaded()), "ARGUMENTS: a b");
}

#[test]
fn slash_arguments_count_from_one_and_last_takes_rest() {
    let slash = |body: &str, arguments| {
        let case = Case { by: Invoker::User, ..Case::body(OutputFormat::Opencode, body) };
        let output = case.with(arguments).loaded().output;
        let (text, rest) =
            output.split_once("\n\nBase directory for this skill: /w/s/n\n").unwrap();
        let appended = rest.split_once("\n\n").map(|(_, it)| format!("|{it}"));
        text.to_owned() + &appended.unwrap_or_default()
    };
    assert_eq!(slash("\n$1, $2.\n", "a b c"), "a, b c.\n");
    assert_eq!(slash("$2 $1 $0", "a b c"), "b c a undefined");
    assert_eq!(slash("$1 $3", "a"), "a ");
    assert_eq!(slash("do $ARGUMENTS", "a $1"), "do a $1");
    assert_eq!(slash("plain", "a b"), "plain|a b");
    assert_eq!(slash("run !`git log $1`", "x"), "run !`git log x`");
}

#[test]
fn commands_are_listed_then_replaced_by_results() {
    let mut case =
        Case::body(OutputFormat::Claude, "Now: !`date $0`\n```!\nls\n```\n!`x`\n").with("+%s");
    let loaded = case.loaded();
    let commands: Vec<_> = loaded.commands.iter().map(|it| it.command.as_str()).collect();
    assert_eq!(commands, ["date +%s", "ls", "x"]);
    assert!(loaded.output.ends_with("Now: !`date +%s`\n```!\nls\n```\n!`x`\n"));
    // The result looks like a command and a placeholder, but is copied literally.
    case.results.insert(loaded.commands[0].id.clone(), "!`rm` $0".to_owned());
    case.results.insert(loaded.commands[1].id.clone(), "a\nb".to_owned());
    case.results.insert("9-0".to_owned(), "stray".to_owned());
    let loaded = case.loaded();
    assert!(loaded.output.ends_with("Now: !`rm` $0\na\nb\n!`x`\n"), "{}", loaded.output);
    assert_eq!(loaded.commands.len(), 1);
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    case.shell = ShellMode::Disabled;
    let disabled = "Now: [shell command execution disabled by policy]\n[shell command execution disabled by policy]\n[shell command execution disabled by policy]\n";
    assert!(case.loaded().output.contains(disabled), "{}", case.loaded().output);
    assert!(case.loaded().commands.is_empty());
}

#[test]
fn argument_cannot_create_a_command() {
    let loaded =
        Case::body(OutputFormat::Claude, "$ARGUMENTS ```!$0").with("!`id` ```!\nid\n```").loaded();
    assert!(loaded.commands.is_empty(), "{:?}", loaded.commands);
    let slash = Case { by: Invoker::User, ..Case::body(OutputFormat::Opencode, "!$ARGUMENTS") };
    assert!(slash.with("`id`").loaded().commands.is_empty());
}

const RICH: &str = "---\ndescription: d\nallowed-tools: Read, Bash(git log:*)\ndisallowed-tools: [Write]\nmodel: opus\neffort: high\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./x\n---\nBody.\n";

#[test]
fn metadata_contains_tools_model_and_hooks() {
    let case = Case { model: Some("sonnet[1m]"), ..Case::new(OutputFormat::Claude, RICH) };
    let LoadedSkill { metadata, output, .. } = case.loaded();
    assert_eq!(metadata.allowed_tools, ["Read", "Bash(git log:*)"]);
    assert_eq!(metadata.disallowed_tools, ["Write"]);
    assert_eq!(metadata.model.as_deref(), Some("opus[1m]"));
    assert_eq!(metadata.effort.as_deref(), Some("high"));
    assert_eq!((metadata.status, metadata.agent), (Some(ExecutionContext::Inline), None));
    assert_eq!(metadata.hooks.unwrap()["PreToolUse"][0]["matcher"], "Bash");
    let said: Vec<_> = metadata.prompt_messages.iter().map(|it| it.content.as_str()).collect();
    assert_eq!(said, ["<command-name>/n</command-name>", &output]);

    let fork = RICH.replace("model: opus", "context: fork");
    let metadata = Case::new(OutputFormat::Claude, &fork).loaded().metadata;
    assert_eq!(metadata.status, Some(ExecutionContext::Forked));
    assert_eq!(metadata.agent.as_deref(), Some("general-purpose"));
    assert_eq!((metadata.model, metadata.prompt_messages.len()), (None, 1));

    let metadata = Case::new(OutputFormat::Opencode, &fork).loaded().metadata;
    let plain = Metadata { name: "n".into(), dir: "/w/s/n".into(), ..Metadata::default() };
    assert_eq!(metadata, plain);
}

#[test]
fn unreadable_fields_grant_nothing() {
    let broken =
        "---\ndescription: \"open\nallowed-tools: Bash\ncontext: fork\nhooks: {\n---\nBody.\n";
    let metadata = Case::new(OutputFormat::Claude, broken).loaded().metadata;
    assert!(metadata.allowed_tools.is_empty() && metadata.hooks.is_none());
    assert_eq!(metadata.status, Some(ExecutionContext::Inline));
}

#[test]
fn invisible_characters_cause_a_warning() {
    let loaded = Case::body(OutputFormat::Claude, "a\u{200b}b").loaded();
    assert_eq!(loaded.warnings.len(), 1);
}

/// Generates bodies and values, mostly from syntax that a renderer might misinterpret.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "$ARGUMENTS",
        "$ARGUMENTS[0]",
        "$ARGUMENTS[",
        "$0",
        "$1",
        "$",
        "\\",
        "$one",
        "${",
        "}",
        "${CLAUDE_SKILL_DIR}",
        "${KIMI_SKILL_DIR}",
        "${ARG1}",
        "${one}",
        "!`",
        "`",
        "```!",
        "```",
        "\n",
        " ",
        "'",
        "\"",
        "ä",
        "x",
        "1",
        "]",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|it| it.concat())
}

proptest! {
    /// A value that looks like syntax is substituted at the same positions and as literally as one
    /// that does not.
    #[test]
    fn substituted_values_are_never_scanned_again(body in pieces(), value in pieces()) {
        for placeholders in [
            Some(PlaceholderSyntax::Claude { braced: false }),
            Some(PlaceholderSyntax::Claude { braced: true }),
            Some(PlaceholderSyntax::Slash),
            None,
        ] {
            let fill = |raw: &str| {
                let names = ["one".to_owned(), "two".to_owned()];
                // The template of a format with placeholders.
                let Some(placeholders) = placeholders else {
                    let dir = ("${KIMI_SKILL_DIR}", raw);
                    return BodyValues { raw, names: &names, dir }.expand(&body, usize::MAX).0;
                };
                let variables = Variables::default();
                let mut values = Substitutions::new(placeholders, raw, &names, raw, &variables, &body);
                values.fill(&body)
            };
            // One word, and a word of the same length without any syntax.
            let word = value.replace(['\'', '"', '\\', '\n', ' '], ".");
            // opencode reads `$` in arguments as JavaScript's `replaceAll` does.
            if placeholders == Some(PlaceholderSyntax::Slash) && word.contains('$') {
                continue;
            }
            // Claude Code escapes a `!` at the start of a value.
            let is_guarded = placeholders == Some(PlaceholderSyntax::Claude { braced: false });
            let word = if is_guarded { word.replace('!', ".") } else { word };
            let marks: String = word.chars().map(|_| '\u{1}').collect();
            let (filled, marked) = (fill(&format!("'{word}'")), fill(&format!("'{marks}'")));
            if !word.is_empty() {
                prop_assert_eq!(marked.replace(&marks, &word), filled, "{:?}", body);
            }
        }
    }

    #[test]
    fn substituted_values_cannot_create_commands(body in pieces(), value in pieces()) {
        let skill = |body: &str| format!("---\ndescription: d\narguments: one\n---\n{body}");
        let count = |profile: &'static Profile, arguments: &str| {
            let text = skill(&body);
            let read = SkillFile::read(text.as_bytes(), FACTS, profile, "n");
            let loading = LoadRequest {
                format: profile.output,
                by: Invoker::Model,
                name: "n",
                description: "d",
                scope: Scope::Project,
                label: None,
                variants: Vec::new(),
                is_command: false,
                dir: "/d",
                path: "/d/SKILL.md",
                root: Path::new("/"),
                cwd: Path::new("/"),
                body: &read,
                arguments,
                variables: &Variables::default(),
                files: &SkillFiles::default(),
                shell: ShellMode::List,
                results: &ShellResults::new(),
                model: None,
            };
            load(&loading).commands.len()
        };
        for profile in profile::builtin() {
            let is_template = matches!(profile.output, OutputFormat::Template(_));
            if !is_template && profile.output != OutputFormat::Claude {
                continue;
            }
            prop_assert_eq!(count(profile, &value), count(profile, ""));
        }
    }
}

#[test]
fn arguments_too_long_for_a_template_cause_a_warning() {
    const MIB: usize = 1 << 20;
    let kimi = profile::find("kimi-code").unwrap().output;
    let body = "$0\n".repeat(MAX_INSERTED / MIB + 2);
    let loaded = Case::body(kimi, &body).with("a".repeat(MIB).leak()).loaded();
    assert_eq!(loaded.warnings, [ARGUMENTS_TOO_LONG]);
    assert_eq!(loaded.output.matches("\n$0").count(), 2);
}

#[test]
fn slash_argument_zero_follows_javascript() {
    let filled = |body: &str, arguments| {
        let case = Case { by: Invoker::User, ..Case::body(OutputFormat::Opencode, body) };
        let output = case.with(arguments).loaded().output;
        output.split("\n\nBase directory").next().unwrap_or_default().to_owned()
    };
    // Measured with opencode 1.18.33, and read in its source.
    assert_eq!(filled("$0", "a b"), "b");
    assert_eq!(filled("$0 $1", "a b"), "undefined a b");
    assert_eq!(filled("$1 $2", "[Image 1] x y"), "[Image 1] x y");
    assert_eq!(filled("a $ARGUMENTS b", "$$ $& $1"), "a $ $ARGUMENTS $1 b");
    assert_eq!(filled("a $ARGUMENTS", "<$`>"), "a <a >");
    assert_eq!(filled("x$ARGUMENTS $ARGUMENTS", "$`"), "xx x$ARGUMENTS ");
    assert_eq!(filled("$1 b", "$ARGUMENTS"), "$ARGUMENTS b");
    assert_eq!(filled("$1-$2", "$ARGUMENTS x$$"), "$ARGUMENTS x$-x$$");
    // Beyond the limit the arguments are copied.
    assert_eq!(filled(&"$ARGUMENTS".repeat(2_000), "$'$'$'$'").matches("$'$'").count() % 2, 0);
}

/// Loads a skill with this frontmatter, and returns its metadata and warnings.
fn loaded_fields(format: OutputFormat, fields: &str) -> LoadedSkill {
    let text = format!("---\n{fields}\n---\nbody\n");
    Case::new(format, &text).loaded()
}

#[test]
fn effort_shell_and_model_are_normalised_once() {
    let effort = |written: &str| {
        let fields = format!("effort: {written}");
        loaded_fields(OutputFormat::Claude, &fields).metadata.effort
    };
    for (written, expected) in [
        ("high", Some("high")),
        ("HIGH", Some("high")),
        ("ultra", None),
        ("-3", None),
        ("1.5", None),
        ("3", Some("3")),
        ("\"\"", None),
    ] {
        assert_eq!(effort(written).as_deref(), expected, "{written}");
    }
    let model = |written: &str| {
        let fields = format!("model: {written}");
        loaded_fields(OutputFormat::Claude, &fields).metadata.model
    };
    assert_eq!(model("HAIKU").as_deref(), Some("haiku"));
    assert_eq!(model("inherit"), None);
    // Read in the source of Claude Code 2.1.30: it compares this word as written.
    assert_eq!(model("Inherit").as_deref(), Some("Inherit"));
    assert_eq!(model("claude-x-1").as_deref(), Some("claude-x-1"));
}

#[test]
fn founding_fork_is_awaited() {
    let fork = |format| loaded_fields(format, "context: fork").metadata.background;
    assert_eq!(
        (fork(OutputFormat::Claude), fork(OutputFormat::ClaudeFounding)),
        (Some(true), None)
    );
}

#[test]
fn malformed_hooks_are_warnings_of_the_load() {
    for (hooks, is_told) in [
        ("5", true),
        ("[Stop]", true),
        ("{Stop: 5}", true),
        ("{Stop: [{hooks: 5}]}", true),
        ("{Stop: [{hooks: [{type: command, command: ./a}]}]}", false),
    ] {
        let loaded = loaded_fields(OutputFormat::Claude, &format!("hooks: {hooks}"));
        let told = loaded.warnings.iter().any(|it| it.contains("`hooks`"));
        assert_eq!(told, is_told, "{hooks}: {:?}", loaded.warnings);
    }
}

/// Bodies that Claude Code 2.1.330 handed out for argument texts.
const RECORDED: &str = include_str!("../../../tests/golden/agents/claude-code/arguments.jsonl");

#[test]
fn arguments_of_claude_code_are_substituted_as_recorded() {
    let body = r"0=<$0> 1=<$1> 2=<$2> 3=<$3> i=<$ARGUMENTS[1]> x=<$x> y=<$y> e=<\$0> f=<\\$0> all=<$ARGUMENTS>";
    let text = format!("---\ndescription: d\narguments: x y\n---\n{body}\n");
    let profile = profile::find("claude-code").unwrap();
    let file = SkillFile::read(text.as_bytes(), FACTS, profile, "n");
    let names = ["x".to_owned(), "y".to_owned()];
    for line in RECORDED.lines() {
        let recorded: serde_json::Value = serde_json::from_str(line).unwrap();
        let arguments = recorded["arguments"].as_str().unwrap();
        let placeholders = PlaceholderSyntax::Claude { braced: false };
        let variables = Variables::default();
        let body = file.body();
        let mut values =
            Substitutions::new(placeholders, arguments, &names, "/d", &variables, body);
        assert_eq!(values.fill(body), recorded["body"].as_str().unwrap(), "{arguments:?}");
    }
}

#[test]
fn numbers_among_claudes_argument_names_are_discarded() {
    // Measured: Claude Code 2.1.330.
    let text = "---\ndescription: d\narguments: 1 a\n---\n[$0][$1][$a]\n";
    let loaded = Case::new(OutputFormat::Claude, text).with("x y").loaded();
    assert!(loaded.output.ends_with("[x][y][x]\n"), "{}", loaded.output);
}
