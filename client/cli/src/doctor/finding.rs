//! Finding of `doctor` before it is sent ([`DoctorProblem`]), with a local path and a repair.

use std::path::{Path, PathBuf};

use skills_protocol::path::{decode, encode, encoding_of};
use skills_protocol::wire::{Finding as WireFinding, Health, Severity};

use crate::doctor::repair::DoctorRepair;

#[derive(Debug)]
pub(super) struct DoctorProblem {
    pub(super) code: String,
    pub(super) severity: Severity,
    message: String,
    hint: String,
    location: FindingLocation,
    repair: Option<DoctorRepair>,
    fixed: Option<String>,
}

#[derive(Debug)]
enum FindingLocation {
    None,
    Local(PathBuf),
    /// Path from a server's health message.
    Remote(Health),
}

impl DoctorProblem {
    /// Returns a finding that stops something from working.
    pub(super) fn error(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into(), hint.into())
    }

    /// Returns a finding that may stop something from working.
    pub(super) fn warning(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into(), hint.into())
    }

    fn new(code: &str, severity: Severity, message: String, hint: String) -> Self {
        let code = code.to_owned();
        Self {
            code,
            severity,
            message,
            hint,
            location: FindingLocation::None,
            repair: None,
            fixed: None,
        }
    }

    /// Returns a finding for a server's health message.
    pub(super) fn from_health(health: &Health) -> Self {
        let hint = health.hint.clone().unwrap_or_else(|| "Nothing needs to be done.".to_owned());
        let severity = if health.code == "config" { Severity::Error } else { Severity::Warning };
        let finding = Self::new(&health.code, severity, health.message.clone(), hint);
        Self { location: FindingLocation::Remote(health.clone()), ..finding }
    }

    /// Returns true if this is about the file or directory.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        match &self.location {
            FindingLocation::None => false,
            FindingLocation::Local(it) => it == path,
            FindingLocation::Remote(it) => {
                let found = it.path.as_deref().and_then(|text| decode(text, it.path_encoding).ok());
                found.as_deref() == Some(path)
            }
        }
    }

    /// Returns the finding with its file or directory.
    pub(super) fn at(self, path: impl Into<PathBuf>) -> Self {
        Self { location: FindingLocation::Local(path.into()), ..self }
    }

    /// Returns the finding with a safe repair.
    pub(super) fn with_repair(self, repair: DoctorRepair) -> Self {
        Self { repair: Some(repair), ..self }
    }

    /// Applies the repair, if there is one, and returns the finding with its result.
    pub(super) fn repaired(mut self) -> Self {
        match self.repair.as_ref().map(DoctorRepair::apply) {
            Some(Ok(done)) => self.fixed = Some(done),
            Some(Err(error)) => {
                self.hint = format!("The repair failed: {error}. {}", self.hint);
            }
            None => {}
        }
        self
    }

    pub(super) fn into_wire(self) -> WireFinding {
        let (path, path_encoding) = match self.location {
            FindingLocation::None => (None, None),
            FindingLocation::Local(path) => {
                let encoding = encoding_of([path.as_path()]);
                (Some(encode(&path, encoding)), encoding)
            }
            FindingLocation::Remote(health) => (health.path, health.path_encoding),
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
