//! What an editor keeps of the views, on the wire.

use std::collections::BTreeMap;
use std::sync::Arc;

use skills_core::config::LevelRow;
use skills_core::path::AbsPath;
use skills_core::profile::Profiles;
use skills_core::ranking::{Ranked, Ranking};
use skills_core::resolve::Candidate;
use skills_core::text::LineIndex;
use skills_engine::View;
use skills_engine::inspect::Spoken;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire;

use super::{Places, hash, health, path, state};

/// Returns the views as a snapshot; without its lists where the caller knows them.
pub(crate) fn snapshot(
    views: &[Arc<View>],
    rows: &[LevelRow],
    own: &Profiles,
    clock: String,
    known: bool,
) -> wire::SnapshotResult {
    let worktree = &views[0].resolution.worktree;
    let home = skills_engine::inspect::home(views);
    let written = std::iter::once(&**worktree).chain(home.as_deref());
    let path_encoding = encoding_of(written);
    let mut files: BTreeMap<&AbsPath, (u32, &Candidate)> = BTreeMap::new();
    if !known {
        for candidate in views.iter().flat_map(|it| &it.resolution.candidates) {
            files.entry(&candidate.path).or_insert((0, candidate));
        }
    }
    for (number, (index, _)) in files.values_mut().enumerate() {
        *index = number as u32;
    }
    let profile = |view: &Arc<View>| {
        let ranking = Ranking::of(&view.site, &view.resolution);
        let skills = ranking.skills.iter().map(|it| place(it, files[&it.path].0)).collect();
        let profile = ranking.profile.id.to_string();
        wire::SnapshotProfile { profile, unique: ranking.unique, skills }
    };
    let profiles = if known { Vec::new() } else { views.iter().map(profile).collect() };
    wire::SnapshotResult {
        clock,
        health: health(&views[0].health),
        fresh: !known,
        worktree: encode(worktree, path_encoding),
        home: home.map(|it| encode(&it, path_encoding)),
        path_encoding,
        skills: files.values().map(|(_, it)| skill(it)).collect(),
        profiles,
        own_profiles: Some(own.written().to_owned()).filter(|it| !known && !it.is_empty()),
        levels: if known { Vec::new() } else { rows.iter().map(level).collect() },
    }
}

fn level(row: &LevelRow) -> wire::RuleLevel {
    let level = row.level.word().to_owned();
    wire::RuleLevel { rule: row.rule.clone(), level, glob: row.glob.clone() }
}

fn skill(candidate: &Candidate) -> wire::SnapshotSkill {
    let record = candidate.record();
    let path_encoding = encoding_of([&*candidate.path]);
    let text = |it: &skills_core::skill::Field| it.text.to_string();
    let written = record.and_then(|it| it.name.as_ref()).map(text).filter(|it| !it.is_empty());
    let own = || candidate.own_name().map(|it| it.to_string_lossy().into_owned());
    wire::SnapshotSkill {
        path: path(&candidate.path, path_encoding),
        path_encoding,
        name: written.or_else(own).unwrap_or_default(),
        description: record.and_then(|it| it.description.as_ref()).map(text),
        paths: record
            .map(|it| it.paths.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        hash: record.map(|it| hash(&it.facts.hash)),
    }
}

fn place(ranked: &Ranked, skill: u32) -> wire::SnapshotPlace {
    wire::SnapshotPlace {
        skill,
        name: ranked.name.clone(),
        prefix: ranked.prefix.clone(),
        description: ranked.description.map(|it| it as u32),
        state: state(ranked.state),
        reason: ranked.reason.clone(),
        turn: ranked.turn as u32,
        winner: ranked.winner.map(|it| it as u32),
        same_file: ranked.same_file,
    }
}

/// Returns where a file names skills.
pub(crate) fn references(spoken: &Spoken) -> impl Iterator<Item = wire::SkillReference> {
    let places = Places {
        head: &spoken.text,
        index: LineIndex::new(&spoken.text),
        before: if spoken.bom { '\u{FEFF}'.len_utf8() as u64 } else { 0 },
    };
    let path_encoding = encoding_of([&*spoken.path]);
    spoken.references.iter().map(move |it| wire::SkillReference {
        name: it.name.clone(),
        path: encode(&spoken.path, path_encoding),
        path_encoding,
        form: it.form.name().to_owned(),
        range: places.range(it.span),
    })
}
