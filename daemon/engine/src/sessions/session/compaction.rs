//! What an agent is given again when its conversation was shortened: the latest of what it has
//! loaded, as far as the room of its profile's rule goes.

use skills_agents::profile::Compaction;

use super::Loaded;

/// How many characters a token is taken to be.
const TOKEN: usize = 4;

/// What a shortened conversation is given again, and what it has lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Given again, the latest at the end, each with whether it was cut.
    pub again: Vec<(Loaded, bool)>,
    /// The names of those that count as not loaded any more.
    pub forgotten: Vec<String>,
    /// Whether the list of skills is given again.
    pub list_again: bool,
}

/// Returns what is given again by a rule, and what counts as not loaded any more.
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

/// Chooses what is given again, from the latest on, and cuts it.
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
