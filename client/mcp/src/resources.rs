//! Resources: each skill's SKILL.md, and a template for all other files of a skill.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;
use skills_agents::listing::visible_line;
use skills_client::ClientError;
use skills_protocol::error::{INVALID_PARAMS, SKILL_NOT_FOUND};
use skills_protocol::method::SkillsRead;
use skills_protocol::wire::{By, Entry, ReadParams, Scope};

use crate::consent::{User, ask_first};
use crate::context::{McpContext, error_text, refusal};
use crate::names::{SKILL_FILE, TEMPLATE, media_type, parse_uri, uri};

/// Maximum size of a file read as one resource.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Lists the skills, each as its SKILL.md.
pub(crate) async fn list(mcp: &McpContext) -> Result<Vec<Resource>, ClientError> {
    let listed = mcp.listed(&[]).await?;
    mcp.note_listed();
    let mut seen = BTreeSet::new();
    // Prompts of MCP servers have no files. The first of several skills with one name is listed.
    let files = listed.iter().filter(|it| it.scope != Scope::Mcp);
    Ok(files.filter(|it| seen.insert(it.name.clone())).map(resource).collect())
}

fn resource(entry: &Entry) -> Resource {
    let description = visible_line(entry.description.as_deref().unwrap_or_default());
    // A command is a file of another name.
    let file = entry.path.rsplit('/').next().filter(|it| media_type(it).is_some());
    Resource::new(uri(&entry.name, file.unwrap_or(SKILL_FILE)), &entry.name)
        .with_title(visible_line(&entry.name))
        .with_description(description)
        .with_mime_type("text/markdown")
}

pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(TEMPLATE, "skill file")
        .with_title("A file of a skill")
        .with_description("A file by its path relative to the skill's directory.")
}

/// Reads a file of a skill; asks the user first if that needs approval.
pub(crate) async fn read(
    mcp: &McpContext,
    uri: &str,
    user: User,
) -> Result<ReadResourceResponse, ErrorData> {
    let missing = |why: String| ErrorData::resource_not_found(why, Some(json!({"uri": uri})));
    let Some((name, path)) = parse_uri(uri) else {
        return Err(missing(format!(
            "`{uri}` is not the URI of a skill file; the form is `{TEMPLATE}`"
        )));
    };
    let failed = |error: ClientError| match refusal(&error) {
        Some(refused) if [SKILL_NOT_FOUND, INVALID_PARAMS].contains(&refused.code) => {
            missing(error_text(&error))
        }
        Some(_) => ErrorData::invalid_params(error_text(&error), Some(json!({"uri": uri}))),
        None => ErrorData::internal_error(error_text(&error), None),
    };
    let bytes = match whole(mcp, &name, &path).await {
        Ok(bytes) => bytes,
        Err(refused) => {
            if let Some(question) = ask_first(mcp, user, refused).await.map_err(failed)? {
                return Ok(question.into());
            }
            whole(mcp, &name, &path).await.map_err(failed)?
        }
    };
    let kind = media_type(&path);
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(kind.unwrap_or("text/plain")),
        Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), uri)
            .with_mime_type(kind.unwrap_or("application/octet-stream")),
    };
    Ok(ReadResourceResult::new(vec![contents]).into())
}

/// Reads a whole file in parts. If it changes meanwhile, the parts may be of different versions.
async fn whole(mcp: &McpContext, name: &str, path: &str) -> Result<Vec<u8>, ClientError> {
    let mut bytes = Vec::new();
    loop {
        let offset = Some(bytes.len() as u64);
        let params = |relative| ReadParams {
            name: Some(name.to_owned()),
            relative,
            offset,
            by: Some(By::Model),
            ..ReadParams::default()
        };
        let part = mcp.ask_about::<SkillsRead>(path, params).await?;
        if part.size > MAX_BYTES {
            return Err(ClientError::TooLarge { length: part.size });
        }
        let before = bytes.len();
        match (part.content, part.base64) {
            (Some(text), _) => bytes.extend_from_slice(text.as_bytes()),
            (None, Some(base64)) => bytes.extend(STANDARD.decode(base64).unwrap_or_default()),
            (None, None) => {}
        }
        if !part.truncated || bytes.len() == before {
            return Ok(bytes);
        }
    }
}
