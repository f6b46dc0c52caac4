//! A server of a catalog on this machine, as well or as badly behaved as a test wants it.
//!
//! It answers each connection with one answer and closes it. What is at a path can be changed at
//! any time; every request is counted.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What is at a path.
#[derive(Clone, Debug)]
pub enum Page {
    /// These bytes, with a tag that is made from them; asked with that tag, 304.
    Is(Vec<u8>),
    /// This status with a page about it.
    Status(u16),
    /// It is somewhere else.
    Redirect(String),
    /// So many bytes are promised, and these are sent.
    Lies(usize, Vec<u8>),
    /// These bytes, one each so many milliseconds.
    Slow(Vec<u8>, u64),
    /// These bytes, said to be encoded like this.
    Encoded(&'static str, Vec<u8>),
    /// So many bytes without saying how many.
    Endless(usize),
    /// The connection is closed without an answer.
    Nothing,
}

/// A server that is running.
pub struct Catalog {
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

impl Catalog {
    /// Starts a server with nothing in it.
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
                    // A client that goes away is a client's right.
                    thread::spawn(move || stream.and_then(|it| serve(&shared, it)));
                }
            }
        });
        Self { port, shared, thread: Some(thread) }
    }

    /// Returns the address of the catalog.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/skills", self.port)
    }

    /// Puts something at a path below the catalog.
    pub fn put(&self, relative: &str, page: Page) {
        lock(&self.shared.pages).insert(format!("/skills/{relative}"), page);
    }

    /// Puts a text at a path below the catalog.
    pub fn text(&self, relative: &str, text: &str) {
        self.put(relative, Page::Is(text.as_bytes().to_vec()));
    }

    /// Puts a skill there, of a SKILL.md with that body; the index is not changed.
    pub fn skill(&self, name: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n");
        self.text(&format!("{name}/SKILL.md"), &text);
    }

    /// Returns the paths that were asked for, in their order, and forgets them.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.asked))
    }
}

impl Drop for Catalog {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        // Wakes the server, which then sees that it is to end.
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
