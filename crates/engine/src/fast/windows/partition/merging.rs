//! Merging of groups into logical processes, for a window of a given length.
//!
//! # Model
//! A channel is *near* if its lookahead is less than a window. Groups in a circle of near channels become one logical
//! process (strongly connected components). What is left has no circles, so the groups have levels, which become phases:
//! a near channel always leads to a later phase. Groups are merged further until at most [`MOST`] are left.
//!
//! Merging can shorten the timer advance of a group, which is the minimum of its members, and so make more channels near.
//! So passes are repeated until nothing is merged.
//! # References
//! Components: M. Sharir 1981, after S. R. Kosaraju. Cutting where delays are long: most parallel network simulators, such
//! as Unison (EuroSys 2024).
//! # Parameters
//! None.
//! # Limitations
//! Within a level neighbours in number are merged, not neighbours in the network.

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

/// So many logical processes at most.
const MOST: usize = LpId::MOST;

/// Groups of vertices with the channels between them.
#[derive(Debug)]
pub(super) struct ChannelGraph<'a> {
    pub(super) view: &'a NetworkView<'a>,
    pub(super) footprints: Footprints,
    pub(super) channels: Vec<Channel>,
    pub(super) lookahead: Lookahead,
    /// By port: packets per second.
    pub(super) loads: &'a [u64],
}

/// Groups by number.
struct Numbered {
    /// The group of each vertex.
    group_of: Vec<usize>,
    count: usize,
}

impl ChannelGraph<'_> {
    /// The logical processes for windows of 2^window_log2 ps.
    pub(super) fn partition(&self, window_log2: u32) -> Partition {
        let window = 1_u64 << window_log2;
        let mut merged = self.footprints.groups.clone();
        loop {
            let groups = self.numbered(&merged);
            match self.levels(&groups, window) {
                Err(circles) => self.merge_circles(&mut merged, &groups, &circles),
                Ok(levels) if groups.count > MOST => {
                    self.merge_levels(&mut merged, &groups, &levels);
                }
                Ok(levels) => return self.in_order(window_log2, &groups, &levels),
            }
        }
    }

    /// The groups, numbered by their first vertices. Vertices to which nothing comes are in the first group, which there
    /// always is.
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

    /// The level of each group, which is above those of all groups with near channels to it.
    ///
    /// # Errors
    /// The groups of each circle of near channels, if there is one. A group in no circle stands alone.
    fn levels(&self, groups: &Numbered, window: u64) -> Result<Vec<usize>, Vec<Vec<usize>>> {
        let near = self.near_groups(groups, window);
        let mut graph = DiGraph::<(), ()>::with_capacity(groups.count, near.len());
        (0..groups.count).for_each(|_| _ = graph.add_node(()));
        for &(from, to) in &near {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
        }
        // From the last that is reached to the first.
        let circles = kosaraju_scc(&graph);
        if circles.len() < groups.count {
            let numbers =
                |circle: Vec<NodeIndex>| circle.into_iter().map(NodeIndex::index).collect();
            return Err(circles.into_iter().map(numbers).collect());
        }
        let mut levels = vec![0_usize; groups.count];
        for circle in circles.iter().rev() {
            let from = circle[0];
            for to in graph.neighbors(from) {
                levels[to.index()] = levels[to.index()].max(levels[from.index()] + 1);
            }
        }
        Ok(levels)
    }

    /// Pairs of groups with a near channel from the first to the second.
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

    /// By group: by how much all of its timers may fire before they are due, at most a window, in ps.
    fn timer_advances(&self, groups: &Numbered, window: u64) -> Vec<u64> {
        let mut advances = vec![window; groups.count];
        for (vertex, &group) in self.live_vertices(groups) {
            let advance = match self.view.vertices.at(vertex) {
                // Ends of transmissions are events at their time.
                Vertex::Port(port) if self.view.ports.get(port).is_stepped() => 0,
                Vertex::Port(_) => continue,
                Vertex::End { flow, receives } if self.view.is_sink(flow, receives) => continue,
                Vertex::End { .. } => self.lookahead.timer_advances[vertex],
            };
            advances[group] = advances[group].min(advance);
        }
        advances
    }

    /// By group: packets per second through its ports.
    fn group_loads(&self, groups: &Numbered) -> Vec<u64> {
        let mut loads = vec![0_u64; groups.count];
        self.loads.iter().zip(&groups.group_of).for_each(|(load, &group)| loads[group] += load);
        loads
    }

    /// The first vertex of each group.
    fn first_vertices(&self, groups: &Numbered) -> Vec<usize> {
        let mut first = vec![usize::MAX; groups.count];
        let vertices: Vec<_> = self.live_vertices(groups).collect();
        vertices.into_iter().rev().for_each(|(vertex, &group)| first[group] = vertex);
        first
    }

    /// The vertices to which something comes, with their group.
    fn live_vertices<'a>(
        &'a self,
        groups: &'a Numbered,
    ) -> impl Iterator<Item = (usize, &'a usize)> {
        let vertices = groups.group_of.iter().enumerate();
        vertices.filter(|(vertex, _)| self.footprints.live[*vertex])
    }

    /// Merges the groups of each circle.
    fn merge_circles(
        &self,
        merged: &mut UnionFind<usize>,
        groups: &Numbered,
        circles: &[Vec<usize>],
    ) {
        let first = self.first_vertices(groups);
        for circle in circles {
            for &other in &circle[1..] {
                merged.union(first[circle[0]], first[other]);
            }
        }
    }

    /// Merges groups so that [`MOST`] are left: those of one level, or of several that follow each other where there are
    /// many levels. A group with much of the load stays alone.
    fn merge_levels(&self, merged: &mut UnionFind<usize>, groups: &Numbered, levels: &[usize]) {
        let first = self.first_vertices(groups);
        // One more for each, so that groups without a load are merged too.
        let loads: Vec<u128> =
            self.group_loads(groups).iter().map(|&load| u128::from(load) + 1).collect();
        let deepest = levels.iter().max().map_or(1, |&last| last + 1);
        let bands = deepest.min(MOST / 2);
        let mut members = vec![Vec::new(); bands];
        for (group, level) in levels.iter().enumerate() {
            members[level * bands / deepest].push(group);
        }
        let total: u128 = loads.iter().sum();
        for band in members {
            let load: u128 = band.iter().map(|&group| loads[group]).sum();
            // One place for each band, and the others by load.
            let places = 1 + load * (MOST - bands) as u128 / total;
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

    /// The groups as logical processes, in the order of their levels.
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
