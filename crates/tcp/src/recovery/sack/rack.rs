//! RACK: time-based loss detection.
//!
//! # Model
//! A segment is lost if a later transmission has arrived and a reordering window has passed since then.
//! Retransmissions are tested in the same way. The reordering window is zero until reordering is detected,
//! then a quarter of the minimum RTT. It grows with every RTT in which DSACK reports a spurious
//! retransmission.
//!
//! # References
//! RFC 8985 section 6.
//!
//! # Parameters
//! `loss_detection = "rack"`.
//!
//! # Limitations
//! - Segments declared lost in an undone recovery are not tested again until they are retransmitted, as in
//!   Linux.
//! - The minimum RTT covers the whole connection, not the last minutes.
//! - Timestamps do not distinguish a retransmission from its original, as in Linux. An ACK after a gap
//!   echoes the timestamp of a segment before the gap (RFC 7323 section 4.3). RFC 8985's condition would
//!   exclude every such retransmission.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use super::scoreboard::{Outstanding, Scoreboard};
use crate::recovery::policy::DUP_THRESH;
use crate::rtt::TimerClock;
use crate::seq::Seq;

/// Number of recoveries without DSACK until the window is small again (RFC 8985 section 6.2).
const PERSIST: u32 = 16;

/// Send time and segment: the order of transmissions.
pub(super) type Sent = (Time, Seq);

/// Inputs of RACK other than the scoreboard.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// `true`: losses are being repaired.
    pub(super) recovering: bool,
    /// Number of SACKed segments.
    pub(super) sacked: u32,
    pub(super) srtt: Option<Duration>,
    pub(super) clock: TimerClock,
    pub(super) now: Time,
    /// Latest transmission that has arrived on other networks, and the RTT that it allows.
    pub(super) beyond: Option<(Sent, Duration)>,
}

/// State of RACK.
#[derive(Clone, Debug, Default)]
pub(super) struct Rack {
    /// RACK.segment: the latest transmission that has arrived.
    latest: Option<Sent>,
    /// RACK.rtt: RTT of the highest segment that the last ACK covered, cumulatively or by SACK.
    rtt: Duration,
    /// `true`: the current ACK covered a segment cumulatively.
    advanced: bool,
    min_rtt: Option<Duration>,
    /// Maximum reordering distance in segments; 0 without reordering.
    reordering: u32,
    /// RACK.fack: one past the highest segment that has arrived.
    highest: Seq,
    multiplier: u32,
    persist: u32,
    /// RACK.dsack_round.
    round: Option<Seq>,
    /// Transmissions in order. Entries overtaken by another transmission or an arrival are stale.
    order: VecDeque<Sent>,
    /// First transmissions from this segment on are not in the list: they follow all that are, and most never
    /// need to be listed.
    unlisted: Seq,
    deadline: Option<Time>,
}

impl Rack {
    pub(super) fn new() -> Self {
        Rack { multiplier: 1, ..Rack::default() }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Returns the known number of later segments that does not yet declare a loss.
    pub(super) fn reordering(&self) -> u32 {
        self.reordering.max(DUP_THRESH)
    }

    /// Records the transmission of segment `seq`, which the scoreboard already contains.
    pub(super) fn on_sent(
        &mut self,
        board: &Scoreboard,
        seq: Seq,
        now: Time,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) {
        if !board.get(seq).is_some_and(|segment| segment.again) {
            return;
        }
        // The first transmission of `seq` itself would be stale.
        let rest = board.iter_from(self.unlisted).filter(|(_, segment)| !segment.again);
        let rest = rest.filter(|&(seq, _)| looks_at(board, seq));
        self.order.extend(rest.map(|(seq, segment)| (segment.sent, seq)));
        self.unlisted = board.end();
        self.order.push_back((now, seq));
    }

    /// Starts an ACK.
    pub(super) fn begin_ack(&mut self) {
        self.advanced = false;
    }

    /// Steps 1 to 3 of RFC 8985 section 6.2: records the arrival of a segment.
    pub(super) fn on_delivered(&mut self, seq: Seq, segment: Outstanding, now: Time, sacked: bool) {
        let rtt = now - segment.sent;
        if segment.again && self.min_rtt.is_some_and(|least| rtt < least) {
            return;
        }
        if !segment.again {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            self.reordering = self.reordering.max(self.highest.saturating_since(seq));
        }
        self.highest = self.highest.max(seq.next());
        self.advanced |= !sacked;
        if !(sacked && self.advanced) {
            self.rtt = rtt;
        }
        self.latest = self.latest.max(Some((segment.sent, seq)));
    }

    /// Step 4, DSACK: increases the window once per RTT with a duplicate segment.
    pub(super) fn on_duplicate(&mut self, una: Seq, end: Seq) {
        if self.round.is_none_or(|round| una >= round) {
            self.round = Some(end);
            self.multiplier += 1;
            self.persist = PERSIST;
        }
    }

    /// Step 4, at the end of a recovery.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// Returns the reordering window (RACK_update_reo_wnd).
    fn window(&self, View { recovering, sacked, srtt, .. }: View) -> Duration {
        if self.reordering == 0 && (recovering || sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let quarter = Duration::from_ps(self.min_rtt.unwrap_or(Duration::ZERO).as_ps() / 4);
        let window = quarter * u64::from(self.multiplier);
        srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// Returns the latest transmission that has arrived, and the last RTT.
    pub(super) fn evidence(&self) -> Option<(Sent, Duration)> {
        self.latest.map(|latest| (latest, self.rtt))
    }

    /// Step 5: marks losses among the segments that `looks_at` selects, and sets the timer for possible
    /// losses. Returns the number of new losses.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        view: View,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) -> u32 {
        self.deadline = None;
        let Some(latest) = self.latest else { return 0 };
        let (now, window) = (view.now, self.window(view));
        let own = self.rtt + window;
        // A transmission after all arrivals on its own network may still precede an arrival on another
        // network.
        let (last, other) =
            view.beyond.map_or((latest, own), |(sent, rtt)| (latest.max(sent), rtt + window));
        let allowed = |sent: Sent| if sent < latest { own } else { other };
        let mut lost = 0;
        let mut waiting = 0;
        let mut waits = None;
        let clock = view.clock;
        let timer = |waits: Option<Time>| {
            waits.map(|due| clock.due_beside_rto(now, due - now + clock.margin()))
        };
        while let Some(&sent) = self.order.get(waiting) {
            if sent >= last {
                self.deadline = timer(waits);
                return lost;
            }
            match judge(board, sent, allowed(sent), now) {
                Verdict::Waits(due) => {
                    waiting += 1;
                    waits = Some(due);
                    continue;
                }
                Verdict::Held => {
                    waiting += 1;
                    continue;
                }
                Verdict::Lost => lost += u32::from(board.mark_last_lost(sent.1)),
                Verdict::Stale => {}
            }
            // Times ascend, so that lost or stale entries precede the waiting ones, with rare exceptions.
            if waiting == 0 {
                self.order.pop_front();
            } else {
                self.order.remove(waiting);
            }
        }
        let mut seq = self.unlisted.max(board.una());
        while let Some(segment) = board.get(seq) {
            let sent = (segment.sent, seq);
            if !looks_at(board, seq) {
                seq = seq.next();
                continue;
            }
            if sent >= last {
                break;
            }
            match judge(board, sent, allowed(sent), now) {
                Verdict::Waits(due) => {
                    self.order.push_back(sent);
                    waits = Some(due);
                }
                Verdict::Held => self.order.push_back(sent),
                Verdict::Lost => lost += u32::from(board.mark_last_lost(seq)),
                Verdict::Stale => {}
            }
            seq = seq.next();
        }
        self.unlisted = seq;
        self.deadline = timer(waits);
        lost
    }

    /// Processes an RTO: segments sent more than one RTT and one window ago are also lost (RFC 8985 section
    /// 6.3).
    pub(super) fn on_timeout(
        &mut self,
        board: &mut Scoreboard,
        view: View,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) {
        let allowed = self.rtt + self.window(view);
        board.mark_last_lost(board.una());
        for seq in board.una().next().until(board.end()) {
            let old = board.get(seq).is_some_and(|s| s.sent + allowed <= view.now);
            if old && looks_at(board, seq) {
                board.mark_last_lost(seq);
            }
        }
        self.deadline = None;
    }
}

/// Result of comparing a transmission with a later one that has arrived.
enum Verdict {
    /// Overtaken by another transmission or an arrival.
    Stale,
    /// Declared lost by the timer, which may turn out to be wrong.
    Held,
    /// May be declared lost at this time.
    Waits(Time),
    Lost,
}

/// Tests a transmission that may take up to `allowed`.
fn judge(board: &Scoreboard, sent: Sent, allowed: Duration, now: Time) -> Verdict {
    match board.get(sent.1).filter(|s| { s.sent } == sent.0 && !s.sacked) {
        None => Verdict::Stale,
        Some(segment) if segment.lost && !segment.resent => Verdict::Held,
        Some(_) => {
            let due = sent.0 + allowed;
            if due > now { Verdict::Waits(due) } else { Verdict::Lost }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_ms(milliseconds)
    }

    /// In Linux, `tcp_rack_advance` takes the RTT of a segment that the same ACK reports by SACK only if the ACK covers
    /// nothing cumulatively. In a recorded kernel (`burst-overtakes` with CUBIC), partial ACKs of originals alternate with
    /// SACKs of overtaking segments. The partial ACKs test no segments, and each SACK declares one loss.
    #[test]
    fn rtt_of_a_sack_counts_after_an_ack_that_tests_no_segments() {
        let first =
            |sent| Outstanding { sent, again: false, sacked: false, lost: false, resent: false };
        let mut rack = Rack::new();
        rack.begin_ack();
        rack.on_delivered(Seq::new(0), first(ms(0)), ms(110), false);
        rack.on_delivered(Seq::new(33), first(ms(20)), ms(110), true);
        assert_eq!(rack.evidence(), Some(((ms(20), Seq::new(33)), Duration::from_ms(110))));
        rack.begin_ack();
        rack.on_delivered(Seq::new(34), first(ms(21)), ms(111), true);
        assert_eq!(rack.evidence(), Some(((ms(21), Seq::new(34)), Duration::from_ms(90))));
    }
}
