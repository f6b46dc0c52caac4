//! Plans the change of each file, before any file is written.

use std::path::{Path, PathBuf};

use skills_protocol::wire::{InstallAction, InstallPart};

use crate::agent_config::command;
use crate::agent_config::document;
use crate::agent_config::file;
use crate::agent_config::item::{ConfigDocument, ConfigEntry, EditError, FileFormat, Presence};
use crate::install::record::{Record, Trace};
use crate::install::target::{TargetContent, TargetFile};
use crate::install::units::{DISABLE, ENABLE, OWNER};

#[derive(Debug)]
pub(super) struct PlannedChange {
    pub(super) part: InstallPart,
    pub(super) owner: String,
    pub(super) path: PathBuf,
    pub(super) action: InstallAction,
    /// Current content; `None` if the file does not exist.
    pub(super) before: Option<String>,
    /// Content after the change; `None` if the file will not exist.
    pub(super) after: Option<String>,
    pub(super) notes: Vec<String>,
    /// Update of the record when the change is made.
    pub(super) trace: TraceUpdate,
}

impl PlannedChange {
    /// Returns whether this enables or disables the units of a package and changes no file.
    pub(super) fn is_switch(&self) -> bool {
        self.action == InstallAction::Change && self.before.is_none() && self.after.is_none()
    }
}

#[derive(Debug)]
pub(super) enum TraceUpdate {
    Unchanged,
    New(Trace),
    Forget(Trace),
}

/// Contents of files after the changes planned so far, because two parts may change one file.
#[derive(Default)]
pub(super) struct PlannedTexts(Vec<(PathBuf, Option<String>)>);

impl PlannedTexts {
    fn read(&self, path: &Path) -> std::io::Result<Option<String>> {
        match self.0.iter().rev().find(|(known, _)| known == path) {
            Some((_, text)) => Ok(text.clone()),
            None => file::read(path),
        }
    }

    /// Records that a change will be made.
    pub(super) fn note(&mut self, change: &PlannedChange) {
        self.0.push((change.path.clone(), change.after.clone()));
    }
}

/// Plans the installation of a file.
pub(super) fn install(target: &TargetFile, record: &Record, texts: &PlannedTexts) -> PlannedChange {
    let trace = record.of(&target.path, target.part);
    let trace =
        trace.cloned().unwrap_or_else(|| Trace::new(&target.path, target.part, target.owner));
    match texts.read(&target.path) {
        Err(error) => failed(&trace, &target.path, None, &error.to_string(), None),
        Ok(None) if target.path.is_symlink() => {
            failed(&trace, &target.path, None, "it is a link to a file that does not exist", None)
        }
        Ok(before) => match &target.content {
            TargetContent::Whole(text) => put_whole(target, before, text, trace),
            TargetContent::Items { form, items } => {
                put_items(target, before.clone(), *form, items, trace.clone()).unwrap_or_else(
                    |fault| failed(&trace, &target.path, before, &fault.message, fault.place),
                )
            }
        },
    }
}

/// Plans to enable the units of a package, which stay as they are.
pub(super) fn enable(socket: &Path) -> PlannedChange {
    let trace = Trace::new(socket, InstallPart::Units, OWNER);
    PlannedChange {
        action: InstallAction::Change,
        notes: vec![format!("Enables the units with `{ENABLE}`.")],
        trace: TraceUpdate::New(trace.clone()),
        ..unchanged(&trace, socket, None)
    }
}

/// Plans the removal of our changes of a file; `None` if its path cannot be decoded.
pub(super) fn uninstall(trace: &Trace, texts: &PlannedTexts) -> Option<PlannedChange> {
    let path = trace.path()?;
    Some(match texts.read(&path) {
        Err(error) => failed(trace, &path, None, &error.to_string(), None),
        Ok(None) => PlannedChange {
            notes: vec!["The file was removed already.".to_owned()],
            trace: TraceUpdate::Forget(trace.clone()),
            ..unchanged(trace, &path, None)
        },
        Ok(Some(before)) => match (&trace.text, trace.form) {
            (Some(text), _) => take_whole(trace, &path, before, text),
            (None, Some(form)) => take_items(trace, &path, &before, form).unwrap_or_else(|fault| {
                failed(trace, &path, Some(before), &fault.message, fault.place)
            }),
            // The units of a package, which stay.
            (None, None) if trace.is_switch() => PlannedChange {
                action: InstallAction::Change,
                notes: vec![format!("Disables the units with `{DISABLE}`.")],
                trace: TraceUpdate::Forget(trace.clone()),
                ..unchanged(trace, &path, None)
            },
            (None, None) => unchanged(trace, &path, Some(before)),
        },
    })
}

fn put_whole(
    target: &TargetFile,
    before: Option<String>,
    text: &str,
    mut trace: Trace,
) -> PlannedChange {
    let path = &target.path;
    let is_ours = before.is_none() || before == trace.text;
    let is_same = before.as_deref() == Some(text);
    if is_same && is_ours {
        return unchanged(&trace, path, before);
    }
    if !is_ours && !is_same {
        let note = "The file differs from what `skillsd install` writes and is kept; remove it to install the file of skillsd.";
        return PlannedChange { notes: vec![note.to_owned()], ..unchanged(&trace, path, before) };
    }
    let action = if is_same { InstallAction::None } else { action(before.as_deref()) };
    trace.text = Some(text.to_owned());
    trace.created = true;
    PlannedChange {
        action,
        after: Some(text.to_owned()),
        trace: TraceUpdate::New(trace.clone()),
        ..unchanged(&trace, path, before)
    }
}

fn put_items(
    target: &TargetFile,
    before: Option<String>,
    form: FileFormat,
    items: &[ConfigEntry],
    mut trace: Trace,
) -> Result<PlannedChange, EditError> {
    trace.form = Some(form.lenient());
    trace.created |= before.is_none();
    let mut document = document::parse_or_new(form, before.as_deref())?;
    let mut notes = Vec::new();
    let mut is_changed = false;
    // Removes items of an older version that this version does not install.
    let (kept, old) = trace.items.into_iter().partition(|it| items.contains(it));
    trace.items = kept;
    for item in &old {
        is_changed |= document.remove(item);
    }
    let (mut n_others, mut n_unrecorded) = (0, 0);
    for item in items {
        match document.presence(item) {
            // The file's version belongs to the entries of others too.
            Presence::Same if item.is_version() || trace.items.contains(item) => {}
            Presence::Same => {
                trace.items.push(item.clone());
                n_unrecorded += 1;
            }
            Presence::Other => n_others += 1,
            Presence::Taken => notes.push(taken(&*document, item)),
            Presence::Absent => {
                trace.made.extend(document.add(item)?);
                trace.items.retain(|it| it != item);
                trace.items.push(item.clone());
                is_changed = true;
            }
        }
    }
    if n_others > 0 {
        notes.push(format!("{n_others} entries of skillsd exist in another form and are kept."));
    }
    if !is_changed {
        let plan = unchanged(&trace, &target.path, before);
        let trace = if n_unrecorded > 0 { TraceUpdate::New(trace) } else { TraceUpdate::Unchanged };
        return Ok(PlannedChange { notes, trace, ..plan });
    }
    notes.extend(target.note.map(str::to_owned));
    Ok(PlannedChange {
        action: action(before.as_deref()),
        after: Some(document.text()),
        notes,
        trace: TraceUpdate::New(trace.clone()),
        ..unchanged(&trace, &target.path, before)
    })
}

/// Returns a note about a server of another program under our name.
fn taken(document: &dyn ConfigDocument, item: &ConfigEntry) -> String {
    let at: Vec<_> = item.at.iter().chain(&item.key).cloned().collect();
    let value = document.value(&at).unwrap_or_default();
    let words = command::server_words(&value);
    let owner = match words.as_slice() {
        [] => "another server".to_owned(),
        [program] => format!("`{program}`"),
        [program, ..] => format!("`{program} …`"),
    };
    let name = item.key.as_deref().unwrap_or_default();
    format!(
        "The name `{name}` is taken by {owner}, so skillsd is not registered. Rename that entry, then run the command again."
    )
}

fn take_whole(trace: &Trace, path: &Path, before: String, text: &str) -> PlannedChange {
    let forget = TraceUpdate::Forget(trace.clone());
    if before != text {
        let notes = vec!["The file changed after the installation and is kept.".to_owned()];
        return PlannedChange { notes, trace: forget, ..unchanged(trace, path, Some(before)) };
    }
    PlannedChange {
        action: InstallAction::Remove,
        after: None,
        trace: forget,
        ..unchanged(trace, path, Some(before))
    }
}

fn take_items(
    trace: &Trace,
    path: &Path,
    before: &str,
    form: FileFormat,
) -> Result<PlannedChange, EditError> {
    let mut document = document::parse(form, before)?;
    // The file's version belongs to the entries of others too.
    let (versions, items): (Vec<_>, Vec<_>) = trace.items.iter().partition(|it| it.is_version());
    let missing: Vec<_> = items.into_iter().filter(|item| !document.remove(item)).collect();
    let n_left =
        missing.into_iter().filter(|item| document.presence(item) == Presence::Other).count();
    document.prune(&trace.made);
    let mut without = document::parse(form, &document.text())?;
    let n_versions = versions.into_iter().filter(|item| without.remove(item)).count();
    if n_versions > 0 && without.is_empty() {
        document = without;
    }
    let mut notes = Vec::new();
    if n_left > 0 {
        notes.push(format!(
            "{n_left} entries of skillsd changed after the installation and are kept as they are."
        ));
    }
    let is_removed = trace.created && document.is_empty();
    let after = (!is_removed).then(|| original(trace, path, before, form, document.text()));
    let action = match &after {
        None => InstallAction::Remove,
        Some(after) if after == before => InstallAction::None,
        Some(_) => InstallAction::Change,
    };
    Ok(PlannedChange {
        action,
        after,
        notes,
        // Entries that stay also stay recorded.
        trace: if n_left > 0 { TraceUpdate::Unchanged } else { TraceUpdate::Forget(trace.clone()) },
        ..unchanged(trace, path, Some(before.to_owned()))
    })
}

// If nothing else has changed, the backup has the original layout to the byte.
fn original(trace: &Trace, path: &Path, before: &str, form: FileFormat, without: String) -> String {
    let kept = file::read(&file::backup(path)).ok().flatten();
    let again = kept.as_ref().and_then(|kept| {
        let mut document = document::parse(form, kept).ok()?;
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

fn unchanged(trace: &Trace, path: &Path, text: Option<String>) -> PlannedChange {
    PlannedChange {
        part: trace.part,
        owner: trace.owner.clone(),
        path: path.to_owned(),
        action: InstallAction::None,
        before: text.clone(),
        after: text,
        notes: Vec::new(),
        trace: TraceUpdate::Unchanged,
    }
}

fn failed(
    trace: &Trace,
    path: &Path,
    text: Option<String>,
    message: &str,
    place: Option<(usize, usize)>,
) -> PlannedChange {
    let place = place.map(|(line, column)| format!(" at {line}:{column}")).unwrap_or_default();
    let note =
        format!("The file cannot be edited{place}: {message}. Fix it and run the command again.");
    PlannedChange { action: InstallAction::Fail, notes: vec![note], ..unchanged(trace, path, text) }
}
