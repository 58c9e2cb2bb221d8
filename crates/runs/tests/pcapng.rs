//! Captures, byte by byte as the format's draft and the RFCs have them.

use optcp_runs::pcapng::{Agreed, Capture, Connection, Frame};
use optcp_units::{Codepoint, Marking, Time};

fn tcp() -> Connection {
    let agreed =
        Agreed { mss: 1000, window: 0x20_0000, scaling: true, sack: true, handshake: true };
    let (source, destination) = (([10, 0, 0, 1], 1024), ([10, 0, 0, 2], 5001));
    Connection { source, destination, udp: false, agreed }
}

fn frame(number: u32) -> Frame {
    Frame {
        at: Time::from_ps(1_234_000_000),
        interface: 0,
        connection: 0,
        backward: false,
        opens: false,
        number,
        payload: 1000,
        stamps: None,
        sack: None,
        comment: None,
        marking: Marking::NONE,
    }
}

fn capture(connection: Connection, frames: Vec<Frame>) -> Capture {
    Capture {
        interfaces: vec!["senders".into()],
        hosts: vec![([10, 0, 0, 1], "A".into()), ([10, 0, 0, 2], "B".into())],
        connections: vec![connection],
        sacks: vec![vec![(5001, 6001), (3001, 4001)]],
        comments: vec!["queue-full".into()],
        frames,
    }
}

/// The blocks of a little-endian file: types and bodies.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let word =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let length = word(4) as usize;
        assert_eq!(word(length - 4) as usize, length, "a block ends with its length");
        assert_eq!(length % 4, 0);
        all.push((word(0), bytes[8..length - 4].to_vec()));
        bytes = &bytes[length..];
    }
    all
}

/// The sum of 16-bit words that RFC 1071 asks for: 0xffff where the checksum is right.
fn ones_complement(parts: &[&[u8]]) -> u16 {
    let mut sum: u64 = 0;
    for pair in parts.concat().chunks(2) {
        sum += u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u64::from(low));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).expect("folded")
}

/// Worked by hand: 1.234 ms are 1 234 000 ns; an IPv4 header of 20 bytes, one of TCP of 20, 1000 bytes of data.
#[test]
fn a_segment_is_a_block_with_its_headers() {
    let bytes = capture(tcp(), vec![frame(1461)]).to_pcapng().expect("a capture");
    let blocks = blocks(&bytes);
    let types: Vec<u32> = blocks.iter().map(|block| block.0).collect();
    assert_eq!(types, [0x0A0D_0D0A, 1, 4, 6], "section, interface, names, packet");
    // if_tsresol (9), one byte long: 10^-9 s.
    assert!(blocks[1].1.windows(5).any(|option| option == [9, 0, 1, 0, 9]));
    let packet = &blocks[3].1;
    let word = |at: usize| u32::from_le_bytes(packet[at..at + 4].try_into().expect("four bytes"));
    assert_eq!([word(0), word(4), word(8), word(12), word(16)], [0, 0, 1_234_000, 40, 1040]);
    let headers = &packet[20..60];
    assert_eq!(headers[0], 0x45);
    assert_eq!(headers[2..4], 1040_u16.to_be_bytes());
    assert_eq!(headers[9], 6);
    assert_eq!(headers[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
    assert_eq!(headers[20..24], [4, 0, 0x13, 0x89], "ports 1024 and 5001");
    assert_eq!(headers[24..32], [0, 0, 5, 0xb5, 0, 0, 0, 1], "number 1461, the other side's 1");
    assert_eq!(headers[33], 0x18, "PSH and ACK");
    assert_eq!(ones_complement(&[&headers[..20]]), 0xffff);
    let pseudo = [&headers[12..20], &[0, 6], &1020_u16.to_be_bytes()].concat();
    assert_eq!(ones_complement(&[&pseudo, &headers[20..]]), 0xffff, "its data are zeros");
}

#[test]
fn acks_return_with_the_next_expected_byte() {
    let ack = Frame { backward: true, payload: 0, number: 2921, ..frame(0) };
    let blocks = blocks(&capture(tcp(), vec![ack]).to_pcapng().expect("a capture"));
    let headers = &blocks[3].1[20..60];
    assert_eq!(headers[12..20], [10, 0, 0, 2, 10, 0, 0, 1]);
    assert_eq!(headers[24..32], [0, 0, 0, 1, 0, 0, 0x0b, 0x69], "number 1, expects 2921");
    assert_eq!(headers[33], 0x10);
}

/// RFC 2018 section 3: kind 5, length 2 + 8 n, the edges of the blocks; two bytes of nothing before it.
#[test]
fn out_of_order_data_are_sack_options() {
    let ack = Frame { backward: true, payload: 0, number: 2001, sack: Some(0), ..frame(0) };
    let blocks = blocks(&capture(tcp(), vec![ack]).to_pcapng().expect("a capture"));
    let packet = &blocks[3].1;
    let headers = &packet[20..80];
    assert_eq!(headers[2..4], 60_u16.to_be_bytes());
    assert_eq!(headers[32] >> 4, 10, "words of four bytes");
    let edges = [5001_u32, 6001, 3001, 4001].map(u32::to_be_bytes).concat();
    assert_eq!(headers[40..60], [&[1, 1, 5, 18], &edges[..]].concat());
    let pseudo = [&headers[12..20], &[0, 6], &40_u16.to_be_bytes()].concat();
    assert_eq!(ones_complement(&[&pseudo, &headers[20..]]), 0xffff);
}

/// RFC 9293 section 3.2 (MSS, kind 2), RFC 2018 section 2 (SACK permitted, 4), RFC 7323 section 2.2
/// (window scale, 3). 2 MiB need a shift of 6, and the window of a SYN is not scaled.
#[test]
fn connections_open_with_a_syn_in_each_direction() {
    let syn = Frame { opens: true, payload: 0, number: 0, ..frame(0) };
    let answer = Frame { backward: true, number: 1, ..syn };
    let blocks =
        blocks(&capture(tcp(), vec![syn, answer, frame(1)]).to_pcapng().expect("a capture"));
    let header = |block: usize| blocks[block].1[44..56].to_vec();
    assert_eq!(header(3), [0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x02, 0xff, 0xff]);
    assert_eq!(header(4), [0, 0, 0, 0, 0, 0, 0, 1, 0x80, 0x12, 0xff, 0xff]);
    assert_eq!(blocks[3].1[60..72], [2, 4, 0x03, 0xe8, 1, 1, 4, 2, 1, 3, 3, 6]);
    assert_eq!(header(5)[8..], [0x50, 0x18, 0x80, 0x00], "2 MiB in units of 64 B");
}

/// RFC 7323 section 2.2: an end that does not scale omits the option, and its window is limited to
/// the field.
#[test]
fn a_window_that_is_not_scaled_has_no_option() {
    let syn = Frame { opens: true, payload: 0, number: 0, ..frame(0) };
    let mut connection = tcp();
    (connection.agreed.scaling, connection.agreed.window) = (false, 65_000);
    let blocks = blocks(&capture(connection, vec![syn, frame(1)]).to_pcapng().expect("a capture"));
    assert_eq!(blocks[3].1[52] >> 4, 7, "words of four bytes: MSS and SACK permitted");
    assert_eq!(blocks[3].1[60..68], [2, 4, 0x03, 0xe8, 1, 1, 4, 2]);
    assert_eq!(blocks[4].1[54..56], 65_000_u16.to_be_bytes());
}

/// RFC 7323 section 3.2: kind 8, length 10, the value and the echo. Two padding bytes precede it,
/// except in a SYN, where SACK permitted takes their place.
#[test]
fn timestamps_are_an_option_of_every_segment() {
    let stamps = Some((0x0102_0304, 0x0506_0708));
    let syn = Frame { opens: true, payload: 0, number: 0, stamps, ..frame(0) };
    let ack = Frame { backward: true, payload: 0, number: 2001, sack: Some(0), stamps, ..frame(0) };
    let blocks = blocks(&capture(tcp(), vec![syn, ack]).to_pcapng().expect("a capture"));
    let option = [8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(
        blocks[3].1[60..80],
        [&[2, 4, 0x03, 0xe8, 4, 2], &option[..], &[1, 3, 3, 6]].concat()
    );
    assert_eq!(blocks[4].1[60..76], [&[1, 1], &option[..], &[1, 1, 5, 18]].concat());
}

#[test]
fn datagrams_are_udp_and_losses_have_comments() {
    let lost = Frame { comment: Some(0), payload: 500, ..frame(7) };
    let udp = Connection { udp: true, ..tcp() };
    let blocks = blocks(&capture(udp, vec![lost]).to_pcapng().expect("a capture"));
    let packet = &blocks[3].1;
    let headers = &packet[20..48];
    assert_eq!(headers[9], 17);
    assert_eq!(headers[24..26], 508_u16.to_be_bytes());
    let pseudo = [&headers[12..20], &[0, 17], &508_u16.to_be_bytes()].concat();
    assert_eq!(ones_complement(&[&pseudo, &headers[20..]]), 0xffff);
    assert_eq!(packet[48..62], *b"\x01\x00\x0a\x00queue-full");
}

#[test]
fn invalid_references_are_rejected() {
    let long = Frame { payload: 65_500, ..frame(0) };
    assert!(capture(tcp(), vec![long]).to_pcapng().unwrap_err().contains("65535 bytes"));
    for frame in [
        Frame { interface: 1, ..frame(0) },
        Frame { connection: 1, ..frame(0) },
        Frame { comment: Some(1), ..frame(0) },
        Frame { sack: Some(1), ..frame(0) },
    ] {
        assert!(capture(tcp(), vec![frame]).to_pcapng().is_err());
    }
}

/// RFC 3168 section 5: the codepoint is in the lowest two bits of the second byte of IP's header.
/// RFC 9293 section 3.1 and RFC 9768 section 3.1: AE is the lowest bit of byte 12 of TCP's header.
/// CWR is 0x80 of byte 13, ECE 0x40. Checksums hold.
#[test]
fn headers_carry_ecn_fields() {
    let all = [
        (Codepoint::NotEct, Marking::CWR | Marking::ECE, 0b00, 0, 0xC0),
        (Codepoint::Ect0, Marking::CWR, 0b10, 0, 0x80),
        (Codepoint::Ect1, Marking::AE | Marking::ECE, 0b01, 1, 0x40),
        (Codepoint::Ce, 0, 0b11, 0, 0x00),
    ];
    for (codepoint, flags, tos, reserved, said) in all {
        let seen = Frame { marking: Marking::new(codepoint, flags), ..frame(1) };
        let bytes = capture(tcp(), vec![seen]).to_pcapng().expect("a capture");
        let packet = &blocks(&bytes)[3].1;
        let headers = &packet[20..60];
        assert_eq!(headers[1], tos, "{codepoint:?}");
        assert_eq!((headers[32] & 1, headers[33] & 0xC0), (reserved, said), "{flags}");
        assert_eq!(ones_complement(&[&headers[..20]]), 0xffff);
        let pseudo = [&headers[12..20], &[0, 6], &1020_u16.to_be_bytes()[..]].concat();
        assert_eq!(ones_complement(&[&pseudo, &headers[20..], &[0; 1000]]), 0xffff);
    }
}
