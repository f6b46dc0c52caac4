//! A local registry server that behaves as a test configures it.
//!
//! It answers one request per connection. Pages can be changed at any time; every request is
//! logged.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Response for a path.
#[derive(Clone, Debug)]
pub enum Page {
    /// These bytes, with an ETag computed from them; a request with that tag is answered with 304.
    Is(Vec<u8>),
    /// This status with an error page.
    Status(u16),
    /// A redirect to this URL.
    Redirect(String),
    /// A `Content-Length` of this value, followed by these bytes.
    Lies(usize, Vec<u8>),
    /// These bytes, one by one with this pause in milliseconds.
    Slow(Vec<u8>, u64),
    /// These bytes with this `Content-Encoding`.
    Encoded(&'static str, Vec<u8>),
    /// This many bytes without `Content-Length`.
    Endless(usize),
    /// No response: the connection is closed.
    Nothing,
}

/// A running registry server.
pub struct RegistryServer {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    pages: Mutex<BTreeMap<String, Page>>,
    asked: Mutex<Vec<String>>,
    ending: AtomicBool,
}

impl RegistryServer {
    /// Starts a server without pages.
    #[track_caller]
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let shared = Arc::new(Shared::default());
        let thread = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                for stream in listener.incoming() {
                    if shared.ending.load(Ordering::SeqCst) {
                        return;
                    }
                    let shared = Arc::clone(&shared);
                    // The client may disconnect at any time.
                    thread::spawn(move || stream.and_then(|it| serve(&shared, it)));
                }
            }
        });
        Self { port, shared, thread: Some(thread) }
    }

    /// Returns the URL of the registry.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/skills", self.port)
    }

    /// Sets the response for a path below the registry's URL.
    pub fn put(&self, relative: &str, page: Page) {
        lock(&self.shared.pages).insert(format!("/skills/{relative}"), page);
    }

    /// Serves a text at a path below the registry's URL.
    pub fn text(&self, relative: &str, text: &str) {
        self.put(relative, Page::Is(text.as_bytes().to_vec()));
    }

    /// Serves a skill's SKILL.md with this body; the index is not changed.
    pub fn skill(&self, name: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n");
        self.text(&format!("{name}/SKILL.md"), &text);
    }

    /// Returns the requested paths in order, and clears the log.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.asked))
    }
}

impl Drop for RegistryServer {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        // Wakes the accept loop, so that it sees the flag.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Shared, mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut tag = None;
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("if-none-match")
        {
            tag = Some(value.trim().to_owned());
        }
    }
    lock(&shared.asked).push(path.clone());
    let page = lock(&shared.pages).get(&path).cloned().unwrap_or(Page::Status(404));
    answer(&mut stream, page, tag.as_deref())?;
    stream.shutdown(Shutdown::Both)
}

fn answer(stream: &mut TcpStream, page: Page, tag: Option<&str>) -> std::io::Result<()> {
    let head =
        |status: &str, more: &str| format!("HTTP/1.1 {status}\r\nConnection: close\r\n{more}\r\n");
    let length = |bytes: &[u8]| format!("Content-Length: {}\r\n", bytes.len());
    match page {
        Page::Is(bytes) => {
            let own = format!("\"{}-{}\"", bytes.len(), sum(&bytes));
            if tag == Some(own.as_str()) {
                return stream.write_all(head("304 Not Modified", "").as_bytes());
            }
            let more = format!("ETag: {own}\r\n{}", length(&bytes));
            stream.write_all(head("200 OK", &more).as_bytes())?;
            stream.write_all(&bytes)
        }
        Page::Status(code) => {
            let text = b"<html>It is not well.</html>";
            stream.write_all(head(&format!("{code} No"), &length(text)).as_bytes())?;
            stream.write_all(text)
        }
        Page::Redirect(to) => {
            let more = format!("Location: {to}\r\nContent-Length: 0\r\n");
            stream.write_all(head("302 Found", &more).as_bytes())
        }
        Page::Lies(promised, bytes) => {
            let more = format!("Content-Length: {promised}\r\n");
            stream.write_all(head("200 OK", &more).as_bytes())?;
            stream.write_all(&bytes)
        }
        Page::Slow(bytes, pause) => {
            stream.write_all(head("200 OK", &length(&bytes)).as_bytes())?;
            for byte in bytes {
                stream.write_all(&[byte])?;
                thread::sleep(Duration::from_millis(pause));
            }
            Ok(())
        }
        Page::Encoded(encoding, bytes) => {
            let more = format!("Content-Encoding: {encoding}\r\n{}", length(&bytes));
            stream.write_all(head("200 OK", &more).as_bytes())?;
            stream.write_all(&bytes)
        }
        Page::Endless(count) => {
            stream.write_all(head("200 OK", "").as_bytes())?;
            let piece = [b'-'; 4096];
            for _ in 0..count.div_ceil(piece.len()) {
                stream.write_all(&piece)?;
            }
            Ok(())
        }
        Page::Nothing => Ok(()),
    }
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(7, |sum, byte| sum.rotate_left(7) ^ u64::from(*byte))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
