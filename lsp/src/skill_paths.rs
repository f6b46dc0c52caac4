//! Paths of documents that lead into skill directories: the skill at an offset, labels of links,
//! and paths that may lead to several skills.

use skills_agents::references::{
    Link, LinkBase, LinkBases, LinkForm, Reference, ReferenceForm, path_steps,
};
use skills_ide::rename::RenameKind;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use crate::document::Document;
use crate::snapshot::{OverlaySnapshot, SkillEntry};

/// Returns the skill at an offset inside a path, and the span of its directory name. The offset may
/// be on the directory name, or anywhere in a path that leads to the skill itself.
pub(crate) fn skill_linked_at<'a>(
    document: &Document,
    offset: usize,
    snapshot: &'a OverlaySnapshot,
) -> Option<(Span, &'a SkillEntry)> {
    let bases = snapshot.bases(document.path()?);
    let skill_at_base = |link: &Link, base: &AbsPath| {
        let target = base.join_lexically(&link.path);
        let passed = path_steps(link, document.text(), base);
        let named = passed.iter().rev().find_map(|it| {
            let skill = snapshot.at(&it.reached.child("SKILL.md"))?;
            let is_here = it.span.start <= offset && offset <= it.span.end;
            let leads = target == skill.path || target == it.reached;
            (is_here || leads).then_some((it.span, skill))
        });
        let own = || {
            let skill = snapshot.at(&target)?;
            // A path inside the skill's directory does not contain its name; a command is named by
            // its file.
            let is_command = RenameKind::of(&target) == RenameKind::Command;
            let name = passed.last().filter(|_| is_command);
            Some((name.map_or(link.span, |it| it.span), skill))
        };
        named.or_else(own)
    };
    let links = document.links_at(offset);
    links
        .iter()
        .find_map(|link| bases.candidates(link.base).iter().find_map(|it| skill_at_base(link, it)))
}

/// Returns whether a path at a span also leads into one of these directories from a directory
/// between the document's and the top of the worktree, such as that of a plugin.
pub(crate) fn leads_there_from_between(
    span: Span,
    document: &Document,
    bases: &LinkBases,
    dirs: &[AbsPath],
) -> bool {
    if dirs.is_empty() {
        return false;
    }
    let is_within =
        |it: &AbsPath| bases.top.as_ref().is_some_and(|top| it != top && it.starts_with(top));
    let mut here = document.links().iter().filter(|it| {
        let is_here = it.span.start <= span.start && span.end <= it.span.end;
        is_here && it.base == LinkBase::Text && it.form != LinkForm::Target
    });
    here.any(|link| {
        let mut between = bases.text.ancestors().skip(1).take_while(is_within);
        between.any(|base| {
            let target = base.join_lexically(&link.path);
            dirs.iter().any(|it| target.starts_with(it))
        })
    })
}

/// Returns the names of a skill that are the whole labels of Markdown links to its directory or its
/// file, with markup or a `/` around them. `paths` are the skill's directories in the document's
/// links, in text order.
pub(crate) fn link_labels(
    document: &Document,
    paths: &[Reference],
    names: &[String],
) -> Vec<Reference> {
    let text = document.text();
    let is_markup = |it: char| matches!(it, '`' | '*' | '_');
    let targets = document.links().iter().filter(|it| it.form == LinkForm::Target);
    let label = |link: &Link| {
        let n_before = paths.partition_point(|it| it.span.end <= link.names.end);
        let directory = paths[..n_before].last().filter(|it| link.span.start <= it.span.start)?;
        let rest = Span::new(directory.span.end, link.names.end).slice(text);
        let before = &text[..link.span.start];
        let before = before.strip_suffix('<').unwrap_or(before).strip_suffix("](")?;
        let inner = before.trim_end_matches(is_markup);
        let is_label = |name: &&String| {
            let lead = inner.strip_suffix(&***name).unwrap_or_default();
            let lead = lead.strip_suffix('/').unwrap_or(lead);
            lead.trim_end_matches(is_markup).ends_with('[')
        };
        let name =
            names.iter().find(is_label).filter(|_| matches!(rest, "" | "/" | "/SKILL.md"))?;
        let span = Span::new(inner.len() - name.len(), inner.len());
        Some(Reference { name: name.clone(), span, form: ReferenceForm::Mentioned })
    };
    targets.filter_map(label).collect()
}
