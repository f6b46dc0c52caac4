//! The table of figures: each beside its floor and the bar that its ratio is held against.

use std::io::{self, Write};
use std::time::Duration;

/// One line.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) floor: Duration,
    pub(crate) measured: Duration,
    /// What to reach: a ratio, or an addition.
    pub(crate) bar: Bar,
}

/// What a figure is to reach.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    /// At most so many times the floor.
    Times(f64),
    /// At most so much more than the floor.
    Plus(Duration),
}

/// All lines of a run.
#[derive(Default)]
pub(crate) struct Table {
    figures: Vec<Figure>,
}

impl Table {
    pub(crate) fn add(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// Writes all lines.
    pub(crate) fn write(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{:<52} {:>11} {:>11} {:>8} {:>10}  met",
            "figure (p50)", "floor", "measured", "ratio", "bar"
        )?;
        for figure in &self.figures {
            let ratio = figure.measured.as_secs_f64() / figure.floor.as_secs_f64();
            let (bar, is_met) = match figure.bar {
                Bar::Times(times) => (format!("<= {times}"), ratio <= times),
                Bar::Plus(more) => (format!("+ {more:?}"), figure.measured <= figure.floor + more),
            };
            writeln!(
                out,
                "{:<52} {:>11} {:>11} {ratio:>8.2} {bar:>10}  {}",
                figure.name,
                rounded(figure.floor),
                rounded(figure.measured),
                if is_met { "yes" } else { "NO" },
            )?;
        }
        Ok(())
    }
}

fn rounded(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1000.0 { format!("{micros:.1} us") } else { format!("{:.2} ms", micros / 1000.0) }
}

/// Returns the median, which one slow moment does not move.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
