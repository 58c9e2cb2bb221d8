//! Packet captures (pcapng), for programs that read captures of real networks.
//!
//! # Model
//! A capture of IPv4 headers followed by TCP or UDP, as recorded at some place of the network. Hosts have
//! names, and packets may have comments. Payloads are omitted, but their lengths are stored.
//!
//! # References
//! IETF draft-ietf-opsawg-pcapng; RFC 791, 768, 2018, 3168, 6691, 7323, 9293, 9768.
//!
//! # Parameters
//! Captured packets and places: see [`Capture`].
//!
//! # Limitations
//! - Times are truncated to nanoseconds, the finest resolution that readers of the format support.
//! - Options are padded to four bytes, as in real packets. SACK blocks that do not fit next to timestamps are
//!   omitted, and so is the AccECN option.
//! - The time to live is the initial one at every place. The identification is 0, as for packets that are
//!   never fragmented (RFC 6864).

use std::borrow::Cow;
use std::time;

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use optcp_units::{Codepoint, Marking, Time};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

/// Timestamp resolution: nanoseconds.
const NANOSECONDS: u8 = 9;
const PS_PER_NS: u64 = 1000;
/// Maximum window scale, for windows up to a gigabyte (RFC 7323 section 2.3).
const MOST_SHIFT: u8 = 14;
/// Payload bytes.
const PAYLOAD: &[u8] = &[0; u16::MAX as usize];

/// Packet capture.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Places of the capture.
    pub interfaces: Vec<String>,
    /// Names of addresses.
    pub hosts: Vec<([u8; 4], String)>,
    /// Connections.
    pub connections: Vec<Connection>,
    /// SACK blocks: ranges of bytes.
    pub sacks: Vec<Vec<(u32, u32)>>,
    /// Texts of comments.
    pub comments: Vec<String>,
    /// Captured packets, in order of time.
    pub frames: Vec<Frame>,
}

/// Connection between two ends.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// Address and port of the data source.
    pub source: ([u8; 4], u16),
    /// Address and port of the data destination.
    pub destination: ([u8; 4], u16),
    /// `true`: the data are datagrams.
    pub udp: bool,
    /// Options negotiated by its SYNs.
    pub agreed: Agreed,
}

/// Negotiated options of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreed {
    /// MSS option: bytes of data in a segment without options (RFC 9293 section 3.7.1, RFC 6691).
    pub mss: u16,
    /// Receive window in bytes.
    pub window: u32,
    /// `true`: window scaling is in use.
    pub scaling: bool,
    /// `true`: ACKs report SACK blocks.
    pub sack: bool,
    /// `true`: SYNs are present. Without them, readers do not know the window scale.
    pub handshake: bool,
}

impl Agreed {
    /// Returns the window scale: the smallest with which the window fits.
    fn shift(self) -> u8 {
        let bits = u8::try_from(32 - self.window.leading_zeros()).unwrap_or(32);
        if self.handshake && self.scaling { bits.saturating_sub(16).min(MOST_SHIFT) } else { 0 }
    }

    /// Returns the window field of a segment; a SYN does not scale it.
    fn said(self, opens: bool) -> u16 {
        let shift = if opens { 0 } else { self.shift() };
        u16::try_from(self.window >> shift).unwrap_or(u16::MAX)
    }
}

/// Captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Time.
    pub at: Time,
    /// Place, as an index of [`Capture::interfaces`].
    pub interface: u32,
    /// Connection, as an index of [`Capture::connections`].
    pub connection: u32,
    /// `true`: it travels from the connection's destination to its source.
    pub backward: bool,
    /// `true`: it opens the connection.
    pub opens: bool,
    /// First byte number; for backward packets, the next expected byte.
    pub number: u32,
    /// Bytes of data.
    pub payload: u16,
    /// Timestamp and echoed timestamp, if the connection uses them.
    pub stamps: Option<(u32, u32)>,
    /// SACK blocks, as an index of [`Capture::sacks`].
    pub sack: Option<u32>,
    /// Comment, as an index of [`Capture::comments`].
    pub comment: Option<u32>,
    /// ECN fields of the headers.
    pub marking: Marking,
}

impl Capture {
    /// Returns the bytes of a pcapng file.
    ///
    /// # Errors
    /// If a frame refers to a missing interface, connection, SACK list or comment, or if its payload exceeds
    /// a packet.
    pub fn to_pcapng(&self) -> Result<Vec<u8>, String> {
        self.write().map_err(|error| error.to_string())
    }

    fn write(&self) -> Result<Vec<u8>, PcapError> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed("optcp"))],
            ..SectionHeaderBlock::default()
        };
        let mut file = PcapNgWriter::with_section_header(Vec::new(), section)?;
        for name in &self.interfaces {
            file.write_pcapng_block(InterfaceDescriptionBlock {
                linktype: DataLink::IPV4,
                snaplen: 0,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            })?;
        }
        let records = self.hosts.iter().map(|(address, name)| {
            let names = vec![Cow::Borrowed(name.as_str())];
            Record::Ipv4(Ipv4Record { ip_addr: Cow::Borrowed(address), names })
        });
        file.write_pcapng_block(NameResolutionBlock {
            records: records.collect(),
            options: Vec::new(),
        })?;
        let mut data = Vec::new();
        for frame in &self.frames {
            data.clear();
            let connection = get(&self.connections, frame.connection)?;
            let sack = frame.sack.map(|sack| get(&self.sacks, sack)).transpose()?;
            let sack = sack.map_or(&[][..], Vec::as_slice);
            let length = connection.headers(frame, sack, &mut data).ok_or(TOO_LONG)?;
            let comment = frame.comment.map(|comment| get(&self.comments, comment)).transpose()?;
            let comment = comment.map(|text| EnhancedPacketOption::Comment(Cow::Borrowed(text)));
            file.write_pcapng_block(EnhancedPacketBlock {
                interface_id: frame.interface,
                timestamp: time::Duration::from_nanos(frame.at.as_ps() / PS_PER_NS),
                original_len: length,
                data: Cow::Borrowed(&data),
                options: comment.into_iter().collect(),
            })?;
        }
        Ok(file.into_inner())
    }
}

const TOO_LONG: PcapError = PcapError::InvalidField("a packet of more than 65535 bytes");

fn get<T>(all: &[T], place: u32) -> Result<&T, PcapError> {
    all.get(place as usize).ok_or(PcapError::InvalidField("a place in a list that is shorter"))
}

impl Connection {
    /// Writes the headers of a frame, with the length of the packet unless it exceeds the maximum.
    fn headers(&self, frame: &Frame, sack: &[(u32, u32)], to: &mut Vec<u8>) -> Option<u32> {
        let (mut from, mut into) = (self.source, self.destination);
        if frame.backward {
            std::mem::swap(&mut from, &mut into);
        }
        let payload = &PAYLOAD[..usize::from(frame.payload)];
        if self.udp {
            let length = UdpHeader::LEN + payload.len();
            let ip = ip(IpNumber::UDP, length, from.0, into.0, frame.marking)?;
            let udp = UdpHeader::with_ipv4_checksum(from.1, into.1, &ip, payload).ok()?;
            to.extend_from_slice(&ip.to_bytes());
            to.extend_from_slice(&udp.to_bytes());
            return Some(u32::from(ip.total_len));
        }
        let mut tcp = tcp(frame, from.1, into.1, self.agreed);
        tcp.set_options(&self.agreed.options(frame, sack)).ok()?;
        let length = tcp.header_len() + payload.len();
        let ip = ip(IpNumber::TCP, length, from.0, into.0, frame.marking)?;
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).ok()?;
        to.extend_from_slice(&ip.to_bytes());
        to.extend_from_slice(&tcp.to_bytes());
        Some(u32::from(ip.total_len))
    }
}

fn ip(
    protocol: IpNumber,
    carries: usize,
    from: [u8; 4],
    into: [u8; 4],
    marking: Marking,
) -> Option<Ipv4Header> {
    let (carries, ttl) = (u16::try_from(carries).ok()?, optcp_net::INITIAL_TTL);
    let mut header = Ipv4Header::new(carries, ttl, protocol, from, into).ok()?;
    header.ecn = match marking.codepoint() {
        Codepoint::NotEct => IpEcn::ZERO,
        Codepoint::Ect1 => IpEcn::ONE,
        Codepoint::Ect0 => IpEcn::TWO,
        Codepoint::Ce => IpEcn::THREE,
    };
    header.header_checksum = header.calc_header_checksum();
    Some(header)
}

/// Returns the header of a segment. The destination sends no data: its sequence number is the one after its
/// SYN.
fn tcp(frame: &Frame, from: u16, into: u16, agreed: Agreed) -> TcpHeader {
    let other_side = u32::from(!frame.opens);
    let (sequence, acknowledged) = match frame.backward {
        true => (other_side, frame.number),
        false => (frame.number, other_side),
    };
    let mut header = TcpHeader::new(from, into, sequence, agreed.said(frame.opens));
    header.syn = frame.opens;
    header.ack = frame.backward || !frame.opens;
    header.acknowledgment_number = acknowledged;
    header.psh = frame.payload > 0;
    // AE is the bit that RFC 3540 called NS (RFC 9768 section 3.1).
    header.ns = frame.marking.has(Marking::AE);
    header.cwr = frame.marking.has(Marking::CWR);
    header.ece = frame.marking.has(Marking::ECE);
    header
}

impl Agreed {
    /// Returns the options of a segment, in multiples of four bytes, in the order of Linux.
    fn options(self, frame: &Frame, sack: &[(u32, u32)]) -> Vec<TcpOptionElement> {
        use TcpOptionElement as Element;
        let mut options = Vec::new();
        let stamps = frame.stamps.map(|(value, echo)| Element::Timestamp(value, echo));
        if frame.opens {
            options.push(Element::MaximumSegmentSize(self.mss));
            match (self.sack, stamps) {
                (true, Some(stamps)) => {
                    options.extend([Element::SelectiveAcknowledgementPermitted, stamps])
                }
                (true, None) => options.extend([
                    Element::Noop,
                    Element::Noop,
                    Element::SelectiveAcknowledgementPermitted,
                ]),
                (false, Some(stamps)) => options.extend([Element::Noop, Element::Noop, stamps]),
                (false, None) => {}
            }
            if self.scaling {
                options.extend([Element::Noop, Element::WindowScale(self.shift())]);
            }
            return options;
        }
        // 40 bytes of options: four blocks, or three with timestamps.
        let most = if stamps.is_some() { 3 } else { 4 };
        if let Some(stamps) = stamps {
            options.extend([Element::Noop, Element::Noop, stamps]);
        }
        if let Some((&first, others)) = sack[..sack.len().min(most)].split_first() {
            let others = std::array::from_fn(|place| others.get(place).copied());
            options.extend([
                Element::Noop,
                Element::Noop,
                Element::SelectiveAcknowledgement(first, others),
            ]);
        }
        options
    }
}
