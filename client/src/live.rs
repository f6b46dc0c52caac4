//! List of skills that stays up to date ([`LiveList`]): fetched once, then updated by changes,
//! across daemon restarts.
//!
//! For agents and editor views that show skills: [`LiveList::next`] waits for a change, and
//! [`LiveList::skills`] returns the list after it, in the profile's order. Makes no calls while
//! nothing changes; changes while no daemon ran are reported when the next daemon runs.
//! Invariant: after `next` the list is the daemon's list at the clock of the last answer.

use std::collections::HashMap;

use skills_protocol::method::SkillsList;
use skills_protocol::wire::{
    Contextual as _, Entry, EventKind, Health, ListParams, ListResult, Removed, SubscribeParams,
};

use crate::ClientError;
use crate::client::Client;
use crate::pages::Pages;
use crate::subscription::Subscription;

/// List of skills that follows changes on disk.
pub struct LiveList {
    client: Client,
    params: ListParams,
    subscription: Subscription,
    skills: Vec<Entry>,
    health: Vec<Health>,
    /// Clock of `skills`; `None` before the first list.
    clock: Option<String>,
    /// True after an event whose changes are not in `skills` yet.
    is_behind: bool,
}

/// Difference between two states of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListChange {
    /// Skills that are new or changed.
    pub changed: Vec<Entry>,
    /// Skills that are gone.
    pub removed: Vec<Removed>,
}

impl LiveList {
    /// Returns the list that `skills/list` answers with these parameters, except `since`, `limit`
    /// and `cursor`, which are ignored. Makes no call before [`Self::next`].
    pub fn new(client: Client, mut params: ListParams) -> Self {
        let mut subscribe = SubscribeParams {
            kinds: vec![EventKind::SkillsChanged, EventKind::HealthChanged],
            ..SubscribeParams::default()
        };
        let context = params.take_context();
        subscribe.set_context(context.clone());
        params = ListParams { include: params.include, ..ListParams::default() };
        params.set_context(context);
        Self {
            subscription: Subscription::new(client.clone(), subscribe),
            client,
            params,
            skills: Vec::new(),
            health: Vec::new(),
            clock: None,
            is_behind: false,
        }
    }

    /// Returns the skills as of the last [`Self::next`].
    pub fn skills(&self) -> &[Entry] {
        &self.skills
    }

    /// Returns the health messages as of the last [`Self::next`].
    pub fn health(&self) -> &[Health] {
        &self.health
    }

    /// Waits until the list or its health changes, and returns the difference. The first call
    /// returns the whole list, even if it is empty. Cancel safe.
    ///
    /// # Errors
    /// No daemon can be reached or started, or it refuses the call.
    pub async fn next(&mut self) -> Result<ListChange, ClientError> {
        loop {
            if !self.is_behind {
                self.subscription.next().await?;
                self.is_behind = true;
            }
            let is_first = self.clock.is_none();
            let params = ListParams { since: self.clock.clone(), ..self.params.clone() };
            let result = fetch_all(&self.client, &params).await?;
            self.is_behind = false;
            let is_unwell = result.health != self.health;
            let change = self.apply(result);
            if is_first || is_unwell || change != ListChange::default() {
                return Ok(change);
            }
        }
    }

    fn apply(&mut self, result: ListResult) -> ListChange {
        self.clock = Some(result.clock);
        self.health = result.health;
        if result.fresh {
            return replace(&mut self.skills, result.skills);
        }
        let is_old = |path: &str| {
            result.removed.iter().any(|it| it.path == path)
                || result.skills.iter().any(|it| it.path == path)
        };
        self.skills.retain(|it| !is_old(&it.path));
        for (entry, position) in result.skills.iter().zip(result.positions) {
            self.skills.insert((position as usize).min(self.skills.len()), entry.clone());
        }
        ListChange { changed: result.skills, removed: result.removed }
    }
}

/// Calls `skills/list` for all pages and returns them as one answer.
pub async fn fetch_all(client: &Client, params: &ListParams) -> Result<ListResult, ClientError> {
    let mut pages = Pages::<SkillsList>::new(params.clone());
    loop {
        let answer = client.call::<SkillsList>(pages.params()).await;
        if let Some(whole) = pages.take(answer)? {
            return Ok(whole);
        }
    }
}

/// Replaces a list and returns the difference.
fn replace(skills: &mut Vec<Entry>, new: Vec<Entry>) -> ListChange {
    let old = std::mem::replace(skills, new);
    let before: HashMap<_, _> = old.iter().map(|it| (&it.path, it)).collect();
    let changed = skills.iter().filter(|it| before.get(&it.path) != Some(it)).cloned().collect();
    let gone = old.iter().filter(|it| !skills.iter().any(|new| new.path == it.path));
    let removed = gone.map(|it| Removed {
        name: it.name.clone(),
        path: it.path.clone(),
        path_encoding: it.path_encoding,
    });
    ListChange { changed, removed: removed.collect() }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::{Value, json};
    use skills_protocol::error::INVALID_PARAMS;

    use super::*;
    use crate::script::{answer, refusal, serve};

    fn entry(name: &str, description: &str) -> Value {
        json!({
            "name": name, "description": description, "path": format!("/w/{name}/SKILL.md"),
            "dir": format!("/w/{name}"), "scope": "project", "root": "/w", "state": "active",
            "reason": null, "paths": [], "label": null, "namespace": null,
            "modelInvocable": true, "userInvocable": true, "trusted": true, "hash": null,
            "diagnostics": {"error": 0, "warning": 0}, "stale": false,
        })
    }

    fn page(clock: &str, fresh: bool, skills: &[Value], more: &Value) -> Value {
        let mut page = json!({
            "clock": clock, "fresh": fresh, "nextCursor": null, "skills": skills, "removed": [],
        });
        for (key, value) in more.as_object().expect("an object") {
            page[key] = value.clone();
        }
        page
    }

    /// Returns a list over a server that gives these answers to `skills/list` and sends a change
    /// event after each of them.
    fn list(answers: Vec<Result<Value, i32>>) -> LiveList {
        let mut answers = answers.into_iter();
        let (stream, _asked) = serve(move |message| {
            let event = json!({"kind": "skills/changed"});
            let params = json!({"subscription": "1", "result": event});
            let note = json!({"jsonrpc": "2.0", "method": "events/event", "params": params});
            match message["method"].as_str() {
                Some("events/subscribe") => vec![answer(
                    message,
                    &json!({"subscription": "1", "kinds": ["skills/changed"], "clock": null}),
                )],
                _ => match answers.next().expect("it asks no more") {
                    Ok(page) => vec![answer(message, &page), note],
                    Err(code) => vec![refusal(message, code, "begin anew")],
                },
            }
        });
        let stream = Mutex::new(Some(stream));
        let connect = move || {
            let taken = stream.lock().expect("no thread panics").take();
            taken.ok_or_else(|| std::io::ErrorKind::ConnectionRefused.into())
        };
        LiveList::new(Client::over(connect), ListParams::default())
    }

    fn names(list: &LiveList) -> String {
        list.skills().iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[tokio::test]
    async fn changes_are_applied_at_their_positions() {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|it| entry(it, ""));
        let removed = json!([{"name": "c", "path": "/w/c/SKILL.md"}]);
        let more = json!({"removed": removed, "positions": [0, 2]});
        let mut list = list(vec![
            Ok(page("1", true, &[a, b, c], &json!({}))),
            Ok(page("2", false, &[], &json!({}))),
            Ok(page("3", false, &[d, entry("a", "other")], &more)),
        ]);
        let change = list.next().await.expect("answered");
        assert_eq!((names(&list).as_str(), change.changed.len()), ("a b c", 3));
        // An answer without a change is skipped.
        let change = list.next().await.expect("answered");
        assert_eq!(names(&list), "d b a");
        assert_eq!((change.changed.len(), change.removed.len()), (2, 1));
    }

    #[tokio::test]
    async fn pages_are_joined_and_refetched_when_the_clock_changes() {
        let more = json!({"nextCursor": "x"});
        let mut list = list(vec![
            Ok(page("1", true, &[entry("a", "")], &more)),
            Err(INVALID_PARAMS),
            Ok(page("2", true, &[entry("a", "")], &more)),
            Ok(page("2", true, &[entry("b", "")], &json!({}))),
            Ok(page("3", true, &[entry("b", "other")], &json!({}))),
        ]);
        list.next().await.expect("answered");
        assert_eq!(names(&list), "a b");
        // A fresh list is reported as a difference.
        let change = list.next().await.expect("answered");
        assert_eq!(names(&list), "b");
        assert_eq!((change.changed.len(), change.removed.len()), (1, 1));
    }
}
