//! Every repository of the corpus as a worktree: the live list equals the plain reader's.
//!
//! The corpus consists of third-party repositories; it is unpacked for the test and never part of
//! this repository.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;
use skills_testkit::Corpus;
use skills_testkit::literal::{self, AGENTS, AgentLocation, is_plain};

use crate::support::{Live, PROFILES, assert_same, listed, oracle, run_json};

#[test]
fn corpus_worktrees_list_what_the_plain_reader_reads() {
    let Some(corpus) = Corpus::open("109 real repositories as worktrees") else { return };
    let repositories = corpus.repositories();
    let mut live = Live::start();
    for top in &repositories {
        live.home.git(top, &["init", "-q", "-b", "main", "--template="]);
    }
    assert!(repositories.len() > 100, "only {} repositories", repositories.len());

    let (mut n_skills, mut n_plain) = (0, 0);
    for top in &repositories {
        for cwd in working_dirs(top) {
            for profile in PROFILES {
                n_skills += live.check(&cwd, profile);
            }
            n_plain += check_literal_rules(&mut live, &cwd);
        }
    }
    // Collections keep their skills in `skills/`, which no profile searches; link it into a search
    // root.
    for top in repositories.iter().filter(|top| top.join("skills").is_dir()) {
        if !top.join(".agents").exists() {
            fs::create_dir(top.join(".agents")).expect("a directory can be made");
            symlink("../skills", top.join(".agents/skills")).expect("a link can be made");
            n_skills += live.check(top, "agentskills");
            n_plain += check_literal_rules(&mut live, top);
        }
    }
    assert!(n_skills > 1500, "only {n_skills} skills were compared");
    assert!(n_plain > 1500, "only {n_plain} skills were compared in all profiles");

    // The same through the command line, for every tenth repository.
    for top in repositories.iter().step_by(10) {
        for profile in PROFILES {
            let result = run_json(&live.home, top, &["list", "--profile", profile]);
            assert_same(&listed(&result), &oracle(&live.home, top, profile), top, profile);
        }
    }
    println!(
        "{n_skills} listed skills in {} repositories, {n_plain} more by all agents' own rules",
        repositories.len()
    );
}

/// Compares each agent's list with its published rules, for plain files only. Other files are
/// compared with the agents' own parsers elsewhere.
fn check_literal_rules(live: &mut Live, cwd: &Path) -> usize {
    let mut n_skills = 0;
    for agent in AGENTS {
        let home = live.home.path();
        let environment = json!({"HOME": home, "GEMINI_CLI_TRUST_WORKSPACE": "true"});
        let location = AgentLocation { cwd: cwd.to_owned(), home: home.to_owned() };
        let params = json!({"cwd": cwd, "profile": agent, "environment": environment});
        let listed = listed(&live.wire.call("skills/list", &params));
        let ours = listed.into_iter().map(|it| {
            let real = fs::canonicalize(&it.path).expect("what is listed is there");
            (it.name, real)
        });
        let (mut ours, mut theirs) = (ours.collect::<Vec<_>>(), literal::listed(agent, &location));
        // A file that is not plain may shadow one that is, so drop such names from both lists.
        let odd = ours.iter().chain(&theirs).filter(|(_, path)| !is_plain(path));
        let odd: BTreeSet<String> = odd.map(|(name, _)| name.clone()).collect();
        for list in [&mut ours, &mut theirs] {
            list.retain(|(name, _)| !odd.contains(name));
            list.sort();
        }
        assert_eq!(ours, theirs, "{agent} at {}", cwd.display());
        n_skills += ours.len();
    }
    n_skills
}

/// Returns the top, and each directory below it that has its own skills.
fn working_dirs(top: &Path) -> BTreeSet<PathBuf> {
    let walk = ignore::WalkBuilder::new(top).standard_filters(false).build();
    let dirs = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()));
    let roots =
        dirs.filter(|entry| ["skills", "skill"].iter().any(|name| entry.file_name() == *name));
    let holders = roots.filter_map(|entry| Some(entry.path().parent()?.parent()?.to_path_buf()));
    holders.chain([top.to_path_buf()]).filter(|dir| dir.starts_with(top)).collect()
}
