//! The daemon's editor socket: each connection has its own server and buffers.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::json;
use skills_testkit::{Daemon, Home};

use super::client::{Editor, full_capabilities};
use crate::support::{Live, exe, stderr};

const TREE: &str = "//- /.claude/skills/a/SKILL.md\n---\nname: a\ndescription: Use it when asked.\n---\nb\n\
     //- /.agents/skills/b/SKILL.md\n---\nname: b\ndescription: Use it when asked.\n---\nb\n";

#[test]
fn editor_connections_have_separate_buffers() {
    let mut live = Live::start();
    let top = live.home.worktree("w", TREE);
    let socket = live.home.socket().with_file_name("v1-lsp.sock");
    let mode = fs::metadata(&socket).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let connect = || {
        let stream = UnixStream::connect(&socket).expect("it listens");
        let input = stream.try_clone().expect("it can be");
        Editor::over(Box::new(input), Box::new(stream))
    };
    let before = live.wire.call("server/status", &json!({}))["connections"].clone();
    let (mut one, mut two) = (connect(), connect());
    let (a, b) = (top.join(".claude/skills/a/SKILL.md"), top.join(".agents/skills/b/SKILL.md"));
    for editor in [&mut one, &mut two] {
        editor.initialize(&[&top], full_capabilities());
        editor.open(&a);
        editor.open(&b);
        editor.wait_for(&a, &["index/"], &[]);
        editor.wait_for(&b, &["index/shad"], &[]);
    }
    let now = live.wire.call("server/status", &json!({}))["connections"].clone();
    assert_eq!(now.as_u64(), before.as_u64().map(|it| it + 2));
    let text = fs::read_to_string(&a).expect("it is there").replace("name: a", "name: b");
    one.edit(&a, &text);
    one.wait_for(&b, &["index/shad"], &["index/shadowing -> a"]);
    two.edit(&a, &fs::read_to_string(&a).expect("it is there"));
    assert!(two.ask("textDocument/hover", &a, (1, 1), json!({})).is_ok());
    assert_eq!(two.findings(&b, &["index/shad"]), [""; 0]);
    // The second editor's own buffer takes part too.
    one.save(&a, &text);
    two.edit(&a, &text);
    two.wait_for(&b, &["index/shad"], &["index/shadowing -> a"]);
    // Each editor connection has its own thread.
    let pid = live.wire.call("server/status", &json!({}))["pid"].clone();
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").flatten();
    let names = tasks.filter_map(|it| fs::read_to_string(it.path().join("comm")).ok());
    assert_eq!(names.filter(|it| it.trim() == "editor").count(), 2);
    drop((one, two));
    let shutdown = live.wire.call("server/shutdown", &json!({}));
    assert!(shutdown["pid"].is_u64());
    live.daemon.wait();
    assert!(!socket.exists(), "it is removed at the end");
}

#[test]
fn other_users_are_refused_on_both_sockets() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can be two users");
        return;
    }
    // The daemon belongs to another user; root may open the socket despite its mode.
    let home = Home::owned_by(65_534);
    let program = home.work().join("skillsd");
    fs::copy(exe(), &program).expect("our program can be copied");
    let top = home.worktree("w", TREE);
    let _daemon = Daemon::start(&home, &program);
    let able = json!({"processId": null, "rootUri": null, "capabilities": {}});
    for (socket, method, params) in
        [("v1.sock", "server/status", json!({})), ("v1-lsp.sock", "initialize", able)]
    {
        let stream = UnixStream::connect(home.socket().with_file_name(socket));
        let mut stream = stream.expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("it is no zero");
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let text = text.to_string();
        // Fails if the daemon has already hung up.
        let _ = write!(stream, "Content-Length: {}\r\n\r\n{text}", text.len());
        let mut answer = Vec::new();
        let end = stream.read_to_end(&mut answer);
        let is_reset = |it: &std::io::Error| it.kind() == ErrorKind::ConnectionReset;
        assert!(end.is_ok() || end.as_ref().is_err_and(is_reset), "{socket} stays open: {end:?}");
        assert_eq!(String::from_utf8_lossy(&answer), "", "{socket}");
    }
    // The daemon's own user is served.
    let list = home.command(&program).args(["list"]).current_dir(&top).output();
    let list = list.expect("our program can be run");
    assert!(list.status.success(), "{}", stderr(&list));
}
