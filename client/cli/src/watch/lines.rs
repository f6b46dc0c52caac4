//! What became of a skill, as a line for a person.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{Entry, Event, Health, State};

use crate::place::Place;
use crate::style::{self, paint};
use crate::terminal::{Terminal, render_health};
use crate::text::{plain, plain_exact};

/// Returns the first line: where, and how many skills there are.
pub(super) fn beginning(
    terminal: &Terminal,
    place: &Place,
    skills: &BTreeMap<String, Entry>,
) -> String {
    let encoding = encoding_of([place.cwd.as_path()]);
    let place_text = terminal.path(&encode(&place.cwd, encoding), encoding);
    let n_listed = skills.values().filter(|it| it.state.is_listed()).count();
    let n_others = skills.len() - n_listed;
    let profile = place.profile.as_deref().map(|it| format!(" as {}", plain_exact(it)));
    let mark = paint(style::GOOD, "✓");
    let skills = if n_listed == 1 { "skill" } else { "skills" };
    let others = if n_others > 0 { format!(", {n_others} left out") } else { String::new() };
    let profile = profile.unwrap_or_default();
    format!("{mark} watching {place_text}{profile}: {n_listed} {skills}{others}\n")
}

/// Returns the line for a connection that was made again.
pub(super) fn again() -> String {
    format!("{} the daemon was replaced\n", paint(style::FAINT, "·"))
}

/// Returns a line for each skill that differs between two whole lists.
pub(super) fn differences(
    terminal: &Terminal,
    old: &BTreeMap<String, Entry>,
    new: &BTreeMap<String, Entry>,
) -> String {
    let gone = old.iter().filter(|(path, _)| !new.contains_key(*path));
    let gone = gone.map(|(_, was)| change(terminal, Some(was), None));
    let changed = new.iter().filter(|(path, it)| old.get(*path) != Some(it));
    let changed = changed.map(|(path, it)| change(terminal, old.get(path), Some(it)));
    gone.chain(changed).collect()
}

/// Returns the line for what became of a skill.
pub(super) fn change(terminal: &Terminal, old: Option<&Entry>, new: Option<&Entry>) -> String {
    let Some(entry) = new.or(old) else { return String::new() };
    let was_listed = old.is_some_and(|it| it.state.is_listed());
    let (mark, what) = match (old, new) {
        (None, Some(new)) if new.state.is_listed() => (paint(style::GOOD, "+"), about(new)),
        (Some(old), Some(new)) if new.state.is_listed() => {
            let mark =
                if was_listed { paint(style::WAITING, "~") } else { paint(style::GOOD, "+") };
            (mark, difference(old, new))
        }
        (_, Some(new)) => {
            let mark = if was_listed { paint(style::BAD, "-") } else { paint(style::FAINT, "·") };
            let bad = new.state == State::Invalid;
            let mark = if bad { paint(style::BAD, "✗") } else { mark };
            (mark, left_out(new))
        }
        (_, None) if was_listed => (paint(style::BAD, "-"), "is gone".to_owned()),
        (_, None) => (paint(style::FAINT, "·"), "is gone".to_owned()),
    };
    let mut line = format!("{mark} {}", paint(style::NAME, plain(&entry.name)));
    if !what.is_empty() {
        let _ = write!(line, "  {what}");
    }
    let path = terminal.path(&entry.path, entry.path_encoding);
    let _ = writeln!(line, "  {}", paint(style::FAINT, path));
    line
}

/// Returns the line for an event that says all that there is to say.
pub(super) fn event(event: &Event) -> String {
    let mut line = format!("{} {}", paint(style::HINT, "!"), event.kind);
    for fact in [&event.session, &event.agent, &event.request, &event.message].into_iter().flatten()
    {
        let _ = write!(line, "  {}", plain(fact));
    }
    line + "\n"
}

/// Returns the lines for what is unwell now.
pub(super) fn health(terminal: &Terminal, health: &[Health]) -> String {
    if health.is_empty() {
        return format!("{} all is well again\n", paint(style::GOOD, "✓"));
    }
    render_health(health, terminal)
}

fn about(entry: &Entry) -> String {
    plain(entry.description.as_deref().unwrap_or_default())
}

fn left_out(entry: &Entry) -> String {
    let reason = entry.reason.as_deref().map(|it| format!(": {}", plain(it)));
    let state = paint(style::of_state(entry.state), entry.state);
    format!("{state}{}", reason.unwrap_or_default())
}

fn difference(old: &Entry, new: &Entry) -> String {
    if old.state != new.state {
        return format!("{} → {}", old.state, new.state);
    }
    if old.name != new.name {
        return format!("was called {}", plain(&old.name));
    }
    if old.description != new.description {
        return about(new);
    }
    if old.stale != new.stale {
        let stale = "cannot be read; the last good reading counts";
        return if new.stale { stale.to_owned() } else { "can be read again".to_owned() };
    }
    if old.hash != new.hash {
        return "has other text".to_owned();
    }
    "changed".to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::sample;

    #[test]
    fn a_line_says_what_became_of_a_skill() {
        let terminal = Terminal::over(std::io::sink(), std::io::sink(), None, "/home/ann");
        let skill = || sample::skill("commit", "Writes a commit message.");
        let invalid = || sample::in_state(skill(), State::Invalid, "no description");
        let other = Entry { description: Some("Another.".into()), ..skill() };
        let text = Entry { hash: Some("blake3:other".into()), ..skill() };
        let cases = [
            (None, Some(skill())),
            (Some(skill()), Some(other)),
            (Some(skill()), Some(text)),
            (Some(skill()), Some(invalid())),
            (Some(invalid()), Some(skill())),
            (None, Some(sample::in_state(skill(), State::Shadowed, "another wins"))),
            (Some(skill()), None),
            (Some(invalid()), None),
        ];
        let lines = cases.iter().map(|(a, b)| change(&terminal, a.as_ref(), b.as_ref()));
        let lines: String = lines.collect();
        expect![[r#"
            + commit  Writes a commit message.  ~/shop/.agents/skills/commit/SKILL.md
            ~ commit  Another.  ~/shop/.agents/skills/commit/SKILL.md
            ~ commit  has other text  ~/shop/.agents/skills/commit/SKILL.md
            ✗ commit  invalid: no description  ~/shop/.agents/skills/commit/SKILL.md
            + commit  invalid → active  ~/shop/.agents/skills/commit/SKILL.md
            · commit  shadowed: another wins  ~/shop/.agents/skills/commit/SKILL.md
            - commit  is gone  ~/shop/.agents/skills/commit/SKILL.md
            · commit  is gone  ~/shop/.agents/skills/commit/SKILL.md
        "#]]
        .assert_eq(&anstream::adapter::strip_str(&lines).to_string());
    }
}
