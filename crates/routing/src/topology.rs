//! Graph that routers use: nodes, and links with a cost per direction.

/// Link direction: the link's index, and 0 from its first end to its second or 1 for the reverse.
pub type DirectedLink = (usize, usize);

/// Point-to-point link between two routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The two nodes.
    pub ends: [usize; 2],
    /// Cost from the first end to the second, and back; above zero.
    pub costs: [u32; 2],
}

/// Link from the perspective of the node at its near end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Adjacency {
    /// Node at the far end.
    pub to: usize,
    /// Direction that leads there.
    pub hop: DirectedLink,
    /// Cost.
    pub cost: u32,
}

/// Nodes and links by index. Parallel links are separate links.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Topology {
    links: Vec<Option<Link>>,
    /// Adjacencies by node, sorted by neighbour, then by link.
    adjacencies: Vec<Vec<Adjacency>>,
    /// By link: the link and those that share a risk with it, sorted; empty if there are no shared risks.
    together: Vec<Vec<usize>>,
}

impl Topology {
    /// Creates a graph of `nodes` nodes. `None` in `links` marks an index without a link.
    #[must_use]
    pub fn new(nodes: usize, links: Vec<Option<Link>>) -> Self {
        let mut adjacencies = vec![Vec::new(); nodes];
        for (index, link) in links.iter().enumerate() {
            let Some(Link { ends, costs }) = *link else { continue };
            for direction in [0, 1] {
                adjacencies[ends[direction]].push(Adjacency {
                    to: ends[1 - direction],
                    hop: (index, direction),
                    cost: costs[direction],
                });
            }
        }
        adjacencies.iter_mut().for_each(|list| list.sort_unstable());
        Topology { links, adjacencies, together: Vec::new() }
    }

    /// Returns the graph with shared risks: groups of links that fail together.
    #[must_use]
    pub fn with_risks<'a>(mut self, risks: impl IntoIterator<Item = &'a [usize]>) -> Self {
        self.together = (0..self.links.len()).map(|link| vec![link]).collect();
        for risk in risks {
            for &link in risk {
                self.together[link].extend_from_slice(risk);
            }
        }
        for links in &mut self.together {
            links.retain(|&link| self.links[link].is_some());
            links.sort_unstable();
            links.dedup();
        }
        self
    }

    /// Returns a link and those that share a risk with it.
    #[must_use]
    pub fn at_risk_with<'a>(&'a self, link: &'a usize) -> &'a [usize] {
        self.together.get(*link).map_or(std::slice::from_ref(link), Vec::as_slice)
    }

    /// Returns the graph without these links, both directions of each.
    #[must_use]
    pub fn without(&self, taken: impl IntoIterator<Item = usize>) -> Self {
        let mut links = self.links.clone();
        taken.into_iter().for_each(|link| links[link] = None);
        Topology { together: self.together.clone(), ..Topology::new(self.nodes(), links) }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.adjacencies.len()
    }

    /// Returns the links by index.
    #[must_use]
    pub fn links(&self) -> &[Option<Link>] {
        &self.links
    }

    /// Returns the adjacencies of a node, sorted by neighbour, then by link.
    #[must_use]
    pub fn adjacencies(&self, node: usize) -> &[Adjacency] {
        &self.adjacencies[node]
    }

    /// Returns the adjacency over a link direction; `None` if the link does not exist.
    #[must_use]
    pub fn adjacency(&self, (link, direction): DirectedLink) -> Option<Adjacency> {
        let Link { ends, costs } = self.links[link]?;
        let (to, cost) = (ends[1 - direction], costs[direction]);
        Some(Adjacency { to, hop: (link, direction), cost })
    }
}
