//! The report of a run: figures, verdict, CSV, plot and summary.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use crate::sample::Sample;
use crate::soak_state::Counts;

/// Seconds before growth is measured, while caches fill and worktrees are opened.
const WARM_UP: f64 = 600.0;

/// Maximum growth of memory, in MB per hour.
const MOST_GROWTH: f64 = 1.0;

/// Minimum length of a run, in hours, for memory growth to decide the verdict.
const SHORTEST: f64 = 0.5;

/// A figure of a sample, its name and unit.
type Figure = (&'static str, fn(&Sample) -> f64);

const FIGURES: [Figure; 6] = [
    ("memory, MB", |it| it.memory),
    ("descriptors", |it| it.descriptors),
    ("threads", |it| it.threads),
    ("watches", |it| it.watches),
    ("connections", |it| it.connections),
    ("store, MB", |it| it.store),
];

/// The results of a run.
pub(crate) struct Report<'a> {
    hours: f64,
    samples: &'a [Sample],
    counts: &'a Counts,
    /// Growth of memory in MB per hour.
    slope: f64,
    /// The figures that grow without bound.
    growing: Vec<&'static str>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(hours: f64, samples: &'a [Sample], counts: &'a Counts) -> Self {
        let warm_up = WARM_UP.min(hours * 3600.0 * 0.4);
        let warm: Vec<Sample> = samples.iter().copied().filter(|it| it.at >= warm_up).collect();
        let slope = slope(&warm);
        let growing = FIGURES[1..].iter().filter(|it| is_growing(&warm, it.1)).map(|it| it.0);
        Self { hours, samples, counts, slope, growing: growing.collect() }
    }

    /// Returns whether no answer was wrong and nothing grows.
    pub(crate) fn is_good(&self) -> bool {
        let is_flat = self.hours < SHORTEST || self.slope <= MOST_GROWTH;
        let is_right = self.counts.wrong == 0 && self.counts.failures == 0;
        is_flat && is_right && self.growing.is_empty() && self.counts.checks > 0
    }

    /// Writes `samples.csv`, `plot.svg` and `summary.md` into a directory.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let lines = self.samples.iter().map(|it| format!("{}\n", it.line()));
        let csv: String = std::iter::once(format!("{}\n", Sample::HEADER)).chain(lines).collect();
        fs::write(dir.join("samples.csv"), csv)?;
        fs::write(dir.join("plot.svg"), self.plot())?;
        fs::write(dir.join("summary.md"), self.text())
    }

    /// Returns the summary as Markdown.
    pub(crate) fn text(&self) -> String {
        let Counts { calls, operations, checks, wrong, failures, first } = self.counts;
        let mut text = format!("# Soak of {} h\n\n", self.hours);
        let verdict = if self.is_good() { "passed" } else { "FAILED" };
        let _ = writeln!(text, "- Verdict: {verdict}");
        let _ = writeln!(text, "- Memory slope: {:.2} MB/h after warm-up", self.slope);
        let _ = writeln!(text, "- Lists compared with the plain reader: {checks}, wrong: {wrong}");
        let _ = writeln!(text, "- Calls: {calls}, failures: {failures}");
        let _ = writeln!(text, "- Changes of the disk: {operations}");
        let growing = if self.growing.is_empty() { "none" } else { &self.growing.join(", ") };
        let _ = writeln!(text, "- Growing without bound: {growing}\n");
        let _ = writeln!(text, "| Figure | First | Median | Most | Last |\n|---|---|---|---|---|");
        for (name, figure) in FIGURES {
            let values: Vec<f64> = self.samples.iter().map(figure).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let at = |of: &[f64], nth: usize| of.get(nth).copied().unwrap_or_default();
            let _ = writeln!(
                text,
                "| {name} | {:.2} | {:.2} | {:.2} | {:.2} |",
                at(&values, 0),
                at(&sorted, sorted.len() / 2),
                sorted.last().copied().unwrap_or_default(),
                values.last().copied().unwrap_or_default(),
            );
        }
        for message in first {
            let _ = writeln!(text, "\n```text\n{message}\n```");
        }
        text
    }

    /// Returns an SVG with one panel for each figure.
    fn plot(&self) -> String {
        const WIDTH: f64 = 720.0;
        const HEIGHT: f64 = 110.0;
        const LEFT: f64 = 90.0;
        let end = self.samples.last().map_or(1.0, |it| it.at).max(1.0);
        let mut panels = String::new();
        let mut top = 20.0;
        for (name, figure) in FIGURES {
            let most = self.samples.iter().map(figure).fold(0.0, f64::max).max(1e-9);
            let bottom = top + HEIGHT;
            let _ = writeln!(
                panels,
                "<path d=\"M{LEFT} {top}V{bottom}H{}\" fill=\"none\" stroke=\"#888\"/>\n\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{most:.1}</text>\n\
                 <text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">0</text>\n\
                 <text x=\"{}\" y=\"{}\">{name}</text>",
                LEFT + WIDTH,
                LEFT - 6.0,
                top + 10.0,
                LEFT - 6.0,
                LEFT + 8.0,
                top + 12.0,
            );
            let points = self.samples.iter().map(|it| {
                let (x, y) = (LEFT + it.at / end * WIDTH, bottom - figure(it) / most * HEIGHT);
                format!("{x:.1},{y:.1}")
            });
            let points: Vec<String> = points.collect();
            let _ = writeln!(
                panels,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"#06c\"/>",
                points.join(" ")
            );
            top = bottom + 30.0;
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{panels}\
             <text x=\"{LEFT}\" y=\"{top}\">0 to {:.0} minutes</text>\n</svg>\n",
            LEFT + WIDTH + 20.0,
            top + 20.0,
            end / 60.0,
        )
    }
}

/// Returns the slope of memory by least squares, in MB per hour.
fn slope(samples: &[Sample]) -> f64 {
    let n = samples.iter().map(|_| 1.0).sum::<f64>();
    if n < 2.0 {
        return 0.0;
    }
    let mean = |figure: fn(&Sample) -> f64| samples.iter().map(figure).sum::<f64>() / n;
    let (x, y) = (mean(|it| it.at / 3600.0), mean(|it| it.memory));
    let spread: f64 = samples.iter().map(|it| (it.at / 3600.0 - x).powi(2)).sum();
    let both: f64 = samples.iter().map(|it| (it.at / 3600.0 - x) * (it.memory - y)).sum();
    both / spread.max(1e-12)
}

/// Returns whether the maximum of the last third clearly exceeds that of the middle third.
fn is_growing(samples: &[Sample], figure: fn(&Sample) -> f64) -> bool {
    let third = samples.len() / 3;
    if third < 5 {
        return false;
    }
    let most = |of: &[Sample]| of.iter().map(figure).fold(0.0, f64::max);
    let (middle, last) = (most(&samples[third..2 * third]), most(&samples[2 * third..]));
    last > middle * 1.25 + 8.0
}
