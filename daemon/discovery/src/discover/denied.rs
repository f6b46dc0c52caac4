//! Applies permission rules: a denied skill is not shown, and its reason names the rule.
//!
//! Runs after name conflicts are resolved, as if nothing were denied. A rule removes a skill and
//! does not let another skill take its name.

use super::{Candidate, DiscoveryContext, Reason, SkillState};
use crate::permission::{self, Action, Decision, Properties, Rule, RulePrecedence, SkillRequest};

/// Marks the candidates that the permission rules deny.
pub(super) fn apply(ctx: &DiscoveryContext, rules: &[Rule], candidates: &mut [Candidate]) {
    if !rules.iter().any(|it| it.action == Action::Deny) {
        return;
    }
    let precedence = RulePrecedence::of(&ctx.profile);
    for candidate in candidates {
        if candidate.state.is_out() || candidate.state == SkillState::Shadowed {
            continue;
        }
        // Claude Code lists a denied skill, but not one that is hidden or waits for a file; a load
        // is refused either way.
        let is_unlisted = matches!(candidate.state, SkillState::Hidden | SkillState::Conditional);
        if precedence == RulePrecedence::DenyFirst && is_unlisted {
            continue;
        }
        let decision = decide(ctx, precedence, rules, candidate);
        if decision.action == Action::Deny {
            candidate.state = SkillState::Denied;
            candidate.reason = reason(precedence, &decision).map(Box::new);
        }
    }
}

/// Returns true if the permission rules deny a candidate, whatever its state.
pub fn is_denied(ctx: &DiscoveryContext, rules: &[Rule], candidate: &Candidate) -> bool {
    let precedence = RulePrecedence::of(&ctx.profile);
    decide(ctx, precedence, rules, candidate).action == Action::Deny
}

fn decide<'a>(
    ctx: &DiscoveryContext,
    precedence: RulePrecedence,
    rules: &'a [Rule],
    candidate: &Candidate,
) -> Decision<'a> {
    let request = SkillRequest {
        name: &candidate.name,
        agent: ctx.agent.as_deref(),
        // Properties decide between `ask` and `allow`, never `deny`.
        properties: &Properties::Safe,
    };
    permission::decide(precedence, rules, &request)
}

/// Returns the reason of a denial, with the rule and its position; `None` if no rule denies it.
fn reason(precedence: RulePrecedence, decision: &Decision<'_>) -> Option<Reason> {
    let rule = decision.rule()?;
    let is_off = matches!(decision.reason, permission::DecisionReason::ToolDisabled(_));
    let (name, message, next) = if is_off {
        let message = format!(
            "the rule `{}` denies all skills, which disables the skill tool, even if other rules allow skills",
            rule.pattern
        );
        let next = match precedence {
            RulePrecedence::LastMatch => {
                "Put that rule before the others, so that it is not the last."
            }
            RulePrecedence::DenyFirst => "Deny single skills by name instead of all.",
        };
        ("permission/tool-off", message, next)
    } else {
        let message = format!("the rule `{}` denies it", rule.pattern);
        ("permission/denied", message, "Change the rule to use the skill.")
    };
    Some(Reason {
        rule: name,
        message,
        at: Some(rule.source.at),
        file: Some(rule.source.file.clone()),
        next: next.to_owned(),
        winner: None,
    })
}
