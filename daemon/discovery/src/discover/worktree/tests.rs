//! `.git` files as git writes them, and as somebody else may.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::*;
use crate::discover::memory::MemoryTree;

/// A repository at `/main` with the linked worktree `/linked`.
const LINKED: &str = "
//- /main/.git/HEAD
ref: refs/heads/main
//- /main/.git/config
[core]
	bare = false
//- /main/.git/worktrees/linked/gitdir
/linked/.git
//- /main/.git/worktrees/linked/commondir
../..
//- /linked/.git
gitdir: /main/.git/worktrees/linked
";

#[track_caller]
fn check(cwd: &str, fixture: &str, expected: &Expect) {
    let tree = MemoryTree::new(fixture);
    let cwd = AbsPath::new(cwd.as_ref()).unwrap();
    let mut complete = true;
    let worktree = Worktree::of(&cwd, &tree, &mut complete);
    assert!(complete);
    let mut out = format!("{:?}\n", worktree.top);
    match &worktree.repository {
        Repository::None => out.push_str("not in git\n"),
        Repository::Own => out.push_str("its own\n"),
        Repository::Linked { common, main } => {
            let _ = writeln!(out, "linked to {common:?}, main {main:?}");
        }
        Repository::Apart(git) => {
            let _ = writeln!(out, "apart in {git:?}");
        }
        Repository::Unproven(why) => {
            let _ = writeln!(out, "unproven: {why}");
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn a_linked_worktree_whose_repository_names_it() {
    check(
        "/linked",
        LINKED,
        &expect![[r#"
            /linked
            linked to /main/.git, main Some(/main)
        "#]],
    );
    check(
        "/main",
        LINKED,
        &expect![[r#"
            /main
            its own
        "#]],
    );
}

#[test]
fn relative_paths_and_links_on_the_way_are_followed() {
    let relative = LINKED
        .replace("gitdir: /main", "gitdir: ../main")
        .replace("\n/linked/.git", "\n../../../../linked/.git");
    let linked = expect![[r#"
        /linked
        linked to /main/.git, main Some(/main)
    "#]];
    check("/linked", &relative, &linked);
    let by_link = format!("{LINKED}//- /way -> /linked\n");
    check(
        "/way",
        &by_link,
        &expect![[r#"
            /way
            linked to /main/.git, main Some(/main)
        "#]],
    );
}

#[test]
fn a_bare_repository_has_worktrees_and_no_main_one() {
    check(
        "/proj/feature/src",
        "
//- /proj/.bare/config
[core]
	repositoryformatversion = 0
	bare = true
//- /proj/.bare/worktrees/feature/gitdir
/proj/feature/.git
//- /proj/.bare/worktrees/feature/commondir
../..
//- /proj/.git
gitdir: ./.bare
//- /proj/feature/.git
gitdir: /proj/.bare/worktrees/feature
//- /proj/feature/src dir
",
        &expect![[r#"
            /proj/feature
            linked to /proj/.bare, main None
        "#]],
    );
}

#[test]
fn a_submodule_is_apart_and_its_own_linked_worktree_knows_it() {
    let fixture = "
//- /super/.git/modules/m/config
[core]
	worktree = ../../../m
[remote \"origin\"]
	worktree = elsewhere
//- /super/.git/modules/m/worktrees/other/gitdir
/other/.git
//- /super/.git/modules/m/worktrees/other/commondir
../..
//- /super/m/.git
gitdir: ../.git/modules/m
//- /other/.git
gitdir: /super/.git/modules/m/worktrees/other
";
    check(
        "/super/m",
        fixture,
        &expect![[r#"
            /super/m
            apart in /super/.git/modules/m
        "#]],
    );
    check(
        "/other",
        fixture,
        &expect![[r#"
            /other
            linked to /super/.git/modules/m, main Some(/super/m)
        "#]],
    );
}

#[test]
fn what_does_not_name_the_worktree_in_turn_leads_nowhere() {
    // A copy of the linked worktree, or a download that claims to be it.
    check(
        "/evil",
        &format!("{LINKED}//- /evil/.git\ngitdir: /main/.git/worktrees/linked\n"),
        &expect![[r#"
            /evil
            unproven: it names `/main/.git/worktrees/linked`, which does not name this worktree in turn
        "#]],
    );
    check(
        "/evil",
        &format!("{LINKED}//- /evil/.git\ngitdir: /main/.git\n"),
        &expect![[r#"
            /evil
            unproven: it names `/main/.git`, which does not name this worktree in turn
        "#]],
    );
    // It brings a directory that names it, and that names somebody else's repository.
    check(
        "/evil",
        &format!(
            "{LINKED}//- /evil/.git\ngitdir: fake\n//- /evil/fake/gitdir\n/evil/.git\n//- /evil/fake/commondir\n/main/.git\n"
        ),
        &expect![[r#"
            /evil
            unproven: it names `/evil/fake`, which is none of `/main/.git`'s worktrees
        "#]],
    );
    check(
        "/evil",
        &format!(
            "{LINKED}//- /evil/.git\ngitdir: fake/worktrees/x\n//- /evil/fake/worktrees/x/gitdir\n/evil/.git\n//- /evil/fake/worktrees/x/commondir\n../../link\n//- /evil/fake/link -> /main/.git\n"
        ),
        &expect![[r#"
            /evil
            unproven: it names `/evil/fake/worktrees/x`, which is none of `/evil/fake/link`'s worktrees
        "#]],
    );
}

#[test]
fn what_is_odd_leads_nowhere_and_is_still_a_worktree() {
    let cases = [
        ("gitdir: /nowhere", ""),
        ("gitdir: /etc/passwd", "//- /etc/passwd\nroot\n"),
        ("gitdir: /pipe", "//- /pipe fifo\n"),
        ("gitdir: /round", "//- /round -> /round\n"),
        ("gitdir: /stranger", "//- /stranger/gitdir\n/w/.git\n"),
        ("gitdir:", ""),
        ("hello", ""),
        ("", ""),
        ("gitdir: /g", "//- /g/gitdir\n/w/.git\n"),
        ("gitdir: /g", "//- /g/gitdir fifo\n"),
        ("gitdir: /g", "//- /g/gitdir denied\n//- /g/config\n[core]\nworktree = /other\n"),
    ];
    let mut out = String::new();
    for (text, more) in cases {
        let tree = MemoryTree::new(&format!("//- /w/.git\n{text}\n{more}"));
        let mut complete = true;
        let top = AbsPath::new("/w".as_ref()).unwrap();
        let worktree = Worktree::of(&top, &tree, &mut complete);
        assert!(complete && worktree.in_git && worktree.top == top);
        let Repository::Unproven(why) = worktree.repository else { panic!("{text}") };
        let _ = writeln!(out, "{why}");
    }
    expect![[r#"
        it names `/nowhere`, where no directory is
        it names `/etc/passwd`, where no directory is
        it names `/pipe`, where no directory is
        it names `/round`, where no directory is
        it names `/stranger`, which is another user's
        it does not say `gitdir: PATH`
        it does not say `gitdir: PATH`
        it does not say `gitdir: PATH`
        it names `/g`, which does not name this worktree in turn
        it names `/g`, which does not name this worktree in turn
        it names `/g`, which does not name this worktree in turn
    "#]]
    .assert_eq(&out);
    let denied = MemoryTree::new("//- /w/.git denied\n");
    let top = AbsPath::new("/w".as_ref()).unwrap();
    let worktree = Worktree::of(&top, &denied, &mut true);
    assert_eq!(worktree.repository, Repository::Unproven("it cannot be read".to_owned()));
}
