//! s2n-quic, a QUIC stack by Amazon: its transport without sockets and clocks.
//!
//! # Model
//! A client and a server of s2n-quic-transport, unchanged but for the null protection. The client opens one stream as soon as
//! the handshake allows it, writes all data, and finishes the stream.
//!
//! # Parameters
//! - Initial window: 10 packets, as RFC 9002 section 7.2 recommends for payloads of 1200 to 1472 bytes.
//! - Payload: fixed, without MTU discovery and segmentation offload.
//! - Flow control: windows of 2^30 bytes.
//! - Initial RTT 333 ms, `max_ack_delay` 25 ms (the values of RFC 9002 and RFC 9000), no PTO jitter.
//! - Pacing: as s2n-quic has it.
//! - Connection IDs of 8 bytes. An idle timeout beyond the end of runs. No keep-alive, datagrams, tokens or migration.
//!
//! # Limitations
//! - The clock of s2n-quic counts microseconds. Times are rounded down, and timers run at their microsecond or later.
//! - s2n-quic executes timers that are due within 1 ms when it executes any.
//! - s2n-quic acknowledges every tenth packet, or 25 ms after the first one.
//! - s2n-quic has CUBIC and BBR, but no `NewReno`.

mod config;
mod null;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use optcp_units::{Codepoint, Time};
use s2n_quic_core::endpoint::Endpoint as _;
use s2n_quic_core::inet::datagram::Header;
use s2n_quic_core::inet::{ExplicitCongestionNotification, IpV4Address, SocketAddress};
use s2n_quic_core::io::tx::{Message, Outcome, PayloadBuffer};
use s2n_quic_core::io::{rx, tx};
use s2n_quic_core::path::RemoteAddress;
use s2n_quic_core::recovery::{bbr, congestion_controller, cubic};
use s2n_quic_core::stream::StreamType;
use s2n_quic_core::time::Timestamp;
use s2n_quic_core::time::clock::{Clock as _, NoopClock};
use s2n_quic_transport::connection::Connection;
use s2n_quic_transport::endpoint::Endpoint;
use s2n_quic_transport::endpoint::connect::{Attempt, Connect};
use s2n_quic_transport::endpoint::handle::{Acceptor, Connector};
use s2n_quic_transport::stream::ReceiveStream;

use crate::case::{Acks, Case, Control};
use crate::link::{Arrival, Datagram, End};
use crate::transfer::{Content, Stack, State};
use config::{CID, Config, Watch};

/// Initial window in packets.
const INITIAL_WINDOW: u32 = 10;
/// Largest payload in bytes.
const MAX_PAYLOAD: usize = 1500;

/// Client and server with a congestion control.
struct Pair<C: congestion_controller::Endpoint> {
    client: Endpoint<Config<C, false>>,
    server: Endpoint<Config<C, true>>,
    application: Application,
    outgoing: [Outgoing; 2],
    watch: Watch,
    largest: [u64; 2],
}

/// Application at both ends.
struct Application {
    /// Kept because a client without it closes.
    _connector: Connector,
    attempt: Option<Pin<Box<Attempt>>>,
    acceptor: Acceptor,
    /// Connections of client and server.
    connections: [Option<Connection>; 2],
    incoming: Option<ReceiveStream>,
    size: u64,
    received: u64,
}

/// Creates both ends of a case; the client connects at time zero. `None` without the congestion control, and for the
/// acknowledgments of every tenth packet on request, which are the only ones that it has.
#[must_use]
pub fn s2n(case: &Case, control: Control) -> Option<Box<dyn Stack>> {
    if case.acks == Acks::EveryTenth {
        return None;
    }
    let window = INITIAL_WINDOW * u32::from(case.payload);
    match control {
        Control::NewReno => None,
        Control::Cubic => {
            let control = || {
                let builder = cubic::builder::Builder::default();
                builder.with_initial_congestion_window(window).build()
            };
            Some(Box::new(Pair::new(case, &control)))
        }
        Control::Bbr => {
            let control = || {
                let builder = bbr::builder::Builder::default();
                builder.with_initial_congestion_window(window).build()
            };
            Some(Box::new(Pair::new(case, &control)))
        }
    }
}

fn address(end: End) -> SocketAddress {
    let last = if end == End::Client { 1 } else { 2 };
    IpV4Address::new([192, 0, 2, last]).with_port(4433).into()
}

fn timestamp(time: Time) -> Timestamp {
    NoopClock.get_time() + Duration::from_micros(time.as_ps() / PS_PER_US)
}

fn time(timestamp: Timestamp) -> Time {
    let since = timestamp.saturating_duration_since(NoopClock.get_time());
    Time::from_ps(u64::try_from(since.as_micros()).map_or(u64::MAX, |us| us * PS_PER_US))
}

const PS_PER_US: u64 = 1_000_000;

impl<C: congestion_controller::Endpoint> Pair<C> {
    fn new(case: &Case, control: &dyn Fn() -> C) -> Self {
        let watch = Watch::default();
        let (client, connector) = Endpoint::new_client(Config::new(case, control(), watch.clone()));
        let (server, acceptor) =
            Endpoint::new_server(Config::new(case, control(), Watch::default()));
        let connect = Connect::new(address(End::Server)).with_server_name("server");
        let attempt = Some(Box::pin(connector.connect(connect)));
        let mut pair = Pair {
            client,
            server,
            application: Application {
                _connector: connector,
                attempt,
                acceptor,
                connections: [None, None],
                incoming: None,
                size: case.size,
                received: 0,
            },
            outgoing: [End::Client, End::Server].map(|from| Outgoing { from, packets: Vec::new() }),
            watch,
            largest: [0; 2],
        };
        pair.settle(End::Client, Time::ZERO);
        pair
    }

    /// Lets the application and one end do what they can do now.
    fn settle(&mut self, end: End, now: Time) {
        let clock = timestamp(now);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            self.application.run(&mut context);
            let woken = match end {
                End::Client => self.client.poll_wakeups(&mut context, &clock),
                End::Server => self.server.poll_wakeups(&mut context, &clock),
            };
            match woken {
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => panic!("an end has closed"),
                Poll::Pending => break,
            }
        }
        match end {
            End::Client => self.client.transmit(&mut self.outgoing[0], &clock),
            End::Server => self.server.transmit(&mut self.outgoing[1], &clock),
        }
    }
}

impl Application {
    fn run(&mut self, context: &mut Context<'_>) {
        if let Some(attempt) = &mut self.attempt
            && let Poll::Ready(connection) = attempt.as_mut().poll(context)
        {
            let mut connection = connection.expect("the server answers");
            let stream = connection.poll_open_stream(StreamType::Unidirectional, context);
            let Poll::Ready(Ok(stream)) = stream else { panic!("the server allows a stream") };
            let (_, mut stream) = stream.split();
            let size = usize::try_from(self.size).expect("it is in memory");
            let mut data = Bytes::from(vec![0; size]);
            let sent = stream.poll_send(&mut data, context);
            assert!(matches!(sent, Poll::Ready(Ok(()))), "the send buffer is large");
            stream.finish().expect("it is open");
            self.connections[0] = Some(connection);
            self.attempt = None;
        }
        if self.connections[1].is_none()
            && let Poll::Ready(connection) = self.acceptor.poll_accept(context)
        {
            self.connections[1] = connection;
        }
        if let Some(connection) = &mut self.connections[1]
            && self.incoming.is_none()
            && let Poll::Ready(Ok(Some(stream))) =
                connection.poll_accept(Some(StreamType::Unidirectional), context)
        {
            self.incoming = Some(stream.split().0);
        }
        if let Some(incoming) = &mut self.incoming {
            while let Poll::Ready(Ok(Some(chunk))) = incoming.poll_receive(context) {
                self.received += chunk.len() as u64;
            }
        }
    }
}

impl<C: congestion_controller::Endpoint> Stack for Pair<C> {
    fn receive(&mut self, arrival: Arrival) {
        let clock = timestamp(arrival.at);
        let end = arrival.datagram.from.other();
        let mut incoming = Incoming(Some(arrival.datagram));
        match end {
            End::Client => self.client.receive(&mut incoming, &clock),
            End::Server => self.server.receive(&mut incoming, &clock),
        }
        self.settle(end, arrival.at);
    }

    fn execute_timers(&mut self, now: Time) {
        // An end executes its timers when it transmits. Timers of the next millisecond are due then too, so an end without an
        // event must not transmit.
        for (end, timer) in
            [(End::Client, self.client.timeout()), (End::Server, self.server.timeout())]
        {
            if timer.is_some_and(|timer| time(timer) <= now) {
                self.settle(end, now);
            }
        }
    }

    fn next_timer(&mut self) -> Option<Time> {
        [self.client.timeout(), self.server.timeout()].into_iter().flatten().min().map(time)
    }

    fn next_packet(&mut self, _now: Time) -> Option<Datagram> {
        let queue = self.outgoing.iter_mut().find(|queue| !queue.packets.is_empty())?;
        Some(queue.packets.remove(0))
    }

    fn state(&mut self) -> State {
        State {
            is_connected: self.application.connections[0].is_some(),
            received: self.application.received,
            ..self.watch.state()
        }
    }

    fn content(&mut self, packet: &Datagram) -> Content {
        let largest = &mut self.largest[usize::from(packet.from == End::Server)];
        let content = crate::quic::content(&packet.payload, CID, *largest);
        *largest = content.number.unwrap_or(0).max(*largest);
        content
    }
}

/// Packet for an end.
struct Incoming(Option<Datagram>);

impl rx::Queue for Incoming {
    type Handle = RemoteAddress;

    fn for_each<F: FnMut(Header<RemoteAddress>, &mut [u8])>(&mut self, mut on_packet: F) {
        if let Some(mut datagram) = self.0.take() {
            let ecn = ExplicitCongestionNotification::new(datagram.ecn as u8);
            on_packet(Header { path: address(datagram.from).into(), ecn }, &mut datagram.payload);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Packets of an end.
struct Outgoing {
    from: End,
    packets: Vec<Datagram>,
}

impl tx::Queue for Outgoing {
    type Handle = RemoteAddress;

    const SUPPORTS_ECN: bool = true;

    fn push<M: Message<Handle = RemoteAddress>>(
        &mut self,
        mut message: M,
    ) -> Result<Outcome, tx::Error> {
        let mut payload = vec![0; MAX_PAYLOAD];
        let length = message.write_payload(PayloadBuffer::new(&mut payload), 0)?;
        payload.truncate(length);
        let ecn = match message.ecn() {
            ExplicitCongestionNotification::NotEct => Codepoint::NotEct,
            ExplicitCongestionNotification::Ect0 => Codepoint::Ect0,
            ExplicitCongestionNotification::Ect1 => Codepoint::Ect1,
            ExplicitCongestionNotification::Ce => Codepoint::Ce,
        };
        self.packets.push(Datagram { from: self.from, payload, ecn });
        Ok(Outcome { len: length, index: 0 })
    }

    fn capacity(&self) -> usize {
        usize::MAX
    }
}
