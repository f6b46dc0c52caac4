//! Findings as SARIF 2.1.0 for code scanning.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use skills_protocol::path::decode;
use skills_protocol::wire::{
    CheckFinding, CheckFix, CheckResult, CheckedFile, Range, RuleDescription, Severity,
};

use crate::server_connection::VERSION;
use crate::text::address_path;

/// Returns a SARIF log with one run.
pub(super) fn render(result: &CheckResult, rules: &[RuleDescription], cwd: &Path) -> String {
    let index: BTreeMap<&str, usize> =
        rules.iter().enumerate().map(|(at, it)| (&*it.rule, at)).collect();
    let rules: Vec<Value> = rules.iter().map(rule).collect();
    let results: Vec<Value> = result
        .files
        .iter()
        .flat_map(|file| {
            let location = artifact(file, cwd);
            let index = &index;
            file.findings
                .iter()
                .map(move |it| self::result(it, &location, index.get(&*it.code).copied()))
        })
        .collect();
    let mut base = address_path(cwd);
    base.push('/');
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "skillsd", "semanticVersion": VERSION, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {"SRCROOT": {"uri": format!("file://{base}")}},
            "results": results,
        }],
    });
    format!("{}\n", serde_json::to_string_pretty(&log).unwrap_or_default())
}

/// Returns the reporting descriptor of a rule.
fn rule(rule: &RuleDescription) -> Value {
    let family = rule.rule.split('/').next().unwrap_or_default();
    let mut described = json!({
        "id": rule.rule,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": format!("{} {}", rule.what, rule.why)},
        "help": {"text": rule.repair, "markdown": rule.markdown},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"tags": [family]},
    });
    // The log is read elsewhere, where the path of a local page leads nowhere.
    if let Some(href) = rule.href.as_ref().filter(|it| !it.starts_with("file:")) {
        described["helpUri"] = href.as_str().into();
    }
    described
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

fn result(finding: &CheckFinding, location: &Value, rule: Option<usize>) -> Value {
    let message = match &finding.help {
        Some(help) if finding.message.ends_with(['.', '?', '!']) => {
            format!("{} {help}", finding.message)
        }
        Some(help) => format!("{}. {help}", finding.message),
        None => finding.message.clone(),
    };
    let mut result = json!({
        "ruleId": finding.code,
        "level": level(finding.severity),
        "message": {"text": message},
        "locations": [{
            "physicalLocation": {"artifactLocation": location, "region": region(finding.range)},
        }],
    });
    // A daemon of another version may report a rule without a description.
    if let Some(rule) = rule {
        result["ruleIndex"] = rule.into();
    }
    let fixes: Vec<Value> = finding.fixes.iter().map(|it| fix(it, location)).collect();
    if !fixes.is_empty() {
        result["fixes"] = fixes.into();
    }
    result
}

fn fix(fix: &CheckFix, location: &Value) -> Value {
    let replacement = |it: &skills_protocol::wire::CheckEdit| json!({"deletedRegion": deleted(it.range), "insertedContent": {"text": it.new_text}});
    let replacements: Vec<Value> = fix.edits.iter().map(replacement).collect();
    json!({
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": location, "replacements": replacements}],
    })
}

/// Returns the region that a fix deletes. A byte order mark has no column and is given by bytes.
fn deleted(range: Range) -> Value {
    let (start, end) = (range.start, range.end);
    let is_in_text = (start.line, start.column) != (end.line, end.column);
    if is_in_text || start.offset == end.offset {
        return region(range);
    }
    json!({"byteOffset": start.offset, "byteLength": end.offset - start.offset})
}

fn region(range: Range) -> Value {
    let (start, end) = (range.start, range.end);
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn artifact(file: &CheckedFile, cwd: &Path) -> Value {
    let path = decode(&file.path, file.path_encoding).unwrap_or_else(|_| file.path.clone().into());
    match path.strip_prefix(cwd) {
        Ok(relative) => json!({"uri": address_path(relative), "uriBaseId": "SRCROOT"}),
        Err(_) => json!({"uri": format!("file://{}", address_path(&path))}),
    }
}
