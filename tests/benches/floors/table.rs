//! The table of figures, each with its floor and its bar.

use std::io::{self, Write};
use std::time::Duration;

/// One row of the table.
pub(crate) struct Figure {
    name: String,
    unit: Unit,
    floor: f64,
    measured: f64,
    bar: Bar,
}

/// Unit of a figure.
#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    Bytes,
    CallsPerSecond,
}

/// Bar that a figure must meet.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    /// At most this multiple of the floor.
    Times(f64),
    /// At least this fraction of the floor.
    Part(f64),
    /// At most this much more than the floor, in the figure's unit.
    Plus(f64),
    /// At most this; the floor only gives the scale.
    Limit(f64),
}

impl Figure {
    /// A time.
    pub(crate) fn time(name: &str, floor: Duration, measured: Duration, bar: Bar) -> Figure {
        let (floor, measured) = (floor.as_secs_f64(), measured.as_secs_f64());
        Figure { name: name.to_owned(), unit: Unit::Seconds, floor, measured, bar }
    }

    /// An amount of memory or of disk.
    pub(crate) fn bytes(name: &str, floor: f64, measured: f64, bar: Bar) -> Figure {
        Figure { name: name.to_owned(), unit: Unit::Bytes, floor, measured, bar }
    }

    /// A rate.
    pub(crate) fn rate(name: &str, floor: f64, measured: f64, bar: Bar) -> Figure {
        Figure { name: name.to_owned(), unit: Unit::CallsPerSecond, floor, measured, bar }
    }
}

/// All figures of a run.
#[derive(Default)]
pub(crate) struct Table {
    figures: Vec<Figure>,
}

impl Table {
    pub(crate) fn add(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// Writes the table.
    pub(crate) fn write(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{:<58} {:>11} {:>11} {:>8} {:>12}  met",
            "figure (times are medians)", "floor", "measured", "ratio", "bar"
        )?;
        for Figure { name, unit, floor, measured, bar } in &self.figures {
            let ratio = measured / floor;
            let (bar, is_met) = match *bar {
                Bar::Times(times) => (format!("<= {times}"), ratio <= times),
                Bar::Part(part) => (format!(">= {part}"), ratio >= part),
                Bar::Plus(more) => (format!("+ {}", unit.rounded(more)), *measured <= floor + more),
                Bar::Limit(most) => (format!("<= {}", unit.rounded(most)), *measured <= most),
            };
            writeln!(
                out,
                "{name:<58} {:>11} {:>11} {ratio:>8.2} {bar:>12}  {}",
                unit.rounded(*floor),
                unit.rounded(*measured),
                if is_met { "yes" } else { "NO" },
            )?;
        }
        Ok(())
    }
}

impl Unit {
    fn rounded(self, amount: f64) -> String {
        match self {
            Unit::Seconds if amount < 1e-3 => format!("{:.1} us", amount * 1e6),
            Unit::Seconds => format!("{:.2} ms", amount * 1e3),
            Unit::Bytes if amount < 1024.0 * 1024.0 => format!("{:.2} KiB", amount / 1024.0),
            Unit::Bytes => format!("{:.2} MiB", amount / 1024.0 / 1024.0),
            Unit::CallsPerSecond => format!("{amount:.0}/s"),
        }
    }
}

/// Returns the median, which is robust against a single slow round.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
