//! OpenHands, whose own functions load its skills as its command line does.

use std::collections::BTreeSet;

use super::{ListingAgent, finish, relative};
use crate::agent_trees::{Found, first_line};

/// Loads the skills as OpenHands does, and prints names, descriptions and paths. Files that make it
/// drop a whole directory are removed before.
const LIST: &str = r#"
import html, json, os, pathlib, re
import yaml
from openhands.sdk.context import AgentContext
from openhands.sdk.skills import skill as skills
from openhands.sdk.skills.exceptions import SkillError

work = pathlib.Path(os.getcwd())
for top in [work, skills._find_git_repo_root(work) or work, pathlib.Path.home()]:
    for name in (".agents/skills", ".openhands/skills", ".openhands/microagents"):
        for path in skills.find_skill_md_directories(top / name):
            try:
                skills.Skill.load(path, top / name)
            except (SkillError, OSError, yaml.YAMLError):
                pass
            except Exception:
                path.unlink()
found = []
for it in AgentContext(skills=skills.load_project_skills(work), load_user_skills=True).skills:
    if it.is_agentskills_format:
        text = skills.to_prompt([it]).split("<description>")[1].split("</description>")[0]
        text = re.split(r"\.\.\. \[\d+ characters|<response clipped>", html.unescape(text))
        found.append([it.name, text[0] + ("..." if len(text) > 1 else ""), it.source])
print(json.dumps(found))
"#;

pub(crate) const OPENHANDS: ListingAgent = ListingAgent {
    profile: "openhands",
    program: "venv/bin/python",
    own: ".openhands/skills",
    home: &[".agents/skills", ".openhands/skills", ".openhands/microagents"],
    project: &[".agents/skills", ".openhands/skills", ".openhands/microagents"],
    has_descriptions: true,
    lists_hidden: true,
    lists_conditional: true,
    is_race: false,
    list: |_, command, top| {
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("OPENHANDS_SUPPRESS_BANNER", "1");
        let output = finish(command.args(["-c", LIST]));
        let found: BTreeSet<(String, String, String)> = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let skill = |it: (String, String, String)| (it.0, first_line(&it.1), relative(&it.2, top));
        found.into_iter().map(skill).collect::<Found>()
    },
};
