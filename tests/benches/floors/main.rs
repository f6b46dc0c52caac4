//! Benchmarks that compare each figure with its floor, measured in one run on one machine: `cargo
//! bench -p skills-tests`, or selected groups: `cargo bench -p skills-tests -- call memory`.
//!
//! A floor is the same work without the product: the same bytes over the same kind of socket, the
//! same files walked and read. The ratio is the result; times only give the scale. Floor and figure
//! alternate in small blocks, so that other load affects both.

mod budgets;

mod call;

mod crowd;

mod editor;

mod index;

mod load;

mod memory;

mod process;

mod save;

mod table;

mod touch;

use std::io::{self, Write as _};
use std::process::ExitCode;

use table::Table;

/// Adds figures of one kind.
type Measure = fn(&mut Table);

/// Groups of figures, by name.
const GROUPS: [(&str, Measure); 10] = [
    ("budgets", budgets::measure),
    ("call", call::measure),
    ("crowd", crowd::measure),
    ("save", save::measure),
    ("index", index::measure),
    ("process", process::measure),
    ("load", load::measure),
    ("touch", touch::measure),
    ("memory", memory::measure),
    ("editor", editor::measure),
];

fn main() -> ExitCode {
    // The echo server is this program in its own process, like the daemon.
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, socket] = args.as_slice()
        && word == call::ECHO
    {
        call::serve_echo(socket.as_ref());
        return ExitCode::SUCCESS;
    }
    // Arguments that start with a dash are cargo's own.
    let wanted: Vec<_> = args.iter().skip(1).filter(|it| !it.starts_with('-')).collect();
    if let Some(unknown) = wanted.iter().find(|it| GROUPS.iter().all(|(name, _)| name != **it)) {
        let names = GROUPS.map(|(name, _)| name).join(", ");
        let _ = writeln!(io::stderr(), "nothing is called `{unknown}`; there are {names}");
        return ExitCode::FAILURE;
    }
    let mut table = Table::default();
    for (name, measure) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|it| **it == name) {
            measure(&mut table);
        }
    }
    // The reader may close the pipe early.
    let _ = table.write(io::stdout().lock());
    ExitCode::SUCCESS
}
