//! One agent session through the client library: list, touch, ask, load, hooks and compaction, with
//! a daemon kill in the middle.

use std::fs;
use std::path::{Path, PathBuf};

use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::spawn::StartOptions;
use skills_protocol::error::{NEEDS_ASKING, RpcError};
use skills_protocol::method::{
    CatalogRender, HooksDone, HooksMatch, PermissionPending, PermissionReply, ServerStatus,
    SessionClose, SessionCompacted, SessionGet, SessionOpen, SessionTouch, SkillsList, SkillsLoad,
    TrustSet,
};
use skills_protocol::socket::{SocketEnvironment, choose};
use skills_protocol::wire::{
    CatalogParams, HooksDoneParams, HooksMatchParams, HooksMatchResult, ListParams, LoadParams,
    LoadResult, PermissionPendingParams, PermissionReplyParams, Reply, SessionCloseParams,
    SessionCompactedParams, SessionGetParams, SessionOpenParams, SessionResult, SessionTouchParams,
    State, StatusParams, TrustSetParams,
};
use skills_testkit::{Daemon, Home};

use crate::support::exe;

const SKILLS: &str = "//- /.git/HEAD
ref: refs/heads/main
//- /.claude/skills/guide/SKILL.md
---
description: Says how this repository is worked on.
---
Read this first.
//- /.claude/skills/price/SKILL.md
---
description: Knows how prices are rounded.
paths: src/**/*.ts
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: ./check.sh
          once: true
  PostToolUse:
    - matcher: Edit|Write
      hooks:
        - type: command
          command: ./format.sh
---
Round half up.
//- /.claude/skills/deploy/SKILL.md
---
description: Deploys.
allowed-tools: Bash
---
Push, then wait.
";

const SESSION: &str = "5f0c";

/// An agent: its client, the user's consenting client, and its working directory.
struct Agent {
    client: Client,
    user: Client,
    top: PathBuf,
}

impl Agent {
    fn new(home: &Home, top: PathBuf) -> Self {
        let skillsd_socket = Some(home.socket().into_os_string());
        let environment = SocketEnvironment { skillsd_socket, ..SocketEnvironment::default() };
        let location = choose(&environment).expect("an absolute path");
        let mut options = StartOptions::new(location).expect("this program has a path");
        // The test starts the daemons itself.
        options.program = "/bin/false".into();
        let user = Client::for_consent(options.clone());
        Self { client: Client::new(options), user, top }
    }

    async fn open(&self) {
        let cwd = self.top.to_str().map(str::to_owned);
        let params = SessionOpenParams {
            session: Some(SESSION.to_owned()),
            profile: Some("claude-code".to_owned()),
            cwd,
            ..SessionOpenParams::default()
        };
        self.client.call::<SessionOpen>(&params).await.expect("opened");
    }

    async fn session(&self) -> SessionResult {
        let session = Some(SESSION.to_owned());
        let params = SessionGetParams { session, ..SessionGetParams::default() };
        self.client.call::<SessionGet>(&params).await.expect("it is there")
    }

    async fn trust(&self, trusted: Option<bool>) {
        let dir = self.top.to_str().map(str::to_owned);
        let params = TrustSetParams { dir, trusted, ..TrustSetParams::default() };
        self.user.call::<TrustSet>(&params).await.expect("kept");
    }

    async fn load(&self, name: &str, wait: bool) -> Result<LoadResult, RpcError> {
        let params = LoadParams {
            session: Some(SESSION.to_owned()),
            name: Some(name.to_owned()),
            wait: Some(wait),
            ..LoadParams::default()
        };
        self.client.call::<SkillsLoad>(&params).await.map_err(|error| match error {
            ClientError::Rpc(error) => error,
            other => panic!("{other}"),
        })
    }

    /// Waits for a pending approval and answers it as the user.
    async fn answer(&self, reply: Reply) {
        let pending = loop {
            let params = PermissionPendingParams::default();
            let pending = self.client.call::<PermissionPending>(&params).await.expect("listed");
            if let Some(request) = pending.requests.into_iter().next() {
                break request;
            }
        };
        let params =
            PermissionReplyParams { id: pending.id, reply, message: None, always: Vec::new() };
        self.user.call::<PermissionReply>(&params).await.expect("answered");
    }

    async fn hooks(&self, event: &str, tool: &str) -> HooksMatchResult {
        let params = HooksMatchParams {
            session: Some(SESSION.to_owned()),
            event: event.to_owned(),
            tool: Some(tool.to_owned()),
            ..HooksMatchParams::default()
        };
        self.client.call::<HooksMatch>(&params).await.expect("matched")
    }

    async fn commands(&self, event: &str, tool: &str) -> Vec<String> {
        let hooks = self.hooks(event, tool).await.hooks;
        hooks.iter().map(|it| it.handler["command"].as_str().expect("a text").to_owned()).collect()
    }

    async fn catalog(&self) -> String {
        let session = Some(SESSION.to_owned());
        let params = CatalogParams { session, ..CatalogParams::default() };
        self.client.call::<CatalogRender>(&params).await.expect("rendered").text
    }

    async fn touch(&self, file: &str) -> Vec<String> {
        let params = SessionTouchParams {
            session: Some(SESSION.to_owned()),
            paths: vec![self.top.join(file).to_str().expect("plain").to_owned()],
            ..SessionTouchParams::default()
        };
        let touched = self.client.call::<SessionTouch>(&params).await.expect("touched");
        touched.activated.into_iter().map(|it| it.skill.name).collect()
    }

    async fn state(&self, name: &str) -> Option<State> {
        let session = Some(SESSION.to_owned());
        let params = ListParams { session, ..ListParams::default() };
        let list = self.client.call::<SkillsList>(&params).await.expect("listed");
        list.skills.into_iter().find(|it| it.name == name).map(|it| it.state)
    }
}

/// The part before the daemon is killed.
async fn before_the_kill(agent: &Agent, skill: &Path) {
    agent.open().await;
    let catalog = agent.catalog().await;
    assert!(catalog.contains("guide") && catalog.contains("deploy"), "{catalog}");
    assert!(!catalog.contains("price"), "it waits for a file: {catalog}");
    assert_eq!(agent.touch("src/cart/price.ts").await, ["price"]);
    assert_eq!(agent.state("price").await, Some(State::Activated));
    agent.load("guide", false).await.expect("it can do no harm");
    // The worktree is not trusted, so the text is loaded without its hooks.
    let (loaded, ()) = tokio::join!(agent.load("price", true), agent.answer(Reply::Once));
    let loaded = loaded.expect("the user agreed");
    assert_eq!(loaded.metadata.hooks, None);
    assert!(loaded.warnings.iter().any(|it| it.contains("skillsd trust")), "{loaded:?}");
    assert_eq!(agent.commands("PreToolUse", "Bash").await, [""; 0]);
    agent.trust(Some(true)).await;
    let (loaded, ()) = tokio::join!(agent.load("price", true), agent.answer(Reply::Always));
    let loaded = loaded.expect("the user agreed for good");
    assert!(loaded.output.contains("Round half up.") && loaded.metadata.hooks.is_some());
    let matched = agent.hooks("PreToolUse", "Bash").await.hooks;
    let [hook] = &matched[..] else { panic!("{matched:?}") };
    let dir = skill.to_str().expect("plain");
    assert_eq!((hook.skill.as_str(), hook.root.as_str(), hook.once), ("price", dir, true));
    assert_eq!(hook.environment["CLAUDE_PLUGIN_ROOT"], dir);
    assert_eq!(agent.commands("PreToolUse", "Read").await, [""; 0]);
    // A failed `once` hook stays registered, a successful one is removed.
    for (ok, left) in [(false, 1), (true, 0), (true, 0)] {
        let params = HooksDoneParams { id: hook.id.clone(), ok, ..HooksDoneParams::default() };
        agent.client.call::<HooksDone>(&params).await.expect("noted");
        assert_eq!(agent.hooks("PreToolUse", "Bash").await.hooks.len(), left);
    }
    assert_eq!(agent.commands("PostToolUse", "Write").await, ["./format.sh"]);
    let refused = agent.load("deploy", false).await.expect_err("the user is asked first");
    assert_eq!(refused.code, NEEDS_ASKING);
    agent.answer(Reply::Once).await;
    agent.load("deploy", false).await.expect("once");
}

/// The part with the next daemon, which restores the session from the store.
async fn after_the_kill(agent: &Agent, skill: &Path) {
    let session = agent.session().await;
    assert!(!session.is_new && session.activated.len() == 1, "{session:?}");
    assert_eq!(session.invoked[0].paths.len(), 3, "{session:?}");
    assert_eq!(agent.state("price").await, Some(State::Activated));
    assert_eq!(agent.touch("src/cart/price.ts").await, [""; 0], "nothing is reported twice");
    assert_eq!(agent.commands("PostToolUse", "Edit").await, ["./format.sh"]);
    assert_eq!(agent.commands("PreToolUse", "Bash").await, [""; 0], "it was there once");
    // The `always` reply persists, the `once` reply does not.
    agent.load("price", false).await.expect("it was allowed for good");
    assert_eq!(agent.commands("PreToolUse", "Bash").await, [""; 0], "nor is it there again");
    assert_eq!(agent.load("deploy", false).await.expect_err("asked again").code, NEEDS_ASKING);
    let params = SessionCompactedParams {
        session: Some(SESSION.to_owned()),
        ..SessionCompactedParams::default()
    };
    let again = agent.client.call::<SessionCompacted>(&params).await.expect("shortened");
    let names: Vec<_> = again.skills.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["guide", "deploy", "price"], "the latest at the end");
    // A file changed since it was trusted registers no hooks.
    let text = fs::read_to_string(skill.join("SKILL.md")).expect("there");
    fs::write(skill.join("SKILL.md"), text.replace("./check.sh", "./other.sh")).expect("written");
    let loaded = agent.load("price", false).await.expect("its text is loaded");
    assert!(loaded.metadata.hooks.is_none() && !loaded.warnings.is_empty(), "{loaded:?}");
    agent.trust(Some(true)).await;
    agent.load("price", false).await.expect("as it is");
    assert_eq!(agent.commands("PreToolUse", "Bash").await, ["./other.sh"]);
    agent.trust(None).await;
    assert_eq!(agent.commands("PreToolUse", "Bash").await, [""; 0], "trust was taken back");
    let status = agent.client.call::<ServerStatus>(&StatusParams {}).await.expect("answered");
    let actions = status.actions;
    assert_eq!((actions.invocations, actions.triggers["model"]), (3, 3), "{actions:?}");
    assert!(actions.contexts["inline"] == 3 && actions.hooks_matched > 0, "{actions:?}");
    assert!(actions.permissions["asked"] == 1 && actions.untrusted == 0, "{actions:?}");
    let close =
        SessionCloseParams { session: Some(SESSION.to_owned()), ..SessionCloseParams::default() };
    assert!(agent.client.call::<SessionClose>(&close).await.expect("closed").closed);
    agent.open().await;
    assert_eq!(agent.commands("PostToolUse", "Edit").await, [""; 0], "hooks go with the session");
}

#[test]
fn session_continues_across_a_daemon_kill() {
    let home = Home::new();
    let top = home.worktree("w", SKILLS);
    let skill = top.join(".claude/skills/price");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let daemon = Daemon::start(&home, exe());
    let agent = Agent::new(&home, top);
    runtime.block_on(before_the_kill(&agent, &skill));
    daemon.kill();
    let _daemon = Daemon::start(&home, exe());
    runtime.block_on(after_the_kill(&agent, &skill));
}
