//! The system's limits on inotify, and how much of them this user's programs use.
//!
//! The limits are for all programs of a user together: an editor with a large worktree can leave
//! none for the daemon, which then reads the disk more often than it would have to.

use std::fs;
use std::path::Path;

use skills_protocol::wire::Watches;

use crate::doctor::finding::Finding;

/// How much of a limit may be used before it is worth a word, in percent.
const NEARLY: u64 = 90;

/// What is used of inotify.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    instances: u64,
    watches: u64,
}

/// Looks at the limits; `None` where there is no inotify.
pub(super) fn look(findings: &mut Vec<Finding>) -> Option<Watches> {
    let limit = |name: &str| -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
        text.trim().parse().ok()
    };
    let limit_watches = limit("max_user_watches")?;
    let used = used();
    findings.extend(judge("watches", "max_user_watches", used.watches, limit_watches));
    if let Some(limit) = limit("max_user_instances") {
        findings.extend(judge("instances", "max_user_instances", used.instances, limit));
    }
    Some(Watches { used: used.watches, limit: Some(limit_watches) })
}

fn judge(what: &str, name: &str, used: u64, limit: u64) -> Option<Finding> {
    let message = format!("{used} of {limit} inotify {what} are in use by your programs");
    let more = limit.saturating_mul(4).max(1024);
    let hint = format!(
        "Run `sudo sysctl fs.inotify.{name}={more}`, and set it for good in `/etc/sysctl.d/`."
    );
    let is_short = used.saturating_mul(100) >= limit.saturating_mul(NEARLY);
    is_short.then(|| Finding::warning(&format!("{what}-nearly-used"), message, hint))
}

/// Counts over the processes that we may look into: our own.
fn used() -> Use {
    let mut used = Use::default();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = process.path();
        for file in fs::read_dir(process.join("fd")).into_iter().flatten().flatten() {
            let is_inotify = |target: &Path| target.as_os_str() == "anon_inode:inotify";
            if fs::read_link(file.path()).is_ok_and(|target| is_inotify(&target)) {
                used.instances += 1;
                let info = fs::read_to_string(process.join("fdinfo").join(file.file_name()));
                used.watches += info.map_or(0, |info| watches_of(&info));
            }
        }
    }
    used
}

fn watches_of(info: &str) -> u64 {
    info.lines().filter(|line| line.starts_with("inotify wd:")).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_that_is_nearly_reached_is_a_finding() {
        assert!(judge("watches", "max_user_watches", 10, 100).is_none());
        let finding = judge("watches", "max_user_watches", 95, 100).expect("short").into_wire();
        assert_eq!(finding.code, "watches-nearly-used");
        assert_eq!(finding.message, "95 of 100 inotify watches are in use by your programs");
        assert!(finding.hint.contains("fs.inotify.max_user_watches=1024"), "{}", finding.hint);
        assert!(judge("instances", "max_user_instances", 0, 0).is_some());
    }

    #[test]
    fn watches_are_lines_of_the_kernels_account() {
        let info =
            "pos:\t0\nflags:\t02004000\ninotify wd:2 ino:1 sdev:1\ninotify wd:1 ino:2 sdev:1\n";
        assert_eq!(watches_of(info), 2);
    }
}
