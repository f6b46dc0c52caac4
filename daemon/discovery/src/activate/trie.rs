//! A trie over path segments that holds many patterns.
//!
//! Nodes are numbers. An edge for a name or an extension is an entry in a table shared by all
//! nodes, keyed by the node and the number of the text; other edges are rare. The patterns that end
//! at a node are a slice of one array. Ten thousand skills therefore need a few tables, not ten
//! thousand compiled matchers.

use std::collections::HashMap;

use super::glob::Glob;
use super::pattern::Segment;

const NONE: u32 = u32::MAX;

/// Node at which a walk starts.
const TOP: u32 = 0;

/// The finished, read-only trie.
#[derive(Debug)]
pub(super) struct Trie {
    nodes: Box<[TrieNode]>,
    names: HashMap<Box<[u8]>, u32>,
    /// Edges by node and name number.
    named: HashMap<(u32, u32), u32>,
    suffixes: HashMap<Box<[u8]>, u32>,
    /// Edges by node and suffix number.
    suffixed: HashMap<(u32, u32), u32>,
    /// Glob edges, grouped by node.
    globs: Box<[(Glob, u32)]>,
    /// Numbers of the patterns that end at each node, grouped by node.
    ends: Box<[u32]>,
}

#[derive(Clone, Copy, Debug)]
struct TrieNode {
    /// Target of `**`.
    any: u32,
    /// Target of `*`.
    one: u32,
    /// End of its range in `globs`; the range starts at the end of the node before.
    globs: u32,
    /// End of its range in `ends`.
    ends: u32,
    /// True if it stays active for any number of names (`**`).
    stays: bool,
    /// True if it has a suffix edge.
    has_suffixes: bool,
}

/// Builds a [`Trie`].
#[derive(Default)]
pub(super) struct TrieBuilder {
    nodes: Vec<TrieNode>,
    names: HashMap<Box<[u8]>, u32>,
    named: HashMap<(u32, u32), u32>,
    suffixes: HashMap<Box<[u8]>, u32>,
    suffixed: HashMap<(u32, u32), u32>,
    globs: Vec<(u32, Glob, u32)>,
    ends: Vec<(u32, u32)>,
}

impl TrieBuilder {
    /// Adds a pattern. Numbers must be ascending.
    pub(super) fn insert(&mut self, segments: &[Segment], number: u32) {
        if self.nodes.is_empty() {
            self.add(false);
        }
        let node = segments.iter().fold(TOP, |node, segment| self.follow(node, segment));
        self.ends.push((node, number));
    }

    fn add(&mut self, stays: bool) -> u32 {
        let node = TrieNode { any: NONE, one: NONE, globs: 0, ends: 0, stays, has_suffixes: false };
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Returns the target of an edge, which is created if it is missing.
    fn follow(&mut self, node: u32, segment: &Segment) -> u32 {
        let at = node as usize;
        match segment {
            Segment::Any => {
                if self.nodes[at].any == NONE {
                    self.nodes[at].any = self.add(true);
                }
                self.nodes[at].any
            }
            Segment::One => {
                if self.nodes[at].one == NONE {
                    self.nodes[at].one = self.add(false);
                }
                self.nodes[at].one
            }
            Segment::Literal(name) => {
                let key = (node, number(&mut self.names, name));
                if let Some(next) = self.named.get(&key) {
                    return *next;
                }
                let next = self.add(false);
                self.named.insert(key, next);
                next
            }
            Segment::Suffix(suffix) => {
                let key = (node, number(&mut self.suffixes, suffix));
                if let Some(next) = self.suffixed.get(&key) {
                    return *next;
                }
                self.nodes[at].has_suffixes = true;
                let next = self.add(false);
                self.suffixed.insert(key, next);
                next
            }
            // Equal globs are not merged; finding duplicates costs more than matching both.
            Segment::Glob(glob) => {
                let next = self.add(false);
                self.globs.push((node, glob.clone(), next));
                next
            }
        }
    }

    pub(super) fn build(mut self) -> Trie {
        if self.nodes.is_empty() {
            self.add(false);
        }
        // The sort is stable, so each node's numbers stay ascending.
        self.ends.sort_by_key(|(node, _)| *node);
        self.globs.sort_by_key(|(node, ..)| *node);
        for (node, _) in &self.ends {
            self.nodes[*node as usize].ends += 1;
        }
        for (node, ..) in &self.globs {
            self.nodes[*node as usize].globs += 1;
        }
        let (mut ends, mut globs) = (0, 0);
        for node in &mut self.nodes {
            ends += node.ends;
            globs += node.globs;
            (node.ends, node.globs) = (ends, globs);
        }
        for table in [&mut self.named, &mut self.suffixed] {
            table.shrink_to_fit();
        }
        for table in [&mut self.names, &mut self.suffixes] {
            table.shrink_to_fit();
        }
        Trie {
            nodes: self.nodes.into(),
            names: self.names,
            named: self.named,
            suffixes: self.suffixes,
            suffixed: self.suffixed,
            globs: self.globs.into_iter().map(|(_, glob, next)| (glob, next)).collect(),
            ends: self.ends.into_iter().map(|(_, number)| number).collect(),
        }
    }
}

fn number(texts: &mut HashMap<Box<[u8]>, u32>, text: &str) -> u32 {
    let next = texts.len() as u32;
    if let Some(known) = texts.get(text.as_bytes()) {
        return *known;
    }
    texts.insert(text.as_bytes().into(), next);
    next
}

impl Trie {
    /// Walks along a path. Calls `visit` at most once per segment, with the segment's index and the
    /// numbers of the patterns that match the path up to it.
    pub(super) fn walk(&self, path: &[&[u8]], mut visit: impl FnMut(usize, &[u32])) {
        let mut here = Vec::with_capacity(16);
        let mut next = Vec::with_capacity(16);
        let mut ends = Vec::new();
        self.enter(TOP, &mut here);
        for (depth, name) in path.iter().enumerate() {
            self.step(&here, name, &mut next);
            ends.clear();
            for node in &next {
                ends.extend_from_slice(self.ends(*node));
            }
            if !ends.is_empty() {
                visit(depth, &ends);
            }
            std::mem::swap(&mut here, &mut next);
            next.clear();
        }
    }

    fn step(&self, here: &[u32], name: &[u8], next: &mut Vec<u32>) {
        let named = self.names.get(name).copied();
        let dots = || name.iter().enumerate().filter(|(_, byte)| **byte == b'.');
        // One lookup per dot in the name, and only if there are suffix patterns.
        let suffixes: Vec<u32> = if self.suffixes.is_empty() {
            Vec::new()
        } else {
            dots().filter_map(|(at, _)| self.suffixes.get(&name[at..]).copied()).collect()
        };
        for &node in here {
            let found = &self.nodes[node as usize];
            if found.stays {
                self.enter(node, next);
            }
            if let Some(to) = named.and_then(|name| self.named.get(&(node, name))) {
                self.enter(*to, next);
            }
            if found.has_suffixes {
                for suffix in &suffixes {
                    if let Some(to) = self.suffixed.get(&(node, *suffix)) {
                        self.enter(*to, next);
                    }
                }
            }
            if found.one != NONE {
                self.enter(found.one, next);
            }
            for (glob, to) in self.globs(node) {
                if glob.matches(name) {
                    self.enter(*to, next);
                }
            }
        }
    }

    /// Adds a node and the node that its `**` edge reaches without a name.
    fn enter(&self, node: u32, nodes: &mut Vec<u32>) {
        let found = &self.nodes[node as usize];
        // Other nodes have one incoming edge, so they are reached once.
        if found.stays && nodes.contains(&node) {
            return;
        }
        nodes.push(node);
        if found.any != NONE && !nodes.contains(&found.any) {
            nodes.push(found.any);
        }
    }

    fn ends(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let from = if node == 0 { 0 } else { self.nodes[node - 1].ends };
        &self.ends[from as usize..self.nodes[node].ends as usize]
    }

    fn globs(&self, node: u32) -> &[(Glob, u32)] {
        let node = node as usize;
        let from = if node == 0 { 0 } else { self.nodes[node - 1].globs };
        &self.globs[from as usize..self.nodes[node].globs as usize]
    }
}
