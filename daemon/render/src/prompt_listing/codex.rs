//! Renders Codex's developer message: a table of roots, and one line for each skill with a short
//! path.

use std::path::Path;

use skills_agents::profile::Scope;

use super::budget::{ListingBudget, PromptListing};
use super::cost::{EntryCost, ListingCost, ListingForm, ListingUnit, ListingUse};
use super::listed_skill::ListedSkill;

const INTRODUCTION: &str = "A skill is a set of local instructions to follow that is stored in a `SKILL.md` file. Below is the list of skills that can be used. Each entry includes a name, description, and a short path that can be expanded into an absolute path using the skill roots table.";

/// The maximum length of a description, and the length it is cut to.
const LONGEST: usize = 1024;
const CUT: usize = 1021;

/// Measured: the context size in tokens of a model that the agent does not know.
const UNKNOWN_CONTEXT: u64 = 272_000;

#[derive(Clone, Copy, Debug)]
enum LineBudget {
    Tokens(u64),
    Characters(u64),
}

impl LineBudget {
    /// Takes 2 % of the context.
    fn of(room: &ListingBudget) -> Self {
        match (room.characters, room.context_tokens) {
            (Some(characters), _) => Self::Characters(characters),
            (None, tokens) => {
                let tokens = tokens.filter(|it| *it > 0).unwrap_or(UNKNOWN_CONTEXT);
                Self::Tokens((tokens.saturating_mul(2) / 100).max(1))
            }
        }
    }

    fn limit(self) -> u64 {
        match self {
            Self::Tokens(limit) | Self::Characters(limit) => limit,
        }
    }

    /// The cost of a line, including its end.
    fn cost(self, line: &str) -> u64 {
        self.cost_of(line.len() as u64 + 1, line.chars().count() as u64 + 1)
    }

    fn cost_of(self, n_bytes: u64, n_characters: u64) -> u64 {
        match self {
            Self::Tokens(_) => n_bytes.div_ceil(4),
            Self::Characters(_) => n_characters,
        }
    }
}

/// A line under construction.
struct CodexLine<'a> {
    index: usize,
    name: &'a str,
    description: String,
    file: String,
    /// The number of characters of the description that are shown.
    shown: usize,
    is_cut: bool,
}

impl CodexLine<'_> {
    fn text(&self) -> String {
        let end = self.description.char_indices().nth(self.shown);
        let description = &self.description[..end.map_or(self.description.len(), |(at, _)| at)];
        let blank = if description.is_empty() { "" } else { " " };
        format!("- {}:{blank}{description} (file: {})", self.name, self.file)
    }

    /// Returns the number of characters of the description.
    fn length(&self) -> usize {
        self.description.chars().count()
    }

    /// Returns the number of characters of the line as shown, with its end.
    fn characters(&self) -> u64 {
        self.text().chars().count() as u64 + 1
    }

    fn form(&self) -> ListingForm {
        match (self.shown, self.length()) {
            (0, 1..) => ListingForm::Name,
            (shown, length) if self.is_cut || shown < length => ListingForm::Shortened,
            _ => ListingForm::Whole,
        }
    }
}

/// The lines of a listing after cuts.
pub(super) struct CodexListing<'a> {
    roots: Vec<&'a Path>,
    /// The entries that fit.
    lines: Vec<CodexLine<'a>>,
    /// The number of characters of each skill's entry before cuts, with its line end.
    whole: Vec<u64>,
    budget: LineBudget,
}

/// Returns the listing, cut to the budget.
pub(super) fn listing<'a>(skills: &'a [ListedSkill<'a>], room: &ListingBudget) -> CodexListing<'a> {
    let roots = roots(skills);
    let mut sorted: Vec<_> = skills.iter().enumerate().collect();
    sorted.sort_by(|(_, a), (_, b)| {
        rank(a).cmp(&rank(b)).then(a.name.cmp(b.name)).then(a.path.cmp(b.path))
    });
    let mut lines: Vec<_> = sorted.into_iter().map(|(index, it)| line(index, it, &roots)).collect();
    let mut whole = vec![0; skills.len()];
    for line in &lines {
        let n_cut = skills[line.index].description.chars().count().saturating_sub(line.length());
        whole[line.index] = line.characters() + n_cut as u64;
    }
    let budget = LineBudget::of(room);
    fit(&mut lines, budget);
    CodexListing { roots, lines, whole, budget }
}

impl CodexListing<'_> {
    /// Returns the listing's text and counts.
    pub(super) fn render(&self) -> PromptListing {
        let mut text = vec!["<skills_instructions>".to_owned(), "## Skills".to_owned()];
        text.extend([INTRODUCTION.to_owned(), "### Skill roots".to_owned()]);
        let table = self.roots.iter().enumerate();
        text.extend(table.map(|(nth, root)| format!("- `r{nth}` = `{}`", root.display())));
        text.push("### Available skills".to_owned());
        text.extend(self.lines.iter().map(CodexLine::text));
        text.push("</skills_instructions>".to_owned());
        PromptListing {
            text: text.join("\n"),
            n_listed: self.lines.len(),
            n_shortened: self.lines.iter().filter(|it| it.form() != ListingForm::Whole).count(),
            n_omitted: self.whole.len() - self.lines.len(),
        }
    }

    pub(super) fn cost(&self) -> ListingCost {
        let omitted = |whole: &u64| EntryCost {
            form: ListingForm::Omitted,
            characters: 0,
            whole_characters: *whole,
            tokens: 0,
        };
        let mut entries: Vec<_> = self.whole.iter().map(omitted).collect();
        for line in &self.lines {
            let entry = &mut entries[line.index];
            entry.form = line.form();
            entry.characters = line.characters();
            entry.tokens = LineBudget::Tokens(0).cost(&line.text());
        }
        let unit = match self.budget {
            LineBudget::Tokens(_) => ListingUnit::Tokens,
            LineBudget::Characters(_) => ListingUnit::Characters,
        };
        let used = self.lines.iter().map(|it| self.budget.cost(&it.text())).sum();
        let budget = Some(ListingUse { unit, limit: self.budget.limit(), used });
        ListingCost { budget, entries }
    }
}

/// Returns the roots that contain skills, in the profile's order. Measured: of the worktree's
/// `.agents/skills` the outermost comes first.
fn roots<'a>(skills: &[ListedSkill<'a>]) -> Vec<&'a Path> {
    let mut roots: Vec<&Path> = Vec::new();
    for skill in skills {
        let (root, _) = skill.place();
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    let is_shared = |root: &Path| {
        root.ends_with(".agents/skills")
            && skills.iter().any(|it| it.place().0 == root && it.scope == Scope::Project)
    };
    let mut outermost: Vec<&Path> = roots.iter().copied().filter(|it| is_shared(it)).collect();
    outermost.sort_by_key(|it| it.components().count());
    let mut outermost = outermost.into_iter();
    for root in &mut roots {
        if is_shared(root)
            && let Some(next) = outermost.next()
        {
            *root = next;
        }
    }
    roots
}

/// Ranks bundled skills first, then the administrator's, the repository's and the user's.
fn rank(skill: &ListedSkill<'_>) -> u8 {
    match skill.scope {
        _ if skill.is_bundled => 0,
        Scope::Bundled => 0,
        Scope::Managed => 1,
        Scope::Project | Scope::Nested => 2,
        Scope::User
        | Scope::Additional
        | Scope::Remote
        | Scope::Mcp
        | Scope::Plugin
        | Scope::Command => 3,
    }
}

fn line<'a>(index: usize, skill: &ListedSkill<'a>, roots: &[&Path]) -> CodexLine<'a> {
    let is_cut = skill.description.chars().count() > LONGEST;
    let description = if is_cut {
        skill.description.chars().take(CUT).chain("...".chars()).collect()
    } else {
        skill.description.to_owned()
    };
    let (root, path) = skill.place();
    let alias = roots.iter().position(|it| *it == root);
    let below = path.strip_prefix(root).ok();
    let file = match (alias, below) {
        (Some(alias), Some(below)) => format!("r{alias}/{}", below.display()),
        _ => path.display().to_string(),
    };
    let shown = description.chars().count();
    CodexLine { index, name: skill.name, shown, description, file, is_cut }
}

/// Fits the lines into the budget. Descriptions get one character each in turn while the budget
/// lasts; if the names alone exceed it, lines that do not fit are removed.
fn fit(lines: &mut Vec<CodexLine<'_>>, budget: LineBudget) {
    if lines.iter().map(|it| budget.cost(&it.text())).sum::<u64>() <= budget.limit() {
        return;
    }
    for line in &mut *lines {
        line.shown = 0;
    }
    let mut spent: u64 = lines.iter().map(|it| budget.cost(&it.text())).sum();
    if spent <= budget.limit() {
        return distribute(lines, budget, &mut spent);
    }
    let mut spent = 0;
    lines.retain(|it| {
        let cost = budget.cost(&it.text());
        let fits = spent + cost <= budget.limit();
        spent += if fits { cost } else { 0 };
        fits
    });
}

/// Extends each description by one character in turn until the budget is spent.
fn distribute(lines: &mut [CodexLine<'_>], budget: LineBudget, spent: &mut u64) {
    /// The cost of a line so far.
    struct Sum<'a> {
        left: std::str::Chars<'a>,
        n_bytes: u64,
        n_characters: u64,
        shown: usize,
    }
    let minimum =
        |it: &CodexLine<'_>| (it.text().len() as u64 + 1, it.text().chars().count() as u64 + 1);
    let mut sums: Vec<_> = lines
        .iter()
        .map(|it| {
            let (n_bytes, n_characters) = minimum(it);
            Sum { left: it.description.chars(), n_bytes, n_characters, shown: 0 }
        })
        .collect();
    loop {
        let mut has_given = false;
        for sum in &mut sums {
            let Some(next) = sum.left.clone().next() else { continue };
            // The first character also adds the space before it.
            let blank = u64::from(sum.shown == 0);
            let n_bytes = sum.n_bytes + next.len_utf8() as u64 + blank;
            let n_characters = sum.n_characters + 1 + blank;
            let before = budget.cost_of(sum.n_bytes, sum.n_characters);
            let more = budget.cost_of(n_bytes, n_characters) - before;
            if *spent + more <= budget.limit() {
                *spent += more;
                sum.left.next();
                (sum.n_bytes, sum.n_characters, sum.shown) = (n_bytes, n_characters, sum.shown + 1);
                has_given = true;
            }
        }
        if !has_given {
            break;
        }
    }
    let shown: Vec<_> = sums.iter().map(|it| it.shown).collect();
    for (line, shown) in lines.iter_mut().zip(shown) {
        line.shown = shown;
    }
}
