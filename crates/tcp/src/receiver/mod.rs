//! Receiver of a connection.

mod duplicates;
mod marks;
mod numbers;
mod path;
mod policy;
mod report;
mod round_trip;

use optcp_units::{Duration, Marking, Time};

use crate::acknowledgment::{Ack, Timestamp};
use crate::config::{AckKind, Config, DuplicateAckKind, RecoveryKind, Repath};
use crate::ecn::{EcnCounters, Feedback};
use crate::ranges::Ranges;
use crate::seq::Seq;
use duplicates::{Seen, Suppression};
use marks::EcnReceiver;
use numbers::{Arrived, PacketNumbers};
use path::AckPath;

pub use policy::AckPolicy;
pub use report::SackReport;

/// Result of a segment's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of newly in-order segments, which goodput counts.
    pub progress: u32,
    /// ACK to send immediately, if any.
    pub ack: Option<Ack>,
}

/// Receiver: reassembly and acknowledgment.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// `true`: an in-order segment only causes an immediate ACK.
    plain: bool,
    /// Next expected segment: everything below has arrived.
    next: Seq,
    /// Out-of-order segments.
    beyond: Ranges,
    policy: AckPolicy,
    /// Number of segments that are still acknowledged immediately, under any policy.
    quick: u32,
    /// Last segment of the transfer, if its ACK is not delayed.
    last: Option<Seq>,
    /// Value to which a duplicate segment resets `quick`.
    quick_acks: u32,
    /// `true`: segment 0 is acknowledged immediately in any case.
    first_at_once: bool,
    /// `true`: the ACK of a duplicate of the newest segment may be delayed.
    delays_duplicates: bool,
    /// Suppression of duplicate ACKs, if enabled.
    suppression: Option<Box<Suppression>>,
    /// SACK reports, if SACK is in use.
    report: Option<Box<SackReport>>,
    /// Packet numbers, if the sender's recovery is QUIC's.
    numbers: Option<Box<PacketNumbers>>,
    /// ECN state of TCP, if ECN is possible.
    ecn: Option<Box<EcnReceiver>>,
    /// `true`: packet numbers or ECN fields matter.
    extended: bool,
    /// `true`: the first segment is a SYN.
    handshake: bool,
    /// RFC 7323's TS.Recent and Last.ACK.sent.
    recent: Timestamp,
    /// Protection against wrapped sequences (PAWS): segments older than `recent` are discarded.
    paws: bool,
    last_acked: Seq,
    /// Resolution of the receiver's timestamps, if congestion control uses one-way delays.
    stamps: Option<Duration>,
    /// Time at which the delayed ACK must be sent.
    deadline: Option<Time>,
    path: AckPath,
}

impl Receiver {
    /// Creates a receiver without data. `clock_phase` is the value of its clock at time zero, which matters
    /// for ACKs that wait for a tick.
    #[must_use]
    pub fn new(config: &Config, clock_phase: Duration) -> Self {
        let numbers =
            (config.recovery == RecoveryKind::Quic).then(|| Box::new(PacketNumbers::new(config)));
        let ecn = EcnReceiver::new(config).filter(|_| numbers.is_none()).map(Box::new);
        Receiver {
            plain: matches!(config.ack, AckKind::EveryPacket)
                && !config.sack()
                && config.duplicate_acks == DuplicateAckKind::Every
                && !config.timestamps
                && config.repath != Repath::Packet
                && numbers.is_none()
                && ecn.is_none(),
            next: Seq::ZERO,
            beyond: Ranges::default(),
            policy: AckPolicy::new(config, clock_phase),
            quick: config.quick_acks,
            last: None,
            quick_acks: config.quick_acks,
            first_at_once: config.first_ack_at_once || config.handshake,
            delays_duplicates: config.delays_duplicates,
            suppression: Suppression::new(config).map(Box::new),
            report: SackReport::new(config).map(Box::new),
            extended: numbers.is_some() || ecn.is_some(),
            numbers,
            ecn,
            handshake: config.handshake,
            recent: 0,
            paws: config.timestamps,
            last_acked: Seq::ZERO,
            stamps: (config.timestamps && config.congestion.wants_delays())
                .then_some(config.timestamp_tick),
            deadline: None,
            path: AckPath::new(config.repath),
        }
    }

    /// Returns the flow label of its last ACK.
    #[inline]
    #[must_use]
    pub const fn flow_label(&self) -> u8 {
        self.path.label()
    }

    /// Processes the flow label of the segment that is handled next.
    #[inline]
    pub const fn note_flow_label(&mut self, label: u8) {
        self.path.on_segment(label);
    }

    /// Marks segment `seq` as the last of an application write (PSH): Linux does not delay its ACK.
    pub fn push(&mut self, seq: Seq) {
        if matches!(self.policy, AckPolicy::Linux(_)) {
            self.last = Some(seq);
        }
    }

    /// Processes a segment that only causes an immediate cumulative ACK, and returns the timestamp that this ACK echoes.
    /// Any other segment is left to [`handle_other_segment`](Self::handle_other_segment).
    #[inline(always)]
    pub fn handle_plain_segment(&mut self, seq: Seq, stamp: Timestamp) -> Option<Timestamp> {
        if !(self.plain && seq == self.next && self.quick == 0 && self.beyond.is_empty()) {
            return None;
        }
        if seq <= self.last_acked {
            self.recent = stamp;
        }
        self.next += 1;
        self.last_acked = self.next;
        Some(self.recent)
    }

    /// Processes a segment with its remaining time to live, timestamp (if in use) and ECN fields.
    #[inline]
    pub fn handle_segment(
        &mut self,
        now: Time,
        seq: Seq,
        stamp: Timestamp,
        ttl: u8,
        marking: Marking,
    ) -> Arrival {
        if let Some(echo) = self.handle_plain_segment(seq, stamp) {
            let ack = Ack { echo, ..Ack::cumulative(self.next) };
            return Arrival { progress: 1, ack: Some(ack) };
        }
        self.handle_other_segment(now, seq, stamp, ttl, marking)
    }

    /// Processes a segment that [`handle_plain_segment`](Self::handle_plain_segment) has left.
    #[inline]
    pub fn handle_other_segment(
        &mut self,
        now: Time,
        seq: Seq,
        stamp: Timestamp,
        ttl: u8,
        marking: Marking,
    ) -> Arrival {
        if self.extended {
            return self.handle_extended_segment(now, seq, stamp, ttl, marking);
        }
        self.handle_any_segment(now, seq, stamp, ttl)
    }

    fn handle_extended_segment(
        &mut self,
        now: Time,
        seq: Seq,
        stamp: Timestamp,
        ttl: u8,
        marking: Marking,
    ) -> Arrival {
        if let Some(numbers) = &mut self.numbers {
            let arrived = numbers.on_packet(now, Seq::new(stamp), marking.codepoint());
            return self.handle_packet(now, seq, arrived);
        }
        let waits = self.deadline.is_some();
        let syn = self.handshake && seq == Seq::ZERO;
        let seen = self.ecn.as_mut().map_or_else(Default::default, |ecn| {
            if syn {
                ecn.on_syn(marking);
                return Default::default();
            }
            ecn.on_segment(marking, waits)
        });
        let earlier = seen.first.then(|| self.acknowledge(now));
        if let Some(ecn) = &mut self.ecn
            && !syn
        {
            if let Some(ack) = earlier {
                ecn.keep(ack);
            }
            ecn.count(marking);
        }
        self.quick = self.quick.max(seen.quick);
        let arrival = self.handle_any_segment(now, seq, stamp, ttl);
        if seen.at_once && arrival.ack.is_none() && self.deadline.is_some() {
            return Arrival { ack: Some(self.acknowledge(now)), ..arrival };
        }
        arrival
    }

    /// Returns whether there may be an ACK to send ahead of the last segment's ACK.
    #[inline]
    #[must_use]
    pub fn has_earlier(&self) -> bool {
        self.ecn.is_some()
    }

    /// Returns an ACK to send ahead of the last segment's ACK.
    pub fn take_earlier(&mut self) -> Option<Ack> {
        self.ecn.as_mut()?.take()
    }

    fn handle_any_segment(&mut self, now: Time, seq: Seq, stamp: Timestamp, ttl: u8) -> Arrival {
        if self.paws && self.age(stamp) > PAWS_WINDOW {
            if seq < self.next {
                self.came_twice(seq);
            }
            self.quick = self.quick.saturating_sub(1);
            return Arrival { progress: 0, ack: Some(self.acknowledge(now)) };
        }
        let before = self.next;
        let had_gap = !self.beyond.is_empty();
        let mut suppressed = false;
        // RFC 7323 section 4.3: the segment that advances the left edge is echoed. Section 5.3 discards segments before
        // the window first (rule R2). As in Linux, that is one that ends before Last.ACK.sent.
        if seq <= self.last_acked && seq.next() >= self.last_acked {
            self.keep(stamp);
        }
        if seq == self.next {
            self.next += 1;
            self.close_gap();
            self.quick = self.policy.on_in_order(now, seq, self.next, self.quick);
            if let Some(suppression) = &mut self.suppression {
                let whole = self.beyond.is_empty();
                suppression.on_in_order(Seen { at: now, seq, ttl, stamp }, whole);
            }
        } else if seq > self.next {
            self.policy.on_gap();
            if let Some(suppression) = &mut self.suppression {
                suppressed = !suppression.answers(Seen { at: now, seq, ttl, stamp });
            }
            let mut new = false;
            let around = self.beyond.insert(seq, seq.next(), |_, _| new = true);
            if let Some(report) = &mut self.report {
                report.on_out_of_order(seq, around);
            }
            if !new {
                self.came_twice(seq);
            }
        } else {
            self.came_twice(seq);
        }
        let progress = self.next - before;
        if suppressed {
            return Arrival { progress, ack: None };
        }
        let ack = if self.may_wait(seq, progress, had_gap) && self.deadline.is_none() {
            self.deadline = self.policy.deadline(now);
            self.deadline.is_none()
        } else {
            true
        };
        // A duplicate ACK that is not suppressed reports all out-of-order data.
        let tells = progress == 0 || !self.withholds();
        Arrival { progress, ack: ack.then(|| self.reply(now, tells)) }
    }

    /// Processes a packet of QUIC.
    fn handle_packet(&mut self, now: Time, seq: Seq, arrived: Arrived) -> Arrival {
        let before = self.next;
        if arrived == Arrived::Duplicate {
            return Arrival { progress: 0, ack: None };
        }
        if seq >= self.next {
            self.beyond.insert(seq, seq.next(), |_, _| {});
            self.close_gap();
        }
        // With a handshake, the first packet and the one that completes it: HANDSHAKE_DONE carries an ACK (RFC 9001 section
        // 4.1.2).
        let first = seq.number() < u32::from(self.first_at_once) + u32::from(self.handshake);
        let waits = arrived == Arrived::InOrder && !first;
        self.deadline = if waits { self.policy.deadline(now) } else { None };
        let ack = self.deadline.is_none().then(|| self.reply(now, true));
        Arrival { progress: self.next - before, ack }
    }

    /// Advances over the data beyond a gap that is filled.
    #[inline]
    fn close_gap(&mut self) {
        if let Some((start, end)) = self.beyond.first()
            && start == self.next
        {
            self.next = end;
            self.beyond.remove_below(end);
        }
    }

    /// Returns whether the ACK of segment `seq` may be delayed.
    fn may_wait(&mut self, seq: Seq, progress: u32, had_gap: bool) -> bool {
        // RFC 5681 section 4.2: segments that are out of order or fill a gap are acknowledged immediately.
        let newest_again =
            self.delays_duplicates && progress == 0 && seq.next() == self.next && !had_gap;
        let in_order = (progress == 1 && !had_gap) || newest_again;
        if self.quick > 0 {
            self.quick -= 1;
            return false;
        }
        in_order && !(self.first_at_once && seq == Seq::ZERO) && self.last != Some(seq)
    }

    /// Restarts quick ACKs after a duplicate segment: the sender may lack ACKs.
    fn came_twice(&mut self, seq: Seq) {
        self.quick = self.quick_acks;
        if self.handshake && seq == Seq::ZERO {
            self.path.on_syn_again();
        } else {
            self.path.on_duplicate(seq, seq < self.next);
        }
        if let Some(report) = &mut self.report {
            report.on_duplicate(seq);
        }
    }

    /// Processes the header of a trimmed segment: returns the ACK that reports it, unless the segment has arrived.
    ///
    /// Its timestamp is not echoed: headers overtake data, which would then seem old. One more segment is acknowledged
    /// immediately, as if it filled a gap (RFC 5681 section 4.2).
    pub fn handle_trimmed(&mut self, now: Time, seq: Seq, marking: Marking) -> Ack {
        if let Some(ecn) = &mut self.ecn {
            ecn.count_bare(marking);
        }
        let arrived = seq < self.next || self.beyond.around(seq).is_some();
        if let Some(report) = self.report.as_mut().filter(|_| !arrived) {
            report.on_trimmed(seq);
            self.quick = self.quick.saturating_add(1);
        }
        self.reply(now, true)
    }

    /// Processes a SYN that is not one of the numbered segments.
    pub fn handle_syn(&mut self, marking: Marking) {
        if let Some(ecn) = &mut self.ecn {
            ecn.on_syn(marking);
        }
    }

    /// Sets the ECN feedback that the other end has accepted in its answer to a SYN of this end.
    pub fn agree(&mut self, feedback: Feedback) {
        if let Some(ecn) = &mut self.ecn {
            ecn.agree(feedback);
        }
    }

    /// Processes a segment without data, with its timestamp (if in use) and ECN fields.
    pub fn handle_bare(&mut self, stamp: Timestamp, marking: Marking) {
        if let Some(ecn) = &mut self.ecn {
            ecn.count_bare(marking);
        }
        // As above: the segment is at the left edge unless an ACK is delayed.
        if self.next <= self.last_acked {
            self.keep(stamp);
        }
    }

    /// Keeps the timestamp to echo. Timestamps never go back (RFC 7323 section 4.3).
    fn keep(&mut self, stamp: Timestamp) {
        if self.age(stamp) <= 0 {
            self.recent = stamp;
        }
    }

    /// Returns the number of ticks by which `stamp` is older than the timestamp to echo.
    fn age(&self, stamp: Timestamp) -> i32 {
        if self.next == Seq::ZERO { 0 } else { self.recent.wrapping_sub(stamp).cast_signed() }
    }

    /// Returns the ACK to send now, alone or with data; no delayed ACK remains.
    #[inline]
    pub fn acknowledge(&mut self, now: Time) -> Ack {
        let tells = !self.withholds();
        self.reply(now, tells)
    }

    fn withholds(&self) -> bool {
        self.suppression.as_ref().is_some_and(|suppression| suppression.withholds())
    }

    /// Builds an ACK. `tells`: it reports out-of-order data.
    fn reply(&mut self, now: Time, tells: bool) -> Ack {
        self.deadline = None;
        self.last_acked = self.next;
        self.path.on_ack();
        if let Some(numbers) = &mut self.numbers {
            return numbers.acknowledge(now, self.next);
        }
        if self.beyond.is_empty() {
            self.policy.on_ack(now, self.next);
            if let Some(suppression) = &mut self.suppression {
                suppression.on_ack(now, self.next);
            }
        }
        let sack = match &mut self.report {
            Some(report) if tells => report.take(self.next, &self.beyond),
            _ => None,
        };
        let stamp = self.stamps.map(|tick| stamp(now, tick));
        let ack = Ack { echo: self.recent, stamp, sack, ..Ack::cumulative(self.next) };
        match &mut self.ecn {
            None => ack,
            Some(ecn) => {
                let marking = ecn.marking();
                let counters = ecn.option(sack.as_ref()).map(EcnCounters::Bytes);
                Ack { marking, counters, ..ack }
            }
        }
    }

    /// Processes the time given by `deadline`: returns the delayed ACK, or one of the withheld duplicate
    /// ACKs. If several are withheld, `deadline` stays.
    pub fn handle_timer(&mut self, now: Time) -> Ack {
        if let Some(suppression) = &mut self.suppression
            && suppression.deadline().is_some_and(|due| due <= now)
        {
            suppression.on_release(self.beyond.count());
        }
        self.acknowledge(now)
    }

    /// Returns the time at which `handle_timer` is due.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        if self.plain {
            return None;
        }
        let held = self.suppression.as_ref().and_then(|suppression| suppression.deadline());
        match (self.deadline, held) {
            (Some(waits), Some(held)) => Some(waits.min(held)),
            (waits, held) => waits.or(held),
        }
    }

    /// Returns the next expected segment: everything below has arrived.
    #[must_use]
    pub fn next(&self) -> Seq {
        self.next
    }
}

/// Age in ticks up to which a segment older than the last one in order is accepted: `TCP_PAWS_WINDOW` of Linux. RFC 7323
/// section 5.3 (rule R1) has 0.
const PAWS_WINDOW: i32 = 1;

/// Returns the value of a clock that is zero at time zero.
#[expect(clippy::cast_possible_truncation, reason = "timestamps count modulo 2^32")]
fn stamp(now: Time, tick: Duration) -> Timestamp {
    (now.as_ps() / tick.as_ps()) as Timestamp
}

#[cfg(test)]
mod tests;
