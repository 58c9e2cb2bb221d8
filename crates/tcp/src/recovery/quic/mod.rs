//! Loss recovery of QUIC.
//!
//! # Model
//! Each packet has a separate number, also when it carries data again, and ACKs report ranges of numbers. A packet is lost if
//! one with a number higher by three has been acknowledged. It is also lost 9/8 RTTs after it was sent if a later one has. Lost data are sent first. The window is reduced once per round trip with losses, and falls to two packets if
//! everything was lost for a long time (persistent congestion). If no ACK arrives, the probe timeout sends two packets
//! regardless of the window: lost data, new data, or the oldest data in flight. It neither declares losses nor changes the
//! window. There is no other retransmission timer. With ECN, an ACK that reports more marks reduces the window like a loss of
//! the newest acknowledged packet.
//!
//! # References
//! RFC 9002 sections 5 to 7 and appendices A and B; RFC 9000 sections 13.2 to 13.4.
//!
//! # Parameters
//! `congestion`, `ack_delay` (max_ack_delay), `sack_blocks` (ranges per ACK), `tick` (kGranularity), `initial_rto`, `max_rto`,
//! `halving`, `reduction_basis`, `ecn`, `receiver_ecn`, `ect_packets`, `abe`. Keys of TCP's recoveries have no effect.
//!
//! # Limitations
//! - One packet number space: the handshake is one packet and its ACK, and neither keys nor the limit of data before address
//!   validation delay anything.
//! - All data are one stream; flow control is `window_limit`. Each packet carries one full segment.
//! - After persistent congestion, ACKs of packets sent before do not increase the window, as in quinn 0.11.
//! - A packet that is acknowledged after it was declared lost is ignored, and thresholds do not adapt to reordering.
//! - Path MTU discovery, connection migration and the idle timeout are not modelled.

mod ecn;
mod packets;
mod persistent;

use std::collections::BTreeSet;

use optcp_units::{Codepoint, Duration, Time};

use crate::acknowledgment::Ack;
use crate::config::{Config, Ecn, EctPackets};
use crate::congestion::event::{AckEvent, DeliveryEvent, Repair};
use crate::ecn::EcnCounters;
use crate::info::Tally;
use crate::ranges::Ranges;
use crate::recovery::policy::{DUP_THRESH, Recovery};
use crate::rtt::Span;
use crate::seq::Seq;
use crate::tcb::Tcb;
use ecn::Validation;
use packets::{Packet, Packets};
use persistent::LostPeriod;

/// Number of packets that a probe timeout may send (RFC 9002 section 6.2.4).
const PROBES: u32 = 2;
/// Minimum window in packets: kMinimumWindow (RFC 9002 section 7.2).
const MINIMUM_WINDOW: f64 = 2.0;
/// Maximum exponent of the back-off, beyond any reasonable timeout.
const MAX_BACKOFF: u32 = 16;

/// State of QUIC's recovery.
#[derive(Clone, Debug, Default)]
pub struct Quic {
    packets: Packets,
    /// Data that have arrived beyond the oldest missing.
    delivered: Ranges,
    /// Lost data that have not been retransmitted.
    waiting: BTreeSet<Seq>,
    /// Start of the last reduction. Packets sent until then cause no other, and their ACKs do not grow the window.
    reduced: Option<Time>,
    /// `true`: no packet sent since then has been acknowledged.
    recovers: bool,
    /// Time of the first RTT sample, before which congestion is never persistent.
    sampled: Option<Time>,
    /// RTT of the last sample.
    latest_rtt: Duration,
    /// Time at which the oldest packet in flight is lost.
    loss_time: Option<Time>,
    /// End of the probe timeout after the packet sent last.
    probe_time: Option<Time>,
    /// Number of probe timeouts since the last ACK.
    timeouts: u32,
    /// Probes that may still be sent, and how many packets in flight they have repeated.
    probes: u32,
    repeated: usize,
    /// Packets acknowledged by the current ACK.
    acknowledged: Vec<Packet>,
    /// ECN of the path, if ECN is requested.
    ecn: Option<Validation>,
}

impl Quic {
    /// Returns the state at the start of a connection.
    pub(super) fn new(config: &Config) -> Self {
        let ecn = (config.ecn != Ecn::Off).then(Validation::default);
        Quic { ecn, ..Quic::default() }
    }

    /// Returns whether the data have arrived.
    fn has_arrived(&self, tcb: &Tcb, seq: Seq) -> bool {
        seq < tcb.una || self.delivered.around(seq).is_some()
    }

    /// Records arrived data. Returns by how many segments the oldest missing one advances.
    fn deliver(&mut self, tcb: &mut Tcb, seq: Seq) {
        if self.has_arrived(tcb, seq) {
            return;
        }
        self.waiting.remove(&seq);
        self.delivered.insert(seq, seq.next(), |_, _| {});
        if let Some((start, end)) = self.delivered.first()
            && start == tcb.una
        {
            tcb.advance(end);
            self.delivered.remove_below(end);
        }
    }

    /// Returns the time until a packet is lost once a later one has arrived (RFC 9002 section 6.1.2).
    fn allowed(&self, tcb: &Tcb) -> Duration {
        let rtt = tcb.timer.srtt().map_or(self.latest_rtt, |srtt| srtt.max(self.latest_rtt));
        Duration::from_ps(rtt.as_ps() / 8 * 9).max(tcb.config.tick)
    }

    /// Returns the probe timeout without back-off (RFC 9002 section 6.2.1).
    fn probe_timeout(tcb: &Tcb) -> Duration {
        tcb.timer.rto() + tcb.config.ack_delay
    }

    /// Sets the probe timeout, which may have passed while the loss timer ran. No timer runs for data that have arrived in
    /// another packet.
    fn set_timers(&mut self, tcb: &Tcb, now: Time) {
        // The peer delays no ACK of the handshake. The last packet of the handshake leaves with the first data.
        let completes = tcb.config.handshake && tcb.una <= Seq::ZERO.next();
        let timeout = if completes { tcb.timer.rto() } else { Self::probe_timeout(tcb) };
        let backed_off = timeout * (1 << self.timeouts.min(MAX_BACKOFF));
        let due = tcb.last_departure + backed_off.min(tcb.config.max_rto);
        let runs = tcb.outstanding() && self.packets.in_flight() > 0;
        self.probe_time = runs.then_some(due.max(now));
        self.loss_time = self.loss_time.filter(|_| tcb.outstanding());
    }

    /// Detects losses, and reacts to them (RFC 9002 appendices A.10 and B.8). Returns their number.
    fn detect_lost(&mut self, tcb: &mut Tcb, now: Time) -> u32 {
        let allowed = self.allowed(tcb);
        let (mut last, mut count, mut period) = (None, 0, LostPeriod::default());
        let Quic { packets, delivered, waiting, ecn, .. } = self;
        self.loss_time = packets.detect_lost(now, allowed, |packet| {
            if packet.seq >= tcb.una && delivered.around(packet.seq).is_none() {
                waiting.insert(packet.seq);
            }
            if let Some(ecn) = ecn.as_mut().filter(|_| packet.is_ect) {
                ecn.on_lost();
            }
            tcb.on_lost(Seq::new(packet.number), now);
            // Packets that the ACK of the first sample releases leave at the same time.
            if self.sampled.is_some_and(|first| packet.sent >= first) {
                period.add(packet);
            }
            (last, count) = (Some(packet.sent), count + 1);
        });
        let Some(last) = last else { return 0 };
        if self.reduced.is_none_or(|reduced| last > reduced) {
            (self.reduced, self.recovers) = (Some(now), true);
            tcb.reduce();
        }
        if period.longest() > Self::probe_timeout(tcb) * persistent::THRESHOLD {
            // The pseudocode also ends the recovery. ACKs of packets sent before would then increase the window again.
            tcb.on_timeout();
            tcb.window.cwnd = MINIMUM_WINDOW * tcb.mss();
        }
        count
    }

    /// Processes the ECN counts of an ACK of a new highest number, which was sent at `sent` (RFC 9002 appendix B.7).
    fn count_marks(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack, sent: Time) {
        let Some(validation) = &mut self.ecn else { return };
        let acknowledged = self.acknowledged.iter().filter(|packet| packet.is_ect).count();
        let acknowledged = u32::try_from(acknowledged).unwrap_or(u32::MAX);
        let marked = validation.on_ack(ack.counters.and_then(EcnCounters::packets), acknowledged);
        if marked == 0 {
            return;
        }
        if let Some(ecn) = &mut tcb.ecn {
            ecn.count(marked);
        }
        if self.reduced.is_none_or(|reduced| sent > reduced) && tcb.answer_mark() {
            (self.reduced, self.recovers) = (Some(now), true);
        }
    }

    /// Processes acknowledged packets for congestion control (RFC 9002 appendix B.5). `limited`: the window limits sending.
    fn grow(&mut self, tcb: &mut Tcb, now: Time, sample: Option<Duration>, limited: bool) {
        let delivered = u32::try_from(self.acknowledged.len()).unwrap_or(u32::MAX);
        let event = tcb.observe(now, delivered, delivered, sample);
        let counts = |packet: &&Packet| self.reduced.is_none_or(|reduced| packet.sent > reduced);
        let acked = self.acknowledged.iter().filter(counts).count();
        if acked == 0 {
            return;
        }
        if std::mem::take(&mut self.recovers) {
            tcb.on_recovered();
        }
        let acked = u32::try_from(acked).unwrap_or(u32::MAX);
        tcb.grow(AckEvent { acked, delivered: acked, limited, ..event });
    }

    /// Returns data for a probe: lost, new, or of the oldest packets in flight.
    fn next_probe(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        self.probes -= 1;
        if let Some(seq) = self.next_data(tcb) {
            return Some(seq);
        }
        let seq = self.packets.iter().nth(self.repeated).map(|packet| packet.seq);
        self.repeated += 1;
        seq
    }

    /// Returns lost or new data.
    fn next_data(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        if let Some(seq) = self.waiting.pop_first() {
            return Some(seq);
        }
        let opens = tcb.opens() && tcb.max > Seq::ZERO;
        (tcb.max < tcb.end && tcb.room() > 0 && !opens).then(|| {
            tcb.nxt = tcb.max.next();
            tcb.max
        })
    }
}

impl Recovery for Quic {
    fn in_recovery(&self) -> bool {
        self.recovers
    }

    fn in_loss(&self, _tcb: &Tcb) -> bool {
        self.timeouts > 0
    }

    fn tally(&self, _tcb: &Tcb) -> Tally {
        let lost = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        Tally { sacked: self.delivered.count(), lost, retransmitted: 0, reordering: DUP_THRESH }
    }

    /// RFC 9002 appendix A.7.
    fn on_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        let Some(ranges) = &ack.sack else { return };
        let prior_in_flight = self.packets.in_flight();
        let more = !self.waiting.is_empty() || tcb.max < tcb.end;
        let limited = !tcb.opens() && (more || prior_in_flight >= tcb.window.segments(tcb.mss()));
        let mut acknowledged = std::mem::take(&mut self.acknowledged);
        acknowledged.clear();
        let largest_before = self.packets.largest_acked();
        let newest = self.packets.acknowledge(ranges, |packet| acknowledged.push(packet));
        if acknowledged.is_empty() {
            self.acknowledged = acknowledged;
            return;
        }
        let mut rate = tcb.delivery.take();
        for packet in &acknowledged {
            if let Some(rate) = &mut rate {
                rate.on_delivered(Seq::new(packet.number), packet.sent, false);
            }
            self.deliver(tcb, packet.seq);
        }
        tcb.delivery = rate;
        self.acknowledged = acknowledged;
        let sample = newest.map(|packet| {
            self.latest_rtt = now - packet.sent;
            self.sampled.get_or_insert(now);
            let span = Span { una: tcb.una, max: tcb.max };
            tcb.timer.measure_delayed(packet.sent, now, ack.delay(), span);
            self.latest_rtt
        });
        if let Some(newest) = newest.filter(|newest| Some(newest.number) > largest_before) {
            self.count_marks(tcb, now, ack, newest.sent);
        }
        let lost = self.detect_lost(tcb, now);
        self.grow(tcb, now, sample, limited);
        (self.timeouts, self.probes) = (0, 0);
        self.set_timers(tcb, now);
        if tcb.delivery.is_some() {
            let repair = if self.recovers { Repair::Losses } else { Repair::Nothing };
            let in_flight = self.packets.in_flight();
            let event = DeliveryEvent {
                now,
                lost,
                prior_in_flight,
                in_flight,
                repair,
                ..DeliveryEvent::default()
            };
            tcb.deliver(event, Seq::new(self.packets.oldest()));
        }
    }

    /// [`Quic::on_ack`] has processed them.
    fn on_marks(&mut self, _tcb: &mut Tcb) {}

    fn on_timeout(&mut self, _tcb: &mut Tcb, _now: Time) {}

    fn next_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        if tcb.allowance == 0 {
            return None;
        }
        if self.probes > 0 {
            return self.next_probe(tcb);
        }
        let fits = self.packets.in_flight() < tcb.window.segments(tcb.mss());
        fits.then(|| self.next_data(tcb)).flatten()
    }

    fn probes(&self) -> bool {
        self.probes > 0
    }

    fn carried(&self, _tcb: &Tcb) -> u32 {
        self.packets.in_flight()
    }

    fn number(&self, _seq: Seq) -> Seq {
        Seq::new(self.packets.next_number())
    }

    fn on_sent(&mut self, tcb: &mut Tcb, seq: Seq, now: Time) {
        let number = self.number(seq);
        let opens = tcb.config.handshake && seq == Seq::ZERO;
        let may_be_ect = !opens || tcb.config.ect_packets == EctPackets::All;
        let is_ect = may_be_ect && self.ecn.as_ref().is_some_and(Validation::is_ect);
        if let Some(ecn) = &mut tcb.ecn {
            ecn.set_codepoint(if is_ect { Codepoint::Ect0 } else { Codepoint::NotEct });
        }
        if let Some(validation) = self.ecn.as_mut().filter(|_| is_ect) {
            validation.on_sent();
        }
        self.packets.push(seq, now, is_ect);
        self.set_timers(tcb, now);
        tcb.timer.stop();
        tcb.on_sent(number, self.packets.in_flight());
    }

    /// RFC 9002 appendix A.8.
    fn deadline(&self) -> Option<Time> {
        self.loss_time.or(self.probe_time)
    }

    /// RFC 9002 appendix A.9.
    fn on_timer(&mut self, tcb: &mut Tcb, now: Time) -> bool {
        let is_timeout = self.loss_time.is_none();
        if is_timeout {
            self.timeouts += 1;
            (self.probes, self.repeated) = (PROBES.min(self.packets.in_flight()), 0);
        } else {
            self.detect_lost(tcb, now);
        }
        self.set_timers(tcb, now);
        is_timeout
    }
}

#[cfg(test)]
mod marks_tests;
#[cfg(test)]
mod tests;
