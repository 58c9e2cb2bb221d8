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
//! The least round trip is that of the whole connection, not of the last minutes.

use std::collections::VecDeque;

use optcp_units::{Duration, Time};

use super::scoreboard::{Outstanding, Scoreboard};
use crate::recovery::policy::DUP_THRESH;
use crate::seq::Seq;

/// Recoveries without DSACK until the window is small again (RFC 8985 section 6.2).
const PERSIST: u32 = 16;

/// When a segment was sent, and which: the order of transmissions.
type Sent = (Time, Seq);

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub(super) struct Rack {
    /// RACK.segment: the latest sent of all that have arrived.
    latest: Option<Sent>,
    /// RACK.rtt: the round trip of the latest sent of those that the last ACK told of.
    rtt: Duration,
    /// That one, while an ACK is looked at.
    newest: Option<Sent>,
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

    pub(super) fn on_sent(&mut self, seq: Seq, now: Time) {
        self.order.push_back((now, seq));
    }

    /// Steps 1 to 3 of RFC 8985 section 6.2: a segment has arrived. `early` says that the ACK's
    /// timestamp is of an earlier transmission.
    pub(super) fn on_delivered(&mut self, seq: Seq, segment: Outstanding, early: bool, now: Time) {
        let rtt = now - segment.sent;
        if segment.again && (early || self.min_rtt.is_some_and(|least| rtt < least)) {
            return;
        }
        if !segment.again {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            self.reordering = self.reordering.max(self.highest.saturating_since(seq));
        }
        self.highest = self.highest.max(seq.next());
        let sent = Some((segment.sent, seq));
        if sent > self.newest {
            self.newest = sent;
            self.rtt = rtt;
        }
        self.latest = self.latest.max(sent);
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

    /// What was held to be lost is under way after all, as it was sent last.
    pub(super) fn on_undo(&mut self, board: &Scoreboard) {
        let sent = |seq| board.get(seq).filter(|s| !s.sacked).map(|s| (s.sent, seq));
        let mut order: Vec<Sent> = board.una().until(board.end()).filter_map(sent).collect();
        order.sort_unstable();
        self.order = order.into();
    }

    /// The reordering window (RACK_update_reo_wnd).
    fn window(&self, board: &Scoreboard, recovering: bool, srtt: Option<Duration>) -> Duration {
        if self.reordering == 0 && (recovering || board.sacked() >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let quarter = Duration::from_ps(self.min_rtt.unwrap_or(Duration::ZERO).as_ps() / 4);
        let window = quarter * u64::from(self.multiplier);
        srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// Step 5: marks what is lost, sets the timer for what may yet be; how many are lost now.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        recovering: bool,
        srtt: Option<Duration>,
        now: Time,
    ) -> u32 {
        self.deadline = None;
        self.newest = None;
        let Some(latest) = self.latest else { return 0 };
        let allowed = self.rtt + self.window(board, recovering, srtt);
        let mut lost = 0;
        let mut waiting = 0;
        while let Some(&sent) = self.order.get(waiting)
            && sent < latest
        {
            let stands = board
                .get(sent.1)
                .is_some_and(|s| s.sent == sent.0 && !s.sacked && (!s.lost || s.resent));
            let due = sent.0 + allowed;
            if stands && due > now {
                waiting += 1;
                self.deadline = Some(due);
                continue;
            }
            lost += u32::from(stands && board.mark_last_lost(sent.1));
            // Times ascend, so what is lost or stale comes before all that waits, with rare exceptions.
            self.order.remove(waiting);
        }
        lost
    }

    /// The retransmission timer expired: what was sent a round trip and a window ago is lost too
    /// (RFC 8985 section 6.3).
    pub(super) fn on_timeout(&mut self, board: &mut Scoreboard, srtt: Option<Duration>, now: Time) {
        let allowed = self.rtt + self.window(board, true, srtt);
        board.mark_last_lost(board.una());
        for seq in board.una().next().until(board.end()) {
            if board.get(seq).is_some_and(|s| s.sent + allowed <= now) {
                board.mark_last_lost(seq);
            }
        }
        self.deadline = None;
    }
}
