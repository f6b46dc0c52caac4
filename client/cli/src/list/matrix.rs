//! Lists of several profiles as one table: a row per skill, a column per agent.
//!
//! A row is a name and a file, so that agents that give a file different names have separate rows.
//! Rows that no agent shows to its model need `--all`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use skills_protocol::path::PathEncoding;
use skills_protocol::wire::{DetectResult, Evidence, ListResult, SkillCost, State};
use skills_syntax::quote::quote_word;

use crate::heading::{self, UNMEASURED};
use crate::listing_costs::{ListingCosts, cut_mark};
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{count, cut, cut_start, pad, plain, width};

/// Cell of an agent that does not find the skill.
const NOT_FOUND: &str = "·";

/// Widths of the column of names, if the terminal's is known. A longer name has its own line.
const NARROWEST_NAME: usize = 12;
const WIDEST_NAME: usize = 40;

/// Columns that a path needs at least.
const NARROWEST_PATH: usize = 24;

/// Cell of a listed skill that the agent's listing does not show whole.
const CUT: &str = "◐";

pub(crate) struct Column {
    pub(crate) profile: String,
    pub(crate) result: ListResult,
    /// The source of the profile's rules.
    pub(crate) confidence: Option<Evidence>,
    /// The costs of the skills that are marked, or of all.
    pub(crate) costs: ListingCosts,
}

#[derive(Clone, Copy)]
pub(crate) struct MatrixOptions<'a> {
    pub(crate) all: bool,
    pub(crate) tokens: bool,
    /// The detected agents, if the columns are those that are present.
    pub(crate) detected: Option<&'a DetectResult>,
    pub(crate) selection: &'a str,
    pub(crate) cwd: &'a Path,
}

/// A skill with its state in each profile.
struct MatrixRow<'a> {
    name: &'a str,
    path: &'a str,
    encoding: Option<PathEncoding>,
    cells: Vec<Option<State>>,
}

impl MatrixRow<'_> {
    fn cost<'c>(&self, column: &'c Column) -> Option<&'c SkillCost> {
        column.costs.get(&(self.path.to_owned(), self.name.to_owned()))
    }

    fn is_cut(&self, column: &Column) -> bool {
        self.cost(column).is_some_and(|it| cut_mark(it.shown).is_some())
    }

    /// Returns the tokens of the largest entry.
    fn most_tokens(&self, lists: &[Column]) -> Vec<String> {
        let most = lists.iter().filter_map(|it| self.cost(it)).map(|it| it.tokens).max();
        vec![most.map_or(NOT_FOUND.to_owned(), |it| it.to_string())]
    }

    fn tokens(&self, lists: &[Column]) -> Vec<String> {
        let one = |it| self.cost(it).map_or(NOT_FOUND.to_owned(), |it| it.tokens.to_string());
        lists.iter().map(one).collect()
    }
}

struct Layout {
    gap: &'static str,
    /// Columns of the names.
    names: usize,
    /// Columns between a name and its path.
    after_names: usize,
    /// Columns of a number of tokens; none without such numbers.
    tokens: Option<usize>,
    /// True if the terminal is too narrow for a number for each list: only the largest one is
    /// shown.
    only_largest: bool,
}

impl Layout {
    fn new(
        rows: &[MatrixRow<'_>],
        lists: &[Column],
        has_tokens: bool,
        terminal: &Terminal,
    ) -> Self {
        let tokens = rows.iter().flat_map(|row| row.tokens(lists)).map(|it| width(&it)).max();
        let tokens = tokens.filter(|_| has_tokens);
        let needed = |gap: &str, numbers: usize| {
            let cells = ((1 + gap.len()) * lists.len()).saturating_sub(gap.len());
            2 + cells + tokens.map_or(0, |it| (it + 1) * numbers) + 2
        };
        let is_too_narrow = |needed: usize| {
            terminal.width.is_some_and(|it| it < needed + NARROWEST_NAME + NARROWEST_PATH)
        };
        // With many profiles there are no blanks between the cells.
        let gap = if is_too_narrow(needed(" ", 0)) { "" } else { " " };
        let only_largest = tokens.is_some() && is_too_narrow(needed(gap, lists.len()));
        let after_names = needed(gap, if only_largest { 1 } else { lists.len() });
        let names = rows.iter().map(|row| width(&plain(row.name))).max().unwrap_or(0);
        let names = terminal.width.map_or(names, |it| {
            let room = it.saturating_sub(after_names + NARROWEST_PATH);
            names.min(room.clamp(NARROWEST_NAME, WIDEST_NAME))
        });
        Self { gap, names, after_names, tokens, only_largest }
    }
}

/// Renders the table with its legend, with a column for each list.
pub(crate) fn render(lists: &[Column], options: &MatrixOptions<'_>, terminal: &Terminal) -> String {
    let MatrixOptions { all, detected, tokens: has_tokens, selection, cwd } = *options;
    let rows: Vec<_> = rows(lists)
        .into_iter()
        .filter(|row| all || row.cells.iter().flatten().any(|state| state.is_listed()))
        .collect();
    let counted = count(rows.len() as u64, "skill");
    let heading = detected.map(|it| heading::render_present(it, Some(counted.clone()), terminal));
    let mut text = heading.map_or_else(String::new, |it| it + "\n");
    let layout = Layout::new(&rows, lists, has_tokens, terminal);
    push_columns(lists, layout.names, layout.gap, terminal, &mut text);
    for row in &rows {
        push_row(row, lists, &layout, cwd, terminal, &mut text);
    }
    let mut marks = marks(&rows, lists);
    let entry = if layout.only_largest { "the largest entry" } else { "each entry" };
    marks.extend(has_tokens.then(|| format!("numbers: tokens of {entry}")));
    text.push_str(if rows.is_empty() { "" } else { "\n" });
    if detected.is_none() {
        let summary = format!("{counted} for {}", profiles(lists.len()));
        let _ = writeln!(text, "{}", paint(style::HEADING, summary));
    }
    if !marks.is_empty() {
        push_legend(&marks, terminal, &mut text);
    }
    let command = match detected {
        Some(_) => "`skillsd explain NAME`".to_owned(),
        None => format!("`skillsd explain NAME --profile {}`", quote_word(selection)),
    };
    let why = ["Explain one of them:", &*command];
    let is_narrow = terminal.width.is_some_and(|it| why[0].len() + 1 + why[1].len() > it);
    let _ = writeln!(text, "{}", why.join(if is_narrow { "\n" } else { " " }));
    text
}

/// Writes a skill's row: its name, its cells and its path.
fn push_row(
    row: &MatrixRow<'_>,
    lists: &[Column],
    layout: &Layout,
    cwd: &Path,
    terminal: &Terminal,
    text: &mut String,
) {
    let Layout { gap, names, after_names, tokens, only_largest } = *layout;
    let one = |(state, column): (&Option<State>, &Column)| match state {
        Some(state) if state.is_listed() && row.is_cut(column) => paint(style::WAITING, CUT),
        state => cell(*state),
    };
    let cells: Vec<String> = row.cells.iter().zip(lists).map(one).collect();
    let mut cells = cells.join(gap);
    if let Some(wide) = tokens {
        let tokens = if only_largest { row.most_tokens(lists) } else { row.tokens(lists) };
        cells.extend(tokens.iter().map(|it| format!(" {it:>wide$}")));
    }
    let mut name = plain(row.name);
    if width(&name) > names {
        let _ = writeln!(text, "{}", paint(style::NAME, std::mem::take(&mut name)));
    }
    let name = paint(style::NAME, pad(&name, names));
    let mut path = terminal.path_from(cwd, row.path, row.encoding);
    let room = terminal.width.map(|width| width.saturating_sub(names + after_names));
    if room.is_some_and(|it| it < width(&path))
        && let Some(directory) = path.strip_suffix("/SKILL.md")
    {
        path.truncate(directory.len());
    }
    // The end of a path differs most between rows.
    let path = paint(style::FAINT, room.map_or(path.clone(), |room| cut_start(&path, room)));
    let path = terminal.link(row.path, row.encoding, path);
    let _ = writeln!(text, "{name}  {cells}  {path}");
}

/// Returns the meaning of each mark in the rows.
fn marks(rows: &[MatrixRow<'_>], lists: &[Column]) -> Vec<String> {
    let used: BTreeSet<State> =
        rows.iter().flat_map(|row| row.cells.iter().flatten().copied()).collect();
    let is_cut = rows.iter().any(|row| lists.iter().any(|it| row.is_cut(it)));
    let nothing = rows.iter().any(|row| row.cells.contains(&None));
    let caveats = lists.iter().any(|it| heading::caveat(it.confidence).is_some());
    let mut marks: Vec<String> =
        used.iter().map(|state| format!("{} {state}", cell(Some(*state)))).collect();
    marks.extend(is_cut.then(|| format!("{} not shown whole", paint(style::WAITING, CUT))));
    marks.extend(nothing.then(|| format!("{} not found", cell(None))));
    marks.extend(caveats.then(|| format!("{UNMEASURED} not measured on the running agent")));
    marks
}

// Breaks lines between entries, not between a mark and its word.
fn push_legend(marks: &[String], terminal: &Terminal, text: &mut String) {
    let mut line = String::new();
    for mark in marks {
        let is_full = terminal.width.is_some_and(|it| width(&line) + 2 + width(mark) > it);
        if is_full && !line.is_empty() {
            let _ = writeln!(text, "{}", std::mem::take(&mut line));
        }
        line.push_str(if line.is_empty() { "" } else { "  " });
        line.push_str(mark);
    }
    let _ = writeln!(text, "{line}");
}

fn profiles(number: usize) -> String {
    count(number as u64, "profile")
}

// Writes one line per profile, with a line down to its column.
fn push_columns(lists: &[Column], names: usize, gap: &str, terminal: &Terminal, text: &mut String) {
    let lines = gap.replace(' ', "─");
    for (nth, Column { profile, result, confidence, .. }) in lists.iter().enumerate() {
        let listed = result.skills.iter().filter(|skill| skill.state.is_listed()).count() as u64;
        let lead = format!("{}{}", " ".repeat(names + 2), format!("│{gap}").repeat(nth));
        let rule = format!("─{lines}").repeat(lists.len() - nth - 1);
        let lead = paint(style::FAINT, format!("{lead}┌{rule}─ "));
        let mark = heading::caveat(*confidence).map_or("", |_| UNMEASURED);
        let profile = plain(profile) + mark;
        let number = format!("  {}", count(listed, "skill"));
        let room = terminal.width.map(|columns| columns.saturating_sub(width(&lead)));
        // The number can be dropped; the rows show it too.
        let is_narrow = room.is_some_and(|room| width(&profile) + width(&number) > room);
        let number = if is_narrow { String::new() } else { paint(style::FAINT, number) };
        let profile = room.map_or(profile.clone(), |room| cut(&profile, room));
        let _ = writeln!(text, "{lead}{}{number}", paint(style::HEADING, profile));
    }
}

fn rows(lists: &[Column]) -> Vec<MatrixRow<'_>> {
    let mut rows: Vec<MatrixRow<'_>> = Vec::new();
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (column, Column { result, .. }) in lists.iter().enumerate() {
        for skill in &result.skills {
            let key = (skill.name.as_str(), skill.path.as_str());
            let at = *known.entry(key).or_insert(rows.len());
            if at == rows.len() {
                rows.push(MatrixRow {
                    name: &skill.name,
                    path: &skill.path,
                    encoding: skill.path_encoding,
                    cells: vec![None; lists.len()],
                });
            }
            // If a profile lists the same name and file twice, the visible one counts.
            let cell = &mut rows[at].cells[column];
            if cell.is_none_or(|state| !state.is_listed()) {
                *cell = Some(skill.state);
            }
        }
    }
    rows
}

fn cell(state: Option<State>) -> String {
    let Some(state) = state else { return paint(style::FAINT, NOT_FOUND) };
    paint(style::state_style(state), style::table_mark(state))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_protocol::PROFILES;
    use skills_protocol::wire::{ListedForm, PresentAgent};

    use super::*;
    use crate::tests::sample::{detected, in_state, list, shop, skill, terminal, uncolored};

    #[track_caller]
    fn check(lists: &[(&str, ListResult)], all: bool, columns: usize, expected: &Expect) {
        let lists: Vec<_> = lists.iter().map(|(name, list)| column(name, list)).collect();
        let options = MatrixOptions {
            all,
            tokens: false,
            detected: None,
            selection: "all",
            cwd: Path::new("/home/ann/shop"),
        };
        expected.assert_eq(&uncolored(&render(&lists, &options, &terminal(Some(columns)))));
    }

    fn column(profile: &str, list: &ListResult) -> Column {
        let (profile, result) = (profile.to_owned(), list.clone());
        let confidence = (profile == "cursor").then_some(Evidence::Documentation);
        Column { profile, result, confidence, costs: ListingCosts::new() }
    }

    #[test]
    fn skills_not_shown_whole_have_a_mark_and_tokens_have_columns() {
        let mut claude = column("claude-code", &shop());
        for (skill, (shown, tokens)) in
            claude.result.skills.iter().zip([(ListedForm::Whole, 31), (ListedForm::Name, 4)])
        {
            let cost = SkillCost {
                name: skill.name.clone(),
                path: skill.path.clone(),
                path_encoding: None,
                shown,
                characters: 4 * tokens,
                whole_characters: 200,
                tokens,
                loaded_tokens: None,
            };
            claude.costs.insert((skill.path.clone(), skill.name.clone()), cost);
        }
        let lists = [claude, column("gemini-cli", &other())];
        let options = MatrixOptions {
            all: false,
            tokens: true,
            detected: None,
            selection: "every",
            cwd: Path::new("/home/ann/shop"),
        };
        expect![[r#"
                           ┌─── claude-code  3 skills
                           │ ┌─ gemini-cli  1 skill
            commit         ✓ ? 31  ·  .agents/skills/commit/SKILL.md
            accessibility  ◐ ·  4  ·  .agents/skills/accessibility/SKILL.md
            pdf            ✓ ✓  ·  ·  .agents/skills/pdf/SKILL.md

            3 skills for 2 profiles
            ✓ active  ? untrusted  ◐ not shown whole  · not found
            numbers: tokens of each entry
            Explain one of them: `skillsd explain NAME --profile every`
        "#]]
        .assert_eq(&uncolored(&render(&lists, &options, &terminal(Some(80)))));
    }

    fn other() -> ListResult {
        list(vec![
            in_state(skill("commit", "x"), State::Untrusted, "the folder is not trusted"),
            skill("pdf", "x"),
        ])
    }

    #[test]
    fn skill_visible_to_one_agent_has_a_row() {
        check(
            &[("agentskills", shop()), ("gemini-cli", other())],
            false,
            80,
            &expect![[r#"
                               ┌─── agentskills  3 skills
                               │ ┌─ gemini-cli  1 skill
                commit         ✓ ?  .agents/skills/commit/SKILL.md
                accessibility  ✓ ·  .agents/skills/accessibility/SKILL.md
                pdf            ✓ ✓  .agents/skills/pdf/SKILL.md

                3 skills for 2 profiles
                ✓ active  ? untrusted  · not found
                Explain one of them: `skillsd explain NAME --profile all`
            "#]],
        );
    }

    #[test]
    fn all_adds_skills_that_no_agent_shows() {
        let lists = [("agentskills", shop()), ("codex", list(Vec::new())), ("gemini-cli", other())];
        check(
            &lists,
            true,
            80,
            &expect![[r#"
                                    ┌───── agentskills  3 skills
                                    │ ┌─── codex  0 skills
                                    │ │ ┌─ gemini-cli  1 skill
                commit              ✓ · ?  .agents/skills/commit/SKILL.md
                accessibility       ✓ · ·  .agents/skills/accessibility/SKILL.md
                database-migration  ○ · ·  .agents/skills/database-migration/SKILL.md
                changelog           ✗ · ·  .agents/skills/changelog/SKILL.md
                pdf                 ✓ · ✓  .agents/skills/pdf/SKILL.md

                5 skills for 3 profiles
                ✓ active  ○ conditional  ✗ invalid  ? untrusted  · not found
                Explain one of them: `skillsd explain NAME --profile all`
            "#]],
        );
    }

    #[test]
    fn table_fits_a_narrow_terminal() {
        let lists = [("opencode-agent-skills", shop()), ("gemini-cli", other())];
        check(
            &lists,
            true,
            44,
            &expect![[r#"
                               ┌─── opencode-agent-skills
                               │ ┌─ gemini-cli  1 skill
                commit         ✓ ?  .agents/skills/commit
                accessibility  ✓ ·  …ts/skills/accessibility
                database-migration
                               ○ ·  …ills/database-migration
                changelog      ✗ ·  .agents/skills/changelog
                pdf            ✓ ✓  .agents/skills/pdf

                5 skills for 2 profiles
                ✓ active  ○ conditional  ✗ invalid
                ? untrusted  · not found
                Explain one of them:
                `skillsd explain NAME --profile all`
            "#]],
        );
    }

    #[test]
    fn table_of_many_profiles_fits_eighty_columns() {
        let profiles: Vec<_> = PROFILES
            .iter()
            .filter(|it| !it.contains('@'))
            .chain(&["a-profile-of-the-user"])
            .collect();
        assert!(profiles.len() > 16);
        let mut lists: Vec<_> = profiles.iter().map(|it| column(it, &shop())).collect();
        for list in &mut lists {
            for skill in &list.result.skills {
                let cost = SkillCost {
                    name: skill.name.clone(),
                    path: skill.path.clone(),
                    path_encoding: None,
                    shown: ListedForm::Whole,
                    characters: 400,
                    whole_characters: 400,
                    tokens: 100,
                    loaded_tokens: None,
                };
                list.costs.insert((skill.path.clone(), skill.name.clone()), cost);
            }
        }
        for tokens in [false, true] {
            let options = MatrixOptions {
                all: true,
                tokens,
                detected: None,
                selection: "every",
                cwd: Path::new("/home/ann/shop"),
            };
            let text = uncolored(&render(&lists, &options, &terminal(Some(80))));
            assert!(text.lines().all(|it| width(it) <= 80), "{text}");
            for shown in
                profiles.iter().map(|it| &***it).chain(["skills/pdf", "database-migration"])
            {
                assert!(text.contains(shown), "{shown}\n{text}");
            }
            assert_eq!(text.contains("tokens of the largest entry"), tokens, "{text}");
        }
    }

    #[test]
    fn empty_list_is_rendered() {
        check(
            &[("agentskills", list(Vec::new()))],
            false,
            80,
            &expect![[r#"
              ┌─ agentskills  0 skills
            0 skills for 1 profile
            Explain one of them: `skillsd explain NAME --profile all`
        "#]],
        );
    }

    #[test]
    fn heading_names_the_agents_that_are_present() {
        let present = |profile: &str, agent: &str, sign: &str| PresentAgent {
            profile: profile.to_owned(),
            agent: agent.to_owned(),
            confidence: None,
            sign: sign.to_owned(),
        };
        let detected = DetectResult {
            present: vec![
                present("claude-code", "Claude Code", "`/home/ann/.claude` exists"),
                present("gemini-cli", "Gemini CLI", "`gemini` is in PATH"),
            ],
            ..detected()
        };
        let lists = [column("claude-code", &shop()), column("gemini-cli", &other())];
        let options = MatrixOptions {
            all: false,
            tokens: false,
            detected: Some(&detected),
            selection: "all",
            cwd: Path::new("/home/ann/shop"),
        };
        let render = |columns| uncolored(&render(&lists, &options, &terminal(Some(columns))));
        expect![[r#"
            as Claude Code and Gemini CLI · 3 skills · detected: `~/.claude` exists, `gemini` is in PATH

                           ┌─── claude-code  3 skills
                           │ ┌─ gemini-cli  1 skill
            commit         ✓ ?  .agents/skills/commit/SKILL.md
            accessibility  ✓ ·  .agents/skills/accessibility/SKILL.md
            pdf            ✓ ✓  .agents/skills/pdf/SKILL.md

            ✓ active  ? untrusted  · not found
            Explain one of them: `skillsd explain NAME`
        "#]]
        .assert_eq(&render(120));
        assert!(render(60).starts_with("as Claude Code and Gemini CLI\n3 skills\ndetected: "));
    }
}
