//! `read_skill_file`: reads a file beside a SKILL.md, or lists these files.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, ResourceContents};
use serde::Deserialize;
use serde_json::{Value, json};
use skills_protocol::method::{SkillsRead, SkillsResources};
use skills_protocol::wire::{By, ReadParams, ReadResult, ResourcesParams};

use super::definition::{ToolResult, arguments, object, text};
use crate::consent::{User, ask_first};
use crate::context::{McpContext, error_text};
use crate::names::{media_type, uri};

pub(super) const READ: &str = "Reads a file that belongs to a skill, such as a reference or a script, by its path relative to the skill's directory. Without a path it lists the skill's files.";

/// Bytes read by default: about as much as clients show of one result.
const LENGTH: u64 = 64 * 1024;

/// Maximum number of listed files.
const MAX_FILES: u32 = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileArguments {
    name: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    offset: Option<u64>,
    #[serde(default)]
    length: Option<u64>,
}

pub(super) fn schema() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let number =
        |description: &str| json!({"type": "integer", "minimum": 0, "description": description});
    let properties = json!({
        "name": text("The name of the skill."),
        "path": text("The file's path, relative to the skill's directory."),
        "offset": number("The first byte to read; 0 when absent."),
        "length": number("How many bytes to read at most; 65536 when absent."),
    });
    object(&properties, &["name"])
}

/// Reads a file; asks the user first if that needs approval.
pub(super) async fn read(
    mcp: &McpContext,
    given: Option<JsonObject>,
    user: User,
) -> Result<CallToolResponse, String> {
    let FileArguments { name, path, offset, length } = arguments(given)?;
    let Some(path) = path.filter(|it| !it.is_empty()) else {
        return list(mcp, name).await.map(CallToolResponse::from);
    };
    let params = |relative| ReadParams {
        name: Some(name.clone()),
        relative,
        offset,
        length: Some(length.unwrap_or(LENGTH)),
        by: Some(By::Model),
        ..ReadParams::default()
    };
    let read = match mcp.ask_about::<SkillsRead>(&path, params).await {
        Ok(read) => read,
        Err(refused) => {
            let asked = ask_first(mcp, user, refused).await.map_err(|error| error_text(&error))?;
            if let Some(question) = asked {
                return Ok(question.into());
            }
            mcp.ask_about::<SkillsRead>(&path, params).await.map_err(|error| error_text(&error))?
        }
    };
    let mut content = vec![content_block(&name, &path, &read)];
    content.extend(continuation_note(&read, offset.unwrap_or_default()).map(ContentBlock::text));
    Ok(CallToolResult::success(content).into())
}

/// Returns the part that was read, as text, image or binary resource.
fn content_block(name: &str, path: &str, read: &ReadResult) -> ContentBlock {
    let ReadResult { content, base64, .. } = read;
    if let Some(text) = content {
        return ContentBlock::text(text);
    }
    let bytes = base64.as_deref().unwrap_or_default();
    match media_type(path) {
        Some(kind) if kind.starts_with("image/") && !read.truncated => {
            ContentBlock::image(bytes, kind)
        }
        kind => {
            let resource = ResourceContents::blob(bytes, uri(name, path))
                .with_mime_type(kind.unwrap_or("application/octet-stream"));
            ContentBlock::resource(resource)
        }
    }
}

/// Returns a note with the next offset, if the file continues.
fn continuation_note(read: &ReadResult, offset: u64) -> Option<String> {
    let text = read.content.as_ref().map(|it| it.len() as u64);
    let bytes = read.base64.as_ref().map(|it| {
        let padding = it.bytes().rev().take_while(|byte| *byte == b'=').count() as u64;
        it.len() as u64 / 4 * 3 - padding
    });
    let next = offset + text.or(bytes).unwrap_or_default();
    read.truncated.then(|| {
        format!("Truncated: the file has {} bytes. Continue with `offset` {next}.", read.size)
    })
}

async fn list(mcp: &McpContext, name: String) -> ToolResult {
    let params =
        ResourcesParams { name: Some(name), limit: Some(MAX_FILES), ..ResourcesParams::default() };
    let listed = mcp.ask::<SkillsResources>(params).await.map_err(|error| error_text(&error))?;
    if listed.resources.is_empty() {
        return Ok(text("The skill has no files besides its SKILL.md."));
    }
    let mut lines: Vec<_> = listed
        .resources
        .iter()
        .map(|it| {
            let kind = if it.executable { ", executable" } else { "" };
            format!("{} ({} bytes{kind})", it.relative, it.size)
        })
        .collect();
    if listed.truncated {
        lines.push("There are more files than these.".to_owned());
    }
    Ok(text(lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_offset_is_counted_in_bytes() {
        let part = |content: Option<&str>, base64: Option<&str>| ReadResult {
            clock: String::new(),
            health: Vec::new(),
            path: "/x".to_owned(),
            path_encoding: None,
            content: content.map(str::to_owned),
            base64: base64.map(str::to_owned),
            size: 100,
            truncated: true,
        };
        let said = |part: &ReadResult| continuation_note(part, 10).expect("it is truncated");
        assert!(said(&part(Some("ü"), None)).ends_with("with `offset` 12."));
        assert!(said(&part(None, Some("AAAA"))).ends_with("with `offset` 13."));
        assert!(said(&part(None, Some("AAA="))).ends_with("with `offset` 12."));
        assert!(said(&part(None, Some("AA=="))).ends_with("with `offset` 11."));
    }
}
