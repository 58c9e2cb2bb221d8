//! quinn-proto, a QUIC stack without sockets and clocks.
//!
//! # Model
//! A client and a server of quinn-proto, unchanged but for [`null`] protection. The client opens one stream as soon as the
//! handshake allows it, writes all data, and finishes the stream.
//!
//! # Parameters
//! - Initial window: 10 packets, as RFC 9002 section 7.2 recommends for payloads of 1200 to 1472 bytes.
//! - Payload: fixed, without MTU discovery and segmentation offload.
//! - Flow control: windows of 2^30 bytes.
//! - Initial RTT 333 ms, packet threshold 3, time threshold 9/8, persistent congestion threshold 3, `max_ack_delay` 25 ms
//!   (the values of RFC 9002 and RFC 9000).
//! - Pacing: always, as quinn has it.
//! - Connection IDs of 8 bytes. No idle timeout, keep-alive, datagrams, tokens, spin bit or greased bits.
//!
//! # Limitations
//! - quinn draws skipped packet numbers and the first key update from the seed. A skipped number looks like a gap to the
//!   receiver, which acknowledges the next packet immediately.
//! - BBR draws the first phase of its gain cycle from the operating system. This gain changes only a pacing rate that quinn does
//!   not use, so transfers are repeatable nevertheless.

pub mod null;
mod timeouts;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bytes::BytesMut;
use optcp_units::{Codepoint, Time};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionHandle, ConnectionId,
    ConnectionIdGenerator, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event,
    ServerConfig, StreamId, TimeSource, TransportConfig, ValidationTokenConfig, VarInt,
};

use crate::case::{Acks, Case, Control};
use crate::link::{Arrival, Datagram, End};
use crate::transfer::{Content, Stack, State};
use null::Null;
use timeouts::Timeouts;

/// Length of connection IDs in bytes.
const CID: usize = 8;
/// Initial window in packets.
const INITIAL_WINDOW: u64 = 10;
/// Flow control windows in bytes.
const WINDOW: u32 = 1 << 30;
/// Most bytes given to the client at a time.
const WRITE: usize = 1 << 16;

/// Client and server.
pub struct Quinn {
    epoch: Instant,
    client: Side,
    server: Side,
    stream: Option<StreamId>,
    /// Data that the client has not written.
    unwritten: u64,
    /// Stream at the server.
    incoming: Option<StreamId>,
    received: u64,
    is_connected: bool,
    timeouts: Timeouts,
    /// Largest packet number of each end.
    largest: [u64; 2],
}

struct Side {
    end: End,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Packets that the endpoint sends by itself, or before a connection exists.
    pending: Vec<Datagram>,
    /// Whether it has had an event and may send. An end without an event must not: its pacer counts the attempts.
    has_event: bool,
}

/// Connection IDs that count up.
struct Counted {
    first: u8,
    count: u64,
}

impl ConnectionIdGenerator for Counted {
    fn generate_cid(&mut self) -> ConnectionId {
        self.count += 1;
        let mut bytes = self.count.to_be_bytes();
        bytes[0] = self.first;
        ConnectionId::new(&bytes)
    }

    fn cid_len(&self) -> usize {
        CID
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

/// Clock of address tokens, which are not sent.
struct Stopped;

impl TimeSource for Stopped {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

fn transport(case: &Case, control: Control) -> TransportConfig {
    let window = INITIAL_WINDOW * u64::from(case.payload);
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match control {
        Control::NewReno => {
            let mut config = NewRenoConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        Control::Cubic => {
            let mut config = CubicConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        Control::Bbr => {
            let mut config = BbrConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
    };
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(None)
        .keep_alive_interval(None)
        .stream_receive_window(WINDOW.into())
        .receive_window(WINDOW.into())
        .send_window(WINDOW.into())
        .packet_threshold(3)
        .time_threshold(9.0 / 8.0)
        .initial_rtt(std::time::Duration::from_millis(333))
        .persistent_congestion_threshold(3)
        .initial_mtu(case.payload)
        .min_mtu(case.payload)
        .mtu_discovery_config(None)
        .pad_to_mtu(false)
        .allow_spin(false)
        .datagram_receive_buffer_size(None)
        .enable_segmentation_offload(false)
        .congestion_controller_factory(factory);
    if case.acks == Acks::EveryTenth {
        let mut config = AckFrequencyConfig::default();
        config.ack_eliciting_threshold(VarInt::from_u32(9));
        transport.ack_frequency_config(Some(config));
    }
    transport
}

fn endpoint_config(case: &Case, first: u8) -> EndpointConfig {
    let mut config = EndpointConfig::new(Arc::new(Null));
    config.rng_seed(Some([first; 32])).grease_quic_bit(false);
    config.cid_generator(move || Box::new(Counted { first, count: 0 }));
    config.max_udp_payload_size(case.payload).expect("a payload of 1200 bytes or more");
    config
}

fn address(end: End) -> SocketAddr {
    let last = if end == End::Client { 1 } else { 2 };
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)), 4433)
}

fn codepoint(ecn: Option<EcnCodepoint>) -> Codepoint {
    match ecn {
        None => Codepoint::NotEct,
        Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
        Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
        Some(EcnCodepoint::Ce) => Codepoint::Ce,
    }
}

impl Quinn {
    /// Creates both ends of a case; the client connects at time zero.
    ///
    /// # Panics
    /// If quinn refuses the parameters.
    #[must_use]
    pub fn new(case: &Case, control: Control) -> Self {
        #[expect(clippy::disallowed_methods, reason = "an Instant can be had in no other way")]
        let epoch = Instant::now();
        let transport = Arc::new(transport(case, control));
        let mut server = ServerConfig::new(Arc::new(Null), Arc::new(Null));
        let mut tokens = ValidationTokenConfig::default();
        tokens.sent(0);
        server
            .transport_config(Arc::clone(&transport))
            .validation_token_config(tokens)
            .time_source(Arc::new(Stopped))
            .migration(false);
        let server =
            Endpoint::new(Arc::new(endpoint_config(case, 2)), Some(Arc::new(server)), false, None);
        let mut client = Endpoint::new(Arc::new(endpoint_config(case, 1)), None, false, None);
        let mut config = ClientConfig::new(Arc::new(Null));
        config
            .transport_config(transport)
            .initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[3; CID])));
        let timeouts = Timeouts::default();
        let connection = client
            .connect(epoch, config, address(End::Server), "server")
            .expect("its parameters are valid");
        let side = |end, endpoint, connection| Side {
            end,
            endpoint,
            connection,
            pending: Vec::new(),
            has_event: true,
        };
        Quinn {
            epoch,
            client: side(End::Client, client, Some(connection)),
            server: side(End::Server, server, None),
            stream: None,
            unwritten: case.size,
            incoming: None,
            received: 0,
            is_connected: false,
            timeouts,
            largest: [0; 2],
        }
    }

    fn instant(&self, time: Time) -> Instant {
        self.epoch + std::time::Duration::from_nanos(time.as_ps() / 1000)
    }

    /// Exchanges events between endpoint and connection, then does what the application does.
    fn settle(&mut self) {
        for side in [&mut self.client, &mut self.server] {
            side.exchange();
        }
        if let Some((_, connection)) = &mut self.client.connection {
            while let Some(event) = connection.poll() {
                match event {
                    Event::Connected => self.is_connected = true,
                    Event::ConnectionLost { reason } => panic!("the client failed: {reason}"),
                    _ => {}
                }
            }
            if self.is_connected {
                let stream = *self
                    .stream
                    .get_or_insert_with(|| connection.streams().open(Dir::Uni).expect("a stream"));
                let zeros = [0; WRITE];
                while self.unwritten > 0 {
                    let length = zeros.len().min(usize::try_from(self.unwritten).unwrap_or(WRITE));
                    let mut stream = connection.send_stream(stream);
                    let Ok(written) = stream.write(&zeros[..length]) else { break };
                    self.unwritten -= written as u64;
                    if self.unwritten == 0 {
                        stream.finish().expect("it is open");
                    }
                }
            }
        }
        if let Some((_, connection)) = &mut self.server.connection {
            while let Some(event) = connection.poll() {
                if let Event::ConnectionLost { reason } = event {
                    panic!("the server failed: {reason}");
                }
            }
            if self.incoming.is_none() {
                self.incoming = connection.streams().accept(Dir::Uni);
            }
            if let Some(incoming) = self.incoming {
                let mut stream = connection.recv_stream(incoming);
                if let Ok(mut chunks) = stream.read(true) {
                    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                        self.received += chunk.bytes.len() as u64;
                    }
                    // Flow control updates go out with the next packets.
                    let _ = chunks.finalize();
                }
            }
        }
    }
}

impl Side {
    fn exchange(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    fn receive(&mut self, now: Instant, datagram: &Datagram) {
        self.has_event = true;
        let mut buffer = Vec::new();
        let ecn = EcnCodepoint::from_bits(datagram.ecn as u8);
        let data = BytesMut::from(&datagram.payload[..]);
        let event = self.endpoint.handle(now, address(datagram.from), None, ecn, data, &mut buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut buffer, None);
                let Ok(accepted) = accepted else { panic!("the server refuses the client") };
                self.connection = Some(accepted);
            }
            Some(DatagramEvent::Response(transmit)) => {
                buffer.truncate(transmit.size);
                let ecn = codepoint(transmit.ecn);
                self.pending.push(Datagram { from: self.end, payload: buffer, ecn });
            }
            None => {}
        }
    }

    fn execute_timers(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|timer| timer <= now)
        {
            connection.handle_timeout(now);
            self.has_event = true;
        }
    }

    fn next_packet(&mut self, now: Instant) -> Option<Datagram> {
        if let Some(datagram) = self.pending.pop() {
            return Some(datagram);
        }
        let (_, connection) = self.connection.as_mut().filter(|_| self.has_event)?;
        let mut payload = Vec::new();
        let Some(transmit) = connection.poll_transmit(now, 1, &mut payload) else {
            self.has_event = false;
            return None;
        };
        payload.truncate(transmit.size);
        Some(Datagram { from: self.end, payload, ecn: codepoint(transmit.ecn) })
    }
}

impl Stack for Quinn {
    fn receive(&mut self, arrival: Arrival) {
        let now = self.instant(arrival.at);
        self.timeouts.clone().observe(|| match arrival.datagram.from {
            End::Client => self.server.receive(now, &arrival.datagram),
            End::Server => self.client.receive(now, &arrival.datagram),
        });
        self.settle();
    }

    fn execute_timers(&mut self, time: Time) {
        let now = self.instant(time);
        let timeouts = self.timeouts.clone();
        timeouts.observe(|| self.client.execute_timers(now));
        self.server.execute_timers(now);
        self.settle();
    }

    fn next_timer(&mut self) -> Option<Time> {
        let sides = [&mut self.client, &mut self.server].into_iter();
        let timers =
            sides.filter_map(|side| side.connection.as_mut()?.1.poll_timeout()).collect::<Vec<_>>();
        let first = timers.into_iter().min()?.saturating_duration_since(self.epoch);
        Some(Time::from_ps(u64::try_from(first.as_nanos()).ok()?.saturating_mul(1000)))
    }

    fn next_packet(&mut self, now: Time) -> Option<Datagram> {
        let now = self.instant(now);
        let packet = self.client.next_packet(now).or_else(|| self.server.next_packet(now));
        self.client.exchange();
        self.server.exchange();
        packet
    }

    fn state(&mut self) -> State {
        let stats = self.client.connection.as_ref().map(|(_, connection)| connection.stats());
        let path = stats.unwrap_or_default().path;
        State {
            is_connected: self.is_connected,
            received: self.received,
            cwnd: path.cwnd,
            lost: path.lost_packets,
            timeouts: self.timeouts.count(),
        }
    }

    fn content(&mut self, packet: &Datagram) -> Content {
        let largest = &mut self.largest[usize::from(packet.from == End::Server)];
        let content = crate::quic::content(&packet.payload, CID, *largest);
        *largest = content.number.unwrap_or(0).max(*largest);
        content
    }
}
