//! ECN field of real packets.

use optcp_units::{Codepoint, Marking};

/// Bits of the ECN field, in the second octet of IPv4 headers (RFC 3168 section 5).
const ECN: u8 = 3;

/// Returns the version of the Internet Protocol.
fn version(packet: &[u8]) -> u8 {
    packet.first().map_or(0, |first| first >> 4)
}

/// Returns the ECN field of a packet.
pub(crate) fn read(packet: &[u8]) -> Marking {
    let bits = match (version(packet), packet) {
        (4, [_, service, ..]) => service & ECN,
        // The traffic class is in the second half of the first octet and the first half of the second.
        (6, [_, second, ..]) => second >> 4 & ECN,
        _ => 0,
    };
    let codepoint = match bits {
        0 => Codepoint::NotEct,
        1 => Codepoint::Ect1,
        2 => Codepoint::Ect0,
        _ => Codepoint::Ce,
    };
    Marking::new(codepoint, 0)
}

/// Sets the codepoint CE in a packet.
pub(crate) fn set_ce(packet: &mut [u8]) {
    match (version(packet), packet) {
        (4, packet) if packet.len() >= 20 => {
            let before = u16::from_be_bytes([packet[0], packet[1]]);
            packet[1] |= ECN;
            let after = u16::from_be_bytes([packet[0], packet[1]]);
            let sum = u16::from_be_bytes([packet[10], packet[11]]);
            let sum = updated(sum, before, after);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        (6, [_, second, ..]) => *second |= ECN << 4,
        _ => {}
    }
}

/// Returns a header checksum after a change of one word (RFC 1624, equation 3).
fn updated(sum: u16, before: u16, after: u16) -> u16 {
    let total = u32::from(!sum) + u32::from(!before) + u32::from(after);
    let total = (total & 0xffff) + (total >> 16);
    let [_, _, high, low] = ((total & 0xffff) + (total >> 16)).to_be_bytes();
    !u16::from_be_bytes([high, low])
}

#[cfg(test)]
mod tests {
    use etherparse::{Ipv4Header, Ipv6Header};

    use super::*;

    #[test]
    fn checksum_follows_the_example_of_rfc_1624() {
        // Section 4: the checksum 0xdd2f of a header in which 0x5555 becomes 0x3285 becomes zero.
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0);
    }

    #[test]
    fn marked_ipv4_header_has_a_correct_checksum() {
        for bits in 0..4 {
            let mut header = Ipv4Header::new(100, 64, 6.into(), [10, 77, 0, 1], [10, 77, 0, 2])
                .expect("it fits");
            header.ecn = bits.try_into().expect("two bits");
            header.header_checksum = header.calc_header_checksum();
            let mut packet = header.to_bytes().to_vec();
            assert_eq!(read(&packet).bits() & ECN, header_marking(bits).bits() & ECN);
            set_ce(&mut packet);
            assert!(read(&packet).is_ce());
            let (marked, _) = Ipv4Header::from_slice(&packet).expect("a header");
            assert_eq!(marked.header_checksum, marked.calc_header_checksum(), "{bits}");
        }
    }

    fn header_marking(bits: u8) -> Marking {
        let all = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce];
        Marking::new(all[bits as usize], 0)
    }

    #[test]
    fn marked_ipv6_header_differs_in_the_ecn_field_only() {
        let header = Ipv6Header { traffic_class: 2, ..Ipv6Header::default() };
        let mut packet = header.to_bytes().to_vec();
        assert_eq!(read(&packet), Marking::new(Codepoint::Ect0, 0));
        set_ce(&mut packet);
        let (marked, _) = Ipv6Header::from_slice(&packet).expect("a header");
        assert_eq!(marked, Ipv6Header { traffic_class: 3, ..header });
    }
}
