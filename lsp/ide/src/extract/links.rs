//! Edits that keep the targets of links and paths on both sides of a split.

use skills_agents::references::LinkBases;
use skills_lint::PathKind;
use skills_syntax::edit::Edit;
use skills_syntax::markdown::{link_path, percent_decode};
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use super::edits::{covers, is_replaced};
use super::{SectionSplit, Side};
use crate::anchors::MovedAnchor;
use crate::moves::{Move, Moves, relative};

impl SectionSplit<'_> {
    /// Returns the link edits for one side, sorted by position.
    pub(super) fn link_edits(&self, side: Side) -> Vec<Edit> {
        let links = self.body.links.iter();
        let mut edits: Vec<Edit> = links.filter_map(|it| self.heading_edit(*it, side)).collect();
        edits.sort_by_key(|it| it.span);
        if side == Side::Page {
            let mut paths = self.path_edits();
            paths.retain(|it| !is_replaced(&edits, it.span));
            edits.extend(paths);
            edits.sort_by_key(|it| it.span);
        }
        edits
    }

    /// Returns the edit that keeps a heading link pointing to its heading.
    fn heading_edit(&self, link: Span, side: Side) -> Option<Edit> {
        let target = link.slice(self.text);
        let (path, fragment) = target.split_once('#')?;
        let own = self.path.file_name()?.to_str()?;
        let is_own = path.is_empty() || link_path(path).is_some_and(|it| self.is_own(&it));
        if !is_own || fragment.is_empty() {
            return None;
        }
        let MovedAnchor { on_page, in_text } = self.anchors.get(&percent_decode(fragment))?;
        let text = match side {
            Side::Page => match (on_page, in_text) {
                (Some(name), _) => format!("#{name}"),
                (None, name) => format!("../{own}#{}", name.as_ref()?),
            },
            Side::Rest => match (on_page, in_text) {
                (_, Some(name)) => format!("{path}#{name}"),
                (name, None) => format!("{}#{}", self.file, name.as_ref()?),
            },
        };
        (text != target).then_some(Edit { span: link, text })
    }

    fn is_own(&self, path: &str) -> bool {
        self.path.parent().is_some_and(|it| it.join_lexically(path) == *self.path)
    }

    /// Returns the path edits for the page. Paths in fenced code and commands stay unchanged,
    /// because their working directory does not move.
    fn path_edits(&self) -> Vec<Edit> {
        let Some(dir) = self.path.parent() else { return Vec::new() };
        // Treats the section as a file of its own that moves alone.
        let old = dir.child(format!("{}#", self.file.replace('/', "#")));
        let moves = Moves::new([Move { old: old.clone(), new: self.page.clone() }]);
        let bases = LinkBases::for_file(&old, None, None).with_skill(Some(dir.clone()));
        let is_known = |it: &AbsPath| {
            let look = relative(&dir, it).and_then(|it| self.fs.look(&it));
            matches!(look, Some(PathKind::File { .. } | PathKind::Directory))
        };
        let edits = |is_there: &dyn Fn(&AbsPath) -> bool| {
            moves.edits(&old, &bases, self.text, &self.links, is_there)
        };
        // Link targets are paths even if no file exists.
        let mut found = edits(&|_| true);
        found.retain(|it| covers(&self.body.links, it.span));
        let is_word = |it: &&Span| !it.slice(self.text).contains(char::is_whitespace);
        let codes: Vec<Span> = self.body.codes.iter().filter(is_word).copied().collect();
        let mut known = edits(&is_known);
        known.retain(|it| covers(&codes, it.span) || covers(&self.body.prose, it.span));
        found.extend(known);
        // A single word is often a placeholder, so the file must exist.
        for link in &self.body.links {
            let path = link_path(link.slice(self.text)).filter(|it| !it.contains(['/', '.']));
            if path.is_some_and(|it| is_known(&dir.child(it))) {
                found.push(Edit { span: Span::empty(link.start), text: "../".to_owned() });
            }
        }
        found
    }
}
