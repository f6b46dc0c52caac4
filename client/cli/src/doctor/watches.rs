//! Checks of the inotify limits against the usage of this user's programs.
//!
//! The limits are shared by all programs of a user: an editor with a large worktree can leave no
//! watches for the daemon, which then rescans the disk more often.

use std::fs;
use std::path::Path;

use skills_protocol::wire::Watches;

use crate::doctor::finding::DoctorProblem;

/// Usage from which a limit is reported, in percent.
const WARN_PERCENT: u64 = 90;

/// Inotify instances and watches in use.
#[derive(Clone, Copy, Debug, Default)]
struct InotifyUsage {
    instances: u64,
    watches: u64,
}

/// Checks the limits; `None` on systems without inotify.
pub(super) fn check(findings: &mut Vec<DoctorProblem>) -> Option<Watches> {
    let limit = |name: &str| -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
        text.trim().parse().ok()
    };
    let limit_watches = limit("max_user_watches")?;
    let used = usage();
    findings.extend(check_limit("watches", "max_user_watches", used.watches, limit_watches));
    if let Some(limit) = limit("max_user_instances") {
        findings.extend(check_limit("instances", "max_user_instances", used.instances, limit));
    }
    Some(Watches { used: used.watches, limit: Some(limit_watches) })
}

fn check_limit(what: &str, name: &str, used: u64, limit: u64) -> Option<DoctorProblem> {
    let message = format!("your programs use {used} of {limit} inotify {what}");
    let more = limit.saturating_mul(4).max(1024);
    let hint = format!(
        "Run `sudo sysctl fs.inotify.{name}={more}`, and set it permanently in `/etc/sysctl.d/`."
    );
    let is_short = used.saturating_mul(100) >= limit.saturating_mul(WARN_PERCENT);
    is_short.then(|| DoctorProblem::warning(&format!("{what}-nearly-used"), message, hint))
}

/// Counts the usage of all processes that we may inspect: those of this user.
fn usage() -> InotifyUsage {
    let mut used = InotifyUsage::default();
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
    fn usage_near_the_limit_is_a_finding() {
        assert!(check_limit("watches", "max_user_watches", 10, 100).is_none());
        let finding =
            check_limit("watches", "max_user_watches", 95, 100).expect("short").into_wire();
        assert_eq!(finding.code, "watches-nearly-used");
        assert_eq!(finding.message, "your programs use 95 of 100 inotify watches");
        assert!(finding.hint.contains("fs.inotify.max_user_watches=1024"), "{}", finding.hint);
        assert!(check_limit("instances", "max_user_instances", 0, 0).is_some());
    }

    #[test]
    fn watches_are_counted_in_fdinfo() {
        let info =
            "pos:\t0\nflags:\t02004000\ninotify wd:2 ino:1 sdev:1\ninotify wd:1 ino:2 sdev:1\n";
        assert_eq!(watches_of(info), 2);
    }
}
