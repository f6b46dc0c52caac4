//! Conversion from the model to the wire.
//!
//! Pure functions without decisions: states, reasons and order are kept as they are. Paths are
//! written with their encoding, object by object.

mod check;
mod explain;
mod position;
pub(crate) mod rendered;
mod session;
mod value;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};
use skills_agents::fields::Fields;
use skills_agents::profile::{self, NameSource, Profile, Provider};
use skills_agents::skill::{LocatedDiagnostic, SkillRecord};
use skills_config::Config;
use skills_discovery::discover::{Candidate, Reason, SkillState};
use skills_discovery::permission;
use skills_engine::{RemovedEntry, SourcePhase, SourceStatus, View, WorktreeStatus};
use skills_protocol::error::{PermissionRule, RuleSource};
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire;
use skills_syntax::diagnostic::{Diagnostic, ProblemCode, Severity};
use skills_syntax::parse::{Entry as YamlEntry, Frontmatter};
use skills_syntax::text::LineColumn;

pub(crate) use check::{checked_file, profile_name, rule};
pub(crate) use explain::{evidence, explanation, near_miss_steps, root_steps};
pub(crate) use position::PositionConverter;
pub(crate) use session::{discovered, loaded, matched, session, session_summary};
pub(crate) use value::{hash, health, path, state};

use position::bytes_before_head;
use value::{scope, severity};

pub(crate) fn entry(view: &View, candidate: &Candidate) -> wire::Entry {
    let profile = &view.ctx.profile;
    let root = &view.resolution.roots[candidate.root];
    let dir = candidate.dir();
    let encoding = encoding_of([&*candidate.path, &*dir, &*root.path]);
    let record = candidate.record();
    let with_text = view.resolution.with_text(candidate);
    let shown = with_text.and_then(Candidate::record);
    // Only the agent itself can load its built-in skills.
    let invocable = record.filter(|_| !candidate.is_built_in());
    let hidden = |record: &SkillRecord| profile.hides_from_model && record.disable_model_invocation;
    wire::Entry {
        name: candidate.name.clone(),
        description: with_text.and_then(|it| it.description.as_deref()).map(str::to_owned),
        path: path(&candidate.path, encoding),
        dir: path(&dir, encoding),
        path_encoding: encoding,
        scope: scope(root.scope),
        root: path(&root.path, encoding),
        state: state(candidate.state),
        reason: candidate.reason.as_ref().map(|reason| reason_text(reason, candidate)),
        paths: shown
            .map(|it| it.paths.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        label: match &root.label {
            Some(label) => Some(label.to_string()),
            None => shown.and_then(|it| label(profile, candidate, it)),
        },
        namespace: with_text.and_then(|it| it.namespace.clone()),
        model_invocable: invocable.is_some_and(|it| !hidden(it)),
        user_invocable: invocable.is_some_and(|it| it.user_invocable),
        trusted: root.is_trusted(),
        hash: invocable.map(|it| hash(&it.facts.hash)),
        diagnostics: diagnostic_counts(candidate),
        stale: candidate.file.as_ref().is_some_and(|it| it.stale.is_some()),
    }
}

pub(crate) fn permission_rule(rule: &permission::Rule) -> PermissionRule {
    let file = rule.source.file.to_string_lossy().into_owned();
    PermissionRule {
        pattern: rule.pattern.to_string(),
        action: rule.action.name().to_owned(),
        source: Some(RuleSource { file, line: rule.source.at.line }),
    }
}

pub(crate) fn permission_action(action: permission::Action) -> wire::PermissionAction {
    match action {
        permission::Action::Allow => wire::PermissionAction::Allow,
        permission::Action::Ask => wire::PermissionAction::Ask,
        permission::Action::Deny => wire::PermissionAction::Deny,
    }
}

/// Returns the field `name` if the agent takes the name from elsewhere.
fn label(profile: &Profile, candidate: &Candidate, record: &SkillRecord) -> Option<String> {
    let field = record.name.as_ref().filter(|_| profile.name.source == NameSource::Directory)?;
    let bare = candidate.name.rsplit(':').next().unwrap_or_default();
    let is_label = !field.text.is_empty() && *field.text != *candidate.name && *field.text != *bare;
    is_label.then(|| field.text.to_string())
}

fn reason_text(reason: &Reason, candidate: &Candidate) -> String {
    let mut text = reason.message.clone();
    if let Some(LineColumn { line, column }) = reason.at {
        let file = match &reason.file {
            Some(file) => file.to_string_lossy(),
            None => candidate.path.file_name().unwrap_or_default().to_string_lossy(),
        };
        // Writing to a string cannot fail.
        let _ = write!(text, " ({file}:{line}:{column})");
    }
    text
}

/// Returns a message with the reason why a skill is invalid or cannot be read now.
pub(crate) fn invalid_message(candidate: &Candidate) -> String {
    let name = &candidate.name;
    let stale = candidate.file.as_ref().and_then(|it| it.stale.as_ref());
    match (&candidate.reason, stale) {
        (_, Some(fault)) => format!("`{name}` {fault}; its last valid content is used"),
        (Some(reason), None) => format!("`{name}`: {}", reason_text(reason, candidate)),
        (None, None) => format!("`{name}` is dropped"),
    }
}

fn diagnostic_counts(candidate: &Candidate) -> wire::DiagnosticCounts {
    let mut counts = wire::DiagnosticCounts::default();
    for finding in candidate.record().into_iter().flat_map(|it| &it.findings) {
        match effective_severity(&finding.diagnostic, candidate) {
            Severity::Error => counts.error += 1,
            Severity::Warning => counts.warning += 1,
            Severity::Information | Severity::Hint => {}
        }
    }
    counts
}

/// Returns the severity of a finding for this agent. As in `skills/check`, a fault that the agent
/// tolerates is not an error.
fn effective_severity(diagnostic: &Diagnostic, candidate: &Candidate) -> Severity {
    let is_dropped = candidate.state == SkillState::Invalid;
    // Injection harms because the agent reads the listing.
    if is_dropped || diagnostic.code == ProblemCode::ListingInjection {
        diagnostic.severity
    } else {
        diagnostic.severity.max(Severity::Warning)
    }
}

pub(crate) fn removed(gone: &RemovedEntry) -> wire::Removed {
    let path_encoding = encoding_of([&*gone.path]);
    let path = encode(&gone.path, path_encoding);
    wire::Removed { name: gone.name.clone(), path, path_encoding }
}

pub(crate) fn worktree(status: &WorktreeStatus) -> wire::Worktree {
    let encoding = encoding_of([&*status.path]);
    let counts = |skills: &BTreeMap<SkillState, usize>| {
        let counts = skills.iter().filter(|(_, count)| **count > 0);
        counts.map(|(it, count)| (state(*it), *count as u64)).collect()
    };
    let profiles = status.profiles.iter();
    wire::Worktree {
        path: encode(&status.path, encoding),
        path_encoding: encoding,
        pinned: status.pinned,
        views: status.views as u64,
        skills: counts(&status.skills),
        profiles: profiles
            .map(|(id, skills)| wire::ProfileSkills {
                profile: id.to_string(),
                skills: counts(skills),
            })
            .collect(),
        health: health(&status.health),
    }
}

pub(crate) fn source(status: &SourceStatus) -> wire::SourceStatus {
    let encoding = encoding_of(status.path.as_deref());
    wire::SourceStatus {
        scope: match status.provider {
            Provider::Bundled => wire::Scope::Bundled,
            Provider::Remote => wire::Scope::Remote,
            Provider::Mcp => wire::Scope::Mcp,
        },
        name: status.name.clone(),
        state: match status.phase {
            SourcePhase::Idle => wire::SourceState::Idle,
            SourcePhase::Starting => wire::SourceState::Starting,
            SourcePhase::Ready => wire::SourceState::Ready,
            SourcePhase::Stale => wire::SourceState::Stale,
            SourcePhase::Failed => wire::SourceState::Failed,
        },
        skills: status.skills as u64,
        message: status.message.clone(),
        path: status.path.as_deref().map(|it| encode(it, encoding)),
        path_encoding: encoding,
    }
}

/// Returns a whole frontmatter as JSON, keys in file order; of duplicate keys the effective one.
pub(crate) fn frontmatter(frontmatter: &Frontmatter, source: &str) -> Map<String, Value> {
    Fields::new(frontmatter, source).as_json()
}

/// Returns the ranges of each top-level key and value in the file.
pub(crate) fn field_ranges(
    frontmatter: &Frontmatter,
    record: &SkillRecord,
) -> BTreeMap<String, wire::FieldRanges> {
    let places = PositionConverter::new(record);
    let ranges = |it: &YamlEntry| wire::FieldRanges {
        key: places.range(it.key.span),
        value: places.range(it.value.span),
    };
    frontmatter.entries.iter().map(|it| (it.key.text.clone(), ranges(it))).collect()
}

pub(crate) fn diagnostics(candidate: &Candidate) -> Vec<wire::Diagnostic> {
    let Some(record) = candidate.record() else { return Vec::new() };
    let before = bytes_before_head(record);
    let position = |spot: LineColumn, offset: usize| wire::Position {
        line: spot.line,
        column: spot.column,
        offset: before + offset as u64,
    };
    let convert =
        |LocatedDiagnostic { diagnostic, start, end }: &LocatedDiagnostic| wire::Diagnostic {
            code: diagnostic.code.as_str().to_owned(),
            severity: severity(effective_severity(diagnostic, candidate)),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            range: Some(wire::Range {
                start: position(*start, diagnostic.span.start),
                end: position(*end, diagnostic.span.end),
            }),
        };
    record.findings.iter().map(convert).collect()
}

/// Returns the names of the profiles, the default one first.
pub(crate) fn profile_names(config: &Config) -> Vec<String> {
    let first = config.profile.as_deref().unwrap_or(profile::DEFAULT);
    let mut names: Vec<_> = config.profiles.all().iter().map(|it| it.id.to_string()).collect();
    names.sort_by_key(|it| it != first);
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skills_agents::skill::FileFacts;

    use super::*;

    fn record(text: &str) -> SkillRecord {
        let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0xab; 32] };
        SkillRecord::read(text.as_bytes(), facts)
    }

    #[test]
    fn whole_frontmatter_is_sent_in_file_order() {
        let record = record("---\nname: a\nx-own: [1, b]\ndescription: 1.10\n---\nbody\n");
        let document = record.document();
        let sent = frontmatter(&document.frontmatter.unwrap(), &record.head);
        let expected = json!({"name": "a", "x-own": [1, "b"], "description": "1.10"});
        assert_eq!(Value::Object(sent).to_string(), expected.to_string());
    }

    #[test]
    fn words_are_sent_as_understood_and_left_out_if_ignored() {
        let sent = |words: &str| {
            let record = record(&format!("---\nname: a\n{words}\n---\nbody\n"));
            frontmatter(&record.document().frontmatter.unwrap(), &record.head)
        };
        let known = sent("effort: HIGH\nmodel: Opus\nshell: Bash\ncontext: fork\nagent: Explore");
        let expected = json!({
            "name": "a", "effort": "high", "model": "opus", "shell": "bash", "context": "fork",
            "agent": "Explore",
        });
        assert_eq!(Value::Object(known), expected);
        let ignored = sent("effort: ultra\nshell: fish\ncontext: banana\nmodel:");
        assert_eq!(Value::Object(ignored), json!({"name": "a", "model": null}));
        assert_eq!(Value::Object(sent("effort: 3")), json!({"name": "a", "effort": 3}));
        assert_eq!(Value::Object(sent("effort: -3")), json!({"name": "a"}));
        assert_eq!(Value::Object(sent("effort: Med")), json!({"name": "a", "effort": "medium"}));
    }

    #[test]
    fn ranges_are_positions_in_the_file() {
        let text = "\u{FEFF}---\nname: é\ndescription: x\n---\n";
        let record = record(text);
        let document = record.document();
        let ranges = field_ranges(&document.frontmatter.unwrap(), &record);
        let value = ranges["description"].value;
        assert_eq!((value.start.line, value.start.column), (3, 14));
        assert_eq!(&text[value.start.offset as usize..value.end.offset as usize], "x");
        let key = ranges["name"].key;
        assert_eq!(&text[key.start.offset as usize..key.end.offset as usize], "name");
    }

    #[test]
    fn default_profile_comes_first() {
        let chosen = Config { profile: Some("claude-code".to_owned()), ..Config::default() };
        assert_eq!(profile_names(&chosen)[0], "claude-code");
        let names = profile_names(&Config::default());
        assert_eq!(names[0], profile::DEFAULT);
        assert_eq!(names.len(), profile::builtin().len());
    }
}
