//! Samples of the daemon: memory, descriptors, threads, watches, connections and the store.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use skills_testkit::Framing;

use crate::soak_state::{SoakState, connect};

/// The time between two samples.
const PAUSE: Duration = Duration::from_secs(10);

/// Measurements of the daemon at one time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sample {
    /// Seconds since the start.
    pub(crate) at: f64,
    /// Anonymous memory in MB of 1,000,000 bytes.
    pub(crate) memory: f64,
    pub(crate) descriptors: f64,
    pub(crate) threads: f64,
    pub(crate) watches: f64,
    pub(crate) connections: f64,
    /// Size of the state directory in MB, without logs.
    pub(crate) store: f64,
}

impl Sample {
    /// The header of the CSV file.
    pub(crate) const HEADER: &'static str =
        "seconds,memory_mb,descriptors,threads,watches,connections,store_mb";

    /// Returns a line of the CSV file.
    pub(crate) fn line(&self) -> String {
        format!(
            "{:.0},{:.3},{:.0},{:.0},{:.0},{:.0},{:.3}",
            self.at,
            self.memory,
            self.descriptors,
            self.threads,
            self.watches,
            self.connections,
            self.store
        )
    }
}

/// Takes samples until the run ends.
pub(crate) fn run(soak: &SoakState<'_>, pid: u32) -> Vec<Sample> {
    let mut samples = Vec::new();
    while soak.is_running() {
        soak.rest(PAUSE);
        soak.attempt(|| {
            let sample = take(soak, pid);
            soak.say(&sample.line());
            samples.push(sample);
        });
    }
    samples
}

fn take(soak: &SoakState<'_>, pid: u32) -> Sample {
    let mut wire = connect(&soak.home.socket(), Framing::Lines);
    let status = wire.call("server/status", &json!({}));
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_default();
    let entries = |dir: &str| {
        let entries = fs::read_dir(format!("/proc/{pid}/{dir}")).expect("the daemon runs");
        f64::from(u32::try_from(entries.count()).unwrap_or(u32::MAX))
    };
    let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("the daemon runs");
    let line = text.lines().find_map(|it| it.strip_prefix("RssAnon:")).expect("Linux tells it");
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("it is a number");
    Sample {
        at: soak.elapsed().as_secs_f64(),
        memory: kib * 1024.0 / 1e6,
        descriptors: entries("fd"),
        threads: entries("task"),
        watches: number(&status["watches"]["used"]),
        connections: number(&status["connections"]),
        store: size(&soak.home.state_dir()) / 1e6,
    }
}

/// Returns the size of the files below a directory in bytes, without logs.
fn size(dir: &Path) -> f64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0.0 };
    let mut size = 0.0;
    for entry in entries.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let is_log = entry.file_name().to_string_lossy().contains("log");
        if metadata.is_dir() {
            size += self::size(&entry.path());
        } else if !is_log {
            #[expect(clippy::cast_precision_loss, reason = "a plot needs no more")]
            let bytes = metadata.len() as f64;
            size += bytes;
        }
    }
    size
}
