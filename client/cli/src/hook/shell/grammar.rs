//! Parser for shell commands (tree-sitter's grammar of bash) within a budget of steps and time.

use std::ops::ControlFlow;
use std::time::Duration;

use tree_sitter::{ParseOptions, Parser, Tree};

/// Maximum length of a command in bytes. Only the beginning of a longer text is parsed.
const LONGEST: usize = 256 * 1024;

/// Budget for parsing one command and the commands nested in it, since an agent waits for the hook.
///
/// Ordinary text runs out of steps first, so the result is the same on every machine. The time
/// limit covers texts whose single steps are slow, such as a thousand here-documents on one line.
/// It counts CPU time of this thread, so a busy machine changes no result.
#[derive(Debug)]
pub(super) struct Budget {
    steps: usize,
    end: Duration,
}

impl Budget {
    pub(super) fn new() -> Budget {
        Budget { steps: 4_000, end: thread_cpu_time() + Duration::from_secs(1) }
    }

    fn spend(&mut self) -> ControlFlow<()> {
        self.steps = self.steps.saturating_sub(1);
        let has_left = self.steps > 0 && thread_cpu_time() < self.end;
        if has_left { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    Duration::from_secs(seconds.unwrap_or_default())
        + Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Parses a command; `None` if the budget is used up.
pub(super) fn parse(text: &str, budget: &mut Budget) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut step = |_: &_| budget.spend();
    let options = ParseOptions::new().progress_callback(&mut step);
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

/// Returns at most `LONGEST` bytes of `text`, up to a character boundary.
pub(super) fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}
