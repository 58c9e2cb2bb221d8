//! Lengths of TLS 1.3 messages (RFC 8446, section 2), which handshakes without cryptography have too.

/// Length of `ClientHello` in bytes.
pub const CLIENT_HELLO: usize = 320;
/// Length of `ServerHello` in bytes.
pub const SERVER_HELLO: usize = 90;
/// Length of the server's messages from `EncryptedExtensions` to `Finished` in bytes, with one certificate.
pub const SERVER_FLIGHT: usize = 1000;
/// Length of the client's `Finished` in bytes.
pub const CLIENT_FINISHED: usize = 36;
/// Length of the tag of packet protection in bytes, as of AES-128-GCM.
pub const TAG: usize = 16;

/// Returns a message with transport parameters.
pub(crate) fn with_parameters(parameters: &[u8], length: usize) -> Vec<u8> {
    let count = u16::try_from(parameters.len()).expect("they are short");
    let mut message = Vec::from(count.to_be_bytes());
    message.extend_from_slice(parameters);
    assert!(message.len() <= length, "transport parameters are too long");
    message.resize(length, 0);
    message
}

/// Returns the transport parameters of a message.
pub(crate) fn parameters(message: &[u8]) -> &[u8] {
    let count = usize::from(message[0]) << 8 | usize::from(message[1]);
    &message[2..2 + count]
}
