//! Who is at the other end of a socket.
//!
//! The directory's mode keeps others out; this says it a second time, from the kernel, before a
//! word is exchanged.

use std::io;
use std::os::fd::AsFd;

/// Returns the id of the user who listens at the other end, where the system tells.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn uid(socket: impl AsFd) -> io::Result<Option<u32>> {
    let credentials = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(Some(credentials.uid.as_raw()))
}

/// Returns the id of the user who listens at the other end, where the system tells.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn uid(_socket: impl AsFd) -> io::Result<Option<u32>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_other_end_of_our_own_pair_is_us() {
        let (one, _other) = UnixStream::pair().expect("a pair");
        let uid = uid(&one).expect("known");
        assert!(uid.is_none_or(|uid| uid == rustix::process::getuid().as_raw()));
    }
}
