//! What becomes of each file, decided before any is written.

use std::path::{Path, PathBuf};

use skills_protocol::wire::{InstallAction, InstallPart};

use crate::install::document::Document;
use crate::install::file;
use crate::install::item::{Fault, Form, Item, Presence};
use crate::install::record::{Record, Trace};
use crate::install::wanted::{Content, Wanted};

/// What becomes of one file.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) part: InstallPart,
    pub(super) owner: String,
    pub(super) path: PathBuf,
    pub(super) action: InstallAction,
    /// Its text now; none where it is not there.
    pub(super) before: Option<String>,
    /// Its text then; none where it is not to be there.
    pub(super) after: Option<String>,
    pub(super) notes: Vec<String>,
    /// What is recorded of it when the change is made.
    pub(super) trace: Keep,
}

/// What the record says of a file when its change is made.
#[derive(Debug)]
pub(super) enum Keep {
    /// What it says now.
    Unchanged,
    /// This.
    New(Trace),
    /// Nothing.
    Forget(Trace),
}

/// Texts of files as the changes before this one leave them: two parts may share a file.
#[derive(Default)]
pub(super) struct Texts(Vec<(PathBuf, Option<String>)>);

impl Texts {
    fn read(&self, path: &Path) -> std::io::Result<Option<String>> {
        match self.0.iter().rev().find(|(known, _)| known == path) {
            Some((_, text)) => Ok(text.clone()),
            None => file::read(path),
        }
    }

    fn note(&mut self, change: &Change) {
        self.0.push((change.path.clone(), change.after.clone()));
    }
}

/// Returns what installing does to a file.
pub(super) fn install(wanted: &Wanted, record: &Record, texts: &mut Texts) -> Change {
    let trace = record.of(&wanted.path, wanted.part);
    let trace =
        trace.cloned().unwrap_or_else(|| Trace::new(&wanted.path, wanted.part, wanted.owner));
    let change = match texts.read(&wanted.path) {
        Err(error) => failed(&trace, &wanted.path, None, &error.to_string(), None),
        Ok(before) => match &wanted.content {
            Content::Whole(text) => put_whole(wanted, before, text, trace),
            Content::Items { form, items } => {
                put_items(wanted, before.clone(), *form, items, trace.clone()).unwrap_or_else(
                    |fault| failed(&trace, &wanted.path, before, &fault.message, fault.place),
                )
            }
        },
    };
    texts.note(&change);
    change
}

/// Returns what uninstalling does to a file; none where nothing is known about it.
pub(super) fn uninstall(trace: &Trace, texts: &mut Texts) -> Option<Change> {
    let path = trace.path()?;
    let change = match texts.read(&path) {
        Err(error) => failed(trace, &path, None, &error.to_string(), None),
        Ok(None) => Change {
            notes: vec!["It is gone already.".to_owned()],
            trace: Keep::Forget(trace.clone()),
            ..unchanged(trace, &path, None)
        },
        Ok(Some(before)) => match (&trace.text, trace.form) {
            (Some(text), _) => take_whole(trace, &path, before, text),
            (None, Some(form)) => take_items(trace, &path, &before, form).unwrap_or_else(|fault| {
                failed(trace, &path, Some(before), &fault.message, fault.place)
            }),
            (None, None) => unchanged(trace, &path, Some(before)),
        },
    };
    texts.note(&change);
    Some(change)
}

fn put_whole(wanted: &Wanted, before: Option<String>, text: &str, mut trace: Trace) -> Change {
    let path = &wanted.path;
    let is_ours = before.is_none() || before == trace.text;
    if before.as_deref() == Some(text) {
        return unchanged(&trace, path, before);
    }
    if !is_ours {
        let note = "It is not as `skillsd install` has made it, and stays; remove it to get ours.";
        return Change { notes: vec![note.to_owned()], ..unchanged(&trace, path, before) };
    }
    let action = action(before.as_deref());
    trace.text = Some(text.to_owned());
    trace.created = true;
    Change {
        action,
        after: Some(text.to_owned()),
        trace: Keep::New(trace.clone()),
        ..unchanged(&trace, path, before)
    }
}

fn put_items(
    wanted: &Wanted,
    before: Option<String>,
    form: Form,
    items: &[Item],
    mut trace: Trace,
) -> Result<Change, Fault> {
    trace.form = Some(form);
    trace.created |= before.is_none();
    let text = before.as_deref().filter(|it| !it.trim().is_empty());
    let mut document = Document::parse(form, text.unwrap_or(Document::blank(form)))?;
    let mut notes = Vec::new();
    let mut is_changed = false;
    // What an older program has put in and this one would not.
    let (kept, old) = trace.items.into_iter().partition(|it| items.contains(it));
    trace.items = kept;
    for item in &old {
        is_changed |= document.remove(item);
    }
    let mut n_others = 0;
    for item in items {
        match document.presence(item) {
            Presence::Same => {}
            Presence::Other => n_others += 1,
            Presence::Absent => {
                trace.made.extend(document.add(item)?);
                trace.items.retain(|it| it != item);
                trace.items.push(item.clone());
                is_changed = true;
            }
        }
    }
    if n_others > 0 {
        notes.push(format!("{n_others} of ours are there in other words, and stay so."));
    }
    if !is_changed {
        return Ok(Change { notes, ..unchanged(&trace, &wanted.path, before) });
    }
    notes.extend(wanted.note.map(str::to_owned));
    Ok(Change {
        action: action(before.as_deref()),
        after: Some(document.text()),
        notes,
        trace: Keep::New(trace.clone()),
        ..unchanged(&trace, &wanted.path, before)
    })
}

fn take_whole(trace: &Trace, path: &Path, before: String, text: &str) -> Change {
    let forget = Keep::Forget(trace.clone());
    if before != text {
        let notes = vec!["It was changed since, and stays.".to_owned()];
        return Change { notes, trace: forget, ..unchanged(trace, path, Some(before)) };
    }
    Change {
        action: InstallAction::Remove,
        after: None,
        trace: forget,
        ..unchanged(trace, path, Some(before))
    }
}

fn take_items(trace: &Trace, path: &Path, before: &str, form: Form) -> Result<Change, Fault> {
    let mut document = Document::parse(form, before)?;
    let n_left = trace.items.iter().filter(|item| !document.remove(item)).count();
    document.prune(&trace.made);
    let mut notes = Vec::new();
    if n_left > 0 {
        notes.push(format!("{n_left} of ours were changed or removed since; what is there stays."));
    }
    let is_removed = trace.created && document.is_empty();
    let after = (!is_removed).then(|| original(trace, path, before, form, document.text()));
    let action = match &after {
        None => InstallAction::Remove,
        Some(after) if after == before => InstallAction::None,
        Some(_) => InstallAction::Change,
    };
    Ok(Change {
        action,
        after,
        notes,
        trace: Keep::Forget(trace.clone()),
        ..unchanged(trace, path, Some(before.to_owned()))
    })
}

// Where nothing else was changed since, the copy that was kept has the layout to the byte.
fn original(trace: &Trace, path: &Path, before: &str, form: Form, without: String) -> String {
    let kept = file::read(&file::backup(path)).ok().flatten();
    let again = kept.as_ref().and_then(|kept| {
        let mut document = Document::parse(form, kept).ok()?;
        for item in &trace.items {
            if document.presence(item) != Presence::Absent {
                return None;
            }
            document.add(item).ok()?;
        }
        Some(document.text())
    });
    kept.filter(|_| again.as_deref() == Some(before)).unwrap_or(without)
}

fn action(before: Option<&str>) -> InstallAction {
    if before.is_none() { InstallAction::Create } else { InstallAction::Change }
}

fn unchanged(trace: &Trace, path: &Path, text: Option<String>) -> Change {
    Change {
        part: trace.part,
        owner: trace.owner.clone(),
        path: path.to_owned(),
        action: InstallAction::None,
        before: text.clone(),
        after: text,
        notes: Vec::new(),
        trace: Keep::Unchanged,
    }
}

fn failed(
    trace: &Trace,
    path: &Path,
    text: Option<String>,
    message: &str,
    place: Option<(usize, usize)>,
) -> Change {
    let place = place.map(|(line, column)| format!(" at {line}:{column}")).unwrap_or_default();
    let note = format!("It cannot be edited{place}: {message}. Mend it and run the command again.");
    Change { action: InstallAction::Fail, notes: vec![note], ..unchanged(trace, path, text) }
}
