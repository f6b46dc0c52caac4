//! The protocol's own extension for skills: `skills/list` and `skills/get`, over the resources.
//!
//! A host that speaks it loads skills as files and checks their frontmatter against what is listed,
//! so only skills are in its list whose name is that of the file and fits a URI as it stands;
//! the others are resources, prompts and in the tool's list all the same. The files change when
//! their author says, and so are listed as `dynamic`.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use futures_util::stream;
use rmcp::ErrorData;
use rmcp::model::{GetSkillResult, Skill, SkillFrontmatter, SkillResources};
use serde_json::{Map, Value};
use skills_client::ClientError;
use skills_protocol::wire::Scope;

use super::context::{AT_ONCE, McpContext, told};
use super::names::{SKILL_FILE, parsed, uri};

/// Lists the skills that a host can take as files.
pub(super) async fn list(desk: &McpContext) -> Result<Vec<Skill>, ClientError> {
    let listed = desk.listed(&[]).await?;
    let mut seen = BTreeSet::new();
    let names: Vec<_> = listed
        .into_iter()
        .filter(|it| it.scope != Scope::Mcp && seen.insert(it.name.clone()))
        .map(|it| it.name)
        .collect();
    let n_names = names.len();
    let skills: Vec<_> = stream::iter(names)
        .map(|name| async move {
            let frontmatter = desk.frontmatter(&name).await.ok()?;
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
            "skills whose name the extension cannot carry are not in its list"
        );
    }
    Ok(skills)
}

/// Gives one skill by the URI of its SKILL.md.
pub(super) async fn get(desk: &McpContext, of: &str) -> Result<GetSkillResult, ErrorData> {
    let missing = |why: String| ErrorData::invalid_params(why, None);
    let Some((name, _)) = parsed(of).filter(|(_, path)| path == SKILL_FILE) else {
        return Err(missing(format!("`{of}` is not the URI of a skill's {SKILL_FILE}")));
    };
    let frontmatter = desk.frontmatter(&name).await.map_err(|error| missing(told(&error)))?;
    let skill = skill(&name, &frontmatter).filter(|it| it.uri == of);
    let skill = skill.ok_or_else(|| {
        missing(format!(
            "`{name}` is not the name that its {SKILL_FILE} says, or does not fit a URI"
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
    fn a_host_is_given_what_it_can_check() {
        assert!(is_listed("pdf", json!({"name": "pdf", "description": "d", "paths": ["a"]})));
        assert!(!is_listed("pdf", json!({"name": "PDF", "description": "d"})));
        assert!(!is_listed("pdf", json!({"name": "pdf"})));
        assert!(!is_listed("a b", json!({"name": "a b", "description": "d"})));
        assert!(!is_listed("p:s", json!({"name": "p:s", "description": "d"})));
    }
}
