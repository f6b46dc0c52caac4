//! A scripted language model: an HTTP server on loopback for real agents.
//!
//! An agent that accepts a base URL for its model talks to this server. It implements the four
//! streaming formats of the agents under test (see [`dialect`]) and answers each request for a turn
//! with the next step of its script: a call of one of the agent's tools, or text, which ends the
//! turn. Other requests (titles, classification, token counts) get a fixed answer and do not
//! advance the script. Every request is stored, so that a test sees what the agent sent: its system
//! prompt, its tools, and tool results.

mod dialect;
mod http;
mod request;
mod turn;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;

use dialect::Dialect;

pub use request::ModelRequest;
pub use turn::Turn;

#[derive(Debug)]
struct ModelState {
    script: Vec<Turn>,
    spoken: usize,
    requests: Vec<ModelRequest>,
}

/// A scripted model. It listens until the process ends.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    state: Arc<Mutex<ModelState>>,
}

impl Model {
    /// Starts a model that follows `script`.
    pub fn start(script: Vec<Turn>) -> Model {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port on loopback");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(Mutex::new(ModelState { script, spoken: 0, requests: Vec::new() }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(&stream, &state));
            }
        });
        Model { address, state }
    }

    /// Returns the base URL, without a path and without a closing `/`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replaces the script.
    pub fn follow(&self, script: Vec<Turn>) {
        let mut state = lock(&self.state);
        state.script = script;
        state.spoken = 0;
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.state).requests.clone()
    }

    /// Returns the requests that were answered from the script, in order.
    pub fn turns(&self) -> Vec<ModelRequest> {
        self.requests().into_iter().filter(|it| it.is_turn).collect()
    }

    /// Returns the steps of the script that were not requested.
    pub fn left(&self) -> Vec<Turn> {
        let state = lock(&self.state);
        state.script[state.spoken..].to_vec()
    }
}

fn lock(state: &Mutex<ModelState>) -> MutexGuard<'_, ModelState> {
    // A panic in another thread fails its own test; the stored requests are still valid.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(stream: &TcpStream, state: &Mutex<ModelState>) {
    // The agent may disconnect at any time; its test reports missing requests.
    while let Ok(Some(request)) = http::read(stream) {
        let (content_type, body) = answer(&request, state);
        if http::write(stream, content_type, &body).is_err() {
            return;
        }
    }
}

fn answer(request: &http::Request, state: &Mutex<ModelState>) -> (&'static str, String) {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let mut state = lock(state);
    let mut model_request = ModelRequest { path: request.path.clone(), body, is_turn: false };
    let Some(dialect) = Dialect::of(&model_request.path) else {
        state.requests.push(model_request);
        return ("application/json", "{}".to_owned());
    };
    let turn = state.script.get(state.spoken).cloned();
    let tools = dialect.tools(&model_request.body);
    // A request without tools is not a turn, and one without the wanted tool comes from a sub-agent
    // or helper.
    let suits = |turn: &Turn| match turn.tool() {
        Some(wanted) => tools.iter().any(|tool| tool == wanted),
        None => !tools.is_empty(),
    };
    model_request.is_turn = turn.as_ref().is_some_and(suits);
    let nth = state.spoken;
    state.spoken += usize::from(model_request.is_turn);
    let said = turn.filter(|_| model_request.is_turn).unwrap_or_else(|| Turn::say("Done."));
    let answer = dialect.answer(&model_request, &said, nth);
    state.requests.push(model_request);
    answer
}
