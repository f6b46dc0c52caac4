//! Answers that come in pages, taken together: those of `skills/list`, `index/snapshot`,
//! `skills/check` and `skills/references`.
//!
//! [`Pages`] makes no calls: whoever has a connection asks what [`Pages::params`] says and hands in
//! what comes of it. All pages of an answer are of one clock. Where the daemon cannot go on, because
//! the index has changed between two of them, everything is asked for again.
//! Invariant: what was read of an older clock is never part of the answer.

use serde_json::value::RawValue;
use skills_protocol::error::INVALID_PARAMS;
use skills_protocol::method::{IndexSnapshot, Request, SkillsCheck, SkillsList, SkillsReferences};
use skills_protocol::wire::{
    CheckParams, CheckResult, ListParams, ListResult, ReferencesParams, ReferencesResult,
    SnapshotParams, SnapshotResult,
};

use crate::ClientError;

/// How often an answer is begun anew that changed between two of its pages.
const TRIES: usize = 8;

/// A method whose answer may come in pages.
pub trait Paged: Request {
    /// Asks for the page that begins there; for the first one where there is no cursor.
    fn turn_to(params: &mut Self::Params, cursor: Option<String>);

    /// Takes out of an answer where it goes on; none at the end.
    fn take_cursor(result: &mut Self::Result) -> Option<String>;

    /// Puts what a page has behind what the pages before it had.
    fn append(whole: &mut Self::Result, page: Self::Result);
}

impl Paged for SkillsList {
    fn turn_to(params: &mut ListParams, cursor: Option<String>) {
        params.cursor = cursor;
    }

    fn take_cursor(result: &mut ListResult) -> Option<String> {
        result.next_cursor.take()
    }

    fn append(whole: &mut ListResult, page: ListResult) {
        whole.skills.extend(page.skills);
        whole.positions.extend(page.positions);
    }
}

impl Paged for IndexSnapshot {
    fn turn_to(params: &mut SnapshotParams, cursor: Option<String>) {
        params.cursor = cursor;
    }

    fn take_cursor(result: &mut SnapshotResult) -> Option<String> {
        result.next_cursor.take()
    }

    fn append(whole: &mut SnapshotResult, page: SnapshotResult) {
        whole.skills.extend(page.skills);
        for (whole, page) in whole.profiles.iter_mut().zip(page.profiles) {
            whole.skills.extend(page.skills);
        }
    }
}

impl Paged for SkillsCheck {
    fn turn_to(params: &mut CheckParams, cursor: Option<String>) {
        params.cursor = cursor;
    }

    fn take_cursor(result: &mut CheckResult) -> Option<String> {
        result.next_cursor.take()
    }

    fn append(whole: &mut CheckResult, page: CheckResult) {
        whole.files.extend(page.files);
    }
}

impl Paged for SkillsReferences {
    fn turn_to(params: &mut ReferencesParams, cursor: Option<String>) {
        params.cursor = cursor;
    }

    fn take_cursor(result: &mut ReferencesResult) -> Option<String> {
        result.next_cursor.take()
    }

    fn append(whole: &mut ReferencesResult, page: ReferencesResult) {
        whole.references.extend(page.references);
        whole.truncated = page.truncated;
    }
}

/// An answer that is being put together.
pub struct Pages<M: Paged> {
    params: M::Params,
    whole: Option<M::Result>,
    tries: usize,
}

impl<M: Paged> Pages<M> {
    /// Returns pages of which none is there yet. A cursor in the parameters is taken out.
    pub fn of(mut params: M::Params) -> Self {
        M::turn_to(&mut params, None);
        Self { params, whole: None, tries: 1 }
    }

    /// Returns what to ask next.
    pub fn params(&self) -> &M::Params {
        &self.params
    }

    /// Takes what was answered. Returns the whole answer, or none while pages are missing.
    ///
    /// # Errors
    /// What the call has failed with, unless beginning anew may help.
    pub fn take(
        &mut self,
        answer: Result<M::Result, ClientError>,
    ) -> Result<Option<M::Result>, ClientError> {
        let mut page = match answer {
            Ok(page) => page,
            Err(ClientError::Rpc(error))
                if error.code == INVALID_PARAMS && self.whole.is_some() && self.tries < TRIES =>
            {
                self.tries += 1;
                self.whole = None;
                M::turn_to(&mut self.params, None);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let cursor = M::take_cursor(&mut page);
        let is_last = cursor.is_none();
        M::turn_to(&mut self.params, cursor);
        match &mut self.whole {
            Some(whole) => M::append(whole, page),
            None => self.whole = Some(page),
        }
        Ok(if is_last { self.whole.take() } else { None })
    }
}

/// Returns whether an answer as it came is only the first of several pages.
pub fn goes_on(text: &RawValue) -> bool {
    text.get().contains(r#""nextCursor":""#)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use skills_protocol::error::{RpcError, SKILL_NOT_FOUND};

    use super::*;

    fn page(names: &[&str], cursor: Option<&str>) -> ListResult {
        let entry = |name: &&str| {
            json!({"name": name, "description": "", "path": name, "dir": "/", "scope": "user",
                "root": "/", "state": "active", "modelInvocable": true, "userInvocable": true,
                "trusted": true, "stale": false, "hash": "", "diagnostics": {"error": 0, "warning": 0}})
        };
        let skills: Vec<Value> = names.iter().map(entry).collect();
        let page = json!({"clock": "c", "fresh": true, "nextCursor": cursor, "skills": skills});
        serde_json::from_value(page).expect("a list")
    }

    fn refused(code: i32) -> Result<ListResult, ClientError> {
        Err(RpcError::new(code, "no").into())
    }

    fn names(result: &ListResult) -> Vec<&str> {
        result.skills.iter().map(|it| &*it.name).collect()
    }

    #[test]
    fn pages_are_put_one_behind_the_other() {
        let mut pages = Pages::<SkillsList>::of(ListParams::default());
        assert_eq!(pages.take(Ok(page(&["a"], Some("1")))).expect("taken"), None);
        assert_eq!(pages.params().cursor.as_deref(), Some("1"));
        let whole = pages.take(Ok(page(&["b"], None))).expect("taken").expect("whole");
        assert_eq!((names(&whole), &whole.next_cursor), (vec!["a", "b"], &None));
    }

    #[test]
    fn what_changes_in_between_is_begun_anew() {
        let mut pages = Pages::<SkillsList>::of(ListParams::default());
        assert_eq!(pages.take(Ok(page(&["old"], Some("1")))).expect("taken"), None);
        assert_eq!(pages.take(refused(INVALID_PARAMS)).expect("begun anew"), None);
        assert_eq!(pages.params().cursor, None);
        let whole = pages.take(Ok(page(&["new"], None))).expect("taken").expect("whole");
        assert_eq!(names(&whole), ["new"]);
    }

    #[test]
    fn what_no_new_beginning_mends_is_an_error() {
        let mut pages = Pages::<SkillsList>::of(ListParams::default());
        assert!(pages.take(refused(INVALID_PARAMS)).is_err(), "the first page is refused");
        assert_eq!(pages.take(Ok(page(&[], Some("1")))).expect("taken"), None);
        assert!(pages.take(refused(SKILL_NOT_FOUND)).is_err());
        let mut pages = Pages::<SkillsList>::of(ListParams::default());
        let tries = (0..=TRIES).find(|_| {
            pages.take(Ok(page(&[], Some("1")))).expect("taken");
            pages.take(refused(INVALID_PARAMS)).is_err()
        });
        assert_eq!(tries, Some(TRIES - 1), "it ends");
    }
}
