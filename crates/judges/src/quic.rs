//! Packet numbers and data of QUIC packets without protection (RFC 9000, sections 17 and 19).

use crate::handshake::TAG;
use crate::transfer::Content;

/// Reads the packet with a short header in a datagram. Packets with a long header, of the handshake, are skipped. `cid` is the
/// length of connection IDs and `largest` the largest packet number so far.
#[must_use]
pub fn content(datagram: &[u8], cid: usize, largest: u64) -> Content {
    read(datagram, cid, largest).unwrap_or_default()
}

fn read(datagram: &[u8], cid: usize, largest: u64) -> Option<Content> {
    let mut reader = Reader(datagram.get(..datagram.len().checked_sub(TAG)?)?);
    let mut first = reader.big_endian(1)?;
    while first & LONG != 0 {
        // Version, then two connection IDs with their lengths.
        reader.skip(4)?;
        for _ in 0..2 {
            let length = reader.big_endian(1)?;
            reader.skip(usize::try_from(length).ok()?)?;
        }
        let is_initial = first & 0x30 == 0;
        let token = if is_initial { reader.integer()? } else { 0 };
        reader.skip(usize::try_from(token).ok()?)?;
        let length = reader.integer()?;
        reader.skip(usize::try_from(length).ok()?)?;
        first = reader.big_endian(1)?;
    }
    let length = usize::try_from(first & 3).ok()? + 1;
    reader.skip(cid)?;
    let number = expand(reader.big_endian(length)?, length, largest);
    Some(Content { number: Some(number), data: data(reader)? })
}

/// Bit of long headers.
const LONG: u64 = 0x80;

/// Recovers a packet number from its lowest bytes (RFC 9000, appendix A.3).
fn expand(truncated: u64, length: usize, largest: u64) -> u64 {
    let window = 1 << (8 * length);
    let expected = largest + 1;
    let candidate = (expected & !(window - 1)) | truncated;
    if candidate + window / 2 <= expected {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

/// Reads the STREAM frames of a packet.
fn data(mut reader: Reader<'_>) -> Option<Vec<(u64, u64)>> {
    let mut data = Vec::new();
    while !reader.0.is_empty() {
        match reader.integer()? {
            // PADDING, PING, HANDSHAKE_DONE, IMMEDIATE_ACK.
            0x00 | 0x01 | 0x1e | 0x1f => {}
            // ACK, ACK with counts of ECN.
            kind @ (0x02 | 0x03) => {
                let (_largest, _delay) = (reader.integer()?, reader.integer()?);
                let ranges = reader.integer()?;
                let counts = if kind == 0x03 { 3 } else { 0 };
                for _ in 0..1 + 2 * ranges + counts {
                    reader.integer()?;
                }
            }
            kind @ 0x08..=0x0f => {
                reader.integer()?;
                let offset = if kind & 4 != 0 { reader.integer()? } else { 0 };
                let length = if kind & 2 != 0 { reader.integer()? } else { reader.0.len() as u64 };
                reader.skip(usize::try_from(length).ok()?)?;
                data.push((offset, length));
            }
            // MAX_DATA and others with one number.
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => {
                reader.integer()?;
            }
            // MAX_STREAM_DATA, STREAM_DATA_BLOCKED.
            0x11 | 0x15 => {
                reader.integer()?;
                reader.integer()?;
            }
            // NEW_CONNECTION_ID, with a reset token of 16 bytes.
            0x18 => {
                reader.integer()?;
                reader.integer()?;
                let length = usize::try_from(reader.big_endian(1)?).ok()?;
                reader.skip(length + 16)?;
            }
            // ACK_FREQUENCY.
            0xaf => {
                for _ in 0..4 {
                    reader.integer()?;
                }
            }
            _ => return None,
        }
    }
    Some(data)
}

/// Rest of a packet.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn skip(&mut self, length: usize) -> Option<()> {
        self.0 = self.0.get(length..)?;
        Some(())
    }

    fn big_endian(&mut self, length: usize) -> Option<u64> {
        let number = self.0.get(..length)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        self.skip(length)?;
        Some(number)
    }

    /// Reads an integer of variable length (RFC 9000, section 16).
    fn integer(&mut self) -> Option<u64> {
        let length = 1 << (self.0.first()? >> 6);
        Some(self.big_endian(length)? & (u64::MAX >> (64 - (8 * length - 2))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9000, appendices A.1 and A.3.
    #[test]
    fn numbers_match_the_examples_of_the_rfc() {
        let integer = |bytes: &[u8]| Reader(bytes).integer();
        assert_eq!(
            integer(&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]),
            Some(151_288_809_941_952_652)
        );
        assert_eq!(integer(&[0x9d, 0x7f, 0x3e, 0x7d]), Some(494_878_333));
        assert_eq!(integer(&[0x7b, 0xbd]), Some(15_293));
        assert_eq!(integer(&[0x25]), Some(37));
        assert_eq!(expand(0x9b32, 2, 0xa82f_30ea), 0xa82f_9b32);
    }
}
