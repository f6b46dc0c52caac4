//! Conversion of snapshots to the wire.

use std::sync::Arc;

use skills_agents::profile::ProfileSet;
use skills_config::LevelRow;
use skills_discovery::discover::{Candidate, ListingLimits};
use skills_discovery::ranking::{self, ListingSize, Ranked, RankedRoot};
use skills_engine::View;
use skills_engine::inspect::ReferencingFile;
use skills_engine::views::snapshot_index;
use skills_engine::views::snapshot_index::SnapshotIndex;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire;
use skills_syntax::text::LineIndex;

use crate::convert::to_wire::{PositionConverter, hash, health, path, state};
use crate::rpc::paging::{Cursor, PageBuilder, PageRange, json_length};

/// Upper bound of the size of a file or entry as JSON without its texts.
const AROUND: usize = 160;

/// Returns a page of a snapshot of the checked views, with the skills of the others;
/// `snapshot_index` must be the index of all.
pub(super) fn snapshot(
    (views, others): (&[Arc<View>], &[Arc<View>]),
    snapshot_index: &SnapshotIndex,
    rows: &[LevelRow],
    own: &ProfileSet,
    clock: String,
    part: PageRange,
) -> wire::SnapshotResult {
    let is_first = part.start == 0;
    let mut page = PageBuilder::of(part);
    let skills = page.take(snapshot_index.n_files(), |it| {
        let (view_idx, candidate_idx) = snapshot_index.file(it);
        let view = views.get(view_idx).unwrap_or_else(|| &others[view_idx - views.len()]);
        skill(view, &view.resolution.candidates[candidate_idx])
    });
    let mut profile = |(view, profile): (&Arc<View>, &snapshot_index::Profile)| {
        let candidates = &view.resolution.candidates;
        let skills = page.take(candidates.len(), |it| {
            entry(profile.ranks.ranks[it].ranked(&candidates[it]), profile.files[it])
        });
        let roots = is_first.then(|| ranking::roots(&view.ctx, &view.resolution));
        let roots = roots.iter().flatten().map(root).collect();
        let name = view.ctx.profile.id.to_string();
        let limits = ListingSize::from_profile(&view.ctx.profile, view.resolution.listing);
        let usual = ListingSize::from_profile(&view.ctx.profile, ListingLimits::default());
        wire::SnapshotProfile {
            profile: name,
            unique: profile.ranks.unique,
            skills,
            roots,
            listing_budget: limits.budget.filter(|_| limits != usual).map(|it| it as u64),
            longest_description: (limits != usual).then_some(limits.longest as u64),
        }
    };
    let profiles = views.iter().zip(snapshot_index.profiles()).map(&mut profile).collect();
    let others = others.iter().filter(|_| is_first).map(|it| it.ctx.profile.id.to_string());
    wire::SnapshotResult {
        fresh: true,
        next_cursor: page.next.map(|start| Cursor { start, since: None }.text(&clock)),
        skills,
        profiles,
        others: others.collect(),
        own_profiles: Some(own.source_text().to_owned()).filter(|it| is_first && !it.is_empty()),
        levels: if is_first { rows.iter().map(level).collect() } else { Vec::new() },
        ..known_snapshot(views, clock)
    }
}

/// Returns the snapshot for a client that already has its lists.
pub(super) fn known_snapshot(views: &[Arc<View>], clock: String) -> wire::SnapshotResult {
    let worktree = &views[0].resolution.worktree;
    let home = skills_engine::inspect::home(views);
    let path_encoding = encoding_of(std::iter::once(&**worktree).chain(home.as_deref()));
    wire::SnapshotResult {
        clock,
        health: health(&views[0].health),
        worktree: encode(worktree, path_encoding),
        home: home.map(|it| encode(&it, path_encoding)),
        path_encoding,
        ..wire::SnapshotResult::default()
    }
}

fn level(row: &LevelRow) -> wire::RuleLevel {
    let level = row.level.word().to_owned();
    wire::RuleLevel { rule: row.rule.clone(), level, glob: row.glob.clone() }
}

/// Returns a file and its size as JSON.
fn skill(view: &View, candidate: &Candidate) -> (wire::SnapshotSkill, usize) {
    let record = candidate.record();
    let with_text = view.resolution.with_text(candidate).and(record);
    let path_encoding = encoding_of([&*candidate.path]);
    let text = |it: &skills_agents::skill::RecordField| it.text.to_string();
    let written = record.and_then(|it| it.name.as_ref()).map(text).filter(|it| !it.is_empty());
    let own = || candidate.own_name().map(|it| it.to_string_lossy().into_owned());
    let skill = wire::SnapshotSkill {
        path: path(&candidate.path, path_encoding),
        path_encoding,
        file: candidate.file.as_ref().map(|it| it.id.to_string()),
        name: written.or_else(own).unwrap_or_default(),
        description: with_text.and_then(|it| it.description.as_ref()).map(text),
        paths: with_text
            .map(|it| it.paths.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        hash: record.map(|it| hash(&it.facts.hash)),
    };
    let texts = [&skill.path, &skill.name].into_iter().chain(&skill.description);
    let texts = texts.chain(&skill.hash).chain(&skill.paths).map(|it| json_length(it) + 1);
    let size = texts.sum::<usize>() + AROUND;
    (skill, size)
}

/// Returns a candidate of a profile and its size as JSON.
fn entry(ranked: Ranked, skill: u32) -> (wire::SnapshotEntry, usize) {
    let entry = wire::SnapshotEntry {
        skill,
        name: ranked.name,
        prefix: ranked.prefix,
        description: ranked.description.map(|it| it as u32),
        name_only: ranked.name_only,
        state: state(ranked.state),
        reason: ranked.reason,
        claim_position: ranked.claim_position as u32,
        winner: ranked.winner.map(|it| it as u32),
        same_file: ranked.same_file,
    };
    let texts = [&entry.name, &entry.prefix].into_iter().chain(&entry.reason);
    let size = texts.map(|it| json_length(it)).sum::<usize>() + AROUND;
    (entry, size)
}

fn root(root: &RankedRoot) -> wire::SnapshotRoot {
    let RankedRoot { path, rule, skills, awaits_trust } = root;
    let path_encoding = encoding_of([&**path]);
    wire::SnapshotRoot {
        path: encode(path, path_encoding),
        path_encoding,
        rule: *rule as u32,
        first: skills.start as u32,
        count: skills.len() as u32,
        untrusted: *awaits_trust,
    }
}

pub(crate) fn references(file: &ReferencingFile) -> impl Iterator<Item = wire::SkillReference> {
    let places = PositionConverter {
        head: &file.text,
        index: LineIndex::new(&file.text),
        before: if file.bom { '\u{FEFF}'.len_utf8() as u64 } else { 0 },
    };
    let path_encoding = encoding_of([&*file.path]);
    file.references.iter().map(move |it| wire::SkillReference {
        name: it.name.clone(),
        path: encode(&file.path, path_encoding),
        path_encoding,
        form: it.form.name().to_owned(),
        range: places.range(it.span),
    })
}
