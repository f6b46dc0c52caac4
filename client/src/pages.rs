//! Joins paged answers of `skills/list`, `index/snapshot`, `skills/check` and `skills/references`
//! ([`Pages`]).
//!
//! [`Pages`] makes no calls: the caller sends [`Pages::params`] and passes the answer to
//! [`Pages::take`]. All pages of an answer have one clock. If the index changes between two pages,
//! the daemon refuses the cursor and all pages are fetched again.
//! Invariant: a joined answer never mixes pages of different clocks.

use serde_json::value::RawValue;
use skills_protocol::error::INVALID_PARAMS;
use skills_protocol::method::{IndexSnapshot, Request, SkillsCheck, SkillsList, SkillsReferences};

use crate::ClientError;

/// Number of attempts to fetch an answer that changes between its pages.
const TRIES: usize = 8;

/// A method whose answer may come in pages.
pub trait Paged: Request {
    /// Sets the cursor of the next page; `None` for the first page.
    fn turn_to(params: &mut Self::Params, cursor: Option<String>);

    /// Removes and returns the cursor of the next page; `None` at the end.
    fn take_cursor(result: &mut Self::Result) -> Option<String>;

    /// Appends the contents of a page to those of the pages before it.
    fn append(whole: &mut Self::Result, page: Self::Result);
}

// Implements `Paged` from the function that appends a page.
macro_rules! paged {
    ($($method:ident, $append:expr;)*) => {$(
        impl Paged for $method {
            fn turn_to(params: &mut Self::Params, cursor: Option<String>) {
                params.cursor = cursor;
            }

            fn take_cursor(result: &mut Self::Result) -> Option<String> {
                result.next_cursor.take()
            }

            fn append(whole: &mut Self::Result, page: Self::Result) {
                let append: fn(&mut Self::Result, Self::Result) = $append;
                append(whole, page);
            }
        }
    )*};
}

paged! {
    SkillsList, |whole, page| {
        whole.skills.extend(page.skills);
        whole.positions.extend(page.positions);
    };
    IndexSnapshot, |whole, page| {
        whole.skills.extend(page.skills);
        for (whole, page) in whole.profiles.iter_mut().zip(page.profiles) {
            whole.skills.extend(page.skills);
        }
    };
    SkillsCheck, |whole, page| whole.files.extend(page.files);
    SkillsReferences, |whole, page| {
        whole.references.extend(page.references);
        whole.truncated = page.truncated;
    };
}

/// Paged answer that is being joined.
pub struct Pages<M: Paged> {
    params: M::Params,
    whole: Option<M::Result>,
    tries: usize,
}

impl<M: Paged> Pages<M> {
    /// Returns an empty `Pages` for these parameters, whose cursor is ignored.
    pub fn new(mut params: M::Params) -> Self {
        M::turn_to(&mut params, None);
        Self { params, whole: None, tries: 1 }
    }

    /// Returns the parameters of the next call.
    pub fn params(&self) -> &M::Params {
        &self.params
    }

    /// Takes the answer to the last call. Returns the joined answer, or `None` while pages are
    /// missing.
    ///
    /// # Errors
    /// The error of the call, unless fetching all pages again may succeed.
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

/// Returns whether a raw answer has further pages.
pub fn has_next_page(text: &RawValue) -> bool {
    text.get().contains(r#""nextCursor":""#)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use skills_protocol::error::{RpcError, SKILL_NOT_FOUND};
    use skills_protocol::wire::{ListParams, ListResult};

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
    fn pages_are_joined_in_order() {
        let mut pages = Pages::<SkillsList>::new(ListParams::default());
        assert_eq!(pages.take(Ok(page(&["a"], Some("1")))).expect("taken"), None);
        assert_eq!(pages.params().cursor.as_deref(), Some("1"));
        let whole = pages.take(Ok(page(&["b"], None))).expect("taken").expect("whole");
        assert_eq!((names(&whole), &whole.next_cursor), (vec!["a", "b"], &None));
    }

    #[test]
    fn refused_cursor_restarts_at_the_first_page() {
        let mut pages = Pages::<SkillsList>::new(ListParams::default());
        assert_eq!(pages.take(Ok(page(&["old"], Some("1")))).expect("taken"), None);
        assert_eq!(pages.take(refused(INVALID_PARAMS)).expect("begun anew"), None);
        assert_eq!(pages.params().cursor, None);
        let whole = pages.take(Ok(page(&["new"], None))).expect("taken").expect("whole");
        assert_eq!(names(&whole), ["new"]);
    }

    #[test]
    fn error_is_returned_when_a_restart_cannot_help() {
        let mut pages = Pages::<SkillsList>::new(ListParams::default());
        assert!(pages.take(refused(INVALID_PARAMS)).is_err(), "the first page is refused");
        assert_eq!(pages.take(Ok(page(&[], Some("1")))).expect("taken"), None);
        assert!(pages.take(refused(SKILL_NOT_FOUND)).is_err());
        let mut pages = Pages::<SkillsList>::new(ListParams::default());
        let tries = (0..=TRIES).find(|_| {
            pages.take(Ok(page(&[], Some("1")))).expect("taken");
            pages.take(refused(INVALID_PARAMS)).is_err()
        });
        assert_eq!(tries, Some(TRIES - 1), "it ends");
    }
}
