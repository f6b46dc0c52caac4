//! An MCP client for tests, on top of the official Rust library.

#![expect(deprecated, reason = "clients of today still have roots")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    ArgumentInfo, CallToolRequestParams, ClientCapabilities, ClientConfig, CompleteRequestParams,
    CompletionContext, ElicitRequestParams, ElicitResult, ElicitationCapability,
    GetPromptRequestParams, Implementation, ListRootsResult, ProtocolVersion,
    ReadResourceRequestParams, Reference, Root, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleClient, RunningService, Subscription,
};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ErrorData};
use serde_json::{Value, json};
use skills_testkit::Home;
use skills_testkit::wait::DEADLINE;
use tokio::process::Child;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::support::exe;

/// Result of a tool call.
#[derive(Debug, PartialEq)]
pub(crate) enum ToolOutput {
    Text(String),
    Error(String),
}

/// Client handler: its roots, its user's answers, and counters of list changes.
#[derive(Clone, Default)]
struct ClientState {
    roots: Arc<Mutex<Option<Vec<Root>>>>,
    /// The user's answers to elicitations, the next one last; `None` if the client cannot elicit.
    answers: Arc<Mutex<Option<Vec<ElicitResult>>>>,
    tools: Arc<ChangeCounter>,
    prompts: Arc<ChangeCounter>,
    resources: Arc<ChangeCounter>,
}

/// Counts notifications of one kind.
struct ChangeCounter(Semaphore);

impl Default for ChangeCounter {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl ClientHandler for ClientState {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.roots.lock().expect("the lock is not poisoned").is_some() {
            capabilities = ClientCapabilities::builder().enable_roots().build();
        }
        if self.answers.lock().expect("the lock is not poisoned").is_some() {
            capabilities.elicitation = Some(ElicitationCapability::default());
        }
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(
            self.roots.lock().expect("the lock is not poisoned").clone().unwrap_or_default(),
        ))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let question = json!(request);
        let answers = &question["requestedSchema"]["properties"]["answer"]["enum"];
        assert_eq!(answers, &json!(["once", "always", "reject"]), "{question}");
        let mut answers = self.answers.lock().expect("the lock is not poisoned");
        Ok(answers.as_mut().and_then(Vec::pop).expect("it is not asked so often"))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools.0.add_permits(1);
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.prompts.0.add_permits(1);
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.resources.0.add_permits(1);
    }
}

/// A client and the server process it has started.
pub(crate) struct Agent {
    service: RunningService<RoleClient, ClientState>,
    state: ClientState,
    child: Child,
}

impl Agent {
    /// Starts a server in `cwd` and initializes it.
    pub(crate) async fn start(home: &Home, cwd: &Path, args: &[&str]) -> Self {
        Self::greet(home, cwd, args, ClientState::default(), ClientLifecycleMode::Initialize).await
    }

    /// Starts a server with protocol revision 2026-07-28, which has no `initialize`.
    pub(crate) async fn discover(home: &Home, cwd: &Path, args: &[&str]) -> Self {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let mode = ClientLifecycleMode::Discover { preferred_versions };
        Self::greet(home, cwd, args, ClientState::default(), mode).await
    }

    /// Starts a server with a client that supports elicitation and answers with these results, in
    /// order.
    pub(crate) async fn answering(
        home: &Home,
        cwd: &Path,
        is_present: bool,
        mut answers: Vec<ElicitResult>,
    ) -> Self {
        let state = ClientState::default();
        answers.reverse();
        *state.answers.lock().expect("the lock is not poisoned") = Some(answers);
        let mode = if is_present {
            ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            }
        } else {
            ClientLifecycleMode::Initialize
        };
        Self::greet(home, cwd, &["--profile", "claude-code"], state, mode).await
    }

    /// Starts a server with protocol revision 2026-07-28 and roots.
    pub(crate) async fn discover_rooted(home: &Home, cwd: &Path, dirs: &[&Path]) -> Self {
        let state = ClientState::default();
        *state.roots.lock().expect("the lock is not poisoned") = Some(roots(dirs));
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let mode = ClientLifecycleMode::Discover { preferred_versions };
        Self::greet(home, cwd, &[], state, mode).await
    }

    /// Starts a server with roots.
    pub(crate) async fn rooted(home: &Home, cwd: &Path, args: &[&str], dirs: &[&Path]) -> Self {
        let state = ClientState::default();
        *state.roots.lock().expect("the lock is not poisoned") = Some(roots(dirs));
        Self::greet(home, cwd, args, state, ClientLifecycleMode::Initialize).await
    }

    async fn greet(
        home: &Home,
        cwd: &Path,
        args: &[&str],
        state: ClientState,
        mode: ClientLifecycleMode,
    ) -> Self {
        let mut command = home.command(exe());
        command.arg("mcp").args(args).current_dir(cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .expect("our program can be run");
        let streams = child.stdout.take().zip(child.stdin.take()).expect("both are piped");
        let service = state.clone().serve_with_lifecycle(streams, mode).await.expect("it greets");
        Self { service, state, child }
    }

    /// Returns the server's information.
    pub(crate) fn info(&self) -> Value {
        json!(self.service.peer_info().expect("it has said it").as_ref())
    }

    pub(crate) async fn tools(&self) -> Vec<Value> {
        list(&json!(self.service.list_all_tools().await.expect("tools are listed")))
    }

    pub(crate) async fn resources(&self) -> Vec<Value> {
        list(&json!(self.service.list_all_resources().await.expect("resources are listed")))
    }

    pub(crate) async fn prompts(&self) -> Vec<Value> {
        list(&json!(self.service.list_all_prompts().await.expect("prompts are listed")))
    }

    pub(crate) async fn templates(&self) -> Vec<String> {
        let listed = self.service.list_all_resource_templates().await.expect("they are listed");
        listed.into_iter().map(|it| it.uri_template).collect()
    }

    /// Calls a tool and returns its result.
    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> ToolOutput {
        let result = self.service.call_tool(request(tool, &arguments)).await.expect("it answers");
        let texts = result.content.iter().filter_map(|it| it.as_text());
        let text: Vec<_> = texts.map(|it| it.text.clone()).collect();
        let text = text.join("\n");
        if result.is_error == Some(true) { ToolOutput::Error(text) } else { ToolOutput::Text(text) }
    }

    /// Calls a tool that does not exist and returns the error.
    pub(crate) async fn call_fails(&self, tool: &'static str, arguments: Value) -> String {
        self.service.call_tool(request(tool, &arguments)).await.expect_err("no tool").to_string()
    }

    pub(crate) async fn read(&self, uri: &str) -> Result<Value, String> {
        let read = self.service.read_resource(ReadResourceRequestParams::new(uri)).await;
        let read = json!(read.map_err(|error| format!("{error:?}"))?);
        Ok(read["contents"][0].clone())
    }

    /// Returns the text of a prompt.
    pub(crate) async fn prompt(&self, name: &str, arguments: Value) -> Result<String, String> {
        let arguments = arguments.as_object().cloned().expect("an object");
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let got = self.service.get_prompt(params).await.map_err(|error| format!("{error:?}"))?;
        let got = json!(got);
        assert_eq!(got["messages"][0]["role"], "user");
        let messages = got["messages"].as_array().expect("a list").iter();
        let texts = messages.map(|it| it["content"]["text"].as_str().expect("a text"));
        Ok(texts.collect())
    }

    /// Returns the completions for an argument of a prompt or of a resource template.
    pub(crate) async fn offered(
        &self,
        of: Reference,
        (name, value): (&str, &str),
        given: &[(&str, &str)],
    ) -> Vec<String> {
        let given = given.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned()));
        let context = CompletionContext::with_arguments(given.collect());
        let params = CompleteRequestParams::new(of, ArgumentInfo::new(name, value));
        let params = params.with_context(context);
        self.service.complete(params).await.expect("it answers").completion.values
    }

    /// Discards notifications received so far.
    pub(crate) async fn quiet(&self) {
        // Notifications sent before a response are received before it; later ones belong to the
        // daemon's own timing, and an expected change is reported again.
        self.service.list_all_resource_templates().await.expect("it answers");
        for heard in [&self.state.tools, &self.state.prompts, &self.state.resources] {
            let n_heard = heard.0.available_permits();
            heard.0.forget_permits(n_heard);
        }
    }

    /// Waits until all three lists are reported as changed.
    pub(crate) async fn told(&self) {
        for heard in [&self.state.tools, &self.state.prompts, &self.state.resources] {
            let told = timeout(DEADLINE, heard.0.acquire()).await;
            told.expect("notified in time").expect("it is never closed").forget();
        }
    }

    /// Opens a subscription as in protocol revision 2026-07-28.
    pub(crate) async fn listen(&self) -> ChangeSubscription {
        let filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed()
            .resources_list_changed()
            .build();
        let subscription = self.service.listen(filter.clone()).await.expect("it can be listened");
        assert_eq!(subscription.acknowledged(), &filter);
        ChangeSubscription(subscription)
    }

    pub(crate) async fn set_roots(&self, dirs: &[&Path]) {
        *self.state.roots.lock().expect("the lock is not poisoned") = Some(roots(dirs));
        self.service.notify_roots_list_changed().await.expect("it listens");
    }

    /// Disconnects and asserts that the server exits with 0.
    pub(crate) async fn end(mut self) {
        let _ = self.service.close_with_timeout(Duration::from_millis(500)).await;
        drop(self.service);
        let status = timeout(DEADLINE, self.child.wait()).await.expect("it ends in time");
        assert_eq!(status.expect("our child").code(), Some(0));
    }
}

/// A subscription as in protocol revision 2026-07-28.
pub(crate) struct ChangeSubscription(Subscription);

impl ChangeSubscription {
    pub(crate) async fn next(&mut self) {
        let heard = timeout(DEADLINE, self.0.next()).await.expect("notified in time");
        assert!(matches!(heard, Ok(Some(_))), "it goes on: {heard:?}");
    }
}

fn request(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().cloned().expect("an object");
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

fn list(listed: &Value) -> Vec<Value> {
    listed.as_array().expect("a list").clone()
}

fn roots(dirs: &[&Path]) -> Vec<Root> {
    dirs.iter().map(|it| Root::new(format!("file://{}", it.display()))).collect()
}

/// Sends `input` to a server, waits for `n_answers` lines, and returns all its output.
pub(crate) fn talk(mut command: Command, input: &str, n_answers: usize) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("our program can be run");
    let mut to = child.stdin.take().expect("it is piped");
    to.write_all(input.as_bytes()).expect("it reads");
    let mut from = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut printed = String::new();
    for _ in 0..n_answers {
        from.read_line(&mut printed).expect("it prints text");
    }
    drop(to);
    from.read_to_string(&mut printed).expect("it prints text");
    assert_eq!(child.wait().expect("our child").code(), Some(0));
    printed
}
