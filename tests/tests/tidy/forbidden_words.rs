//! Words forbidden in the code of some crates: the architecture's rules that manifests cannot
//! express.

use crate::code::{code_only, lines_with, without_tests};
use crate::tree::{Source, none, rust_sources};

/// Words that must not occur in the code of some files.
struct ForbiddenWords {
    /// Path prefixes that the rule applies to; empty means all files.
    within: &'static [&'static str],
    /// Path prefixes that are exempt.
    except: &'static [&'static str],
    words: &'static [&'static str],
    why: &'static str,
}

/// Crates that take and return only text and values.
const PURE: &[&str] = &[
    "daemon/syntax/src",
    "daemon/agents/src",
    "daemon/discovery/src",
    "daemon/config/src",
    "daemon/render/src",
    "daemon/lint/src",
    "lsp/ide/src",
];

/// The pure crates, and those that use no sockets.
const OFFLINE: &[&str] = &[
    "daemon/syntax/src",
    "daemon/agents/src",
    "daemon/discovery/src",
    "daemon/config/src",
    "daemon/render/src",
    "daemon/lint/src",
    "daemon/protocol/src",
    "daemon/engine/src",
    "lsp/src",
    "lsp/ide/src",
];

const LIBRARIES: &[&str] = &[
    "daemon/syntax/src",
    "daemon/agents/src",
    "daemon/discovery/src",
    "daemon/config/src",
    "daemon/render/src",
    "daemon/lint/src",
    "daemon/protocol/src",
    "daemon/engine/src",
    "client/src",
    "lsp/src",
    "lsp/ide/src",
];

const FORBIDDEN: &[ForbiddenWords] = &[
    ForbiddenWords {
        within: PURE,
        except: &[],
        words: &[
            "std::fs", "std::env", "std::net", "std::process", "std::thread", "std::os::unix::net",
            "std::io", "std::{", "Instant::now", "SystemTime::now",
        ],
        why: "a pure crate takes text and values and touches no file, environment, clock, thread or network",
    },
    ForbiddenWords {
        within: PURE,
        except: &[],
        words: &["Serialize", "Deserialize", "serde::"],
        why: "model types of pure crates are not wire types",
    },
    ForbiddenWords {
        within: OFFLINE,
        except: &[],
        words: &[
            "UnixStream", "UnixListener", "TcpStream", "TcpListener", "std::net", "tokio::net",
            "rustix::net",
        ],
        why: "sockets belong to the daemon and the client",
    },
    ForbiddenWords {
        within: &["daemon/engine/src"],
        except: &["daemon/engine/src/inspect", "daemon/engine/src/lib.rs"],
        words: &["skills_lint"],
        why: "only `inspect` runs the rules; views do not depend on them",
    },
    ForbiddenWords {
        within: &["lsp/src"],
        except: &[],
        words: &["skills_engine", "skills_client"],
        why: "the language server is handed a source of snapshots and does not know whose",
    },
    ForbiddenWords {
        within: &[],
        except: &["lsp/src"],
        words: &["tower_lsp"],
        why: "LSP types stay inside lsp/",
    },
    ForbiddenWords {
        within: &[],
        except: &["client/cli/src/", "daemon/src/main.rs", "daemon/src/cli.rs"],
        words: &["clap"],
        why: "clap stays in the files of the command line",
    },
    ForbiddenWords {
        within: LIBRARIES,
        except: &[],
        words: &["println!", "eprintln!", "print!", "eprint!", "dbg!"],
        why: "a library does not print",
    },
    ForbiddenWords {
        within: OFFLINE,
        // It sets the working directory of third-party programs.
        except: &["daemon/engine/src/sources/mcp_client/process.rs"],
        words: &["current_dir"],
        why: "the current directory matters at start-up only",
    },
    ForbiddenWords {
        within: &[],
        except: &[],
        words: &["set_current_dir"],
        why: "nothing changes the current directory of a process",
    },
];

/// Crates that only one file may use, and the package of that file.
const KEPT_IN_ONE_FILE: &[(&str, &str)] =
    &[("notify::", "daemon/engine/src"), ("granit_parser::", "daemon/syntax/src")];

fn is_ours(path: &str) -> bool {
    // Tests are exempt.
    !path.starts_with("tests/") && !path.contains("/tests/") && !path.contains("/benches/")
}

fn product_code(sources: &[Source]) -> Vec<(&str, String)> {
    let ours = sources.iter().filter(|source| is_ours(&source.path));
    ours.map(|source| (source.path.as_str(), without_tests(&code_only(&source.text)))).collect()
}

fn violations(rules: &[ForbiddenWords], sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, code) in product_code(sources) {
        let is_under = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
        let meant = rules.iter().filter(|rule| rule.within.is_empty() || is_under(rule.within));
        for rule in meant.filter(|rule| !is_under(rule.except)) {
            for word in rule.words {
                let lines = lines_with(&code, word);
                let lines =
                    lines.iter().map(|line| format!("{path}:{line}: `{word}`: {}", rule.why));
                findings.extend(lines);
            }
        }
    }
    findings
}

fn used_elsewhere(word: &str, home: &str, sources: &[Source]) -> Vec<String> {
    let code = product_code(sources);
    let files: Vec<&str> = code
        .iter()
        .filter(|(_, code)| !lines_with(code, word).is_empty())
        .map(|(path, _)| *path)
        .collect();
    match files.as_slice() {
        [only] if only.starts_with(home) => Vec::new(),
        [] => vec![format!("`{word}` stands in no file: remove its row from KEPT_IN_ONE_FILE")],
        files => vec![format!("`{word}` belongs in one file of {home} and stands in {files:?}")],
    }
}

#[test]
fn forbidden_words_are_absent_from_crates() {
    none(&violations(FORBIDDEN, &rust_sources()));
}

#[test]
fn notify_and_granit_are_used_in_one_file_each() {
    let sources = rust_sources();
    let findings =
        KEPT_IN_ONE_FILE.iter().flat_map(|(word, home)| used_elsewhere(word, home, &sources));
    none(&findings.collect::<Vec<_>>());
}

#[test]
fn forbidden_word_check_ignores_comments_tests_and_strings() {
    let sources = [
        Source::new(
            "daemon/agents/src/a.rs",
            "// std::fs\nuse std::fs;\n#[cfg(test)]\nuse std::env;\n",
        ),
        Source::new("client/src/b.rs", "use std::fs;\nfn f() { println!(\"std::env\"); }\n"),
        Source::new("tests/c.rs", "use tower_lsp::x;\n"),
        Source::new("client/cli/src/d.rs", "use clap::Parser;\n"),
        Source::new("client/src/e.rs", "use clap::Parser;\n"),
    ];
    let findings = violations(FORBIDDEN, &sources);
    let places: Vec<&str> =
        findings.iter().map(|finding| finding.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(places, ["daemon/agents/src/a.rs:2", "client/src/b.rs:2", "client/src/e.rs:1"]);
}

#[test]
fn crate_used_in_two_files_or_none_is_reported() {
    let one = [Source::new("daemon/engine/src/watch/notify_watcher.rs", "use notify::Event;")];
    assert!(used_elsewhere("notify::", "daemon/engine/src", &one).is_empty());
    assert_eq!(used_elsewhere("notify::", "daemon/syntax/src", &one).len(), 1);
    assert_eq!(used_elsewhere("granit_parser::", "daemon/syntax/src", &one).len(), 1);
    let two = ["a", "b"]
        .map(|name| Source::new(&format!("daemon/engine/src/{name}.rs"), "use notify::Event;"));
    assert_eq!(used_elsewhere("notify::", "daemon/engine/src", &two).len(), 1);
}
