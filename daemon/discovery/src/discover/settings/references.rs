//! Replaces `{env:NAME}` and `{file:PATH}` in a settings file, as opencode does before it parses
//! the text.

use std::cell::RefCell;
use std::cmp::Reverse;

use serde_json::Value;
use skills_syntax::config_tree::SyntaxError;
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

use crate::discover::context::{DiscoveryContext, variable};
use crate::discover::disk::{PathStatus, TEXT_LIMIT};
use crate::discover::links;
use crate::discover::owner::Owners;
use crate::discover::tree::Tree;

const ENV: &str = "{env:";
const FILE: &str = "{file:";

/// Returns whether a text contains a reference.
pub(super) fn has_references(text: &str) -> bool {
    text.contains(ENV) || text.contains(FILE)
}

/// A value that messages must not show, with the reference that stands for it.
pub(super) type SecretValue = (String, String);

/// Returns a message that shows references in place of their values.
pub(super) fn redacted(message: &str, values: &[SecretValue]) -> String {
    let mut values: Vec<_> = values.iter().collect();
    // A value may be part of another one.
    values.sort_by_key(|(value, _)| Reverse(value.len()));
    let shown = |text: String, it: &&SecretValue| text.replace(&it.0, &it.1);
    values.iter().fold(message.to_owned(), shown)
}

/// The values that references of one settings file may get.
pub(super) struct References<'a> {
    pub(super) ctx: &'a DiscoveryContext,
    pub(super) owners: &'a Owners<'a>,
    pub(super) tree: &'a dyn Tree,
    /// Worktrees whose files must not be links that lead out of them.
    pub(super) tops: &'a [AbsPath],
    /// The directory at which relative paths start.
    pub(super) dir: &'a AbsPath,
    /// False for a file that gets the variables of the call and files of the worktree only.
    pub(super) may_loosen: bool,
    /// The values of the references.
    pub(super) values: RefCell<Vec<SecretValue>>,
}

/// Minimum length of a value that is replaced in messages, in bytes. Shorter ones are no secrets
/// and are part of many words.
const MIN_SECRET: usize = 4;

impl References<'_> {
    /// Returns a text with its references replaced; `None` if the tree could not answer yet.
    pub(super) fn replaced(&self, text: &str) -> Option<Result<String, SyntaxError>> {
        let Self { dir, may_loosen, .. } = *self;
        let text = replace(text, ENV, |name, _| {
            let own = self.owners.own_environment().filter(|_| may_loosen);
            let value = self.ctx.environment.get(name).or_else(|| own?.get(name));
            let value = value.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
            self.note_value(&value, format!("{ENV}{name}}}"));
            Some(Ok(value))
        })?;
        let text = match text {
            Ok(text) => text,
            Err(error) => return Some(Err(error)),
        };
        replace(&text, FILE, |name, at| {
            if is_comment(&text, at) {
                return Some(Ok(format!("{FILE}{name}}}")));
            }
            let path = match name.strip_prefix("~/") {
                Some(rest) => variable(self.ctx, "HOME").ok().map(|it| it.join_lexically(rest)),
                None => Some(dir.join_lexically(name)),
            };
            let error = |why: &str| {
                Err(SyntaxError {
                    message: format!("not readable: `{FILE}{name}}}` {why}"),
                    at: position(&text, at),
                })
            };
            let Some(path) = path else { return Some(error("is below a home that is not set")) };
            // Left as written, so that the file's rules still count.
            if !may_loosen && !self.is_harmless(name, &path) {
                return Some(Ok(format!("{FILE}{name}}}")));
            }
            match self.tree.look(&path)? {
                PathStatus::File => {}
                _ => return Some(error("names no file")),
            }
            Some(match links::text(self.tree, self.tops, &path)? {
                Ok(content) => {
                    self.note_value(content.as_str().trim(), format!("{FILE}{name}}}"));
                    let quoted = Value::from(content.as_str().trim()).to_string();
                    Ok(quoted[1..quoted.len() - 1].to_owned())
                }
                Err(_) => error("names a file that cannot be read"),
            })
        })
    }
}

impl References<'_> {
    fn note_value(&self, value: &str, reference: String) {
        if value.len() >= MIN_SECRET {
            self.values.borrow_mut().push((value.to_owned(), reference));
        }
    }

    /// Returns whether the file may be read for settings that are not trusted: a file of the
    /// worktree with a visible name. Its content can appear in messages, and hidden files hold
    /// secrets (`.env`, `.git/config`).
    fn is_harmless(&self, name: &str, path: &AbsPath) -> bool {
        let is_visible = |it: &str| !it.starts_with('.') || it == ".";
        name.split('/').all(is_visible) && self.owners.is_in_worktree(path)
    }
}

/// Maximum number of references in a file.
const MAX_REFERENCES: usize = 256;

/// Replaces each `{opening…}` by the value of its content and offset. The result is at most
/// [`TEXT_LIMIT`] bytes longer than the text.
fn replace(
    text: &str,
    opening: &str,
    value: impl Fn(&str, usize) -> Option<Result<String, SyntaxError>>,
) -> Option<Result<String, SyntaxError>> {
    let mut replaced = String::with_capacity(text.len());
    let (mut done, mut count) = (0, 0);
    while let Some(at) = text[done..].find(opening).map(|it| done + it) {
        let start = at + opening.len();
        let Some(end) = text[start..].find('}').map(|it| start + it) else { break };
        if end == start {
            replaced.push_str(&text[done..start]);
            done = start;
            continue;
        }
        count += 1;
        if count > MAX_REFERENCES || replaced.len() > text.len() + TEXT_LIMIT as usize {
            let message = format!(
                "more than {MAX_REFERENCES} references or {TEXT_LIMIT} bytes of replaced text"
            );
            return Some(Err(SyntaxError { message, at: position(text, at) }));
        }
        replaced.push_str(&text[done..at]);
        match value(&text[start..end], at)? {
            Ok(value) => replaced.push_str(&value),
            Err(error) => return Some(Err(error)),
        }
        done = end + 1;
    }
    replaced.push_str(&text[done..]);
    Some(Ok(replaced))
}

/// Returns whether the line before `at` begins with a comment.
fn is_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |it| it + 1);
    text[line..at].trim_start().starts_with("//")
}

fn position(text: &str, at: usize) -> LineColumn {
    let line = text[..at].matches('\n').count() as u32 + 1;
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    LineColumn { line, column: text[start..at].chars().count() as u32 + 1 }
}
