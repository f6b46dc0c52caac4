//! Tests of the listings of each agent, with and without a budget.

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use skills_agents::profile::Scope;

use super::*;

struct Skill {
    name: String,
    description: String,
    path: PathBuf,
    root: PathBuf,
    scope: Scope,
}

fn skill(name: &str, description: &str) -> Skill {
    Skill {
        name: name.to_owned(),
        description: description.to_owned(),
        path: format!("/w/s/{name}/SKILL.md").into(),
        root: "/w/s".into(),
        scope: Scope::Project,
    }
}

fn listed(skills: &[Skill]) -> Vec<ListedSkill<'_>> {
    fn one(skill: &Skill) -> ListedSkill<'_> {
        ListedSkill {
            name: &skill.name,
            label: None,
            note: None,
            description: &skill.description,
            when_to_use: None,
            path: &skill.path,
            home: None,
            root: &skill.root,
            shown: None,
            scope: skill.scope,
            is_bundled: false,
            use_score: 0.0,
        }
    }
    skills.iter().map(one).collect()
}

fn two() -> Vec<Skill> {
    vec![skill("b&c", "Does <b> & \"c\"."), skill("A", "Does a.")]
}

#[track_caller]
fn check(format: ListingFormat, expected: &Expect) {
    let catalog = write_listing(format, &listed(&two()), &ListingBudget::default());
    expected.assert_eq(&catalog.text);
    assert_eq!((catalog.n_listed, catalog.n_shortened, catalog.n_omitted), (2, 0, 0));
}

#[test]
fn standard_listing_escapes_all_values() {
    check(
        ListingFormat::Xml,
        &expect![[r#"
            <available_skills>
              <skill>
                <name>b&amp;c</name>
                <description>Does &lt;b&gt; &amp; "c".</description>
                <location>/w/s/b&amp;c/SKILL.md</location>
              </skill>
              <skill>
                <name>A</name>
                <description>Does a.</description>
                <location>/w/s/A/SKILL.md</location>
              </skill>
            </available_skills>"#]],
    );
}

#[test]
fn reference_tool_puts_values_on_separate_lines() {
    check(
        ListingFormat::SkillsRef,
        &expect![[r#"
            <available_skills>
            <skill>
            <name>
            b&amp;c
            </name>
            <description>
            Does &lt;b&gt; &amp; &quot;c&quot;.
            </description>
            <location>
            /w/s/b&amp;c/SKILL.md
            </location>
            </skill>
            <skill>
            <name>
            A
            </name>
            <description>
            Does a.
            </description>
            <location>
            /w/s/A/SKILL.md
            </location>
            </skill>
            </available_skills>"#]],
    );
}

#[test]
fn opencode_sorts_and_escapes_only_locations() {
    check(
        ListingFormat::Opencode,
        &expect![[r#"
            Skills provide specialized instructions and workflows for specific tasks.
            Use the skill tool to load a skill when a task matches its description.
            <available_skills>
              <skill>
                <name>A</name>
                <description>Does a.</description>
                <location>/w/s/A/SKILL.md</location>
              </skill>
              <skill>
                <name>b&c</name>
                <description>Does <b> & "c".</description>
                <location>/w/s/b&amp;c/SKILL.md</location>
              </skill>
            </available_skills>"#]],
    );
    let text =
        write_listing(ListingFormat::OpencodeFounding, &listed(&two()), &ListingBudget::default())
            .text;
    assert!(text.contains("<location>file:///w/s/A/SKILL.md</location>"), "{text}");
}

#[test]
fn plugin_listing_names_its_tools() {
    check(
        ListingFormat::Plugin,
        &expect![[r#"
            <available-skills>
            Use the use_skill, read_skill_file, run_skill_script, and get_available_skills tools to work with skills.

            - b&c: Does <b> & "c".
            - A: Does a.
            </available-skills>"#]],
    );
}

#[test]
fn markdown_json_and_claude_listings() {
    check(
        ListingFormat::Markdown,
        &expect![[r#"
            ## Available Skills
            - **A**: Does a.
            - **b&amp;c**: Does &lt;b&gt; &amp; "c"."#]],
    );
    check(
        ListingFormat::Json,
        &expect![[
            r#"[{"name":"b\u0026c","description":"Does \u003cb\u003e \u0026 \"c\".","location":"/w/s/b\u0026c/SKILL.md"},{"name":"A","description":"Does a.","location":"/w/s/A/SKILL.md"}]"#
        ]],
    );
    check(
        ListingFormat::Claude,
        &expect![[r#"
            - b&c: Does &lt;b&gt; & "c".
            - A: Does a."#]],
    );
    check(
        ListingFormat::ClaudeFounding,
        &expect![[r#"
            <system-reminder>
            The following skills are available for use with the Skill tool:

            - b&c: Does <b> & "c".
            - A: Does a.
            </system-reminder>"#]],
    );
}

#[test]
fn empty_list_renders_text_only_on_request() {
    let none = |format, empty_text| {
        write_listing(format, &[], &ListingBudget { empty_text, ..ListingBudget::default() }).text
    };
    assert_eq!(none(ListingFormat::Opencode, false), "");
    let said = none(ListingFormat::Opencode, true);
    assert!(said.ends_with("\nNo skills are currently available."), "{said}");
    assert_eq!(none(ListingFormat::SkillsRef, true), "<available_skills>\n</available_skills>");
    assert_eq!(none(ListingFormat::Claude, true), "");
}

#[test]
fn gemini_lists_in_scan_order() {
    // The scan itself goes from the last name of a root to the first.
    let mut skills = vec![skill("b", ""), skill("a", ""), skill("c", "")];
    skills[2].root = "/w/t".into();
    let text =
        write_listing(ListingFormat::Gemini, &listed(&skills), &ListingBudget::default()).text;
    let names = text.lines().filter_map(|it| it.trim().strip_prefix("<name>"));
    assert_eq!(names.collect::<Vec<_>>(), ["b</name>", "a</name>", "c</name>"]);
}

#[test]
fn codex_listing_has_a_table_of_roots() {
    let mut skills = two();
    let system = PathBuf::from("/h/.codex/skills/.system");
    let path = system.join("in/z/SKILL.md");
    skills.push(Skill { path, root: system, scope: Scope::Managed, ..skill("z", "Does z.") });
    let text =
        write_listing(ListingFormat::Codex, &listed(&skills), &ListingBudget::default()).text;
    expect![[r#"
        <skills_instructions>
        ## Skills
        A skill is a set of local instructions to follow that is stored in a `SKILL.md` file. Below is the list of skills that can be used. Each entry includes a name, description, and a short path that can be expanded into an absolute path using the skill roots table.
        ### Skill roots
        - `r0` = `/w/s`
        - `r1` = `/h/.codex/skills/.system`
        ### Available skills
        - z: Does z. (file: r1/in/z/SKILL.md)
        - A: Does a. (file: r0/A/SKILL.md)
        - b&c: Does <b> & "c". (file: r0/b&c/SKILL.md)
        </skills_instructions>"#]]
    .assert_eq(&text);
}

/// Twenty skills with descriptions of a hundred characters; the first is bundled, and later ones
/// are used more often.
fn many(format: ListingFormat, room: &ListingBudget) -> PromptListing {
    let skills: Vec<_> =
        (0..20).map(|it| skill(&format!("skill-{it:02}"), &"é".repeat(100))).collect();
    let mut listed = listed(&skills);
    listed[0].is_bundled = true;
    for (nth, skill) in listed.iter_mut().enumerate() {
        skill.use_score = f64::from(u32::try_from(nth / 2).unwrap());
    }
    write_listing(format, &listed, room)
}

fn characters(characters: u64) -> ListingBudget {
    ListingBudget { characters: Some(characters), ..ListingBudget::default() }
}

/// Returns the lengths of the descriptions in a listing.
fn lengths(text: &str) -> Vec<usize> {
    let lines = text.lines().filter(|it| it.starts_with("- "));
    lines.map(|it| it.split_once(": ").map_or(0, |(_, it)| it.chars().count())).collect()
}

#[test]
fn claude_drops_least_used_descriptions_first() {
    // A line is 112 characters, and its name alone 10.
    let listing = many(ListingFormat::Claude, &characters(20 * 113 - 1));
    assert_eq!((listing.n_shortened, listing.n_listed), (0, 20));
    let listing = many(ListingFormat::Claude, &characters(20 * 113 - 2));
    assert_eq!(listing.n_shortened, 1);
    // Among equally used skills the last one is dropped first; the bundled one is never shortened.
    assert_eq!(lengths(&listing.text)[..3], [100, 0, 100]);
    let listing = many(ListingFormat::Claude, &characters(1000));
    assert!(listing.text.chars().count() <= 1000, "{}", listing.text.chars().count());
    let shown = lengths(&listing.text);
    assert_eq!((shown[0], shown[1], shown[19]), (100, 0, 100));
    let listing = many(ListingFormat::Claude, &characters(10));
    assert_eq!((listing.n_listed, listing.n_shortened, listing.n_omitted), (20, 19, 0));
}

#[test]
fn claude_budget_depends_on_context_size() {
    let of_context = |tokens| {
        let room = ListingBudget { context_tokens: Some(tokens), ..ListingBudget::default() };
        many(ListingFormat::Claude, &room).n_shortened
    };
    assert_eq!(of_context(200_000), 0);
    assert_eq!(of_context(56_475), 0);
    assert_eq!(of_context(56_400), 1);
    let long = [skill("x", &"d".repeat(2000))];
    let text = |format| write_listing(format, &listed(&long), &ListingBudget::default()).text;
    assert_eq!(lengths(&text(ListingFormat::Claude)), [1536]);
    assert_eq!(lengths(&text(ListingFormat::ClaudeFounding)), [250]);
    assert!(text(ListingFormat::Claude).ends_with("d…"));
}

#[test]
fn claude_settings_change_the_share_of_the_context_and_the_longest_description() {
    // Measured: Claude Code 2.1.332.
    let shortened = |fraction| {
        let room =
            ListingBudget { context_tokens: Some(200_000), fraction, ..ListingBudget::default() };
        many(ListingFormat::Claude, &room).n_shortened
    };
    assert_eq!(shortened(None), 0);
    assert_eq!(shortened(Some(0.05)), 0);
    assert!(shortened(Some(0.002)) > 0);
    let long = [skill("x", &"d".repeat(2000))];
    let room = ListingBudget { longest: Some(20), ..ListingBudget::default() };
    let text = write_listing(ListingFormat::Claude, &listed(&long), &room).text;
    assert_eq!(text, format!("- x: {}…", "d".repeat(19)));
}

#[test]
fn when_to_use_follows_the_description() {
    let skills = [skill("x", "Does x.")];
    let mut listed = listed(&skills);
    listed[0].when_to_use = Some("When asked.".to_owned());
    let text = write_listing(ListingFormat::Claude, &listed, &ListingBudget::default()).text;
    assert_eq!(text, "- x: Does x. - When asked.");
}

#[test]
fn founding_listing_shares_the_remaining_budget() {
    // 19 line ends, the bundled line of 112, 19 names of 12 each with `- ` and `: `.
    let fixed = 19 + 112 + 19 * 12;
    let listing = many(ListingFormat::ClaudeFounding, &characters(fixed + 19 * 40 + 5));
    assert_eq!(lengths(&listing.text), [[100].as_slice(), &[40; 19]].concat());
    let listing = many(ListingFormat::ClaudeFounding, &characters(fixed + 19 * 20 - 1));
    assert_eq!(lengths(&listing.text), [[100].as_slice(), &[0; 19]].concat());
    assert_eq!(listing.n_shortened, 19);
}

#[test]
fn codex_shares_the_budget_evenly() {
    let room = characters(1500);
    let listing = many(ListingFormat::Codex, &room);
    let lines: Vec<_> = listing.text.lines().filter(|it| it.starts_with("- skill")).collect();
    let spent: usize = lines.iter().map(|it| it.chars().count() + 1).sum();
    assert!((1480..=1500).contains(&spent), "{spent}");
    assert_eq!((listing.n_listed, listing.n_shortened, listing.n_omitted), (20, 20, 0));
    let shown: Vec<_> = lines.iter().map(|it| it.matches('é').count()).collect();
    assert!(shown.iter().max().unwrap() - shown.iter().min().unwrap() <= 1, "{shown:?}");
    let listing = many(ListingFormat::Codex, &characters(100));
    assert_eq!((listing.n_listed, listing.n_omitted), (2, 18));
    let room = ListingBudget { context_tokens: Some(200_000), ..ListingBudget::default() };
    assert_eq!(many(ListingFormat::Codex, &room).n_shortened, 0);
}

#[test]
fn codex_truncates_long_descriptions() {
    let long = [skill("x", &"d".repeat(1025)), skill("y", &"d".repeat(1024))];
    let room = ListingBudget { context_tokens: Some(1_000_000), ..ListingBudget::default() };
    let listing = write_listing(ListingFormat::Codex, &listed(&long), &room);
    assert_eq!(listing.n_shortened, 1);
    let [cut, whole] = [1021, 1024].map(|it| "d".repeat(it));
    assert!(listing.text.contains(&format!("- x: {cut}... (file: r0/x/SKILL.md)\n")));
    assert!(listing.text.contains(&format!("- y: {whole} (file: r0/y/SKILL.md)\n")));
}

#[test]
fn tokens_are_four_bytes() {
    assert_eq!([estimate_tokens(""), estimate_tokens("abcd"), estimate_tokens("abcde")], [0, 1, 2]);
}

#[test]
fn codex_numbers_the_outermost_shared_root_first() {
    let at = |name: &str, root: &str, scope| Skill {
        root: root.into(),
        path: format!("{root}/{name}/SKILL.md").into(),
        scope,
        ..skill(name, "d")
    };
    let skills = [
        at("a", "/w/pkg/.codex/skills", Scope::Project),
        at("b", "/w/.codex/skills", Scope::Project),
        at("c", "/h/.agents/skills", Scope::User),
        at("d", "/w/pkg/.agents/skills", Scope::Project),
        at("e", "/w/.agents/skills", Scope::Project),
    ];
    let room = ListingBudget::default();
    let text = write_listing(ListingFormat::Codex, &listed(&skills), &room).text;
    let roots: Vec<_> = text.lines().filter_map(|it| it.strip_prefix("- `r")).collect();
    assert_eq!(
        roots,
        [
            "0` = `/w/pkg/.codex/skills`",
            "1` = `/w/.codex/skills`",
            "2` = `/h/.agents/skills`",
            "3` = `/w/.agents/skills`",
            "4` = `/w/pkg/.agents/skills`",
        ]
    );
}

#[test]
fn codex_has_room_for_5440_tokens_if_the_model_is_unknown() {
    let skills: Vec<_> = (0..30).map(|n| skill(&format!("k{n}"), &"x".repeat(500))).collect();
    let room = ListingBudget::default();
    let listing = write_listing(ListingFormat::Codex, &listed(&skills), &room);
    assert_eq!((listing.n_shortened, listing.n_omitted), (0, 0));
    let more: Vec<_> = (0..60).map(|n| skill(&format!("k{n}"), &"x".repeat(500))).collect();
    assert!(write_listing(ListingFormat::Codex, &listed(&more), &room).n_shortened > 0);
}

/// Returns the listing format of an agent.
fn template(profile: &str) -> ListingFormat {
    ListingFormat::of(skills_agents::profile::find(profile).unwrap().output)
}

#[test]
fn largest_limit_of_a_template_cuts_nothing() {
    let room = ListingBudget { characters: Some(u64::MAX), ..ListingBudget::default() };
    let (skills, droid) = (two(), template("droid"));
    let whole = write_listing(droid, &listed(&skills), &room);
    assert_eq!((whole.n_listed, whole.n_shortened), (2, 0));
    let budget = listing_cost(droid, &listed(&skills), &room).unwrap().budget.unwrap();
    assert_eq!(budget.limit, u64::MAX);
}

#[test]
fn budget_of_a_template_is_the_limit_as_stated() {
    let skills = two();
    let text = write_listing(template("droid"), &listed(&skills), &ListingBudget::default()).text;
    let entries = text.split_once('\n').unwrap().1.chars().count() as u64;
    let room = |most| ListingBudget { characters: Some(most), ..ListingBudget::default() };
    for (most, n_cut) in [(entries, 0), (entries - 1, 1)] {
        let cost = listing_cost(template("droid"), &listed(&skills), &room(most)).unwrap();
        let is_cut = |it: &&EntryCost| it.form != ListingForm::Whole;
        assert_eq!(cost.entries.iter().filter(is_cut).count(), n_cut);
        let budget = cost.budget.unwrap();
        assert_eq!(budget.limit, most);
        assert!(budget.used <= most && (n_cut > 0 || budget.used == entries), "{budget:?}");
    }
}

#[test]
fn names_over_the_limit_of_a_template_are_escaped() {
    let skills = two();
    let room = ListingBudget { characters: Some(0), ..ListingBudget::default() };
    let text = write_listing(template("copilot-cli"), &listed(&skills), &room).text;
    assert!(text.contains("b&amp;c") && !text.contains("b&c"), "{text}");
}

#[test]
fn path_below_an_absolute_home_begins_with_a_tilde() {
    let skills = [skill("a", "Does a.")];
    for (home, path) in [
        (Some("/w"), ">~/s/a/SKILL.md<"),
        (Some("/v"), ">/w/s/a/SKILL.md<"),
        (Some(""), ">/w/s/a/SKILL.md<"),
        (None, ">/w/s/a/SKILL.md<"),
    ] {
        let mut listed = listed(&skills);
        listed[0].home = home.map(Path::new);
        let text = |it| write_listing(template(it), &listed, &ListingBudget::default()).text;
        assert!(text("openclaw").contains(path), "{home:?}");
        assert!(text("pi").contains(">/w/s/a/SKILL.md<"), "{home:?}");
    }
}

#[test]
fn copilot_cli_sorts_names_within_scopes_and_keeps_blanks() {
    let of =
        |name: &str, root: &str, scope| Skill { root: root.into(), scope, ..skill(name, " d\n") };
    let skills = [
        of("z", "/w/.github/skills", Scope::Project),
        of("B", "/w/.agents/skills", Scope::Project),
        of("a", "/w/.agents/skills", Scope::Project),
        of("y", "/h/.copilot/skills", Scope::User),
        of("x", "/h/.agents/skills", Scope::User),
        of("c", "/w/.claude/commands", Scope::Command),
    ];
    let room = ListingBudget::default();
    let text = write_listing(template("copilot-cli"), &listed(&skills), &room).text;
    let names: Vec<_> = text.lines().filter_map(|it| it.strip_prefix("  <name>")).collect();
    assert_eq!(names.concat(), "B</name>a</name>z</name>y</name>x</name>c</name>");
    assert!(text.contains("<description> d\n</description>"), "{text}");
    assert_eq!(text.matches("<location>project<").count(), 4, "{text}");
}
