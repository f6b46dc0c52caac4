//! `skills/list`, `skills/dirs` and `profiles/detect`: the listed skills of an agent and, on
//! request, those in other states, and the agent whose rules apply.
//!
//! The default list of a view is serialized once and cached. Lists with other states or pages are
//! made per call.

use std::borrow::Cow;

use serde_json::value::{RawValue, to_raw_value};
use skills_discovery::discover::{Candidate, address_of};
use skills_engine::View;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    Contextual, DetectParams, DetectResult, DirsParams, DirsResult, Evidence, Include, ListParams,
    ListResult, State,
};

use crate::convert::to_wire;
use crate::request::{ProfileSource, RequestContext, Resolver};
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::paging;
use crate::rpc::paging::{Cursor, PAGE, PageRange};
use crate::rpc::tasks::run_fallible_blocking;

pub(crate) async fn list(call: MethodCall<Resolver, ListParams>) -> Outcome {
    let MethodCall { parts: resolver, peer, mut params } = call;
    let RequestContext { view, .. } = resolver.resolve_list(&peer, params.take_context()).await?;
    let is_short = view.resolution.candidates.len() <= SHORT;
    if is_short || view.responses().has_default_list() && params == ListParams::default() {
        return list_view(&view, &params);
    }
    run_fallible_blocking(move || list_view(&view, &params)).await
}

/// Maximum number of candidates whose entries are made without a thread of their own.
const SHORT: usize = 200;

fn list_view(view: &View, params: &ListParams) -> Outcome {
    let states = StateSet::of(&params.include);
    let clock = states.clock(view);
    let cursor = params.cursor.as_deref().map(|it| Cursor::read(it, &clock)).transpose()?;
    let limit = paging::limit(params.limit)?;
    let since = cursor.as_ref().map_or(params.since.as_deref(), |it| it.since);
    let start = cursor.as_ref().map_or(0, |it| it.start);
    if let Some(answer) =
        since.and_then(|it| difference(view, states, it, PageRange { start, limit }))
    {
        return answer;
    }
    if states == StateSet::DEFAULT && params.limit.is_none() && cursor.is_none() {
        let make = || {
            let entries = |index: usize| Cow::Owned(raw_entry(view, index));
            let page = page(view, states, PageRange::ALL, entries);
            let answer = if page.list.next_cursor.is_none() { page.answer().ok() } else { None };
            answer.map(Answer::into_text)
        };
        if let Some(answer) = view.responses().default_list(make) {
            return Ok(Answer::from_text(answer));
        }
    }
    let entry = |index| {
        Cow::Borrowed(view.responses().entry(&view.resolution, index, || raw_entry(view, index)))
    };
    page(view, states, PageRange { start, limit }, entry).answer()
}

pub(crate) async fn detect(call: MethodCall<Resolver, DetectParams>) -> Outcome {
    let MethodCall { parts: resolver, peer, mut params } = call;
    let call = resolver.decode(&peer, params.take_context()).await?;
    let profile = &call.request.profile;
    Answer::new(&DetectResult {
        profile: profile.id.to_string(),
        agent: profile.agent.to_string(),
        confidence: Some(to_wire::evidence(profile.confidence())),
        reason: call.profile_source.reason(),
        present: match call.profile_source {
            ProfileSource::Present(agents) => agents,
            ProfileSource::Call
            | ProfileSource::Session
            | ProfileSource::Worktree
            | ProfileSource::User
            | ProfileSource::Variable(_)
            | ProfileSource::Default => Vec::new(),
        },
    })
}

pub(crate) async fn dirs(call: MethodCall<Resolver, DirsParams>) -> Outcome {
    let MethodCall { parts: resolver, peer, mut params } = call;
    let RequestContext { view, .. } = resolver.resolve(&peer, params.take_context()).await?;
    let dirs: Vec<_> = listed(&view, StateSet::DEFAULT)
        .map(|(_, candidate)| candidate.dir())
        // A skill with an address has no directory.
        .filter(|dir| address_of(dir).is_none())
        .collect();
    let encoding = encoding_of(dirs.iter().map(|dir| &**dir));
    Answer::new(&DirsResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        dirs: dirs.iter().map(|dir| encode(dir, encoding)).collect(),
        path_encoding: encoding,
    })
}

/// The set of states in a list, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateSet(u16);

impl StateSet {
    /// The states that the model sees.
    const DEFAULT: Self = Self(1 << State::Active as u16 | 1 << State::Activated as u16);

    pub(super) fn of(include: &[Include]) -> Self {
        let asked = State::ALL.iter().filter(|state| include.iter().any(|it| it.covers(**state)));
        Self(asked.fold(Self::DEFAULT.0, |bits, state| bits | 1 << *state as u16))
    }

    pub(super) fn holds(self, state: State) -> bool {
        self.0 & 1 << state as u16 != 0
    }

    /// Returns the clock of a list of these states; clocks of different sets are not comparable.
    fn clock(self, view: &View) -> String {
        if self == Self::DEFAULT {
            view.clock.clone()
        } else {
            format!("{}/{:x}", view.clock, self.0)
        }
    }

    /// Returns the view's clock from a clock of these states; none if it is of others.
    fn view_clock(self, clock: &str) -> Option<&str> {
        let (of_view, bits) = clock.split_once('/').map_or((clock, None), |(a, b)| (a, Some(b)));
        let own = (self != Self::DEFAULT).then(|| format!("{:x}", self.0));
        (bits == own.as_deref()).then_some(of_view)
    }
}

/// Returns the changes of a list since a clock; none if they are unknown.
fn difference(view: &View, states: StateSet, since: &str, part: PageRange) -> Option<Outcome> {
    let view_since = states.view_clock(since)?;
    let shows = |state| states.holds(to_wire::state(state));
    let found = view.difference(view_since, &shows)?;
    let clock = states.clock(view);
    // One pass over the list gives the positions; the changes are in list order.
    let mut positions = Vec::with_capacity(found.changed.len().min(part.limit));
    let (mut skills, mut size, mut next_cursor) = (Vec::new(), 0, None);
    let mut changed = found.changed.iter().copied().skip_while(|it| *it < part.start).peekable();
    for (position, (index, _)) in listed(view, states).enumerate() {
        if changed.next_if_eq(&index).is_none() {
            continue;
        }
        if skills.len() == part.limit || size >= PAGE {
            next_cursor = Some(Cursor { start: index, since: Some(since) }.text(&clock));
            break;
        }
        let entry = raw_entry(view, index);
        size += entry.get().len();
        skills.push(entry);
        positions.push(position as u32);
    }
    // Only the first page has the removed skills.
    let removed = if part.start == 0 { &found.removed[..] } else { &[] };
    let list = ListResult {
        clock,
        health: to_wire::health(&view.health),
        fresh: false,
        next_cursor,
        confidence: confidence(view),
        skills,
        removed: removed.iter().map(to_wire::removed).collect(),
        positions,
    };
    Some(Answer::with_capacity(&list, size + list.skills.len() + 512))
}

fn raw_entry(view: &View, candidate_idx: usize) -> Box<RawValue> {
    to_raw_value(&to_wire::entry(view, &view.resolution.candidates[candidate_idx]))
        .expect("an entry is text, numbers and lists of text")
}

/// Returns the source of the rules of a profile that was not measured.
fn confidence(view: &View) -> Option<Evidence> {
    let evidence = to_wire::evidence(view.ctx.profile.confidence());
    matches!(evidence, Evidence::Documentation | Evidence::Source).then_some(evidence)
}

/// Returns the candidates in these states with their indices.
fn listed(view: &View, states: StateSet) -> impl Iterator<Item = (usize, &Candidate)> {
    let candidates = view.resolution.candidates.iter().enumerate();
    candidates.filter(move |(_, it)| states.holds(to_wire::state(it.state)))
}

/// A part of a list and the size of its entries in bytes.
struct ListPage<'a> {
    list: ListResult<Cow<'a, RawValue>>,
    size: usize,
}

impl ListPage<'_> {
    fn answer(&self) -> Outcome {
        // A comma after each entry, and the surrounding object.
        Answer::with_capacity(&self.list, self.size + self.list.skills.len() + 512)
    }
}

/// Returns a part of a list, cut at the page size.
fn page<'a>(
    view: &View,
    states: StateSet,
    part: PageRange,
    entry: impl Fn(usize) -> Cow<'a, RawValue>,
) -> ListPage<'a> {
    let clock = states.clock(view);
    let mut skills = Vec::new();
    let mut size = 0;
    let mut next_cursor = None;
    for (candidate_idx, _) in listed(view, states).skip_while(|(index, _)| *index < part.start) {
        if skills.len() == part.limit || size >= PAGE {
            next_cursor = Some(Cursor { start: candidate_idx, since: None }.text(&clock));
            break;
        }
        let entry = entry(candidate_idx);
        size += entry.get().len();
        skills.push(entry);
    }
    let health = to_wire::health(&view.health);
    let (removed, positions) = (Vec::new(), Vec::new());
    let confidence = confidence(view);
    let list = ListResult {
        clock,
        health,
        fresh: true,
        next_cursor,
        confidence,
        skills,
        removed,
        positions,
    };
    ListPage { list, size }
}
