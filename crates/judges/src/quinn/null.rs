//! Handshake and packet protection without cryptography.
//!
//! # Model
//! Packets have the lengths of TLS 1.3 with AES-128-GCM: a tag of 16 bytes, a sample of 16 bytes. Nothing is encrypted, so
//! packet numbers and frames are readable. The handshake has the flights of TLS 1.3: `ClientHello`; `ServerHello`, then
//! `EncryptedExtensions` to `Finished`; `Finished`. [`handshake`](crate::handshake) has their lengths.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    self, AeadKey, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey,
    KeyPair, Keys, PacketKey, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

use crate::handshake::{
    CLIENT_FINISHED, CLIENT_HELLO, SERVER_FLIGHT, SERVER_HELLO, TAG, parameters, with_parameters,
};

/// Packet and header protection that changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Null;

impl PacketKey for Null {
    fn encrypt(&self, _packet: u64, buf: &mut [u8], _header_len: usize) {
        // A packet that ends as a stateless reset token does would be one.
        let tag = buf.len() - TAG;
        buf[tag..].fill(0xff);
    }

    fn decrypt(
        &self,
        _packet: u64,
        _header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Null {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

impl HmacKey for Null {
    fn sign(&self, _data: &[u8], signature_out: &mut [u8]) {
        signature_out.fill(0);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _data: &[u8], _signature: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl AeadKey for Null {
    fn seal(&self, data: &mut Vec<u8>, _additional_data: &[u8]) -> Result<(), CryptoError> {
        data.resize(data.len() + TAG, 0);
        Ok(())
    }

    fn open<'a>(
        &self,
        data: &'a mut [u8],
        _additional_data: &[u8],
    ) -> Result<&'a mut [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..length])
    }
}

impl HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _random_bytes: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Null)
    }
}

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Null), remote: Box::new(Null) },
        packet: packet_keys(),
    }
}

fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(Null), remote: Box::new(Null) }
}

/// Message of the handshake that an end writes next, or reads next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    ClientHello,
    ServerHello,
    ServerFlight,
    ClientFinished,
}

impl Message {
    const ALL: [Message; 4] = [
        Message::ClientHello,
        Message::ServerHello,
        Message::ServerFlight,
        Message::ClientFinished,
    ];

    fn length(self) -> usize {
        match self {
            Message::ClientHello => CLIENT_HELLO,
            Message::ServerHello => SERVER_HELLO,
            Message::ServerFlight => SERVER_FLIGHT,
            Message::ClientFinished => CLIENT_FINISHED,
        }
    }

    fn sender(self) -> Side {
        match self {
            Message::ClientHello | Message::ClientFinished => Side::Client,
            Message::ServerHello | Message::ServerFlight => Side::Server,
        }
    }

    /// Returns whether the transport parameters of its sender are in it.
    fn has_parameters(self) -> bool {
        matches!(self, Message::ClientHello | Message::ServerFlight)
    }
}

/// Handshake of one end.
struct Handshake {
    side: Side,
    parameters: Vec<u8>,
    /// Number of messages that are complete.
    done: usize,
    /// Part of the next message that has arrived.
    partial: Vec<u8>,
    peer: Option<TransportParameters>,
    /// Whether the keys after the last message that this end has written or read have been returned.
    keys_due: bool,
}

impl Handshake {
    fn new(side: Side, params: &TransportParameters) -> Self {
        let mut parameters = Vec::new();
        params.write(&mut parameters);
        Handshake { side, parameters, done: 0, partial: Vec::new(), peer: None, keys_due: false }
    }

    fn next(&self) -> Option<Message> {
        Message::ALL.get(self.done).copied()
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _dst_cid: &ConnectionId, _side: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.next().is_some()
    }

    fn read_handshake(&mut self, mut buf: &[u8]) -> Result<bool, TransportError> {
        while !buf.is_empty()
            && let Some(message) = self.next()
        {
            assert_ne!(message.sender(), self.side, "messages take turns");
            let missing = message.length() - self.partial.len();
            let (part, rest) = buf.split_at(missing.min(buf.len()));
            self.partial.extend_from_slice(part);
            buf = rest;
            if self.partial.len() < message.length() {
                break;
            }
            if message.has_parameters() {
                let peer = TransportParameters::read(self.side, &mut parameters(&self.partial));
                self.peer = Some(peer?);
            }
            self.partial.clear();
            self.done += 1;
            // The client has the keys of the next packets after ServerHello and after the server's flight.
            self.keys_due = self.side == Side::Client;
            // ServerHello is in Initial packets and the rest in Handshake packets, so they never share a buffer.
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        // After ServerHello, the client has only keys.
        if self.keys_due && self.next() == Some(Message::ServerFlight) {
            self.keys_due = false;
            return Some(keys());
        }
        let message = self.next().filter(|message| message.sender() == self.side)?;
        if message.has_parameters() {
            buf.extend_from_slice(&with_parameters(&self.parameters, message.length()));
        } else {
            buf.resize(buf.len() + message.length(), 0);
        }
        self.done += 1;
        self.keys_due = false;
        (message != Message::ClientHello).then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(packet_keys())
    }

    fn is_valid_retry(&self, _dst_cid: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl crypto::ClientConfig for Null {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, params)))
    }
}

impl crypto::ServerConfig for Null {
    fn initial_keys(
        &self,
        _version: u32,
        _dst_cid: &ConnectionId,
    ) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _orig_dst_cid: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(
        self: Arc<Self>,
        _version: u32,
        params: &TransportParameters,
    ) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, params))
    }
}
