//! A finding while it is made: its place is a path of this machine, its repair can be carried out.

use std::path::PathBuf;

use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{Finding as WireFinding, Health, Severity};

use crate::doctor::repair::Repair;

/// One thing that is wrong.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) code: String,
    pub(super) severity: Severity,
    message: String,
    hint: String,
    place: Place,
    repair: Option<Repair>,
    fixed: Option<String>,
}

#[derive(Debug)]
enum Place {
    None,
    Here(PathBuf),
    /// As a server wrote it.
    There(Health),
}

impl Finding {
    /// Returns a finding that keeps something from working.
    pub(super) fn error(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into(), hint.into())
    }

    /// Returns a finding that may keep something from working.
    pub(super) fn warning(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into(), hint.into())
    }

    fn new(code: &str, severity: Severity, message: String, hint: String) -> Self {
        let code = code.to_owned();
        Self { code, severity, message, hint, place: Place::None, repair: None, fixed: None }
    }

    /// Returns what a server says is not well.
    pub(super) fn of_health(health: &Health) -> Self {
        let hint = health.hint.clone().unwrap_or_else(|| "Nothing needs to be done.".to_owned());
        let severity = if health.code == "config" { Severity::Error } else { Severity::Warning };
        let finding = Self::new(&health.code, severity, health.message.clone(), hint);
        Self { place: Place::There(health.clone()), ..finding }
    }

    /// Returns the finding with the file or directory concerned.
    pub(super) fn at(self, path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Here(path.into()), ..self }
    }

    /// Returns the finding with what mends it and can do no harm.
    pub(super) fn with_repair(self, repair: Repair) -> Self {
        Self { repair: Some(repair), ..self }
    }

    /// Returns the finding after its repair, if it has one.
    pub(super) fn mended(mut self) -> Self {
        match self.repair.as_ref().map(Repair::carry_out) {
            Some(Ok(done)) => self.fixed = Some(done),
            Some(Err(error)) => {
                self.hint = format!("It could not be mended: {error}. {}", self.hint);
            }
            None => {}
        }
        self
    }

    /// Returns the finding in its wire form.
    pub(super) fn into_wire(self) -> WireFinding {
        let (path, path_encoding) = match self.place {
            Place::None => (None, None),
            Place::Here(path) => {
                let encoding = encoding_of([path.as_path()]);
                (Some(encode(&path, encoding)), encoding)
            }
            Place::There(health) => (health.path, health.path_encoding),
        };
        WireFinding {
            code: self.code,
            severity: self.severity,
            message: self.message,
            hint: self.hint,
            path,
            path_encoding,
            fixable: self.repair.is_some(),
            fixed: self.fixed,
        }
    }
}
