//! Sample answers and terminals for the tests of the commands.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use skills_protocol::wire::{
    DetectResult, DiagnosticCounts, Entry, ListResult, Position, Range, Scope, State,
};

use crate::terminal::Terminal;

/// Buffer that records writes to a stream of a terminal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written(Rc<RefCell<Vec<u8>>>);

impl Written {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).expect("we write UTF-8")
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a terminal of this width that discards output; HOME is `/home/ann`.
pub(crate) fn terminal(width: Option<usize>) -> Terminal {
    Terminal::over(io::sink(), io::sink(), width, "/home/ann")
}

/// Returns rendered text without colours.
pub(crate) fn uncolored(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Returns the detected agent of the samples.
pub(crate) fn detected() -> DetectResult {
    DetectResult {
        profile: "claude-code".to_owned(),
        agent: "Claude Code".to_owned(),
        confidence: None,
        reason: Some("detected: CLAUDECODE is set".to_owned()),
        present: Vec::new(),
    }
}

/// Returns an active skill of the project.
pub(crate) fn skill(name: &str, description: &str) -> Entry {
    let root = "/home/ann/shop/.agents/skills";
    Entry {
        name: name.into(),
        description: Some(description.into()),
        path: format!("{root}/{name}/SKILL.md"),
        dir: format!("{root}/{name}"),
        path_encoding: None,
        scope: Scope::Project,
        root: root.into(),
        state: State::Active,
        reason: None,
        paths: Vec::new(),
        label: None,
        namespace: None,
        model_invocable: true,
        user_invocable: true,
        trusted: true,
        hash: Some("blake3:00".into()),
        diagnostics: DiagnosticCounts::default(),
        stale: false,
    }
}

/// Returns the skill in another state, with a reason.
pub(crate) fn in_state(skill: Entry, state: State, reason: &str) -> Entry {
    Entry { state, reason: Some(reason.into()), ..skill }
}

/// Returns a complete list of these skills.
pub(crate) fn list(skills: Vec<Entry>) -> ListResult {
    ListResult {
        clock: "b1:w1:7:1".into(),
        health: Vec::new(),
        fresh: true,
        next_cursor: None,
        confidence: None,
        skills,
        removed: Vec::new(),
        positions: Vec::new(),
    }
}

/// Returns the skills of a small shop: active ones, and one in most other states.
pub(crate) fn shop() -> ListResult {
    let mut web = skill("accessibility", "Checks a page against WCAG 2.2 and says what to change.");
    web.diagnostics = DiagnosticCounts { error: 0, warning: 1 };
    let mut pdf = skill(
        "pdf",
        "Fills, splits and merges PDF files. Use it for every form that a customer sends.",
    );
    pdf.scope = Scope::User;
    pdf.root = "/home/ann/.agents/skills".into();
    pdf.stale = true;
    let claude = |mut skill: Entry| {
        skill.root = "/home/ann/shop/.claude/skills".into();
        skill
    };
    let shadowed = in_state(
        claude(skill("commit", "Writes a commit message.")),
        State::Shadowed,
        "`/home/ann/shop/.agents/skills/commit/SKILL.md` has the same name and comes first",
    );
    let mut invalid = in_state(
        claude(skill("changelog", "")),
        State::Invalid,
        "`description` is missing (SKILL.md:1:1)",
    );
    invalid.description = None;
    list(vec![
        skill("commit", "Writes a commit message in the house style."),
        web,
        in_state(
            skill("database-migration", "Writes a migration and its way back."),
            State::Conditional,
            "no file that matches `migrations/**` was touched yet",
        ),
        shadowed,
        invalid,
        pdf,
    ])
}

/// Returns a range within one line.
pub(crate) fn range(line: u32, column: u32, length: u32) -> Range {
    let offset = u64::from(line * 100 + column);
    Range {
        start: Position { line, column, offset },
        end: Position { line, column: column + length, offset: offset + u64::from(length) },
    }
}
