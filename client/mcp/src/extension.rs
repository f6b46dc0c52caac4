//! The MCP extension for skills: `skills/list` and `skills/get`, over the resources.
//!
//! A host that supports it loads skills as files and compares their frontmatter with the list. The
//! list therefore holds only skills whose name equals that in the file and needs no escaping in a
//! URI; the others are still resources, prompts and in the tool's list. Files may change at any
//! time, so they are listed as `dynamic`.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use futures_util::stream;
use rmcp::ErrorData;
use rmcp::model::{GetSkillResult, Skill, SkillFrontmatter, SkillResources};
use serde_json::{Map, Value};
use skills_client::ClientError;
use skills_protocol::wire::Scope;

use crate::context::{AT_ONCE, McpContext, error_text};
use crate::names::{SKILL_FILE, parse_uri, uri};

/// Lists the skills that a host can load as files.
pub(crate) async fn list(mcp: &McpContext) -> Result<Vec<Skill>, ClientError> {
    let listed = mcp.listed(&[]).await?;
    let mut seen = BTreeSet::new();
    let names: Vec<_> = listed
        .into_iter()
        .filter(|it| it.scope != Scope::Mcp && seen.insert(it.name.clone()))
        .map(|it| it.name)
        .collect();
    let n_names = names.len();
    let skills: Vec<_> = stream::iter(names)
        .map(|name| async move {
            let frontmatter = mcp.frontmatter(&name).await.ok()?;
            skill(&name, &frontmatter)
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    let skills: Vec<_> = skills.into_iter().flatten().collect();
    if skills.len() < n_names {
        let left_out = n_names - skills.len();
        tracing::info!(
            left_out,
            "left out skills whose name does not fit the MCP skills extension"
        );
    }
    Ok(skills)
}

/// Returns one skill by the URI of its SKILL.md.
pub(crate) async fn get(mcp: &McpContext, of: &str) -> Result<GetSkillResult, ErrorData> {
    let missing = |why: String| ErrorData::invalid_params(why, None);
    let Some((name, _)) = parse_uri(of).filter(|(_, path)| path == SKILL_FILE) else {
        return Err(missing(format!("`{of}` is not the URI of a skill's {SKILL_FILE}")));
    };
    let frontmatter = mcp.frontmatter(&name).await.map_err(|error| missing(error_text(&error)))?;
    let skill = skill(&name, &frontmatter).filter(|it| it.uri == of);
    let skill = skill.ok_or_else(|| {
        missing(format!(
            "`{name}` differs from the name in its {SKILL_FILE}, or needs escaping in a URI"
        ))
    })?;
    Ok(GetSkillResult::new(skill))
}

fn skill(name: &str, frontmatter: &Map<String, Value>) -> Option<Skill> {
    let text = |key: &str| frontmatter.get(key).and_then(Value::as_str);
    let uri = uri(name, SKILL_FILE);
    let is_its_own = text("name") == Some(name) && uri == format!("skill://{name}/{SKILL_FILE}");
    let mut said = SkillFrontmatter::new(name, text("description").filter(|_| is_its_own)?);
    let others = frontmatter.iter().filter(|(key, _)| *key != "name" && *key != "description");
    for (key, value) in others {
        said = said.with_field(key, value.clone());
    }
    Some(Skill::new(uri, said, SkillResources::Dynamic))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_listed(name: &str, frontmatter: Value) -> bool {
        let Value::Object(frontmatter) = frontmatter else { panic!("not an object") };
        skill(name, &frontmatter).is_some_and(|it| it.validate().is_ok())
    }

    #[test]
    fn only_skills_with_a_matching_plain_name_are_listed() {
        assert!(is_listed("pdf", json!({"name": "pdf", "description": "d", "paths": ["a"]})));
        assert!(!is_listed("pdf", json!({"name": "PDF", "description": "d"})));
        assert!(!is_listed("pdf", json!({"name": "pdf"})));
        assert!(!is_listed("a b", json!({"name": "a b", "description": "d"})));
        assert!(!is_listed("p:s", json!({"name": "p:s", "description": "d"})));
    }
}
