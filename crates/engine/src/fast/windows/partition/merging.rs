//! Merging of groups into logical processes for a given window length.
//!
//! # Model
//! A channel is *near* if its lookahead is less than a window. Groups in a cycle of near channels become one logical
//! process (strongly connected components). The remaining graph is acyclic, so groups have levels, which become phases:
//! a near channel always leads to a later phase. Groups are merged further until at most [`MAX_PROCESSES`] are left.
//!
//! Merging can reduce the timer advance of a group, which is the minimum over its members, and thus make more channels
//! near. Passes are repeated until nothing is merged.
//!
//! # References
//! Components: M. Sharir 1981, after S. R. Kosaraju. Partitions at long delays: most parallel network simulators, such
//! as Unison (EuroSys 2024).
//!
//! # Limitations
//! Within a level, groups with adjacent numbers are merged, not neighbours in the network.

use optcp_net::PortId;
use optcp_units::Duration;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;

use super::super::vertices::Vertex;
use super::Partition;
use super::channels::Channel;
use super::footprint::Footprints;
use super::lookahead::{EventStart, Lookahead};
use super::view::NetworkView;
use crate::fast::forwarding::LpId;

/// Maximum number of logical processes.
const MAX_PROCESSES: usize = LpId::MAX;

/// Groups of vertices with the channels between them.
#[derive(Debug)]
pub(super) struct ChannelGraph<'a> {
    pub(super) view: &'a NetworkView<'a>,
    pub(super) footprints: Footprints,
    pub(super) channels: Vec<Channel>,
    pub(super) lookahead: Lookahead,
    /// Packets per second by port.
    pub(super) loads: &'a [u64],
}

/// Numbered groups.
struct Numbered {
    /// Group of each vertex.
    group_of: Vec<usize>,
    count: usize,
}

impl ChannelGraph<'_> {
    /// Returns the logical processes for windows of 2^window_log2 ps.
    pub(super) fn partition(&self, window_log2: u32) -> Partition {
        let window = 1_u64 << window_log2;
        let mut merged = self.footprints.groups.clone();
        loop {
            let groups = self.numbered(&merged);
            match self.levels(&groups, window) {
                Err(cycles) => self.merge_cycles(&mut merged, &groups, &cycles),
                Ok(levels) if groups.count > MAX_PROCESSES => {
                    self.merge_levels(&mut merged, &groups, &levels);
                }
                Ok(levels) => return self.in_order(window_log2, &groups, &levels),
            }
        }
    }

    /// Numbers the groups by their first vertices. Vertices that nothing reaches belong to group 0, which always
    /// exists.
    fn numbered(&self, merged: &UnionFind<usize>) -> Numbered {
        let live = &self.footprints.live;
        let mut numbers = vec![usize::MAX; live.len()];
        let mut next = 0;
        let mut number = |vertex: usize| {
            let number = &mut numbers[merged.find(vertex)];
            if *number == usize::MAX {
                *number = next;
                next += 1;
            }
            *number
        };
        let group_of = (live.iter().enumerate())
            .map(|(vertex, live)| if *live { number(vertex) } else { 0 })
            .collect();
        Numbered { group_of, count: next.max(1) }
    }

    /// Returns the level of each group, which exceeds the levels of all groups with near channels to it.
    ///
    /// # Errors
    /// Returns the groups of each cycle of near channels, if there is one. A group outside any
    /// cycle is a separate list.
    fn levels(&self, groups: &Numbered, window: u64) -> Result<Vec<usize>, Vec<Vec<usize>>> {
        let near = self.near_groups(groups, window);
        let mut graph = DiGraph::<(), ()>::with_capacity(groups.count, near.len());
        (0..groups.count).for_each(|_| _ = graph.add_node(()));
        for &(from, to) in &near {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
        }
        // Components are in reverse topological order.
        let cycles = kosaraju_scc(&graph);
        if cycles.len() < groups.count {
            let numbers = |cycle: Vec<NodeIndex>| cycle.into_iter().map(NodeIndex::index).collect();
            return Err(cycles.into_iter().map(numbers).collect());
        }
        let mut levels = vec![0_usize; groups.count];
        for cycle in cycles.iter().rev() {
            let from = cycle[0];
            for to in graph.neighbors(from) {
                levels[to.index()] = levels[to.index()].max(levels[from.index()] + 1);
            }
        }
        Ok(levels)
    }

    /// Returns pairs of groups with a near channel from the first to the second.
    fn near_groups(&self, groups: &Numbered, window: u64) -> Vec<(usize, usize)> {
        let advances = self.timer_advances(groups, window);
        let group_of = &groups.group_of;
        let is_near = |&&(from, to): &&Channel| {
            let EventStart { before, end } = self.lookahead.starts[from];
            let advance = end.map_or(0, |end| advances[group_of[end]]);
            let delay = self.view.ports.get(PortId::at(from)).delay().as_ps();
            group_of[from] != group_of[to] && advance.saturating_add(before + delay) < window
        };
        let near = self.channels.iter().filter(is_near);
        let mut near: Vec<_> = near.map(|&(from, to)| (group_of[from], group_of[to])).collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    /// Returns the timer advance of each group, at most a window, in ps.
    fn timer_advances(&self, groups: &Numbered, window: u64) -> Vec<u64> {
        let mut advances = vec![window; groups.count];
        for (vertex, &group) in self.live_vertices(groups) {
            let advance = match self.view.vertices.at(vertex) {
                // Ends of transmissions are executed at their time.
                Vertex::Port(port) if self.view.ports.get(port).is_stepped() => 0,
                Vertex::Port(_) => continue,
                Vertex::End { flow, receives } if self.view.is_sink(flow, receives) => continue,
                Vertex::End { .. } => self.lookahead.timer_advances[vertex],
            };
            advances[group] = advances[group].min(advance);
        }
        advances
    }

    /// Returns the packets per second through the ports of each group.
    fn group_loads(&self, groups: &Numbered) -> Vec<u64> {
        let mut loads = vec![0_u64; groups.count];
        self.loads.iter().zip(&groups.group_of).for_each(|(load, &group)| loads[group] += load);
        loads
    }

    /// Returns the first vertex of each group.
    fn first_vertices(&self, groups: &Numbered) -> Vec<usize> {
        let mut first = vec![usize::MAX; groups.count];
        let vertices: Vec<_> = self.live_vertices(groups).collect();
        vertices.into_iter().rev().for_each(|(vertex, &group)| first[group] = vertex);
        first
    }

    /// Returns the vertices that something reaches, with their group.
    fn live_vertices<'a>(
        &'a self,
        groups: &'a Numbered,
    ) -> impl Iterator<Item = (usize, &'a usize)> {
        let vertices = groups.group_of.iter().enumerate();
        vertices.filter(|(vertex, _)| self.footprints.live[*vertex])
    }

    /// Merges the groups of each cycle.
    fn merge_cycles(
        &self,
        merged: &mut UnionFind<usize>,
        groups: &Numbered,
        cycles: &[Vec<usize>],
    ) {
        let first = self.first_vertices(groups);
        for cycle in cycles {
            for &other in &cycle[1..] {
                merged.union(first[cycle[0]], first[other]);
            }
        }
    }

    /// Merges groups until [`MAX_PROCESSES`] are left: within a level, or across consecutive levels if there are many. A group
    /// with a large share of the load stays separate.
    fn merge_levels(&self, merged: &mut UnionFind<usize>, groups: &Numbered, levels: &[usize]) {
        let first = self.first_vertices(groups);
        // One is added so that groups without load are merged, too.
        let loads: Vec<u128> =
            self.group_loads(groups).iter().map(|&load| u128::from(load) + 1).collect();
        let deepest = levels.iter().max().map_or(1, |&last| last + 1);
        let bands = deepest.min(MAX_PROCESSES / 2);
        let mut members = vec![Vec::new(); bands];
        for (group, level) in levels.iter().enumerate() {
            members[level * bands / deepest].push(group);
        }
        let total: u128 = loads.iter().sum();
        for band in members {
            let load: u128 = band.iter().map(|&group| loads[group]).sum();
            // Each band gets one place; load decides about the others.
            let places = 1 + load * (MAX_PROCESSES - bands) as u128 / total;
            let (mut load_before, mut leader) = (0_u128, None);
            for group in band {
                let place = load_before * places / load;
                match leader {
                    Some((of_place, leader)) if of_place == place => {
                        merged.union(leader, first[group]);
                    }
                    _ => leader = Some((place, first[group])),
                }
                load_before += loads[group];
            }
        }
    }

    /// Returns the groups as logical processes in the order of their levels.
    fn in_order(&self, window_log2: u32, groups: &Numbered, levels: &[usize]) -> Partition {
        let mut order: Vec<usize> = (0..groups.count).collect();
        order.sort_by_key(|&group| levels[group]);
        let mut number = vec![0_u16; groups.count];
        for (place, &group) in (0..).zip(&order) {
            number[group] = place;
        }
        let advances = self.timer_advances(groups, 1 << window_log2);
        let loads = self.group_loads(groups);
        let phase = |&group: &usize| u16::try_from(levels[group]).unwrap_or(u16::MAX);
        Partition {
            window_log2,
            lp_of_vertex: groups.group_of.iter().map(|&group| number[group]).collect(),
            timer_advances: (order.iter())
                .map(|&group| Duration::from_ps(advances[group]))
                .collect(),
            phases: order.iter().map(phase).collect(),
            loads: order.iter().map(|&group| loads[group]).collect(),
        }
    }
}
