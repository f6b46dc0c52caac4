//! Reading the entries of an open directory.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

/// Returns the names and types of at most `most` entries without `.` and `..`, unordered. The type
/// is `Unknown` on file systems that do not report it.
///
/// # Errors
/// The system refuses.
pub fn entries(directory: impl AsFd, most: usize) -> Result<Vec<(OsString, FileType)>, Errno> {
    let mut entries = Vec::new();
    let mut add = |name: &[u8], kind| {
        if name != b"." && name != b".." {
            entries.push((OsStr::from_bytes(name).to_owned(), kind));
        }
        entries.len() < most
    };
    #[cfg(target_os = "linux")]
    if !crate::is_portable() {
        // `Dir` allocates and clears 96 KiB for each directory.
        let mut buffer = [std::mem::MaybeUninit::uninit(); 16 * 1024];
        let mut listing = rustix::fs::RawDir::new(directory, &mut buffer);
        while let Some(entry) = listing.next() {
            let entry = match entry {
                Err(Errno::INTR) => continue,
                // The directory was removed meanwhile.
                Err(Errno::NOENT) => break,
                entry => entry?,
            };
            if !add(entry.file_name().to_bytes(), entry.file_type()) {
                break;
            }
        }
        return Ok(entries);
    }
    for entry in Dir::new(rustix::io::fcntl_dupfd_cloexec(directory, 0)?)? {
        let entry = entry?;
        if !add(entry.file_name().to_bytes(), entry.file_type()) {
            break;
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn entries_are_listed_up_to_the_limit_without_dots() {
        const FILES: usize = 2_000;
        let dir = tempfile::tempdir().unwrap();
        for index in 0..FILES {
            File::create(dir.path().join(format!("a name of some length {index:04}"))).unwrap();
        }
        fs::create_dir(dir.path().join("below")).unwrap();
        let opened = File::open(dir.path()).unwrap();
        let mut listed = entries(&opened, usize::MAX).unwrap();
        listed.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(listed.len(), FILES + 1);
        assert_eq!(listed[0], ("a name of some length 0000".into(), FileType::RegularFile));
        assert_eq!(listed[FILES], ("below".into(), FileType::Directory));
        let opened = File::open(dir.path()).unwrap();
        assert_eq!(entries(&opened, 3).unwrap().len(), 3);
    }
}
