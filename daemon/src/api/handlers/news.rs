//! `session/news`: changes of an agent's list of skills, each reported once in a session.
//!
//! The session stores the list that its agent knows. A call compares it with the current list and
//! replaces it, so that of two concurrent calls only one reports a change.

use std::sync::Arc;

use skills_discovery::discover::Candidate;
use skills_engine::View;
use skills_engine::sessions::session::listed_skills;
use skills_protocol::wire::{Context, Contextual, Entry, SessionNewsParams, SessionNewsResult};

use crate::api::session::SessionCalls;
use crate::convert::to_wire;
use crate::request::unread_session;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;

/// Maximum number of skills in each list of the answer.
const MAX_SKILLS: usize = 50;

/// Maximum length of a name in the answer, in bytes; longer ones are only counted.
const MAX_NAME: usize = 1024;

/// Maximum length of a description in the answer, in bytes; the rest is cut off.
const MAX_DESCRIPTION: usize = 4096;

pub(crate) async fn news(call: MethodCall<SessionCalls, SessionNewsParams>) -> Outcome {
    let MethodCall { parts: sessions, peer, mut params } = call;
    // The agent may have changed its directory; its list is that of the session's directory.
    let context = Context { cwd: None, ..params.take_context() };
    let mut named = sessions.require_session(&peer, context).await?;
    // Touches report what they add themselves.
    named.call.request.key.overlay = Arc::default();
    let view = sessions.resolver.view(&mut named.call).await?;
    let resolution = &view.resolution;
    let is_of_agent =
        |it: &&Candidate| resolution.roots[it.root].origin.is_empty() && !it.is_built_in();
    let skills: Vec<_> = resolution.listed().filter(is_of_agent).collect();
    let list = Arc::new(listed_skills(skills.iter().copied()));
    let id = &named.session.id;
    let known = sessions.resolver.sessions.replace_known_list(id, Arc::clone(&list)).await;
    let known = known.map_err(|it| unread_session(id, &it))?;
    // An agent that has just read its skills knows all of them.
    let known = known.filter(|_| !params.restart).unwrap_or_else(|| Arc::clone(&list));
    let mut news = SessionNewsResult {
        clock: view.clock.clone(),
        health: to_wire::health(&sessions.resolver.full_health(&view)),
        session: id.clone(),
        ..SessionNewsResult::default()
    };
    for skill in skills.iter().filter(|_| !view.ctx.profile.lists_changes) {
        match known.get(&skill.name) {
            Some(hash) if list.get(&skill.name) == Some(hash) => {}
            _ if skill.name.len() > MAX_NAME => news.more += 1,
            Some(_) => push(&mut news.changed, || entry(&view, skill), &mut news.more),
            None => push(&mut news.added, || entry(&view, skill), &mut news.more),
        }
    }
    for name in known.keys().filter(|it| !list.contains_key(*it)) {
        if name.len() > MAX_NAME {
            news.more += 1;
            continue;
        }
        push(&mut news.removed, || name.clone(), &mut news.more);
    }
    Answer::new(&news)
}

fn entry(view: &View, skill: &Candidate) -> Entry {
    let entry = to_wire::entry(view, skill);
    let description = entry.description.filter(|_| !skill.name_only).map(|mut it| {
        it.truncate(it.floor_char_boundary(MAX_DESCRIPTION));
        it
    });
    Entry { description, ..entry }
}

/// Adds an item to a list that has room, and counts it otherwise.
fn push<T>(list: &mut Vec<T>, item: impl FnOnce() -> T, more: &mut u64) {
    if list.len() < MAX_SKILLS {
        list.push(item());
    } else {
        *more += 1;
    }
}
