//! Usage counters since the start; they never leave the machine.

use std::sync::Mutex;

use skills_platform::lock::lock;
use skills_protocol::wire::Actions;

#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<Actions>);

impl Counters {
    pub(crate) fn count(&self, count: impl FnOnce(&mut Actions)) {
        // A panic cannot leave a counter half updated.
        count(&mut lock(&self.0));
    }

    pub(crate) fn now(&self) -> Actions {
        lock(&self.0).clone()
    }
}
