//! Networks as plain graphs.

use std::collections::BTreeMap;

use optcp_routing::{Bridged, DirectedLink, Link, Topology, Tree, bridges};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Nodes by number, and links with equal cost in both directions.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct Graph(Topology);

#[pymethods]
impl Graph {
    #[new]
    fn new(nodes: usize, links: Vec<(usize, usize, u32)>) -> PyResult<Self> {
        check(nodes, links.iter().map(|&(a, b, _)| (a, b)))?;
        let link = |(a, b, cost)| Some(Link { ends: [a, b], costs: [cost; 2] });
        Ok(Graph(Topology::new(nodes, links.into_iter().map(link).collect())))
    }

    fn bridges(&self) -> Vec<bool> {
        bridges(&self.0)
    }

    fn paths(&self, pairs: Vec<(usize, usize)>) -> PyResult<Vec<Vec<usize>>> {
        let beyond = |hop: DirectedLink| self.0.adjacency(hop).map(|adjacency| adjacency.to);
        let paths = self.shortest(&pairs)?.into_iter().zip(pairs);
        let nodes = paths.map(|(hops, (from, _))| {
            let first = (!hops.is_empty()).then_some(from);
            first.into_iter().chain(hops.into_iter().filter_map(beyond)).collect()
        });
        Ok(nodes.collect())
    }

    fn pair_hops(&self, pairs: Vec<(usize, usize)>) -> PyResult<Vec<[usize; 2]>> {
        let bridged = Bridged::new(&self.0);
        let paths = self.shortest(&pairs)?.into_iter().zip(pairs);
        let hops =
            |(shortest, (from, _))| bridged.pair(&self.0, from, shortest).map(|path| path.len());
        Ok(paths.map(hops).collect())
    }
}

impl Graph {
    /// Returns the shortest path of each pair of nodes; empty for unconnected pairs.
    fn shortest(&self, pairs: &[(usize, usize)]) -> PyResult<Vec<Vec<DirectedLink>>> {
        check(self.0.nodes(), pairs.iter().copied())?;
        let mut trees = BTreeMap::new();
        let path = |&(from, to): &(usize, usize)| {
            trees.entry(to).or_insert_with(|| Tree::new(&self.0, to)).path(&self.0, from)
        };
        Ok(pairs.iter().map(path).collect())
    }
}

fn check(nodes: usize, mut pairs: impl Iterator<Item = (usize, usize)>) -> PyResult<()> {
    match pairs.any(|(a, b)| a.max(b) >= nodes) {
        true => Err(PyValueError::new_err("unknown node")),
        false => Ok(()),
    }
}

#[pyfunction]
pub(crate) fn great_circle_km(a: [f64; 2], b: [f64; 2]) -> f64 {
    optcp_scenario::great_circle_km(a, b)
}
