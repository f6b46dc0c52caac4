//! Many patterns as one trie over path segments.
//!
//! Nodes are numbers. An edge for a name or an extension is one entry of one table, keyed by the
//! node and the number of the text; all other edges are few. What ends at a node lies in one array
//! for all nodes. So ten thousand skills are some tables, not ten thousand compiled programs.

use std::collections::HashMap;

use super::glob::Glob;
use super::pattern::Segment;

const NONE: u32 = u32::MAX;

/// Where a walk begins.
const TOP: u32 = 0;

/// The patterns, to be walked.
#[derive(Debug)]
pub(super) struct Trie {
    nodes: Box<[Node]>,
    names: HashMap<Box<[u8]>, u32>,
    /// By node and name.
    named: HashMap<(u32, u32), u32>,
    suffixes: HashMap<Box<[u8]>, u32>,
    /// By node and suffix.
    suffixed: HashMap<(u32, u32), u32>,
    /// The edges of each node beside each other.
    globs: Box<[(Glob, u32)]>,
    /// The numbers of the patterns that end at each node beside each other.
    ends: Box<[u32]>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Where `**` leads.
    any: u32,
    /// Where `*` leads.
    one: u32,
    /// The end of its edges in `globs`; the node before it says where they begin.
    globs: u32,
    /// The end of its numbers in `ends`, likewise.
    ends: u32,
    /// Whether any number of names stays here.
    stays: bool,
    /// Whether one of its edges is for a suffix.
    has_suffixes: bool,
}

/// A trie that is being made.
#[derive(Default)]
pub(super) struct Builder {
    nodes: Vec<Node>,
    names: HashMap<Box<[u8]>, u32>,
    named: HashMap<(u32, u32), u32>,
    suffixes: HashMap<Box<[u8]>, u32>,
    suffixed: HashMap<(u32, u32), u32>,
    globs: Vec<(u32, Glob, u32)>,
    ends: Vec<(u32, u32)>,
}

impl Builder {
    /// Adds a pattern. Numbers come in rising order.
    pub(super) fn insert(&mut self, segments: &[Segment], number: u32) {
        if self.nodes.is_empty() {
            self.add(false);
        }
        let node = segments.iter().fold(TOP, |node, segment| self.follow(node, segment));
        self.ends.push((node, number));
    }

    fn add(&mut self, stays: bool) -> u32 {
        let node = Node { any: NONE, one: NONE, globs: 0, ends: 0, stays, has_suffixes: false };
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Returns where an edge leads, which is made when there is none.
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
            // Two that are equal are two: to find the other takes longer than to walk both.
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
        // Stable, and so each node's numbers keep rising.
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
    /// Walks along a path. `visit` is called once at most for each of its segments, with the
    /// segment's index and the numbers of the patterns that match the path up to there.
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
        // At most as many as a name has dots; a vector is only made where a suffix is known.
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

    /// Adds a node, and the one behind it that no name is needed for.
    fn enter(&self, node: u32, nodes: &mut Vec<u32>) {
        let found = &self.nodes[node as usize];
        // All others have one way to them, and so are met once.
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
