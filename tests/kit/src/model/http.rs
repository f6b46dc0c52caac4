//! Minimal HTTP/1.1 server side: requests with a length or in chunks, responses with a length.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// One request.
pub(super) struct Request {
    /// The path with its query.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// Reads a request; `None` if the client has closed the connection.
pub(super) fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).ok_or(io::ErrorKind::InvalidData)?.to_owned();
    let mut length = 0;
    let mut is_chunked = false;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => is_chunked = value.contains("chunked"),
            "expect" => (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if is_chunked {
        read_chunks(&mut reader, &mut body)?;
    }
    Ok(Some(Request { path, body }))
}

fn read_chunks(reader: &mut BufReader<&TcpStream>, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
        // Each chunk ends with a line break, including the empty last one.
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk)?;
        body.extend_from_slice(&chunk[..length]);
        if length == 0 {
            return Ok(());
        }
    }
}

/// Sends a response and keeps the connection open.
pub(super) fn write(mut stream: &TcpStream, content_type: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
