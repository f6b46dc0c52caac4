//! Soak test: hours of changes, clients, editors and agents against one daemon, with its growth
//! measured.
//!
//! `tests/soak/run HOURS` builds and starts it. Twenty worktrees change continuously; fifty
//! clients, four editors and four MCP clients make calls; at quiet points lists are compared with
//! the plain reader. Memory, descriptors, threads, watches and the store are sampled every ten
//! seconds. The exit code is 1 if an answer is wrong, a call fails or something grows without
//! bound.

mod callers;
mod churn;
mod compare;
mod report;
mod sample;
mod soak_state;

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use skills_client::spawn::HEAP_LIMITS;
use skills_testkit::{Daemon, Home};

use report::Report;
use soak_state::SoakState;

/// Number of socket clients that make calls and hang up.
const CLIENTS: usize = 50;

/// Number of editors.
const EDITORS: usize = 4;

/// Number of `skillsd mcp` processes.
const MCP_CLIENTS: usize = 4;

/// Number of threads that change worktrees.
const CHURNERS: usize = 4;

fn main() -> io::Result<ExitCode> {
    let mut args = std::env::args().skip(1).filter(|it| it != "--bench");
    let hours = args.next().and_then(|it| it.parse::<f64>().ok()).filter(|it| *it > 0.0);
    let (Some(hours), Some(output)) = (hours, args.next()) else {
        writeln!(io::stderr(), "usage: tests/soak/run HOURS [OUTPUT]")?;
        return Ok(ExitCode::from(2));
    };
    let program = env!("CARGO_BIN_EXE_test-skillsd");
    let home = Home::new();
    // The limits that commands and the systemd unit set.
    let limits = HEAP_LIMITS.map(|(name, value)| (name, Path::new(value)));
    let daemon = Daemon::start_with(&home, program, &limits);
    let soak = SoakState::new(&home, Duration::from_secs_f64(hours * 3600.0));
    let samples = thread::scope(|scope| {
        let soak = &soak;
        for nth in 0..CHURNERS {
            scope.spawn(move || churn::run(soak, nth, CHURNERS));
        }
        for nth in 0..CLIENTS {
            scope.spawn(move || callers::client(soak, nth));
        }
        for nth in 0..EDITORS {
            scope.spawn(move || callers::editor(soak, nth));
        }
        for nth in 0..MCP_CLIENTS {
            scope.spawn(move || callers::mcp(soak, nth, program));
        }
        scope.spawn(move || compare::run(soak));
        sample::run(soak, daemon.pid())
    });
    let counts = soak.counts();
    let report = Report::new(hours, &samples, &counts);
    report.write(output.as_ref())?;
    writeln!(io::stdout(), "{}", report.text())?;
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
