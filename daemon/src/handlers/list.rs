//! `skills/list` and `skills/dirs`: what the agent would show its model, and what it would not.
//!
//! The default list of a view is made once and then only handed on. Everything else is made
//! when it is asked for: other states, pages, and lists so long that they come in pages.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;
use skills_core::resolve::Candidate;
use skills_engine::View;
use skills_protocol::error::RpcError;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    Contextual, DirsParams, DirsResult, Include, ListParams, ListResult, State,
};

use crate::answer::{Answer, Outcome};
use crate::peer::Peer;
use crate::prepared::{self, Prepared};
use crate::service::Service;
use crate::to_wire;

/// How long the entries of one answer may be together where the caller sets no limit. Half of
/// what one message may be, so that whatever is around the entries has room.
const PAGE: usize = 4 * 1024 * 1024;

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
        let make = || {
            let entries = |index: usize| {
                Cow::Owned(prepared::entry(&view, &view.resolution.candidates[index]))
            };
            let page = page(&view, form, Part::ALL, entries);
            if page.list.next_cursor.is_none() { page.answer().ok() } else { None }
        };
        if let Some(answer) = Prepared::of(&view).default_list(make) {
            return Ok(answer);
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
    let entries = Prepared::of(&view).entries(&view);
    page(&view, form, Part { start, limit }, |index| Cow::Borrowed(&*entries[index])).answer()
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

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The index of the candidate that it begins at.
    start: usize,
    limit: usize,
}

impl Part {
    const ALL: Self = Self { start: 0, limit: usize::MAX };
}

/// A part of a list, and how long its entries are together.
struct Page<'a> {
    list: ListResult<Cow<'a, RawValue>>,
    size: usize,
}

impl Page<'_> {
    fn answer(&self) -> Outcome {
        // A comma after each entry, and what is around them all.
        Answer::with_capacity(&self.list, self.size + self.list.skills.len() + 512)
    }
}

/// Returns a part of a list, cut where it does not fit one answer.
fn page<'a>(
    view: &View,
    form: Form,
    part: Part,
    entry: impl Fn(usize) -> Cow<'a, RawValue>,
) -> Page<'a> {
    let clock = form.clock(view);
    let mut skills = Vec::new();
    let mut size = 0;
    let mut next_cursor = None;
    for (candidate_idx, _) in listed(view, form).skip_while(|(index, _)| *index < part.start) {
        if skills.len() == part.limit || size >= PAGE {
            next_cursor = Some(format!("{candidate_idx}@{clock}"));
            break;
        }
        let entry = entry(candidate_idx);
        size += entry.get().len();
        skills.push(entry);
    }
    let health = to_wire::health(&view.health);
    let list = ListResult { clock, health, fresh: true, next_cursor, skills, removed: Vec::new() };
    Page { list, size }
}
