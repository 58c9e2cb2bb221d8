//! What a packet says of congestion: the codepoint of IP and the flags of TCP.

use std::fmt;

/// The codepoint in the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Codepoint {
    /// The endpoints of the packet do not understand marks.
    #[default]
    NotEct = 0,
    /// They do, and take a mark for a slight sign (RFC 9331 section 4.1: L4S).
    Ect1 = 1,
    /// They do, and take a mark for what a loss says (RFC 3168).
    Ect0 = 2,
    /// A queue on the way has marked the packet: congestion experienced.
    Ce = 3,
}

/// What the headers of a packet say of congestion, in five bits: IP's codepoint, and TCP's flags AE, CWR and ECE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marking(u8);

const CE: u8 = Codepoint::Ce as u8;
const FLAGS_SHIFT: u32 = 2;

impl Marking {
    /// A packet that takes no part.
    pub const NONE: Marking = Marking(0);
    /// The flag ECE (RFC 3168 section 6.1): the other end has seen marks. One of the three of
    /// [`flags`](Self::flags).
    pub const ECE: u8 = 1;
    /// The flag CWR (RFC 3168 section 6.1): the sender has reduced its window.
    pub const CWR: u8 = 2;
    /// The flag AE (RFC 9768 section 3.1).
    pub const AE: u8 = 4;

    /// What is said by this codepoint and these flags, of which there are three.
    #[inline]
    #[must_use]
    pub const fn new(codepoint: Codepoint, flags: u8) -> Self {
        Marking(codepoint as u8 | (flags & 7) << FLAGS_SHIFT)
    }

    /// All that can be said, by their bits.
    pub fn all() -> impl Iterator<Item = Marking> {
        (0..32).map(Marking)
    }

    /// The five bits of a word.
    #[inline(always)]
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Marking(bits & 31)
    }

    /// Its five bits: those of the codepoint are the lowest.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// IP's codepoint.
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

    /// TCP's flags in the order AE, CWR, ECE, as a number: the field ACE of RFC 9768 section 3.1.
    #[inline]
    #[must_use]
    pub const fn flags(self) -> u8 {
        self.0 >> FLAGS_SHIFT
    }

    /// Whether TCP's flag is set: [`ECE`](Self::ECE), [`CWR`](Self::CWR) or [`AE`](Self::AE).
    #[inline]
    #[must_use]
    pub const fn has(self, flag: u8) -> bool {
        self.flags() & flag != 0
    }

    /// The same with one of TCP's flags set.
    #[inline]
    #[must_use]
    pub const fn with_flag(self, flag: u8) -> Self {
        Marking(self.0 | (flag & 7) << FLAGS_SHIFT)
    }

    /// Whether a queue may mark the packet in place of dropping it.
    #[inline]
    #[must_use]
    pub const fn takes_marks(self) -> bool {
        self.0 & CE != 0
    }

    /// Whether a queue has marked it.
    #[inline]
    #[must_use]
    pub const fn is_ce(self) -> bool {
        self.0 & CE == CE
    }

    /// The same, marked.
    #[inline]
    #[must_use]
    pub const fn with_ce(self) -> Self {
        Marking(self.0 | CE)
    }
}

/// The codepoint and the flags that are set, as in `ect0`, `ce ece` and `ect1 ae cwr`; nothing of a packet that takes
/// no part.
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
    fn codepoints_are_those_of_ip() {
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
    fn flags_stand_beside_the_codepoint() {
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
