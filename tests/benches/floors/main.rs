//! Figures beside their floors, measured in one run on one machine: `cargo bench -p skills-tests`, or some
//! of them by name: `cargo bench -p skills-tests -- call memory`.
//!
//! A floor is the same work without the product: the same bytes over the same kind of socket, the same
//! files walked and read. What counts is the ratio; the times only give the scale.
//! Floor and figure take turns in small blocks, so that a busy moment hits both.

mod budgets;

mod call;

mod crowd;

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

/// What can be measured, by name.
const GROUPS: [(&str, Measure); 9] = [
    ("budgets", budgets::measure),
    ("call", call::measure),
    ("crowd", crowd::measure),
    ("save", save::measure),
    ("index", index::measure),
    ("process", process::measure),
    ("load", load::measure),
    ("touch", touch::measure),
    ("memory", memory::measure),
];

fn main() -> ExitCode {
    // The echo server is this program again, in a process of its own as the daemon is.
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, socket] = args.as_slice()
        && word == call::ECHO
    {
        call::serve_echo(socket.as_ref());
        return ExitCode::SUCCESS;
    }
    // What is left begins with a dash: cargo's own.
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
    // Nobody may read it to the end.
    let _ = table.write(io::stdout().lock());
    ExitCode::SUCCESS
}
