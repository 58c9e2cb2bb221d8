//! Effects of ACKs: timestamps, RTT samples, and the events for congestion control.

use optcp_units::{Duration, Marking, Time};

use super::Tcb;
use crate::acknowledgment::{Ack, Timestamp};
use crate::config::WindowValidation;
use crate::congestion::event::{AckEvent, DeliveryEvent, Stamps};
use crate::rtt::Span;
use crate::seq::Seq;

impl Tcb {
    /// Returns the number of ticks of the timestamp clock so far.
    fn ticks(&self, now: Time) -> u64 {
        (now.as_ps() + self.clock_phase.as_ps()) / self.config.timestamp_tick.as_ps()
    }

    /// Returns the timestamp of a segment that is sent now, if timestamps are in use (RFC 7323 section 3).
    #[expect(clippy::cast_possible_truncation, reason = "timestamps count modulo 2^32")]
    pub(crate) fn stamp(&self, now: Time) -> Timestamp {
        self.ticks(now) as Timestamp
    }

    /// Records the receiver's timestamp and the ECE flag of an ACK. The flag may concern congestion control
    /// even without negotiated ECN.
    #[inline]
    pub(crate) fn read(&mut self, now: Time, ack: &Ack) {
        self.ece = ack.marking.has(Marking::ECE);
        // Either all ACKs have a timestamp or none.
        if let Some(sent) = ack.stamp {
            // The receiver's clock is zero at time zero.
            let (now, here) = (self.stamp(now), self.stamp(Time::ZERO));
            let echo = ack.echo;
            let one_way = sent.wrapping_add(here).wrapping_sub(echo);
            self.stamps = Some(Stamps { now, echo, one_way });
        }
    }

    /// Returns the start of the tick in which an echoed timestamp was read, at most `now`.
    pub(crate) fn sent_at(&self, echo: Timestamp, now: Time) -> Time {
        let age = u64::from(self.stamp(now).wrapping_sub(echo));
        let read = self.ticks(now).saturating_sub(age) * self.config.timestamp_tick.as_ps();
        Time::from_ps(read.saturating_sub(self.clock_phase.as_ps()))
    }

    /// Advances the cumulative ACK to `ack`.
    pub(crate) fn advance(&mut self, ack: Seq) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
    }

    /// Takes and returns the RTT sample of an ACK of new data that has not been counted.
    #[inline]
    pub(crate) fn measure(&mut self, now: Time, ack: &Ack) -> Option<Duration> {
        if self.config.timestamps {
            let sent = self.sent_at(ack.echo, now);
            Some(self.measure_sent(now, ack, sent))
        } else {
            self.timer.measure(Span { una: ack.seq, max: self.max }, now)
        }
    }

    /// Takes the RTT sample of a segment sent at `sent`, answered by an ACK that has not been counted.
    pub(crate) fn measure_sent(&mut self, now: Time, ack: &Ack, sent: Time) -> Duration {
        let outstanding = self.max - self.una;
        let span = Span { una: ack.seq.max(self.una), max: self.max };
        self.timer.measure_sent(sent, now, outstanding, span)
    }

    /// Processes an ACK of new data that leaves no recovery behind: takes its RTT sample, and restarts or
    /// stops the timer. Returns the event for congestion control.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, ack: &Ack) -> AckEvent {
        let rtt = self.measure(now, ack);
        let delivered = self.delivered(ack);
        self.count(now, ack, delivered, rtt)
    }

    /// Returns the number of segments newly reported by an ACK that has not been counted. Without SACK, each
    /// duplicate ACK has reported one (RFC 9937, DeliveredData).
    pub(crate) fn delivered(&self, ack: &Ack) -> u32 {
        (ack.seq - self.una).saturating_sub(self.duplicates).max(1)
    }

    /// Processes an ACK with known RTT sample and `delivered` newly reported segments.
    #[inline]
    pub(crate) fn count(
        &mut self,
        now: Time,
        ack: &Ack,
        delivered: u32,
        rtt: Option<Duration>,
    ) -> AckEvent {
        let acked = ack.seq - self.una;
        self.move_on(now, ack.seq);
        self.observe(now, acked, delivered, rtt)
    }

    /// Advances the cumulative ACK to `ack`, and restarts or stops the timer.
    #[inline]
    pub(crate) fn move_on(&mut self, now: Time, ack: Seq) {
        self.advance(ack);
        self.duplicates = 0;
        self.limited_sent = 0;
        if self.outstanding() {
            self.timer.restart(now);
        } else {
            self.timer.stop();
        }
    }

    /// Notifies congestion control of `delivered` newly reported segments, `acked` of them cumulatively.
    /// Returns the event.
    #[inline]
    pub(crate) fn observe(
        &mut self,
        now: Time,
        acked: u32,
        delivered: u32,
        rtt: Option<Duration>,
    ) -> AckEvent {
        let (srtt, una, max) = (self.timer.srtt(), self.una, self.max);
        let after_timeout = self.repairs_timeout();
        let marked = self.ecn.as_mut().map_or(0, |ecn| ecn.deliver(delivered));
        let event = AckEvent {
            now,
            acked,
            delivered,
            marked,
            ece: self.ece,
            rtt,
            srtt,
            una,
            max,
            limited: true,
            after_timeout,
            stamps: self.stamps,
        };
        self.congestion.observe(&event);
        event
    }

    /// Grows the window for an ACK of new data.
    #[inline]
    pub(crate) fn grow(&mut self, mut ack: AckEvent) {
        let mss = self.mss();
        if self.echoes() && !self.congestion.grows_with_marks() {
            return;
        }
        if self.config.window_validation == WindowValidation::Linux {
            let cwnd = self.window.segments(mss);
            ack.limited = self.window_use.limits(cwnd, self.window.in_slow_start());
        }
        self.congestion.on_ack(&mut self.window, mss, &ack);
    }

    /// Completes an ACK after all its effects. `oldest`: number of the oldest outstanding packet. Congestion controls that control recovery set the window here.
    pub(crate) fn deliver(&mut self, ack: DeliveryEvent, oldest: Seq) {
        let Some(mut rate) = self.delivery.take() else { return };
        let delivered = rate.finish_ack(oldest, ack.now);
        // The SYN counts neither as data RTT nor as data window.
        if !(self.config.handshake && rate.delivered() == 1) {
            let ack = DeliveryEvent {
                delivered: delivered.segments,
                rtt: delivered.rtt,
                sample: delivered.sample,
                srtt: self.timer.srtt(),
                ..ack
            };
            let mss = self.mss();
            self.congestion.on_delivery(&mut self.window, mss, &ack, &mut rate);
        }
        self.delivery = Some(rate);
    }

    /// Records a lost packet, for congestion controls that use deliveries.
    pub(crate) fn on_lost(&mut self, number: Seq, now: Time) {
        if let Some(rate) = &self.delivery {
            self.congestion.on_lost(&self.window, self.mss, number, now, rate);
        }
    }
}
