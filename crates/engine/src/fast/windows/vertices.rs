//! Numbering of ports and endpoints as vertices of the graph to partition.

use optcp_net::PortId;

/// Numbering of the vertices of a run: ports first, then the sending and the receiving end of each flow and source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertices {
    ports: usize,
}

/// Port or endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vertex {
    Port(PortId),
    /// Sender or source; receiver or sink if it `receives`.
    End {
        flow: usize,
        receives: bool,
    },
}

impl Vertices {
    pub(super) fn new(ports: usize) -> Self {
        Vertices { ports }
    }

    /// Returns the number of an endpoint. The number of a port is its index.
    #[inline(always)]
    pub(super) fn end(self, flow: usize, receives: bool) -> usize {
        self.ports + 2 * flow + usize::from(receives)
    }

    /// Returns the number of vertices with `flows` flows and sources.
    pub(super) fn count(self, flows: usize) -> usize {
        self.end(flows, false)
    }

    /// Returns the port or endpoint with a number.
    pub(super) fn at(self, number: usize) -> Vertex {
        match number.checked_sub(self.ports) {
            None => Vertex::Port(PortId::at(number)),
            Some(end) => Vertex::End { flow: end / 2, receives: end % 2 == 1 },
        }
    }
}
