//! Addresses of packets.

use std::net::IpAddr;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};

/// Addresses of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Node, as an index into the nodes of the scenario.
    pub node: usize,
    /// IPv4 and IPv6 addresses.
    pub addresses: Vec<IpAddr>,
}

/// Endpoint of a connection: address and port; port 0 for protocols without ports.
pub(crate) type End = (IpAddr, u16);

/// Protocol and endpoints of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Heads {
    pub(crate) protocol: u8,
    pub(crate) from: End,
    pub(crate) to: End,
}

impl Heads {
    /// Reads the headers of an IP packet. Returns `None` if they are damaged, or if it is not an IP packet.
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let sliced = SlicedPacket::from_ip(packet).ok()?;
        let (from, to, protocol) = match &sliced.net? {
            NetSlice::Ipv4(slice) => {
                let header = slice.header();
                let [from, to] = [header.source_addr(), header.destination_addr()];
                (IpAddr::from(from), IpAddr::from(to), header.protocol())
            }
            NetSlice::Ipv6(slice) => {
                let header = slice.header();
                let [from, to] = [header.source_addr(), header.destination_addr()];
                (IpAddr::from(from), IpAddr::from(to), slice.payload().ip_number)
            }
            NetSlice::Arp(_) => return None,
        };
        // Later fragments have no ports. They belong to no connection, as with ECMP in routers.
        let [first, second] = match sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => [tcp.source_port(), tcp.destination_port()],
            Some(TransportSlice::Udp(udp)) => [udp.source_port(), udp.destination_port()],
            _ => [0, 0],
        };
        Some(Heads { protocol: protocol.0, from: (from, first), to: (to, second) })
    }

    /// Returns the headers of the packets in the other direction.
    pub(crate) const fn reversed(self) -> Self {
        Heads { protocol: self.protocol, from: self.to, to: self.from }
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;

    #[test]
    fn endpoints_of_both_ip_versions_are_read() {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64).tcp(4000, 80, 1, 9);
        builder.write(&mut packet, b"x").expect("it fits");
        let ends = |text: &str, port| (text.parse().expect("an address"), port);
        let heads = Heads { protocol: 6, from: ends("10.77.0.1", 4000), to: ends("10.77.0.2", 80) };
        assert_eq!(Heads::read(&packet), Some(heads));
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(53, 54);
        builder.write(&mut packet, b"x").expect("it fits");
        let heads = Heads::read(&packet).expect("an IP packet");
        assert_eq!((heads.protocol, heads.from.1, heads.to.1), (17, 53, 54));
        assert_eq!(heads.reversed().from, heads.to);
        assert_eq!(Heads::read(b"no packet"), None);
        assert_eq!(Heads::read(&[]), None);
    }
}
