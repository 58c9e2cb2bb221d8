//! Parsed script.

use std::fmt;

use optcp_units::{Codepoint, Duration, Marking};

use super::assertion::Statement;

/// Script that can be run.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// Tolerance for times, if the script specifies one.
    pub tolerance: Option<Duration>,
    /// Resolution of its timestamps, if they are compared with the clock.
    pub stamp_tick: Option<Duration>,
    /// Directives for OpTCP: line and text.
    pub directives: Vec<(usize, String)>,
    /// Shell commands: line and text.
    pub commands: Vec<(usize, String)>,
    pub events: Vec<Event>,
}

/// Event: an action or expectation.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub line: usize,
    pub when: When,
    pub action: Action,
}

/// Time of an event. A second time is the end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Any time.
    Any,
    /// Absolute time of the script.
    At(Duration, Option<Duration>),
    /// Time after the previous event.
    After(Duration, Option<Duration>),
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    /// A segment arrives at the endpoint.
    Inbound(Segment),
    /// The endpoint must send a segment.
    Outbound(Segment),
    Call(Call),
    Code(Vec<Statement>),
}

/// TCP segment. Sequence numbers count bytes from each side's SYN, which is number 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Segment {
    pub syn: bool,
    pub fin: bool,
    pub reset: bool,
    pub seq: u64,
    /// Bytes of payload.
    pub length: u64,
    /// Acknowledgment number; `None` without the ACK flag.
    pub ack: Option<u64>,
    /// Window field, unscaled.
    pub window: Option<u64>,
    pub options: Options,
    /// Flags AE, CWR and ECE, as in [`Marking::flags`].
    pub flags: u8,
    /// ECN field of the IP header, if given or compared.
    pub codepoint: Option<Ect>,
}

/// Codepoint, or two possible ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ect {
    This(Codepoint),
    /// `[ect01]`: ECT(0) or ECT(1).
    Either,
}

impl Ect {
    /// Returns whether a codepoint matches.
    pub(super) fn is(self, codepoint: Codepoint) -> bool {
        match self {
            Ect::This(this) => this == codepoint,
            Ect::Either => matches!(codepoint, Codepoint::Ect0 | Codepoint::Ect1),
        }
    }

    /// Returns the script notation.
    pub(super) fn name(self) -> &'static str {
        match self {
            Ect::This(Codepoint::NotEct) => "noecn",
            Ect::This(Codepoint::Ect0) => "ect0",
            Ect::This(Codepoint::Ect1) => "ect1",
            Ect::This(Codepoint::Ce) => "ce",
            Ect::Either => "ect01",
        }
    }
}

impl Segment {
    /// Returns the ECN fields of the headers.
    pub(super) fn marking(&self) -> Marking {
        let codepoint = match self.codepoint {
            Some(Ect::This(codepoint)) => codepoint,
            Some(Ect::Either) | None => Codepoint::NotEct,
        };
        Marking::new(codepoint, self.flags)
    }

    /// Returns whether a flag of [`Marking`] is set.
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns its length in sequence space.
    pub(super) fn span(&self) -> u64 {
        self.length + u64::from(self.syn) + u64::from(self.fin)
    }
}

/// Options of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `<...>`: options are not compared.
    pub any: bool,
    pub mss: Option<u64>,
    pub sack_permitted: bool,
    pub scale: Option<u8>,
    /// Timestamp and echo.
    pub stamps: Option<(u32, u32)>,
    pub sack: Vec<(u64, u64)>,
    /// AccECN option: bytes with ECT(0), CE and ECT(1), if present.
    pub ecn: Option<[Option<u32>; 3]>,
}

/// System call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub name: String,
    /// Arguments as written.
    pub arguments: Vec<String>,
    /// Result.
    pub result: i64,
    pub error: Option<String>,
}

impl Call {
    /// Returns the socket option of the call, and its value.
    pub(super) fn option(&self) -> Option<(&str, &str)> {
        let [_, _, name, value, ..] = &self.arguments[..] else { return None };
        Some((name, value.trim_matches(['[', ']', '"', ' '])))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(codepoint) = self.codepoint.filter(|one| *one != Ect::This(Codepoint::NotEct)) {
            write!(f, "[{}] ", codepoint.name())?;
        }
        let flags = [
            (self.syn, "S"),
            (self.fin, "F"),
            (self.reset, "R"),
            (self.has(Marking::ECE), "E"),
            (self.has(Marking::CWR), "W"),
            (self.has(Marking::AE), "A"),
        ];
        for (set, flag) in flags {
            f.write_str(if set { flag } else { "" })?;
        }
        f.write_str(if self.ack.is_some() { "." } else { "" })?;
        write!(f, " {}:{}({})", self.seq, self.seq + self.length, self.length)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        self.options.fmt(f)
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.mss.map(|mss| format!("mss {mss}")));
        parts.extend(self.sack_permitted.then(|| "sackOK".to_owned()));
        parts.extend(self.stamps.map(|(value, echo)| format!("TS val {value} ecr {echo}")));
        parts.extend(self.scale.map(|scale| format!("wscale {scale}")));
        if !self.sack.is_empty() {
            let blocks: Vec<String> = self.sack.iter().map(|(a, b)| format!("{a}:{b}")).collect();
            parts.push(format!("sack {}", blocks.join(" ")));
        }
        parts.extend(self.ecn.map(|counts| {
            let counts = COUNTERS.into_iter().zip(counts);
            let known = counts.filter_map(|(name, count)| Some(format!("{name} {}", count?)));
            format!("ECN {}", known.collect::<Vec<_>>().join(" "))
        }));
        match (self.any, parts.is_empty()) {
            (true, _) => f.write_str(" <...>"),
            (false, true) => Ok(()),
            (false, false) => write!(f, " <{}>", parts.join(",")),
        }
    }
}

/// Names of the counters in the AccECN option.
pub(super) const COUNTERS: [&str; 3] = ["e0b", "ceb", "e1b"];

/// Script, or line of it, that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Line of the script, counted from 1.
    pub line: usize,
    /// Reason.
    pub reason: String,
}

impl Refusal {
    pub(super) fn new(line: usize, reason: impl Into<String>) -> Self {
        Refusal { line, reason: reason.into() }
    }
}
