//! ECN bits of a packet: the IP codepoint and the TCP flags.

use std::fmt;

/// ECN codepoint of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Codepoint {
    /// The endpoints do not support ECN.
    #[default]
    NotEct = 0,
    /// The endpoints support ECN and treat a mark as a weak signal (RFC 9331 section 4.1: L4S).
    Ect1 = 1,
    /// The endpoints support ECN and treat a mark like a loss (RFC 3168).
    Ect0 = 2,
    /// A queue has marked the packet: congestion experienced.
    Ce = 3,
}

/// ECN bits of a packet's headers: the IP codepoint, and the TCP flags AE, CWR and ECE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marking(u8);

const CE: u8 = Codepoint::Ce as u8;
const FLAGS_SHIFT: u32 = 2;

impl Marking {
    /// ECN bits of a packet without ECN.
    pub const NONE: Marking = Marking(0);
    /// Flag ECE (RFC 3168 section 6.1): the other end has received marks. One of the three [`flags`](Self::flags).
    pub const ECE: u8 = 1;
    /// Flag CWR (RFC 3168 section 6.1): the sender has reduced its window.
    pub const CWR: u8 = 2;
    /// Flag AE (RFC 9768 section 3.1).
    pub const AE: u8 = 4;

    /// Creates the value from a codepoint and the three flags.
    #[inline]
    #[must_use]
    pub const fn new(codepoint: Codepoint, flags: u8) -> Self {
        Marking(codepoint as u8 | (flags & 7) << FLAGS_SHIFT)
    }

    /// Returns all values in the order of their bits.
    pub fn all() -> impl Iterator<Item = Marking> {
        (0..32).map(Marking)
    }

    /// Creates the value from the five lowest bits.
    #[inline(always)]
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Marking(bits & 31)
    }

    /// Returns the five bits; the lowest ones are the codepoint.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the IP codepoint.
    #[inline]
    #[must_use]
    pub const fn codepoint(self) -> Codepoint {
        match self.0 & CE {
            0 => Codepoint::NotEct,
            1 => Codepoint::Ect1,
            2 => Codepoint::Ect0,
            _ => Codepoint::Ce,
        }
    }

    /// Returns the TCP flags AE, CWR, ECE as a number: the field ACE of RFC 9768 section 3.1.
    #[inline]
    #[must_use]
    pub const fn flags(self) -> u8 {
        self.0 >> FLAGS_SHIFT
    }

    /// Returns whether a TCP flag is set: [`ECE`](Self::ECE), [`CWR`](Self::CWR) or [`AE`](Self::AE).
    #[inline]
    #[must_use]
    pub const fn has(self, flag: u8) -> bool {
        self.flags() & flag != 0
    }

    /// Returns the value with one more TCP flag set.
    #[inline]
    #[must_use]
    pub const fn with_flag(self, flag: u8) -> Self {
        Marking(self.0 | (flag & 7) << FLAGS_SHIFT)
    }

    /// Returns whether queues may mark the packet instead of dropping it.
    #[inline]
    #[must_use]
    pub const fn takes_marks(self) -> bool {
        self.0 & CE != 0
    }

    /// Returns whether a queue has marked the packet.
    #[inline]
    #[must_use]
    pub const fn is_ce(self) -> bool {
        self.0 & CE == CE
    }

    /// Returns the value with a CE mark.
    #[inline]
    #[must_use]
    pub const fn with_ce(self) -> Self {
        Marking(self.0 | CE)
    }
}

/// Codepoint and set flags, as in `ect0`, `ce ece` and `ect1 ae cwr`; empty for packets without ECN.
impl fmt::Display for Marking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codepoint = match self.codepoint() {
            Codepoint::NotEct => None,
            Codepoint::Ect1 => Some("ect1"),
            Codepoint::Ect0 => Some("ect0"),
            Codepoint::Ce => Some("ce"),
        };
        let flags = [(Self::AE, "ae"), (Self::CWR, "cwr"), (Self::ECE, "ece")];
        let flags = flags.into_iter().filter(|&(flag, _)| self.has(flag)).map(|(_, name)| name);
        let words: Vec<&str> = codepoint.into_iter().chain(flags).collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168 figure 1: ECT(1) is 01, ECT(0) is 10, CE is 11.
    #[test]
    fn codepoints_match_ip_header() {
        let all = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce];
        for (bits, codepoint) in (0..).zip(all) {
            let marking = Marking::new(codepoint, 0);
            assert_eq!((marking.bits(), marking.codepoint()), (bits, codepoint));
            assert_eq!(marking.takes_marks(), bits != 0);
            assert_eq!(marking.is_ce(), bits == 3);
            assert!(marking.with_ce().is_ce());
        }
    }

    #[test]
    fn flags_and_codepoint_are_independent() {
        let marking = Marking::new(Codepoint::Ect0, Marking::AE | Marking::ECE);
        assert_eq!((marking.flags(), marking.codepoint()), (0b101, Codepoint::Ect0));
        assert_eq!(marking.with_ce().flags(), 0b101);
        assert_eq!(marking.with_flag(Marking::CWR).to_string(), "ect0 ae cwr ece");
        assert_eq!(marking.with_flag(Marking::ECE), marking);
        assert!(marking.has(Marking::ECE) && !marking.has(Marking::CWR));
        assert_eq!(Marking::from_bits(marking.bits()), marking);
        assert_eq!([marking.to_string(), Marking::NONE.to_string()], ["ect0 ae ece", ""]);
        assert!(Marking::all().enumerate().all(|(bits, one)| usize::from(one.bits()) == bits));
    }
}
