//! Flows of the scenario that carry real connections.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use optcp_runs::{ExternalFlow, FlowId};

use crate::addresses::{Heads, Host};

/// Entrance of a packet into the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entrance {
    pub(crate) source: FlowId,
    pub(crate) flow_label: u8,
}

/// Assignment of connections to flows.
///
/// Each new connection between two nodes takes the next flow between them in the order of the scenario. If possible, the
/// sender of the flow is the node that opens the connection. When all carry one, it begins again with the first, and
/// connections of the same flow have different flow labels.
#[derive(Debug)]
pub(crate) struct Connections {
    nodes: HashMap<IpAddr, usize>,
    /// Sources of packets in both directions of each flow, by nodes.
    flows: BTreeMap<[usize; 2], Vec<[FlowId; 2]>>,
    /// Number of connections so far, by nodes.
    opened: BTreeMap<[usize; 2], usize>,
    entrances: HashMap<Heads, Entrance>,
}

/// Reason why a packet does not enter the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    /// The packet is not for one of the nodes: multicast, or another network.
    Elsewhere,
    /// No flow of the scenario leads from its node to its destination.
    NoFlow([usize; 2]),
}

impl Connections {
    pub(crate) fn new(hosts: &[Host], flows: &[ExternalFlow]) -> Self {
        let mut of_nodes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for flow in flows {
            of_nodes.entry(flow.nodes).or_default().push(flow.sources);
        }
        let nodes = hosts
            .iter()
            .flat_map(|host| host.addresses.iter().map(|&address| (address, host.node)));
        Connections {
            nodes: nodes.collect(),
            flows: of_nodes,
            opened: BTreeMap::new(),
            entrances: HashMap::new(),
        }
    }

    /// Returns the entrance of a packet from a node.
    pub(crate) fn entrance(&mut self, node: usize, packet: &[u8]) -> Result<Entrance, Stray> {
        let heads = Heads::read(packet).ok_or(Stray::Elsewhere)?;
        if let Some(&entrance) = self.entrances.get(&heads) {
            return Ok(entrance);
        }
        let to = *self.nodes.get(&heads.to.0).ok_or(Stray::Elsewhere)?;
        let (nodes, reversed) = ([node, to], [to, node]);
        let forward = self.flows.get(&nodes);
        let flows = forward.or_else(|| self.flows.get(&reversed)).ok_or(Stray::NoFlow(nodes))?;
        let opened = self.opened.entry(nodes).or_default();
        let [mut there, mut back] = flows[*opened % flows.len()];
        if forward.is_none() {
            (there, back) = (back, there);
        }
        #[expect(clippy::cast_possible_truncation, reason = "labels repeat after 256")]
        let flow_label = (*opened / flows.len()) as u8;
        *opened += 1;
        let entrance = Entrance { source: there, flow_label };
        self.entrances.insert(heads, entrance);
        self.entrances.insert(heads.reversed(), Entrance { source: back, flow_label });
        Ok(entrance)
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use optcp_units::{Bytes, Time};

    use super::*;

    const ADDRESSES: [[u8; 4]; 3] = [[10, 77, 0, 1], [10, 77, 0, 2], [10, 77, 0, 3]];

    fn packet(from: usize, to: usize, ports: [u16; 2]) -> Vec<u8> {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4(ADDRESSES[from], ADDRESSES[to], 64);
        builder.tcp(ports[0], ports[1], 0, 0).write(&mut packet, b"").expect("it fits");
        packet
    }

    fn connections() -> Connections {
        let flow = |nodes, first| ExternalFlow {
            name: String::new(),
            group: String::new(),
            tcp: String::new(),
            nodes,
            sources: [FlowId::at(first), FlowId::at(first + 1)],
            start: Time::ZERO,
            size: None,
            mtu: Bytes::new(1500),
        };
        let flows = [flow([0, 1], 10), flow([0, 1], 12), flow([1, 0], 14), flow([0, 2], 16)];
        let host = |node: usize| Host { node, addresses: vec![ADDRESSES[node].into()] };
        Connections::new(&[0, 1, 2].map(host), &flows)
    }

    fn at(source: usize, flow_label: u8) -> Result<Entrance, Stray> {
        Ok(Entrance { source: FlowId::at(source), flow_label })
    }

    #[test]
    fn connections_take_flows_in_turn() {
        let mut all = connections();
        assert_eq!(all.entrance(0, &packet(0, 1, [1000, 80])), at(10, 0));
        assert_eq!(all.entrance(0, &packet(0, 1, [1001, 80])), at(12, 0));
        assert_eq!(all.entrance(0, &packet(0, 1, [1002, 80])), at(10, 1));
        // Later packets, and answers.
        assert_eq!(all.entrance(0, &packet(0, 1, [1001, 80])), at(12, 0));
        assert_eq!(all.entrance(1, &packet(1, 0, [80, 1002])), at(11, 1));
        // A connection that the other node opens has a flow in its own direction.
        assert_eq!(all.entrance(1, &packet(1, 0, [1000, 80])), at(14, 0));
        assert_eq!(all.entrance(0, &packet(0, 1, [80, 1000])), at(15, 0));
    }

    #[test]
    fn receivers_may_open_connections() {
        let mut all = connections();
        assert_eq!(all.entrance(2, &packet(2, 0, [1000, 80])), at(17, 0));
        assert_eq!(all.entrance(0, &packet(0, 2, [80, 1000])), at(16, 0));
    }

    #[test]
    fn other_packets_do_not_enter() {
        let mut all = connections();
        assert_eq!(all.entrance(1, &packet(1, 2, [1, 2])), Err(Stray::NoFlow([1, 2])));
        let mut elsewhere = packet(0, 1, [1, 2]);
        elsewhere[16..20].copy_from_slice(&[224, 0, 0, 1]);
        assert_eq!(all.entrance(0, &elsewhere), Err(Stray::Elsewhere));
        assert_eq!(all.entrance(0, b"damaged"), Err(Stray::Elsewhere));
    }
}
