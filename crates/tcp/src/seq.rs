//! Sequence numbers.

/// Sequence numbers count segments of the transfer from 0; with a handshake the SYN is number 0.
pub type Seq = u32;
