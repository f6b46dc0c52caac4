//! `skills/list` and `skills/dirs`: what the agent would show its model, and what it would not.
//!
//! The default list of a view is made once and then only handed on. Everything else is made
//! when it is asked for: other states, pages, and lists so long that they come in pages.

use std::sync::{Arc, OnceLock};

use serde_json::value::{RawValue, to_raw_value};
use skills_core::resolve::Candidate;
use skills_engine::View;
use skills_protocol::error::RpcError;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    Contextual, DirsParams, DirsResult, Include, ListParams, ListResult, State,
};

use crate::answer::{Answer, Outcome};
use crate::peer::Peer;
use crate::service::Service;
use crate::to_wire;

/// How long the entries of one answer may be together where the caller sets no limit. Half of
/// what one message may be, so that whatever is around the entries has room.
const PAGE: usize = 4 * 1024 * 1024;

/// What is kept with a view: its answers in their wire form.
#[derive(Debug, Default)]
struct Prepared {
    /// None where the whole list does not fit one answer.
    default_list: OnceLock<Option<Answer>>,
}

pub(crate) async fn list(
    service: Arc<Service>,
    peer: Arc<Peer>,
    mut params: ListParams,
) -> Outcome {
    let view = service.view(&peer, params.take_context()).await?;
    let form = Form::of(&params.include);
    let clock = form.clock(&view);
    if params.since.as_ref() == Some(&clock) {
        return Answer::new(&ListResult::<()> {
            clock,
            health: to_wire::health(&view.health),
            fresh: false,
            next_cursor: None,
            skills: Vec::new(),
            removed: Vec::new(),
        });
    }
    if form == Form::DEFAULT && params.limit.is_none() && params.cursor.is_none() {
        let prepared = view.cached(|_| Prepared::default());
        let kept = prepared.default_list.get_or_init(|| {
            let list =
                page(&view, form, 0, usize::MAX).ok().filter(|it| it.next_cursor.is_none())?;
            Answer::new(&list).ok()
        });
        if let Some(answer) = kept {
            return Ok(answer.clone());
        }
    }
    let start = params.cursor.map_or(Ok(0), |cursor| read_cursor(&cursor, &clock))?;
    let limit = match params.limit {
        Some(0) => {
            return Err(
                RpcError::invalid_params("`limit` is 0").with_hint("Ask for one skill at least.")
            );
        }
        Some(limit) => limit as usize,
        None => usize::MAX,
    };
    Answer::new(&page(&view, form, start, limit)?)
}

pub(crate) async fn dirs(
    service: Arc<Service>,
    peer: Arc<Peer>,
    mut params: DirsParams,
) -> Outcome {
    let view = service.view(&peer, params.take_context()).await?;
    let dirs: Vec<_> = listed(&view, Form::DEFAULT).map(|(_, candidate)| candidate.dir()).collect();
    let encoding = encoding_of(dirs.iter().map(|dir| &**dir));
    Answer::new(&DirsResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        dirs: dirs.iter().map(|dir| encode(dir, encoding)).collect(),
        path_encoding: encoding,
    })
}

/// Which states a list holds, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form(u16);

impl Form {
    /// What the model sees.
    const DEFAULT: Self = Self(1 << State::Active as u16 | 1 << State::Activated as u16);

    fn of(include: &[Include]) -> Self {
        let asked = State::ALL.iter().filter(|state| include.iter().any(|it| it.covers(**state)));
        Self(asked.fold(Self::DEFAULT.0, |bits, state| bits | 1 << *state as u16))
    }

    fn holds(self, state: State) -> bool {
        self.0 & 1 << state as u16 != 0
    }

    /// Returns the clock of a list of this form: it says nothing about a list of another one.
    fn clock(self, view: &View) -> String {
        if self == Self::DEFAULT {
            view.clock.clone()
        } else {
            format!("{}/{:x}", view.clock, self.0)
        }
    }
}

/// Reads where a page begins, from the cursor of a list at this clock.
fn read_cursor(cursor: &str, clock: &str) -> Result<usize, RpcError> {
    let (start, of) = cursor.split_once('@').unwrap_or_default();
    start.parse().ok().filter(|_| of == clock).ok_or_else(|| {
        RpcError::invalid_params("the list has changed since the page of this `cursor`")
            .with_hint("Start again without `cursor`.")
    })
}

/// Returns the candidates of a form, with their places among all.
fn listed(view: &View, form: Form) -> impl Iterator<Item = (usize, &Candidate)> {
    let candidates = view.resolution.candidates.iter().enumerate();
    candidates.filter(move |(_, it)| form.holds(to_wire::state(it.state)))
}

/// Returns the part of a list that begins at a candidate.
fn page(
    view: &View,
    form: Form,
    start: usize,
    limit: usize,
) -> Result<ListResult<Box<RawValue>>, RpcError> {
    let clock = form.clock(view);
    let mut skills = Vec::new();
    let mut size = 0;
    let mut next_cursor = None;
    for (candidate_idx, candidate) in listed(view, form).skip_while(|(index, _)| *index < start) {
        if skills.len() == limit || size >= PAGE {
            next_cursor = Some(format!("{candidate_idx}@{clock}"));
            break;
        }
        let entry = to_raw_value(&to_wire::entry(view, candidate));
        let entry = entry.map_err(|error| RpcError::internal(error.to_string()))?;
        size += entry.get().len();
        skills.push(entry);
    }
    Ok(ListResult {
        clock,
        health: to_wire::health(&view.health),
        fresh: true,
        next_cursor,
        skills,
        removed: Vec::new(),
    })
}
