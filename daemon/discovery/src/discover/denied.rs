//! Applies permission rules: a denied skill is not shown, and its reason names the rule.
//!
//! Runs after name conflicts are resolved, as if nothing were denied. A rule removes a skill and
//! does not let another skill take its name.

use super::reason_rule::ReasonRule;
use super::{Candidate, DiscoveryContext, Reason, SkillState, settings};
use crate::permission::{
    self, Action, Author, Decision, MAX_RULES, Properties, Rule, RulePrecedence, SkillRequest,
};

/// Marks the candidates that the permission rules deny.
pub(super) fn apply(ctx: &DiscoveryContext, rules: &[Rule], candidates: &mut [Candidate]) {
    if !rules.iter().any(|it| it.action == Action::Deny) {
        return;
    }
    let precedence = RulePrecedence::from_profile(&ctx.profile);
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
            candidate.reason = reason(ctx, precedence, &decision, &candidate.name).map(Box::new);
        }
    }
}

/// Returns true if the permission rules deny a candidate, whatever its state.
pub fn is_denied(ctx: &DiscoveryContext, rules: &[Rule], candidate: &Candidate) -> bool {
    let precedence = RulePrecedence::from_profile(&ctx.profile);
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
fn reason(
    ctx: &DiscoveryContext,
    precedence: RulePrecedence,
    decision: &Decision<'_>,
    name: &str,
) -> Option<Reason> {
    let rule = decision.rule()?;
    let is_off = matches!(decision.reason, permission::DecisionReason::ToolDisabled(_));
    let (line, file) = (rule.source.at.line, rule.source.file.display());
    let is_own = matches!(rule.author, Author::User | Author::Repository | Author::OverLimit);
    let (rule_name, message, next) = if is_off {
        let message = format!(
            "the rule `{}` denies all skills, which disables the skill tool, even if other rules allow skills",
            rule.pattern
        );
        let next = match precedence {
            RulePrecedence::LastMatch => settings::enable(ctx, name, &rule.source),
            RulePrecedence::DenyFirst => {
                format!("In line {line} of `{file}`, deny single skills by name instead of all.")
            }
        };
        (ReasonRule::PermissionToolOff, message, next)
    } else {
        let message = match rule.author {
            Author::OverLimit => {
                format!("the file has more than {MAX_RULES} rules, and one of the others denies")
            }
            _ => format!("the rule `{}` denies it", rule.pattern),
        };
        let next = match precedence {
            _ if rule.author == Author::OverLimit => {
                format!("Use patterns with `*`, so that `{file}` has at most {MAX_RULES} rules.")
            }
            // A repository cannot allow anything.
            _ if rule.author == Author::Repository => {
                format!("Change `deny` to `ask` in line {line} of `{file}`.")
            }
            _ if is_own => format!("Change `deny` to `allow` in line {line} of `{file}`."),
            RulePrecedence::LastMatch => settings::enable(ctx, name, &rule.source),
            RulePrecedence::DenyFirst => {
                format!("Remove the rule `Skill({})` in line {line} of `{file}`.", rule.pattern)
            }
        };
        (
            if is_own { ReasonRule::SkillsdDenied } else { ReasonRule::PermissionDenied },
            message,
            next,
        )
    };
    Some(Reason {
        rule: rule_name,
        message,
        at: Some(rule.source.at),
        file: Some(rule.source.file.clone()),
        next,
        winner: None,
    })
}
