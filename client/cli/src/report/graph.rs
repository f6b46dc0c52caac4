//! Layered layout of the graph of references ([`Graph`]).
//!
//! Arrows point right, except those that close a cycle. Coordinates are whole numbers and depend on
//! the nodes and edges alone.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of nodes; a larger picture is not readable. The most connected ones remain.
const MAX_NODES: usize = 80;

/// Size of a node, and the distance to the next one.
pub(super) const NODE: (usize, usize) = (190, 26);
const GAP: (usize, usize) = (80, 12);
const MARGIN: usize = 6;

/// Number of passes that reorder the layers.
const PASSES: usize = 8;

/// A skill, or another file that refers to skills.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GraphNode {
    pub(super) label: String,
    pub(super) is_skill: bool,
}

/// A graph with a position for each node.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<PlacedNode>,
    /// Indices of the nodes that each edge connects.
    pub(super) edges: Vec<(usize, usize)>,
    pub(super) width: usize,
    pub(super) height: usize,
    /// Number of nodes that are left out.
    pub(super) n_omitted: usize,
}

#[derive(Debug)]
pub(super) struct PlacedNode {
    pub(super) node: GraphNode,
    pub(super) x: usize,
    pub(super) y: usize,
}

impl Graph {
    /// Lays out the nodes of these edges.
    pub(super) fn new(edges: &BTreeSet<(GraphNode, GraphNode)>) -> Self {
        let mut degrees: BTreeMap<&GraphNode, usize> = BTreeMap::new();
        for node in edges.iter().flat_map(|(from, to)| [from, to]) {
            *degrees.entry(node).or_default() += 1;
        }
        let mut ranked: Vec<(&GraphNode, usize)> = degrees.into_iter().collect();
        ranked.sort_by_key(|(_, degree)| std::cmp::Reverse(*degree));
        let n_omitted = ranked.len().saturating_sub(MAX_NODES);
        ranked.truncate(MAX_NODES);
        let nodes: BTreeSet<&GraphNode> = ranked.into_iter().map(|(node, _)| node).collect();
        let index: BTreeMap<&GraphNode, usize> =
            nodes.iter().enumerate().map(|(nth, node)| (*node, nth)).collect();
        let edges: Vec<(usize, usize)> = edges
            .iter()
            .filter_map(|(from, to)| Some((*index.get(from)?, *index.get(to)?)))
            .collect();
        let layers = order(layers(nodes.len(), &edges), &edges);
        let tallest = layers.iter().map(Vec::len).max().unwrap_or(0);
        let height = |n_nodes: usize| n_nodes * (NODE.1 + GAP.1);
        let mut positions = vec![(0, 0); nodes.len()];
        for (column, layer) in layers.iter().enumerate() {
            let top = MARGIN + (height(tallest) - height(layer.len())) / 2;
            for (row, node) in layer.iter().enumerate() {
                positions[*node] = (MARGIN + column * (NODE.0 + GAP.0), top + height(row));
            }
        }
        let placed = nodes.into_iter().zip(positions);
        Self {
            nodes: placed.map(|(node, (x, y))| PlacedNode { node: node.clone(), x, y }).collect(),
            edges,
            width: (layers.len() * (NODE.0 + GAP.0) + 2 * MARGIN).saturating_sub(GAP.0),
            height: height(tallest) + 2 * MARGIN,
            n_omitted,
        }
    }
}

/// Returns the nodes of each layer. A node is right of all nodes that refer to it, except in a
/// cycle.
fn layers(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let forward = without_cycles(n_nodes, edges);
    let mut depth = vec![0; n_nodes];
    // Without cycles, the longest path has fewer edges than there are nodes.
    for _ in 0..n_nodes {
        for (from, to) in &forward {
            depth[*to] = depth[*to].max(depth[*from] + 1);
        }
    }
    let n_layers = depth.iter().max().map_or(0, |it| it + 1);
    let of = |layer: usize| (0..n_nodes).filter(|node| depth[*node] == layer).collect();
    (0..n_layers).map(of).collect()
}

/// Returns the edges without those that lead back to a node on the way to them.
fn without_cycles(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Never,
        Running,
        Done,
    }
    let mut visits = vec![Visit::Never; n_nodes];
    let mut forward = Vec::new();
    let mut targets = vec![Vec::new(); n_nodes];
    let mut has_source = vec![false; n_nodes];
    for (from, to) in edges {
        targets[*from].push(*to);
        has_source[*to] = true;
    }
    // Starts at nodes that nothing refers to, so that cycles are entered from outside.
    let mut starts: Vec<usize> = (0..n_nodes).collect();
    starts.sort_by_key(|node| has_source[*node]);
    for start in starts {
        if visits[start] != Visit::Never {
            continue;
        }
        visits[start] = Visit::Running;
        let mut path = vec![(start, 0)];
        while let Some((node, nth)) = path.pop() {
            let Some(target) = targets[node].get(nth).copied() else {
                visits[node] = Visit::Done;
                continue;
            };
            path.push((node, nth + 1));
            if visits[target] != Visit::Running {
                forward.push((node, target));
            }
            if visits[target] == Visit::Never {
                visits[target] = Visit::Running;
                path.push((target, 0));
            }
        }
    }
    forward
}

/// Reorders each layer by the mean position of its nodes' neighbours, so that fewer edges cross.
fn order(mut layers: Vec<Vec<usize>>, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let n_nodes: usize = layers.iter().map(Vec::len).sum();
    let mut neighbours = vec![Vec::new(); n_nodes];
    for (from, to) in edges {
        neighbours[*from].push(*to);
        neighbours[*to].push(*from);
    }
    // Positions relative to the middle of the layer, in thousandths of a row.
    let mut heights = vec![0_i64; n_nodes];
    for _ in 0..PASSES {
        for layer in &mut layers {
            let mean = |node: &usize| {
                let near = &neighbours[*node];
                let sum: i64 = near.iter().map(|it| heights[*it]).sum();
                sum / i64::try_from(near.len().max(1)).unwrap_or(1)
            };
            layer.sort_by_key(mean);
            let middle = i64::try_from(layer.len()).unwrap_or(0) * 500;
            for (row, node) in layer.iter().enumerate() {
                heights[*node] = i64::try_from(row).unwrap_or(0) * 1000 - middle;
            }
        }
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let node = |label: &str| GraphNode { label: label.to_owned(), is_skill: true };
        Graph::new(&edges.iter().map(|(from, to)| (node(from), node(to))).collect())
    }

    fn columns(graph: &Graph) -> Vec<(&str, usize)> {
        let column = |it: &PlacedNode| (it.x - MARGIN) / (NODE.0 + GAP.0);
        graph.nodes.iter().map(|it| (it.node.label.as_str(), column(it))).collect()
    }

    #[test]
    fn node_is_right_of_its_referrers() {
        let graph = graph(&[("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")]);
        assert_eq!(columns(&graph), [("a", 0), ("b", 1), ("c", 2), ("d", 0)]);
        assert_eq!(graph.width, 3 * NODE.0 + 2 * GAP.0 + 2 * MARGIN);
    }

    #[test]
    fn cycle_is_laid_out_and_keeps_all_edges() {
        let graph = graph(&[("a", "b"), ("b", "a"), ("x", "b")]);
        assert_eq!(columns(&graph), [("a", 2), ("b", 1), ("x", 0)]);
        assert_eq!(graph.edges.len(), 3);
    }

    #[test]
    fn nodes_do_not_overlap() {
        let names: Vec<String> = (0..30).map(|nth| format!("n{nth:02}")).collect();
        let edges: Vec<(&str, &str)> =
            (1..30).map(|nth| (&*names[(nth * 7) % nth.max(3)], &*names[nth])).collect();
        let graph = graph(&edges);
        let places: BTreeSet<(usize, usize)> = graph.nodes.iter().map(|it| (it.x, it.y)).collect();
        assert_eq!(places.len(), graph.nodes.len());
        assert!(
            places.iter().all(|(x, y)| x + NODE.0 <= graph.width && y + NODE.1 <= graph.height)
        );
    }

    #[test]
    fn large_graph_keeps_the_most_connected_nodes() {
        let names: Vec<String> = (0..200).map(|nth| format!("n{nth:03}")).collect();
        let edges: Vec<(&str, &str)> = names.iter().map(|it| (&**it, "zz-hub")).collect();
        let graph = graph(&edges);
        assert_eq!((graph.nodes.len(), graph.n_omitted), (MAX_NODES, 121));
        assert!(graph.nodes.iter().any(|it| it.node.label == "zz-hub"));
    }

    #[test]
    fn graph_without_edges_is_empty() {
        let graph = graph(&[]);
        assert!(graph.nodes.is_empty() && graph.edges.is_empty());
    }
}
