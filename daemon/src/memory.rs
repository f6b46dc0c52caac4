//! How much memory the process has resident, as the kernel counts it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// A reader that keeps its file open: a status call then costs one system call for it.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    statm: OnceLock<Option<File>>,
}

impl Memory {
    /// Returns the resident bytes; none where the system does not tell.
    pub(crate) fn resident(&self) -> Option<u64> {
        let statm = self.statm.get_or_init(|| File::open("/proc/self/statm").ok());
        let mut buffer = [0; 128];
        let length = statm.as_ref()?.read_at(&mut buffer, 0).ok()?;
        let text = str::from_utf8(&buffer[..length]).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_some_and_more_when_it_takes_some() {
        let memory = Memory::default();
        let before = memory.resident().unwrap();
        let taken = vec![1_u8; 32 << 20];
        let after = memory.resident().unwrap();
        assert!(after >= before + (16 << 20), "{before} {after} {}", taken.len());
    }
}
