//! Lines of `skillsd watch` for changes of skills and health.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{Entry, Event, Health, State};

use crate::call_context::CallContext;
use crate::style::{self, paint};
use crate::terminal::{Terminal, render_health};
use crate::text::{plain, plain_exact};

/// Returns the first line: the directory and the number of skills.
pub(super) fn beginning(
    terminal: &Terminal,
    place: &CallContext,
    skills: &BTreeMap<String, Entry>,
) -> String {
    let encoding = encoding_of([place.cwd.as_path()]);
    let place_text = terminal.path(&encode(&place.cwd, encoding), encoding);
    let n_listed = skills.values().filter(|it| it.state.is_listed()).count();
    let n_others = skills.len() - n_listed;
    let profile = place.profile.as_deref().map(|it| format!(" as {}", plain_exact(it)));
    let mark = paint(style::GOOD, "✓");
    let skills = if n_listed == 1 { "skill" } else { "skills" };
    let others = if n_others > 0 { format!(", {n_others} not shown") } else { String::new() };
    let profile = profile.unwrap_or_default();
    format!("{mark} watching {place_text}{profile}: {n_listed} {skills}{others}\n")
}

/// Returns the line for a new connection.
pub(super) fn reconnected() -> String {
    format!("{} connected to a new daemon\n", paint(style::FAINT, "·"))
}

/// Returns a line for each difference between two complete lists.
pub(super) fn differences(
    terminal: &Terminal,
    old: &BTreeMap<String, Entry>,
    new: &BTreeMap<String, Entry>,
) -> String {
    let removed = old.iter().filter(|(path, _)| !new.contains_key(*path));
    let removed = removed.map(|(_, was)| change(terminal, Some(was), None));
    let changed = new.iter().filter(|(path, it)| old.get(*path) != Some(it));
    let changed = changed.map(|(path, it)| change(terminal, old.get(path), Some(it)));
    removed.chain(changed).collect()
}

/// Returns the line for one change of a skill.
pub(super) fn change(terminal: &Terminal, old: Option<&Entry>, new: Option<&Entry>) -> String {
    let Some(entry) = new.or(old) else { return String::new() };
    let was_listed = old.is_some_and(|it| it.state.is_listed());
    let (mark, what) = match (old, new) {
        (None, Some(new)) if new.state.is_listed() => (paint(style::GOOD, "+"), description(new)),
        (Some(old), Some(new)) if new.state.is_listed() => {
            let mark =
                if was_listed { paint(style::WAITING, "~") } else { paint(style::GOOD, "+") };
            (mark, difference(old, new))
        }
        (_, Some(new)) => {
            let mark = if was_listed { paint(style::BAD, "-") } else { paint(style::FAINT, "·") };
            let bad = new.state == State::Invalid;
            let mark = if bad { paint(style::BAD, "✗") } else { mark };
            (mark, state_and_reason(new))
        }
        (_, None) if was_listed => (paint(style::BAD, "-"), "removed".to_owned()),
        (_, None) => (paint(style::FAINT, "·"), "removed".to_owned()),
    };
    let mut line = format!("{mark} {}", paint(style::NAME, plain(&entry.name)));
    if !what.is_empty() {
        let _ = write!(line, "  {what}");
    }
    let path = terminal.path(&entry.path, entry.path_encoding);
    let _ = writeln!(line, "  {}", paint(style::FAINT, path));
    line
}

/// Returns the line for an event without a skill.
pub(super) fn event(event: &Event) -> String {
    let mut line = format!("{} {}", paint(style::HINT, "!"), event.kind);
    for fact in [&event.session, &event.agent, &event.request, &event.message].into_iter().flatten()
    {
        let _ = write!(line, "  {}", plain(fact));
    }
    line + "\n"
}

/// Returns the lines for the current health messages.
pub(super) fn health(terminal: &Terminal, health: &[Health]) -> String {
    if health.is_empty() {
        return format!("{} all problems are solved\n", paint(style::GOOD, "✓"));
    }
    render_health(health, terminal)
}

fn description(entry: &Entry) -> String {
    plain(entry.description.as_deref().unwrap_or_default())
}

fn state_and_reason(entry: &Entry) -> String {
    let reason = entry.reason.as_deref().map(|it| format!(": {}", plain(it)));
    let state = paint(style::state_style(entry.state), entry.state);
    format!("{state}{}", reason.unwrap_or_default())
}

fn difference(old: &Entry, new: &Entry) -> String {
    if old.state != new.state {
        return format!("{} → {}", old.state, new.state);
    }
    if old.name != new.name {
        return format!("renamed from {}", plain(&old.name));
    }
    if old.description != new.description {
        return description(new);
    }
    if old.stale != new.stale {
        let stale = "is broken; its last valid version is used";
        return if new.stale { stale.to_owned() } else { "is valid again".to_owned() };
    }
    if old.hash != new.hash {
        return "content changed".to_owned();
    }
    "changed".to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::tests::sample;

    #[test]
    fn each_change_of_a_skill_has_a_line() {
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
            ~ commit  content changed  ~/shop/.agents/skills/commit/SKILL.md
            ✗ commit  invalid: no description  ~/shop/.agents/skills/commit/SKILL.md
            + commit  invalid → active  ~/shop/.agents/skills/commit/SKILL.md
            · commit  shadowed: another wins  ~/shop/.agents/skills/commit/SKILL.md
            - commit  removed  ~/shop/.agents/skills/commit/SKILL.md
            · commit  removed  ~/shop/.agents/skills/commit/SKILL.md
        "#]]
        .assert_eq(&anstream::adapter::strip_str(&lines).to_string());
    }
}
