//! Parameters of an endpoint.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s2n_quic_core::connection::id::{ConnectionInfo, Generator, LocalId, Validator};
use s2n_quic_core::connection::limits::Limits;
use s2n_quic_core::endpoint::limits::{ConnectionAttempt, Outcome};
use s2n_quic_core::event::Subscriber;
use s2n_quic_core::event::api;
use s2n_quic_core::path::{RemoteAddress, mtu};
use s2n_quic_core::recovery::congestion_controller;
use s2n_quic_core::{connection, datagram, dc, packet, path, random, stateless_reset, token};
use s2n_quic_transport::{endpoint, stream};

use super::null::Null;
use crate::case::Case;
use crate::link::HEADERS;
use crate::transfer::State;

/// Length of connection IDs in bytes.
pub(super) const CID: usize = 8;
/// Flow control windows in bytes.
const WINDOW: u64 = 1 << 30;
/// Time that no transfer reaches.
const FOREVER: Duration = Duration::from_secs(100_000);

/// Parameters of the client or the server.
pub(super) struct Config<C, const SERVER: bool> {
    control: C,
    counter: Counter,
    token: NoTokens,
    limits: Limits,
    mtu: mtu::Manager<mtu::Config>,
    close_formatter: connection::close::Development,
    watch: Watch,
    migration: path::migration::disabled::Validator,
    interceptor: packet::interceptor::Disabled,
    datagram: datagram::Disabled,
    dc: dc::Disabled,
    tls: Null,
    endpoint_limits: Everyone,
    random: Counter,
    reset: Counter,
}

impl<C, const SERVER: bool> fmt::Debug for Config<C, SERVER> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Config").finish_non_exhaustive()
    }
}

impl<C: congestion_controller::Endpoint, const SERVER: bool> Config<C, SERVER> {
    pub(super) fn new(case: &Case, control: C, watch: Watch) -> Self {
        let limits = Limits::new()
            // Without this timer, a debug assertion of s2n-quic fails when an end has nothing to do.
            .with_max_idle_timeout(FOREVER)
            .and_then(|limits| limits.with_data_window(WINDOW))
            .and_then(|limits| limits.with_unidirectional_data_window(WINDOW))
            .and_then(|limits| limits.with_max_send_buffer_size(1 << 30))
            .and_then(|limits| limits.with_max_ack_delay(Duration::from_millis(25)))
            .and_then(|limits| limits.with_max_handshake_duration(FOREVER))
            .and_then(|limits| limits.with_initial_round_trip_time(Duration::from_millis(333)))
            .and_then(|limits| limits.with_active_connection_migration(false))
            .and_then(|limits| limits.with_pto_jitter_percentage(0))
            .expect("they are valid");
        let size = case.payload + u16::try_from(HEADERS).expect("it is short");
        let mtu = mtu::Config::builder()
            .with_initial_mtu(size)
            .and_then(|mtu| mtu.with_base_mtu(size))
            .and_then(|mtu| mtu.with_max_mtu(size))
            .and_then(mtu::Builder::build)
            .expect("a payload of 1200 bytes or more");
        let mut mtu_manager = mtu::Manager::new(mtu);
        mtu_manager.set_endpoint_config(mtu);
        let first = if SERVER { 2 } else { 1 };
        Config {
            control,
            counter: Counter { first, count: 0 },
            token: NoTokens,
            limits,
            mtu: mtu_manager,
            close_formatter: connection::close::Development,
            watch,
            migration: path::migration::disabled::Validator,
            interceptor: packet::interceptor::Disabled::default(),
            datagram: datagram::Disabled::default(),
            dc: dc::Disabled::default(),
            tls: Null,
            endpoint_limits: Everyone,
            random: Counter { first, count: 0 },
            reset: Counter { first, count: 0 },
        }
    }
}

impl<C: congestion_controller::Endpoint, const SERVER: bool> endpoint::Config
    for Config<C, SERVER>
{
    type TLSEndpoint = Null;
    type CongestionControllerEndpoint = C;
    type Connection = s2n_quic_transport::connection::Implementation<Self>;
    type ConnectionLock = Mutex<Self::Connection>;
    type ConnectionIdFormat = Counter;
    type StatelessResetTokenGenerator = Counter;
    type RandomGenerator = Counter;
    type TokenFormat = NoTokens;
    type EndpointLimits = Everyone;
    type ConnectionLimits = Limits;
    type Mtu = mtu::Config;
    type StreamManager = stream::DefaultStreamManager;
    type ConnectionCloseFormatter = connection::close::Development;
    type EventSubscriber = Watch;
    type PathHandle = RemoteAddress;
    type PathMigrationValidator = path::migration::disabled::Validator;
    type PacketInterceptor = packet::interceptor::Disabled;
    type DatagramEndpoint = datagram::Disabled;
    type DcEndpoint = dc::Disabled;

    const ENDPOINT_TYPE: endpoint::Type =
        if SERVER { endpoint::Type::Server } else { endpoint::Type::Client };

    fn context(&mut self) -> endpoint::Context<'_, Self> {
        endpoint::Context {
            congestion_controller: &mut self.control,
            connection_id_format: &mut self.counter,
            stateless_reset_token_generator: &mut self.reset,
            random_generator: &mut self.random,
            tls: &mut self.tls,
            endpoint_limits: &mut self.endpoint_limits,
            token: &mut self.token,
            connection_limits: &mut self.limits,
            mtu: &mut self.mtu,
            connection_close_formatter: &mut self.close_formatter,
            event_subscriber: &mut self.watch,
            path_migration: &mut self.migration,
            packet_interceptor: &mut self.interceptor,
            datagram: &mut self.datagram,
            dc: &mut self.dc,
        }
    }
}

/// Connection IDs and random bytes that count up.
#[derive(Debug)]
pub(super) struct Counter {
    first: u8,
    count: u64,
}

impl Counter {
    fn next(&mut self) -> [u8; 8] {
        self.count += 1;
        let mut bytes = self.count.to_be_bytes();
        bytes[0] = self.first;
        bytes
    }
}

impl Generator for Counter {
    fn generate(&mut self, _connection_info: &ConnectionInfo<'_>) -> LocalId {
        LocalId::try_from_bytes(&self.next()).expect("its length is valid")
    }

    fn rotate_handshake_connection_id(&self) -> bool {
        false
    }
}

impl Validator for Counter {
    fn validate(&self, _connection_info: &ConnectionInfo<'_>, buffer: &[u8]) -> Option<usize> {
        (buffer.len() >= CID).then_some(CID)
    }
}

impl stateless_reset::token::Generator for Counter {
    const ENABLED: bool = false;

    fn generate(&mut self, _local_connection_id: &[u8]) -> stateless_reset::Token {
        let mut bytes = [self.first; 16];
        bytes[8..].copy_from_slice(&self.next());
        bytes.into()
    }
}

impl random::Generator for Counter {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        dest.chunks_mut(8).for_each(|chunk| {
            let bytes = self.next();
            chunk.copy_from_slice(&bytes[8 - chunk.len()..]);
        });
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        self.public_random_fill(dest);
    }
}

/// Address tokens: none.
#[derive(Debug)]
pub(super) struct NoTokens;

impl token::Format for NoTokens {
    const TOKEN_LEN: usize = 0;

    fn generate_new_token(
        &mut self,
        _context: &mut token::Context<'_>,
        _source_connection_id: &LocalId,
        _output_buffer: &mut [u8],
    ) -> Option<()> {
        None
    }

    fn generate_retry_token(
        &mut self,
        _context: &mut token::Context<'_>,
        _original_destination_connection_id: &connection::InitialId,
        _output_buffer: &mut [u8],
    ) -> Option<()> {
        None
    }

    fn validate_token(
        &mut self,
        _context: &mut token::Context<'_>,
        _token: &[u8],
    ) -> Option<connection::InitialId> {
        None
    }
}

/// Limits of connections to an endpoint: none.
#[derive(Debug)]
pub(super) struct Everyone;

impl endpoint::Limiter for Everyone {
    fn on_connection_attempt(&mut self, _info: &ConnectionAttempt<'_>) -> Outcome {
        Outcome::allow()
    }
}

/// State of the client, from its events.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    state: Arc<Mutex<(State, u32)>>,
}

impl Watch {
    pub(super) fn state(&self) -> State {
        self.state.lock().expect("nobody has panicked").0
    }
}

impl Subscriber for Watch {
    type ConnectionContext = ();

    fn create_connection_context(
        &mut self,
        _meta: &api::ConnectionMeta,
        _info: &api::ConnectionInfo<'_>,
    ) -> Self::ConnectionContext {
    }

    fn on_packet_lost(
        &mut self,
        _context: &mut Self::ConnectionContext,
        _meta: &api::ConnectionMeta,
        _event: &api::PacketLost<'_>,
    ) {
        self.state.lock().expect("nobody has panicked").0.lost += 1;
    }

    fn on_recovery_metrics(
        &mut self,
        _context: &mut Self::ConnectionContext,
        _meta: &api::ConnectionMeta,
        event: &api::RecoveryMetrics<'_>,
    ) {
        let (state, timeouts) = &mut *self.state.lock().expect("nobody has panicked");
        state.cwnd = event.congestion_window.into();
        if event.pto_count > *timeouts {
            state.timeouts += 1;
        }
        *timeouts = event.pto_count;
    }
}
