//! The daemon's socket for editors: a server for each connection, with texts of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;

use serde_json::json;

use super::client::{Editor, able};
use crate::support::Live;

const TREE: &str = "//- /.claude/skills/a/SKILL.md\n---\nname: a\ndescription: Use it when asked.\n---\nb\n\
     //- /.agents/skills/b/SKILL.md\n---\nname: b\ndescription: Use it when asked.\n---\nb\n";

#[test]
fn editors_connect_to_a_socket_and_see_their_own_texts() {
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
        editor.initialize(&[&top], able());
        editor.open(&a);
        editor.open(&b);
        editor.wait_for(&a, &["index/"], &[]);
    }
    let now = live.wire.call("server/status", &json!({}))["connections"].clone();
    assert_eq!(now.as_u64(), before.as_u64().map(|it| it + 2));
    let text = fs::read_to_string(&a).expect("it is there").replace("name: a", "name: b");
    one.edit(&a, &text);
    one.wait_for(&b, &["index/shad"], &["index/shadowing -> a"]);
    two.edit(&a, &fs::read_to_string(&a).expect("it is there"));
    assert!(two.ask("textDocument/hover", &a, (1, 1), json!({})).is_ok());
    assert_eq!(two.findings(&b, &["index/shad"]), [""; 0]);
    // What the other one types is its own as well.
    one.save(&a, &text);
    two.edit(&a, &text);
    two.wait_for(&b, &["index/shad"], &["index/shadowing -> a"]);
    drop((one, two));
    let shutdown = live.wire.call("server/shutdown", &json!({}));
    assert!(shutdown["pid"].is_u64());
    live.daemon.wait();
    assert!(!socket.exists(), "it is removed at the end");
}
