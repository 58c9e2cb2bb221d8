//! Loss detection by time: RACK.
//!
//! # Models
//! A segment is lost if one that was sent later has arrived and a reordering window has passed since
//! then; retransmissions are held to the same test. The window is zero until reordering is seen, then
//! a quarter of the least round trip, and grows with every round trip that DSACK shows to have sent
//! something needlessly.
//! # Source
//! RFC 8985 section 6.
//! # Parameters
//! `loss_detection = "rack"`.
//! # Limits
//! What it held to be lost in a recovery that is taken back is not looked at again until it is sent again, as in
//! Linux.
//! The least round trip is that of the whole connection, not of the last minutes. Timestamps do not tell whether a
//! retransmission or its original has arrived, as in Linux: an ACK beyond a hole echoes that of a segment before
//! the hole (RFC 7323 section 4.3), so that RFC 8985's condition would leave every such retransmission out.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use super::scoreboard::{Outstanding, Scoreboard};
use crate::recovery::policy::DUP_THRESH;
use crate::seq::Seq;

/// Recoveries without DSACK until the window is small again (RFC 8985 section 6.2).
const PERSIST: u32 = 16;

/// When a segment was sent, and which: the order of transmissions.
pub(super) type Sent = (Time, Seq);

/// What it goes by beside the scoreboard.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// Whether losses are being repaired.
    pub(super) recovering: bool,
    /// Segments that SACK covers.
    pub(super) sacked: u32,
    pub(super) srtt: Option<Duration>,
    pub(super) now: Time,
    /// The latest sent of all that have arrived on other networks, and what round trip it allows.
    pub(super) beyond: Option<(Sent, Duration)>,
}

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub(super) struct Rack {
    /// RACK.segment: the latest sent of all that have arrived.
    latest: Option<Sent>,
    /// RACK.rtt: the round trip of the highest segment that the last ACK covered cumulatively, or by SACK.
    rtt: Duration,
    /// Whether the ACK that is looked at has covered one cumulatively.
    advanced: bool,
    min_rtt: Option<Duration>,
    /// The farthest that a segment arrived behind the highest, in segments; 0 if none ever did.
    reordering: u32,
    /// RACK.fack: one past the highest segment that has arrived.
    highest: Seq,
    multiplier: u32,
    persist: u32,
    /// RACK.dsack_round.
    round: Option<Seq>,
    /// Transmissions in their order; those that another one or an arrival has overtaken are stale.
    order: VecDeque<Sent>,
    /// First transmissions from this segment on are not in that list: they follow all that are, and most of
    /// them never need to be.
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

    /// Segments beyond a hole that do not yet make it a loss by themselves, as far as is known.
    pub(super) fn reordering(&self) -> u32 {
        self.reordering.max(DUP_THRESH)
    }

    /// The segment `seq` was sent, which the scoreboard knows already.
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

    /// Steps 1 to 3 of RFC 8985 section 6.2: a segment has arrived.
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

    /// Step 4, DSACK: the window grows once a round trip in which a segment came twice.
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

    /// The reordering window (RACK_update_reo_wnd).
    fn window(&self, View { recovering, sacked, srtt, .. }: View) -> Duration {
        if self.reordering == 0 && (recovering || sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let quarter = Duration::from_ps(self.min_rtt.unwrap_or(Duration::ZERO).as_ps() / 4);
        let window = quarter * u64::from(self.multiplier);
        srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// The latest sent of all that have arrived, and the last round trip.
    pub(super) fn evidence(&self) -> Option<(Sent, Duration)> {
        self.latest.map(|latest| (latest, self.rtt))
    }

    /// Step 5: marks what is lost of the segments that it `looks_at`, sets the timer for what may yet be; how many are
    /// lost now.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        view: View,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) -> u32 {
        self.deadline = None;
        self.advanced = false;
        let Some(latest) = self.latest else { return 0 };
        let (now, window) = (view.now, self.window(view));
        let own = self.rtt + window;
        // What is later than all that have arrived on its own network may be behind one on another.
        let (last, other) =
            view.beyond.map_or((latest, own), |(sent, rtt)| (latest.max(sent), rtt + window));
        let allowed = |sent: Sent| if sent < latest { own } else { other };
        let mut lost = 0;
        let mut waiting = 0;
        while let Some(&sent) = self.order.get(waiting) {
            if sent >= last {
                return lost;
            }
            match judge(board, sent, allowed(sent), now) {
                Verdict::Waits(due) => {
                    waiting += 1;
                    self.deadline = Some(due);
                    continue;
                }
                Verdict::Held => {
                    waiting += 1;
                    continue;
                }
                Verdict::Lost => lost += u32::from(board.mark_last_lost(sent.1)),
                Verdict::Stale => {}
            }
            // Times ascend, so what is lost or stale comes before all that waits, with rare exceptions.
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
                    self.deadline = Some(due);
                }
                Verdict::Held => self.order.push_back(sent),
                Verdict::Lost => lost += u32::from(board.mark_last_lost(seq)),
                Verdict::Stale => {}
            }
            seq = seq.next();
        }
        self.unlisted = seq;
        lost
    }

    /// The retransmission timer expired: what was sent a round trip and a window ago is lost too
    /// (RFC 8985 section 6.3).
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

/// What a transmission is when it is compared with one that was sent later and has arrived.
enum Verdict {
    /// Another one, or an arrival, has overtaken it.
    Stale,
    /// The timer took it for lost, which it may yet be found not to be.
    Held,
    /// It may still be lost, then.
    Waits(Time),
    Lost,
}

/// Looks at a transmission that may take as long as is `allowed`.
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
