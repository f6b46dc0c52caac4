//! Figures beside their floors, measured in one run on one machine: `cargo bench -p skills-tests`.
//!
//! A floor is the same work without the product: the same bytes over the same kind of socket, the same
//! files walked and read. What counts is the ratio; the times only give the scale.
//! Floor and figure take turns in small blocks, so that a busy moment hits both.

mod call;

mod index;

mod load;

mod table;

mod touch;

use std::process::ExitCode;

use table::Table;

fn main() -> ExitCode {
    // The echo server is this program again, in a process of its own as the daemon is.
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, socket] = args.as_slice()
        && word == call::ECHO
    {
        call::serve_echo(socket.as_ref());
        return ExitCode::SUCCESS;
    }
    let mut table = Table::default();
    call::measure(&mut table);
    index::measure(&mut table);
    load::measure(&mut table);
    touch::measure(&mut table);
    // Nobody may read it to the end.
    let _ = table.write(std::io::stdout().lock());
    ExitCode::SUCCESS
}
