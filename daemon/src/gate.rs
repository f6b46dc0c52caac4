//! What is asked before a body leaves the daemon, and before anything of a skill is run.
//!
//! Everything that gives a skill away or runs a part of it passes here and gets a [`Permit`], which
//! nothing else can make: what needs one cannot forget to ask. The order is: the configuration,
//! trust, permission.

use skills_core::permission::{self, Action, Decision, Properties, Regime};
use skills_core::profile::Scope;
use skills_core::render::By;
use skills_core::resolve::Candidate;
use skills_engine::View;
use skills_protocol::error::{PermissionRule, RpcError, RuleSource};

use crate::service::Service;

/// Says that somebody was asked and agreed.
#[derive(Debug)]
pub(crate) struct Permit(());

/// Who wants which skill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) view: &'a View,
    pub(crate) candidate: &'a Candidate,
    /// The agent's name inside the session.
    pub(crate) agent: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
    pub(crate) by: By,
    /// Whether the caller waits for the user's answer.
    pub(crate) wait: bool,
}

/// What is to be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Its text is given to a model.
    Load,
    /// The commands in its body are run.
    Shell,
    /// A script of it is run.
    Script,
}

/// Asks whether a skill may be loaded.
pub(crate) async fn load(service: &Service, asking: Asking<'_>) -> Result<Permit, RpcError> {
    permission(service, asking, Act::Load).await
}

/// Asks whether the files of a skill may be given away: what is denied is denied with them, and
/// nobody is asked.
pub(crate) fn read(
    view: &View,
    candidate: &Candidate,
    agent: Option<&str>,
) -> Result<(), RpcError> {
    match decide(view, candidate, agent, &properties(candidate)) {
        decision if decision.action == Action::Deny => refusal(candidate, &decision),
        _ => Ok(()),
    }
}

/// Asks whether a part of a skill may be run.
pub(crate) async fn run(
    service: &Service,
    asking: Asking<'_>,
    act: Act,
) -> Result<Permit, RpcError> {
    let config = service.settings.user();
    let (is_on, key, what) = match act {
        Act::Load => (true, "", ""),
        Act::Shell => (config.run_shell, "run.shell", "the commands of skills"),
        Act::Script => (config.run_scripts, "run.scripts", "scripts of skills"),
    };
    if !is_on {
        return Err(RpcError::not_allowed(format!(
            "the configuration does not let skillsd run {what}"
        ))
        .with_hint(format!(
            "Set `{key} = true` in your `config.toml`, or run them under the agent's own rules."
        )));
    }
    let name = &asking.candidate.name;
    let scope = asking.view.resolution.roots[asking.candidate.root].scope;
    if matches!(scope, Scope::Remote | Scope::Mcp) {
        return Err(RpcError::not_allowed(format!(
            "nothing of `{name}` is run: it comes from elsewhere"
        ))
        .with_hint("Copy it into a directory of yours to run what is in it."));
    }
    if !is_trusted(asking) {
        return Err(RpcError::untrusted(format!(
            "nothing of `{name}` is run: the worktree that it comes with is not trusted"
        ))
        .with_hint("Read the skill, and move it to your home directory if it is to run things."));
    }
    permission(service, asking, act).await
}

/// Whether a skill may run things: what is the user's own choice may, what comes with a worktree
/// waits until the user trusts it, which nothing records yet.
fn is_trusted(asking: Asking<'_>) -> bool {
    asking.view.resolution.roots[asking.candidate.root].own
}

/// The one place where the rules of the user and of the agents decide: what they deny is refused
/// here and nowhere else. What they want to be asked about is not held up: the caller's own agent
/// asks, as it does without us.
#[expect(clippy::unused_async, reason = "whoever has to be asked is waited for")]
async fn permission(_service: &Service, asking: Asking<'_>, act: Act) -> Result<Permit, RpcError> {
    let Asking { view, candidate, agent, session, by, wait } = asking;
    let properties = properties(candidate);
    let decision = decide(view, candidate, agent, &properties);
    let action = decision.action.name();
    tracing::debug!(name = candidate.name, ?agent, ?session, ?by, wait, ?act, action, "decided");
    if decision.action == Action::Deny {
        refusal(candidate, &decision)?;
    }
    Ok(Permit(()))
}

fn properties(candidate: &Candidate) -> Properties {
    candidate.record().map_or(Properties::Unknown, |it| Properties::of(&it.document(), &it.head))
}

fn decide<'a>(
    view: &'a View,
    candidate: &Candidate,
    agent: Option<&str>,
    properties: &Properties,
) -> Decision<'a> {
    let resolution = &view.resolution;
    let is_remote = resolution.roots[candidate.root].scope == Scope::Remote;
    let request = permission::Request { name: &candidate.name, agent, is_remote, properties };
    permission::decide(Regime::of(&view.site.profile), &resolution.permissions, &request)
}

/// Refuses what is denied, by the rule that denies it.
fn refusal(candidate: &Candidate, decision: &Decision<'_>) -> Result<(), RpcError> {
    decision.rule().map_or(Ok(()), |rule| Err(denied(&candidate.name, rule)))
}

fn denied(name: &str, rule: &permission::Rule) -> RpcError {
    let file = rule.source.file.display().to_string();
    let line = rule.source.at.line;
    let rule = PermissionRule {
        pattern: rule.pattern.to_string(),
        action: rule.action.name().to_owned(),
        source: Some(RuleSource { file: file.clone(), line }),
    };
    let message = format!("the rule `{}` in `{file}`, line {line}, denies `{name}`", rule.pattern);
    RpcError::denied(message, rule)
        .with_hint("Change the rule if the skill is to be used; it counts for the next call.")
}
