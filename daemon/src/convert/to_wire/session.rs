//! Conversion of sessions to the wire.

use skills_engine::sessions::session::{Loaded, PathMatch, Session, Summary};
use skills_engine::{Health, View};
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire;
use skills_syntax::path::AbsPath;

use super::value;

/// Converts an existing session with all its state.
pub(crate) fn session(session: &Session, view: &View, health: &[Health]) -> wire::SessionResult {
    let nested = session.overlay.nested();
    let all = [&session.cwd].into_iter().chain(&session.additional).chain(nested);
    let encoding = encoding_of(all.map(|it| &**it));
    let encode_all = |paths: &[AbsPath]| paths.iter().map(|it| encode(it, encoding)).collect();
    wire::SessionResult {
        clock: view.clock.clone(),
        health: value::health(health),
        session: session.id.clone(),
        is_new: false,
        cwd: encode(&session.cwd, encoding),
        additional_dirs: encode_all(&session.additional),
        discovered: encode_all(nested),
        path_encoding: encoding,
        profile: session.profile.clone(),
        auto: session.auto,
        created: session.created,
        used: session.used,
        activated: session.activated.iter().map(|(path, it)| activated(path, it)).collect(),
        announced: session.announced.iter().map(agent_skills).collect(),
        invoked: session.invoked.iter().map(agent_skills).collect(),
    }
}

fn activated(path: &AbsPath, it: &PathMatch) -> wire::SessionSkill {
    let encoding = encoding_of([&**path]);
    wire::SessionSkill {
        path: encode(path, encoding),
        path_encoding: encoding,
        matched: matched(it),
    }
}

pub(crate) fn matched(matched: &PathMatch) -> wire::Matched {
    let encoding = encoding_of([&*matched.path]);
    wire::Matched {
        pattern: matched.pattern.clone(),
        path: encode(&matched.path, encoding),
        path_encoding: encoding,
    }
}

fn agent_skills((agent, paths): (&String, &Vec<AbsPath>)) -> wire::AgentSkills {
    let encoding = encoding_of(paths.iter().map(|it| &**it));
    wire::AgentSkills {
        agent: Some(agent.clone()).filter(|it| !it.is_empty()),
        paths: paths.iter().map(|it| encode(it, encoding)).collect(),
        path_encoding: encoding,
    }
}

pub(crate) fn session_summary(summary: &Summary) -> wire::SessionSummary {
    let encoding = encoding_of([&*summary.cwd]);
    wire::SessionSummary {
        session: summary.id.clone(),
        cwd: encode(&summary.cwd, encoding),
        path_encoding: encoding,
        profile: summary.profile.clone(),
        auto: summary.auto,
        created: summary.created,
        used: summary.used,
        activated: summary.activated,
        discovered: summary.discovered,
        invoked: summary.invoked,
    }
}

pub(crate) fn discovered(dir: &AbsPath, skills: Vec<wire::Entry>) -> wire::Discovered {
    let encoding = encoding_of([&**dir]);
    wire::Discovered { dir: encode(dir, encoding), path_encoding: encoding, skills }
}

/// Converts a skill loaded in a session, with its whole text.
pub(crate) fn loaded(loaded: Loaded) -> wire::InvokedSkill {
    let Loaded { invocation, at } = loaded;
    let encoding = encoding_of([&*invocation.path]);
    wire::InvokedSkill {
        name: invocation.name,
        path: encode(&invocation.path, encoding),
        path_encoding: encoding,
        args: invocation.args,
        body: invocation.body,
        truncated: false,
        at,
    }
}
