//! Skills that an agent is given again after its chat was shortened: its latest loads, up to the
//! budget of its profile's rule.

use skills_agents::profile::Compaction;

use crate::sessions::session::Loaded;

/// Estimated number of characters per token.
const TOKEN: usize = 4;

/// Skills re-attached and dropped after a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Loads given again, the latest last; true if the text was cut.
    pub again: Vec<(Loaded, bool)>,
    /// Names of skills that no longer count as loaded.
    pub forgotten: Vec<String>,
    /// True if the list of skills is given again.
    pub list_again: bool,
}

/// Applies a profile's rule. Returns the outcome and the loads that no longer count.
pub(super) fn apply(rule: Compaction, loaded: Vec<Loaded>) -> (Compacted, Vec<Loaded>) {
    let (again, gone, list_again) = match rule {
        Compaction::Attaches { each, all } => {
            let (again, gone) = attach(loaded, each as usize, all as usize);
            (again, gone, false)
        }
        Compaction::Forgets { lists_again } => (Vec::new(), loaded, lists_again),
    };
    let forgotten = gone.iter().map(|it| it.invocation.name.clone()).collect();
    (Compacted { again, forgotten, list_again }, gone)
}

/// Selects loads from the latest on, and cuts them to the budget.
fn attach(loaded: Vec<Loaded>, each: usize, all: usize) -> (Vec<(Loaded, bool)>, Vec<Loaded>) {
    let mut left = all * TOKEN;
    let (mut again, mut gone) = (Vec::new(), Vec::new());
    for mut it in loaded.into_iter().rev() {
        let body = &mut it.invocation.body;
        let end = body.char_indices().nth(each * TOKEN).map(|(at, _)| at);
        let length = body.chars().count().min(each * TOKEN);
        if length > left || !gone.is_empty() {
            gone.push(it);
            continue;
        }
        left -= length;
        if let Some(end) = end {
            body.truncate(end);
        }
        again.push((it, end.is_some()));
    }
    again.reverse();
    gone.reverse();
    (again, gone)
}
