//! Handshake and packet protection without cryptography, with the lengths of [`handshake`](crate::handshake).

use std::task::Poll;

use bytes::Bytes;
use s2n_codec::Encoder;
use s2n_codec::encoder::scatter;
use s2n_quic_core::application::ServerName;
use s2n_quic_core::crypto::tls::{self, ApplicationParameters, CipherSuite, NamedGroup};
use s2n_quic_core::crypto::{self, packet_protection, retry};
use s2n_quic_core::transport;

use crate::handshake::{
    CLIENT_FINISHED, CLIENT_HELLO, SERVER_FLIGHT, SERVER_HELLO, TAG, parameters, with_parameters,
};

/// Packet and header protection that changes nothing, and the endpoint of its handshakes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Null;

impl crypto::Key for Null {
    fn decrypt(
        &self,
        _packet_number: u64,
        _header: &[u8],
        _payload: &mut [u8],
    ) -> Result<(), packet_protection::Error> {
        Ok(())
    }

    fn encrypt(
        &mut self,
        _packet_number: u64,
        _header: &[u8],
        payload: &mut scatter::Buffer<'_>,
    ) -> Result<(), packet_protection::Error> {
        payload.flatten().write_repeated(TAG, 0xff);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn aead_confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn aead_integrity_limit(&self) -> u64 {
        u64::MAX
    }

    fn cipher_suite(&self) -> CipherSuite {
        CipherSuite::Unknown
    }
}

impl crypto::HeaderKey for Null {
    fn opening_header_protection_mask(&self, _sample: &[u8]) -> crypto::HeaderProtectionMask {
        Default::default()
    }

    fn opening_sample_len(&self) -> usize {
        TAG
    }

    fn sealing_header_protection_mask(&self, _sample: &[u8]) -> crypto::HeaderProtectionMask {
        Default::default()
    }

    fn sealing_sample_len(&self) -> usize {
        TAG
    }
}

impl crypto::InitialKey for Null {
    type HeaderKey = Null;

    fn new_server(_connection_id: &[u8]) -> (Self, Null) {
        (Null, Null)
    }

    fn new_client(_connection_id: &[u8]) -> (Self, Null) {
        (Null, Null)
    }
}

impl crypto::OneRttKey for Null {
    fn derive_next_key(&self) -> Self {
        Null
    }
}

impl crypto::RetryKey for Null {
    fn generate_tag(_payload: &[u8]) -> retry::IntegrityTag {
        Default::default()
    }

    fn validate(
        _payload: &[u8],
        _tag: retry::IntegrityTag,
    ) -> Result<(), packet_protection::Error> {
        Ok(())
    }
}

impl crypto::InitialHeaderKey for Null {}
impl crypto::HandshakeKey for Null {}
impl crypto::HandshakeHeaderKey for Null {}
impl crypto::OneRttHeaderKey for Null {}
impl crypto::ZeroRttKey for Null {}
impl crypto::ZeroRttHeaderKey for Null {}

/// Handshake of one end.
#[derive(Debug)]
pub(crate) struct Session {
    parameters: Vec<u8>,
    step: Step,
    /// Part of the next message that has arrived.
    partial: Vec<u8>,
}

/// Next action of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    SendClientHello,
    AwaitServerHello,
    AwaitServerFlight,
    AwaitClientHello,
    AwaitClientFinished,
    Done,
}

impl crypto::CryptoSuite for Session {
    type HandshakeKey = Null;
    type HandshakeHeaderKey = Null;
    type InitialKey = Null;
    type InitialHeaderKey = Null;
    type OneRttKey = Null;
    type OneRttHeaderKey = Null;
    type ZeroRttKey = Null;
    type ZeroRttHeaderKey = Null;
    type RetryKey = Null;
}

impl Session {
    fn new(parameters: Vec<u8>, step: Step) -> Self {
        Session { parameters, step, partial: Vec::new() }
    }

    /// Returns a message once it is complete.
    fn message(
        &mut self,
        length: usize,
        receive: &mut dyn FnMut(usize) -> Option<Bytes>,
    ) -> Option<Vec<u8>> {
        while self.partial.len() < length {
            self.partial.extend_from_slice(&receive(length - self.partial.len())?);
        }
        Some(std::mem::take(&mut self.partial))
    }

    /// Installs the last keys; the transport parameters of the peer are in its message.
    fn finish<C: tls::Context<Self>>(
        context: &mut C,
        message: &[u8],
    ) -> Result<(), transport::Error> {
        context.on_application_protocol(Bytes::from_static(b"judge"))?;
        context.on_key_exchange_group(NamedGroup { group_name: "none", contains_kem: false })?;
        let transport_parameters = parameters(message);
        context.on_one_rtt_keys(Null, Null, ApplicationParameters { transport_parameters })
    }

    /// Does the next step; returns whether it could.
    fn advance<C: tls::Context<Self>>(
        &mut self,
        context: &mut C,
    ) -> Result<bool, transport::Error> {
        match self.step {
            Step::SendClientHello => {
                let hello = with_parameters(&self.parameters, CLIENT_HELLO);
                context.send_initial(hello.into());
                context.on_server_name(ServerName::from_static("server"))?;
                self.step = Step::AwaitServerHello;
            }
            Step::AwaitServerHello => {
                let receive = &mut |length| context.receive_initial(Some(length));
                if self.message(SERVER_HELLO, receive).is_none() {
                    return Ok(false);
                }
                context.on_handshake_keys(Null, Null)?;
                self.step = Step::AwaitServerFlight;
            }
            Step::AwaitServerFlight => {
                let receive = &mut |length| context.receive_handshake(Some(length));
                let Some(flight) = self.message(SERVER_FLIGHT, receive) else { return Ok(false) };
                context.send_handshake(vec![0; CLIENT_FINISHED].into());
                Self::finish(context, &flight)?;
                context.on_handshake_complete()?;
                self.step = Step::Done;
            }
            Step::AwaitClientHello => {
                let receive = &mut |length| context.receive_initial(Some(length));
                let Some(hello) = self.message(CLIENT_HELLO, receive) else { return Ok(false) };
                context.send_initial(vec![0; SERVER_HELLO].into());
                context.on_handshake_keys(Null, Null)?;
                context.send_handshake(with_parameters(&self.parameters, SERVER_FLIGHT).into());
                Self::finish(context, &hello)?;
                context.on_server_name(ServerName::from_static("server"))?;
                self.step = Step::AwaitClientFinished;
            }
            Step::AwaitClientFinished => {
                let receive = &mut |length| context.receive_handshake(Some(length));
                if self.message(CLIENT_FINISHED, receive).is_none() {
                    return Ok(false);
                }
                context.on_handshake_complete()?;
                self.step = Step::Done;
            }
            Step::Done => return Ok(false),
        }
        Ok(true)
    }
}

impl tls::Session for Session {
    fn poll<C: tls::Context<Self>>(
        &mut self,
        context: &mut C,
    ) -> Poll<Result<(), transport::Error>> {
        while self.advance(context)? {}
        if self.step == Step::Done { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn parse_hello(
        _msg_type: tls::HandshakeType,
        _header_chunk: &[u8],
        _total_received_len: u64,
        _max_hello_size: u64,
    ) -> Result<Option<tls::HelloOffsets>, transport::Error> {
        Ok(Some(tls::HelloOffsets { payload_offset: 0, payload_len: 0 }))
    }
}

impl tls::Endpoint for Null {
    type Session = Session;

    fn new_server_session<Params: s2n_codec::EncoderValue>(
        &mut self,
        transport_parameters: &Params,
        _connection_info: tls::ConnectionInfo,
    ) -> Session {
        Session::new(transport_parameters.encode_to_vec(), Step::AwaitClientHello)
    }

    fn new_client_session<Params: s2n_codec::EncoderValue>(
        &mut self,
        transport_parameters: &Params,
        _server_name: ServerName,
    ) -> Session {
        Session::new(transport_parameters.encode_to_vec(), Step::SendClientHello)
    }

    fn max_tag_length(&self) -> usize {
        TAG
    }
}
