//! Reads Gemini CLI's folder trust: the directories that its user trusts.

use skills_syntax::config_tree::Node;
use skills_syntax::path::AbsPath;

use super::decisions::SettingsDecisions;
use crate::discover::disk::PathStatus;
use crate::discover::tree::Tree;
use crate::permission::SourceLocation;

/// Reads the setting that disables folder trust.
pub(super) fn read_folder_trust_switch(
    document: &Node,
    file: &AbsPath,
    settings: &mut SettingsDecisions,
) {
    let Some(node) = document.at_path(&["security", "folderTrust", "enabled"]) else { return };
    let source = SourceLocation { file: file.clone(), at: node.at };
    if node.flag() == Some(false) {
        let until = settings.until_trusted(file);
        let waits = until.as_deref().unwrap_or_default();
        let message =
            format!("`security.folderTrust.enabled` is off: every directory is trusted{waits}");
        settings.note(&source, message, None);
        if until.is_none() {
            settings.trusted = Some((true, source));
        }
    }
}

/// Reads the list of trusted directories. If several entries contain the working directory, the one
/// with the longest path counts.
pub(super) fn folders(
    document: &Node,
    file: &AbsPath,
    cwd: &AbsPath,
    tree: &dyn Tree,
    settings: &mut SettingsDecisions,
) {
    let real = |path: &AbsPath, complete: &mut bool| match tree.look(path) {
        None => {
            *complete = false;
            path.clone()
        }
        Some(PathStatus::Missing | PathStatus::Fault(_)) => path.clone(),
        Some(PathStatus::Directory { .. } | PathStatus::File | PathStatus::Special(_)) => {
            let canonical = tree.canonical(path);
            *complete &= canonical.is_some();
            canonical.unwrap_or_else(|| path.clone())
        }
    };
    let mut complete = true;
    let here = real(cwd, &mut complete);
    let mut best: Option<(usize, bool, SourceLocation)> = None;
    for entry in document.entries() {
        let source = SourceLocation { file: file.clone(), at: entry.at };
        let said = entry.node.text().unwrap_or_default();
        let trusted = match said {
            "TRUST_FOLDER" | "TRUST_PARENT" => true,
            "DO_NOT_TRUST" => false,
            _ => {
                let message = format!("`{said}` is not a trust level; the agent does not start");
                let next = "Write `TRUST_FOLDER`, `TRUST_PARENT` or `DO_NOT_TRUST`.".to_owned();
                let source = SourceLocation { file: file.clone(), at: entry.node.at };
                settings.note(&source, message, Some(next));
                continue;
            }
        };
        let Ok(path) = AbsPath::new((*entry.key).as_ref()) else { continue };
        let parent = path.parent().filter(|_| said == "TRUST_PARENT");
        let root = real(&parent.unwrap_or(path), &mut complete);
        let longer = best.as_ref().is_none_or(|(length, ..)| entry.key.len() > *length);
        let until = settings.until_trusted(file).filter(|_| trusted && here.starts_with(&*root));
        if let Some(until) = until {
            settings.note(&source, format!("this trusts the working directory{until}"), None);
            continue;
        }
        if here.starts_with(&*root) && longer {
            best = Some((entry.key.len(), trusted, source));
        }
    }
    settings.complete &= complete;
    if let Some((_, trusted, source)) = best {
        let word = if trusted { "trusts" } else { "does not trust" };
        settings.note(&source, format!("this {word} the working directory"), None);
        // A setting that disables folder trust takes precedence.
        if settings.trusted.is_none() {
            settings.trusted = Some((trusted, source));
        }
    }
}
