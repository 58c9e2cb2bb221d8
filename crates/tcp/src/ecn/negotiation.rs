//! ECN negotiation.
//!
//! # Model
//! The flags AE, CWR and ECE of the SYN carry the sender's request. The SYN-ACK's flags carry the
//! receiver's answer: counting, a plain echo, or nothing. Without a SYN exchange, the same rules
//! apply to the configuration of both ends.
//!
//! # References
//! RFC 3168 section 6.1.1; RFC 9768 section 3.1 and tables 2 and 3.
//!
//! # Parameters
//! `ecn`, `receiver_ecn`, `handshake`.
//!
//! # Limitations
//! The network never clears flags, so the detection of cleared flags is omitted. A switch that sets ECE
//! (`ece` of `[[schedules]]`) looks like the other end.

use optcp_units::{Codepoint, Marking};

use super::{Ecn, Feedback};

const ECE: u8 = Marking::ECE;
const CWR: u8 = Marking::CWR;
const AE: u8 = Marking::AE;

/// Initial value of the count for ACE (RFC 9768 section 3.2.1).
pub(crate) const INITIAL_COUNT: u32 = 5;

/// Returns the flags of a SYN.
pub(crate) const fn asks(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::Off => 0,
        Ecn::Rfc3168 | Ecn::Dctcp => CWR | ECE,
        Ecn::Accurate => AE | CWR | ECE,
    }
}

/// Returns the mode of a receiver with mode `own` for a SYN with these flags and this codepoint, and the
/// flags of its SYN-ACK.
pub(crate) const fn answers(own: Ecn, flags: u8, codepoint: Codepoint) -> (Ecn, u8) {
    const ACCURATE: u8 = AE | CWR | ECE;
    const CLASSIC: u8 = CWR | ECE;
    match (own, flags) {
        (Ecn::Accurate, ACCURATE) => (Ecn::Accurate, codepoint_flags(codepoint)),
        // A receiver with classic ECN only ignores AE.
        (Ecn::Accurate | Ecn::Rfc3168, CLASSIC) | (Ecn::Rfc3168, ACCURATE) => (Ecn::Rfc3168, ECE),
        (Ecn::Dctcp, CLASSIC | ACCURATE) => (Ecn::Dctcp, ECE),
        _ => (Ecn::Off, 0),
    }
}

/// Returns the feedback that a sender with request `asked` understands from the flags of a SYN-ACK.
pub(crate) const fn agreed(asked: Ecn, flags: u8) -> Feedback {
    const CE_TOLD: u8 = AE | CWR;
    const ECT1_TOLD: u8 = CWR | ECE;
    const NONCE: u8 = AE | ECE;
    match (asked, flags) {
        // Reserved values mean counting (RFC 9768 section 3.1.3).
        (Ecn::Accurate, CWR | ECT1_TOLD | AE | CE_TOLD | NONCE) => Feedback::Accurate,
        (Ecn::Accurate, ECE) | (Ecn::Rfc3168 | Ecn::Dctcp, ECE | NONCE) => Feedback::Classic,
        _ => Feedback::None,
    }
}

/// Returns the code with which a SYN-ACK, and the packet that answers it, report the codepoint of the packet
/// before (RFC 9768 table 3).
pub(crate) const fn codepoint_flags(codepoint: Codepoint) -> u8 {
    match codepoint {
        Codepoint::NotEct => CWR,
        Codepoint::Ect1 => CWR | ECE,
        Codepoint::Ect0 => AE,
        Codepoint::Ce => AE | CWR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(asked: Ecn, own: Ecn) -> (Ecn, u8, Feedback) {
        let (mode, flags) = answers(own, asks(asked), Codepoint::NotEct);
        (mode, flags, agreed(asked, flags))
    }

    /// RFC 9768 table 2, without the rows for the nonce and for broken servers.
    #[test]
    fn syn_exchange_negotiates_the_common_ecn_mode() {
        let all = [
            (Ecn::Accurate, Ecn::Accurate, Ecn::Accurate, 0b010, Feedback::Accurate),
            (Ecn::Accurate, Ecn::Rfc3168, Ecn::Rfc3168, 0b001, Feedback::Classic),
            (Ecn::Accurate, Ecn::Off, Ecn::Off, 0b000, Feedback::None),
            (Ecn::Rfc3168, Ecn::Accurate, Ecn::Rfc3168, 0b001, Feedback::Classic),
            (Ecn::Rfc3168, Ecn::Rfc3168, Ecn::Rfc3168, 0b001, Feedback::Classic),
            (Ecn::Rfc3168, Ecn::Off, Ecn::Off, 0b000, Feedback::None),
            (Ecn::Off, Ecn::Accurate, Ecn::Off, 0b000, Feedback::None),
            (Ecn::Dctcp, Ecn::Dctcp, Ecn::Dctcp, 0b001, Feedback::Classic),
            (Ecn::Dctcp, Ecn::Rfc3168, Ecn::Rfc3168, 0b001, Feedback::Classic),
            (Ecn::Accurate, Ecn::Dctcp, Ecn::Dctcp, 0b001, Feedback::Classic),
        ];
        for (asked, own, mode, flags, feedback) in all {
            assert_eq!(exchange(asked, own), (mode, flags, feedback), "{asked:?} {own:?}");
        }
    }

    /// RFC 9768 tables 2 and 3: 010 Not-ECT, 011 ECT(1), 100 ECT(0), 110 CE. A SYN-ACK that repeats the SYN's
    /// flags comes from a server that copies unknown flags.
    #[test]
    fn answer_reports_codepoint_of_received_packet() {
        let flags = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce]
            .map(codepoint_flags);
        assert_eq!(flags, [0b010, 0b011, 0b100, 0b110]);
        for flags in flags {
            assert_eq!(agreed(Ecn::Accurate, flags), Feedback::Accurate);
        }
        assert_eq!(agreed(Ecn::Accurate, 0b111), Feedback::None);
        // RFC 9768 section 3.1.3: reserved for later versions, which this version treats as its own.
        assert_eq!(agreed(Ecn::Accurate, 0b101), Feedback::Accurate);
        assert_eq!(agreed(Ecn::Rfc3168, 0b101), Feedback::Classic);
        // RFC 3168 section 6.1.1: an ECN-setup SYN-ACK has ECE and not CWR.
        assert_eq!(agreed(Ecn::Rfc3168, 0b011), Feedback::None);
    }
}
