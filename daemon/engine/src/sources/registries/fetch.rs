//! HTTP fetch of one file within limits; the only module of this crate that uses HTTP.
//!
//! Nothing is decompressed, so that the limits apply to the bytes received; redirects stay on the
//! original host; one deadline covers the whole transfer.

use std::time::Instant;

use skills_discovery::remote::{Address, AddressError};
use ureq::Agent;
use ureq::http::header::{CONTENT_ENCODING, ETAG, IF_NONE_MATCH, LOCATION};
use ureq::http::{HeaderName, Response};

use crate::sources::source_config::PlainHttp;
use crate::sources::source_limits::{CONNECT_TIME, FILE_TIME, REDIRECTS};

/// Reasons why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("its address {0}")]
    Address(#[from] AddressError),
    #[error("it is not encrypted; only this machine may be, unless `remote.http` is set")]
    Unencrypted,
    #[error("`{url}`: {}", plain(cause))]
    Http {
        url: String,
        #[source]
        cause: Box<ureq::Error>,
    },
    #[error("`{url}` returned status {status}")]
    Status { url: String, status: u16 },
    #[error("`{url}` redirects to `{to}`, which is not on the same host")]
    OtherHost { url: String, to: String },
    #[error("`{url}` redirects more than {REDIRECTS} times")]
    TooManyRedirects { url: String },
    #[error("`{url}` is longer than {limit} bytes")]
    TooLong { url: String, limit: u64 },
    #[error("`{url}` has the encoding `{encoding}`, which skillsd did not request")]
    Encoded { url: String, encoding: String },
    #[error("the download timed out")]
    Deadline,
}

/// Result of a fetch.
pub(crate) enum Fetched {
    /// The file has not changed.
    Unchanged,
    /// The new content.
    New { bytes: Vec<u8>, etag: Option<String> },
}

/// Fetches files of one registry.
pub(crate) struct Fetcher {
    agent: Agent,
    origin: Address,
    deadline: Instant,
}

impl Fetcher {
    /// Returns a fetcher for a registry, with a deadline for all files together.
    pub(crate) fn new(
        address: &Address,
        plain_http: PlainHttp,
        deadline: Instant,
    ) -> Result<Self, FetchError> {
        if !address.is_encrypted() && !address.is_loopback() && plain_http == PlainHttp::Loopback {
            return Err(FetchError::Unencrypted);
        }
        let config = Agent::config_builder()
            .user_agent(concat!("skillsd/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_TIME))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_response_header_size(16 * 1024)
            .https_only(address.is_encrypted());
        // A proxy would resolve a loopback address to its own machine.
        let config = if address.is_loopback() { config.proxy(None) } else { config };
        Ok(Self { agent: config.build().new_agent(), origin: address.clone(), deadline })
    }

    /// Fetches a file of the registry unless its ETag still matches.
    pub(crate) fn get(
        &self,
        relative: &str,
        etag: Option<&str>,
        limit: u64,
    ) -> Result<Fetched, FetchError> {
        let mut url = self.origin.below(relative);
        for _ in 0..=REDIRECTS {
            let response = self.ask(&url, etag)?;
            let status = response.status().as_u16();
            match status {
                200 => return read(&url, response, limit),
                304 if etag.is_some() => return Ok(Fetched::Unchanged),
                301 | 302 | 303 | 307 | 308 => url = self.follow(&url, &response)?,
                _ => return Err(FetchError::Status { url, status }),
            }
        }
        Err(FetchError::TooManyRedirects { url })
    }

    fn ask(&self, url: &str, etag: Option<&str>) -> Result<Response<ureq::Body>, FetchError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FetchError::Deadline);
        }
        let mut request = self.agent.get(url);
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let request = request.config().timeout_global(Some(left.min(FILE_TIME))).build();
        request.call().map_err(|cause| http(url, cause))
    }

    fn follow(&self, url: &str, response: &Response<ureq::Body>) -> Result<String, FetchError> {
        let to = header(response, LOCATION).unwrap_or_default();
        match Address::redirected(url, &to) {
            Some(target) if target.has_origin_of(&self.origin) => Ok(target.to_string()),
            Some(_) | None => Err(FetchError::OtherHost { url: url.to_owned(), to }),
        }
    }
}

fn read(url: &str, mut response: Response<ureq::Body>, limit: u64) -> Result<Fetched, FetchError> {
    let encoding = header(&response, CONTENT_ENCODING);
    if let Some(encoding) = encoding.filter(|it| !it.eq_ignore_ascii_case("identity")) {
        return Err(FetchError::Encoded { url: url.to_owned(), encoding });
    }
    let too_long = || FetchError::TooLong { url: url.to_owned(), limit };
    if response.body().content_length().is_some_and(|it| it > limit) {
        return Err(too_long());
    }
    let etag = header(&response, ETAG);
    // One byte more than the limit, to detect a longer body.
    let body = response.body_mut().with_config().limit(limit + 1).read_to_vec();
    match body {
        Ok(bytes) if bytes.len() as u64 > limit => Err(too_long()),
        Ok(bytes) => Ok(Fetched::New { bytes, etag }),
        Err(ureq::Error::BodyExceedsLimit(_)) => Err(too_long()),
        Err(cause) => Err(http(url, cause)),
    }
}

fn header(response: &Response<ureq::Body>, name: HeaderName) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

fn http(url: &str, cause: ureq::Error) -> FetchError {
    FetchError::Http { url: url.to_owned(), cause: Box::new(cause) }
}

/// Returns the HTTP library's error in plain words.
fn plain(cause: &ureq::Error) -> String {
    match cause {
        ureq::Error::Timeout(_) => "the download timed out".to_owned(),
        ureq::Error::HostNotFound => "the host does not exist".to_owned(),
        other => other.to_string(),
    }
}
