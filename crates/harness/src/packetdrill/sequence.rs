//! Conversion between bytes and segments.
//!
//! The endpoint counts segments, a script counts bytes. Each direction has a list of segment ends; segment
//! numbers are indices of this list.

use optcp_tcp::Seq;

use super::script::Refusal;
use super::script::{Action, Script};

/// Maximum number of segments: a few writes could exhaust the memory.
const MOST_SEGMENTS: u64 = 1_000_000;

/// Returns the segment at an index of a list.
fn seq(place: usize) -> Seq {
    Seq::new(u32::try_from(place).unwrap_or(u32::MAX))
}

/// Data sent by the endpoint: the SYN, full segments as far as possible, then the FIN.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    mss: u64,
    /// End of each segment. `true`: its last number is the FIN's.
    ends: Vec<(u64, bool)>,
}

impl Outgoing {
    pub(super) fn new(mss: u64) -> Self {
        Outgoing { mss, ends: vec![(1, false)] }
    }

    /// Appends `bytes`. A short last segment is extended if fewer than `sent` segments are sent. Returns the
    /// number of added segments.
    pub(super) fn write(&mut self, mut bytes: u64, sent: usize) -> Result<u32, String> {
        let before = self.ends.len();
        if before > sent.max(1) {
            let room = self.mss - self.segment(before - 1).1;
            let more = room.min(bytes);
            self.ends[before - 1].0 += more;
            bytes -= more;
        }
        if self.ends.len() as u64 + bytes / self.mss > MOST_SEGMENTS {
            return Err(format!("script with more than {MOST_SEGMENTS} segments"));
        }
        while bytes > 0 {
            let size = bytes.min(self.mss);
            self.ends.push((self.last() + size, false));
            bytes -= size;
        }
        Ok(u32::try_from(self.ends.len() - before).unwrap_or(u32::MAX))
    }

    /// Adds the FIN: to the last segment if that is not sent yet, otherwise after it. Returns the number of
    /// added segments.
    pub(super) fn close(&mut self, sent: usize) -> u32 {
        let last = self.ends.len() - 1;
        if last >= sent.max(1) {
            self.ends[last] = (self.last() + 1, true);
            return 0;
        }
        self.ends.push((self.last() + 1, true));
        1
    }

    /// Returns the end of the first `count` segments.
    pub(super) fn end(&self, count: usize) -> u64 {
        if count == 0 { 0 } else { self.ends[count - 1].0 }
    }

    fn last(&self) -> u64 {
        self.ends.last().map_or(0, |&(end, _)| end)
    }

    /// Returns start and payload of a segment, and whether it carries the FIN.
    pub(super) fn segment(&self, number: usize) -> (u64, u64, bool) {
        let (end, fin) = self.ends[number];
        let start = self.end(number);
        let syn = number == 0;
        (start, end - start - u64::from(fin) - u64::from(syn), fin)
    }

    /// Returns the number of segments that an acknowledgment covers; `None` if it ends inside one.
    pub(super) fn acknowledged(&self, ack: u64) -> Option<Seq> {
        let count = self.ends.partition_point(|&(end, _)| end <= ack);
        let whole = self.end(count) == ack || count == self.ends.len();
        whole.then(|| seq(count))
    }

    /// Returns the segments that a SACK block covers completely; `None` without any.
    pub(super) fn covered(&self, from: u64, to: u64) -> Option<(Seq, Seq)> {
        let first = 1 + self.ends.partition_point(|&(end, _)| end < from);
        let last = self.ends.partition_point(|&(end, _)| end <= to);
        (first < last).then(|| (seq(first), seq(last)))
    }
}

/// Data sent by the script's peer, divided at the ends of all its segments.
#[derive(Clone, Debug)]
pub(super) struct Incoming {
    cuts: Vec<u64>,
}

impl Incoming {
    /// Creates the divisions for a script.
    pub(super) fn new(script: &Script) -> Result<Self, Refusal> {
        let segments = script.events.iter().filter_map(|event| match &event.action {
            Action::Inbound(segment) if !segment.syn && segment.span() > 0 => {
                Some((event.line, segment))
            }
            _ => None,
        });
        let segments: Vec<_> = segments.collect();
        let ends = segments.iter().flat_map(|(_, s)| [s.seq, s.seq + s.length, s.seq + s.span()]);
        let mut cuts: Vec<u64> = ends.chain([1]).filter(|&end| end > 0).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let incoming = Incoming { cuts };
        for (line, segment) in segments {
            let pieces = incoming.numbers(segment.seq, segment.seq + segment.length).count();
            if pieces > 1 {
                let reason = "it spans several of the peer's other segments, and our receiver counts \
                              whole ones";
                return Err(Refusal::new(line, reason));
            }
        }
        Ok(incoming)
    }

    /// Returns the segments of a byte range.
    pub(super) fn numbers(&self, from: u64, to: u64) -> impl Iterator<Item = Seq> {
        let place = |at: u64| self.cuts.partition_point(|&cut| cut < at);
        seq(place(from)).until(seq(place(to)))
    }

    /// Returns the payload of the first segment with data, if any.
    pub(super) fn size(&self) -> Option<u64> {
        self.cuts.windows(2).map(|cuts| cuts[1] - cuts[0]).find(|&size| size > 1)
    }

    /// Returns the start of a segment.
    pub(super) fn start(&self, segment: Seq) -> u64 {
        self.cuts[segment.number() as usize]
    }
}
