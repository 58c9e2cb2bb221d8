//! Change of a connection's path by another flow label, which ECMP hashes.
//!
//! # Model
//! Each direction of a connection has a flow label, at first 0. The sender of data takes the next one at every RTO, also
//! of a SYN. The receiver takes the next one when its ACKs may be lost. A SYN has then arrived again, or a segment for
//! the second time as a duplicate. With `rto-first`, one duplicate suffices if its flow label differs from the label of
//! the segment before it: the sender had an RTO.
//!
//! With PLB, the sender also reacts to congestion. In a congested round, at least half of the segments were marked. The
//! sender takes the next label after 12 consecutive ones, or after 3 if it then has nothing outstanding. An RTO suspends
//! this for 60 to 120 s, so that the sender does not return to a path that fails.
//!
//! With spraying (`packet`), each segment and each ACK has the next label, which reorders them.
//!
//! # References
//! D. Wetherall et al., Improving network availability with Protective ReRoute, SIGCOMM 2023; M. A. Qureshi et al.,
//! PLB: congestion signals are simple and effective for network load balancing, SIGCOMM 2022. Linux 6:
//! `sk_rethink_txhash` in `tcp_write_timeout`, `tcp_rcv_spurious_retrans` and `tcp_rtx_synack` (`txrehash`);
//! `net/ipv4/tcp_plb.c` with its defaults. Linux 6.7, commit 939463016b7a ("change data receiver flowlabel after one
//! dup"), for `rto-first`. A. Dixit et al., On the impact of packet spraying in data center networks,
//! INFOCOM 2013; Ultra Ethernet specification 1.0 (entropy values).
//!
//! # Parameters
//! `repath`.
//!
//! # Limitations
//! Labels are consecutive numbers modulo 256, not random numbers of 20 bits; their hashes are independent. A probe (TLP)
//! does not change the label. A listener's own timer, which repeats the SYN-ACK, is not modelled. Linux's hosts have one
//! label for their data and ACKs, and do not react to duplicates during their own RTO recovery. PLB needs ECN. A round of PLB ends with the cumulative ACK of the data sent before it. Its
//! share of marks refers to cumulatively acknowledged segments. Sprayed labels ignore losses and marks.

use optcp_units::{Duration, Time};

use crate::config::Repath;
use crate::congestion::draw::Draw;
use crate::seq::Seq;

/// Linux's `tcp_plb_rehash_rounds`.
const ROUNDS: u32 = 12;
/// Linux's `tcp_plb_idle_rehash_rounds`.
const IDLE_ROUNDS: u32 = 3;
/// Linux's `tcp_plb_cong_thresh`, in 1/256.
const THRESHOLD: u64 = 128;
/// Linux's `tcp_plb_suspend_rto_sec`.
const SUSPENSION: Duration = Duration::from_secs(60);

/// Flow label of a sender, and the state of PLB.
#[derive(Clone, Debug)]
pub(crate) struct Repathing {
    kind: Repath,
    label: u8,
    /// Bits of the number of sent segments that the label contains: all with spraying.
    sprayed: u8,
    /// End of the current round, and its start.
    round: [Seq; 2],
    /// Marked segments before the current round.
    marked: u64,
    congested_rounds: u32,
    suspended_until: Time,
    draw: Draw,
}

impl Repathing {
    pub(crate) fn new(kind: Repath, clock_phase: Duration) -> Self {
        Repathing {
            kind,
            label: 0,
            sprayed: if kind == Repath::Packet { u8::MAX } else { 0 },
            round: [Seq::ZERO; 2],
            marked: 0,
            congested_rounds: 0,
            suspended_until: Time::ZERO,
            draw: Draw::new(clock_phase),
        }
    }

    /// Returns the flow label after `sent` segments.
    // No branch: every sender evaluates this per segment.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "labels count modulo 256")]
    pub(crate) const fn label(&self, sent: u64) -> u8 {
        self.label.wrapping_add(sent as u8 & self.sprayed)
    }

    /// Returns whether it reacts to marks.
    #[inline]
    pub(crate) const fn balances(&self) -> bool {
        matches!(self.kind, Repath::RtoPlb)
    }

    /// Changes the path at an RTO.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        if matches!(self.kind, Repath::None | Repath::Packet) {
            return;
        }
        self.rehash();
        if self.balances() {
            let more = Duration::from_ps(self.draw.next() % SUSPENSION.as_ps());
            self.suspended_until = now + SUSPENSION + more;
        }
    }

    /// Processes an ACK of new data up to `una`, with `max` as the next new segment and `marked` marked segments so
    /// far.
    pub(crate) fn on_ack(&mut self, now: Time, una: Seq, max: Seq, marked: u64) {
        let [end, start] = self.round;
        if una >= end {
            let (acked, ours) = (u64::from(una - start), marked - self.marked);
            let congested = ours * 256 >= THRESHOLD * acked;
            self.congested_rounds = if congested { self.congested_rounds + 1 } else { 0 };
            (self.round, self.marked) = ([max, una], marked);
        }
        let least = if una == max { IDLE_ROUNDS } else { ROUNDS };
        if self.congested_rounds >= least && now >= self.suspended_until {
            self.rehash();
        }
    }

    fn rehash(&mut self) {
        self.label = self.label.wrapping_add(1);
        self.congested_rounds = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Time {
        Time::from_ps(seconds * 1_000_000_000_000)
    }

    /// Rounds of ten segments. Returns the label after each, given the marks of each.
    fn rounds(plb: &mut Repathing, from_s: u64, marks: &[u64]) -> Vec<u8> {
        let mut labels = Vec::new();
        for (&marked, now) in marks.iter().zip(from_s..) {
            let una = plb.round[0];
            let before = plb.marked;
            plb.on_ack(s(now), una, Seq::new(una.number() + 10), before + marked);
            labels.push(plb.label);
        }
        labels
    }

    fn plb() -> Repathing {
        let mut plb = Repathing::new(Repath::RtoPlb, Duration::ZERO);
        plb.round = [Seq::new(10), Seq::ZERO];
        plb
    }

    #[test]
    fn twelve_rounds_with_half_of_the_segments_marked_change_the_path() {
        let labels = rounds(&mut plb(), 0, &[5; 25]);
        let expected = [[0; 11].as_slice(), &[1; 12], &[2; 2]].concat();
        assert_eq!(labels, expected);
        // Four of ten are below 128/256, and the count starts again.
        let mut broken = [5; 23];
        broken[11] = 4;
        assert_eq!(rounds(&mut plb(), 0, &broken), [0; 23]);
    }

    #[test]
    fn idle_sender_changes_the_path_after_three_rounds() {
        let mut idle = plb();
        rounds(&mut idle, 0, &[5, 5]);
        let (una, marked) = (idle.round[0], idle.marked);
        idle.on_ack(s(2), una, una, marked + 5);
        assert_eq!(idle.label, 1);
    }

    #[test]
    fn rto_suspends_the_reaction_to_marks_for_one_to_two_minutes() {
        let mut suspended = plb();
        suspended.on_timeout(s(0));
        assert_eq!(suspended.label, 1);
        assert!(rounds(&mut suspended, 0, &[5; 60]).iter().all(|&label| label == 1));
        assert_eq!(*rounds(&mut suspended, 120, &[5; 1]).last().unwrap(), 2);
    }

    #[test]
    fn sprayed_segments_have_consecutive_labels_in_spite_of_rtos() {
        let mut sprayed = Repathing::new(Repath::Packet, Duration::ZERO);
        sprayed.on_timeout(s(0));
        assert_eq!([1, 2, 255, 256, 257].map(|sent| sprayed.label(sent)), [1, 2, 255, 0, 1]);
        let mut other = Repathing::new(Repath::Rto, Duration::ZERO);
        assert_eq!([1, 2].map(|sent| other.label(sent)), [0, 0]);
        other.on_timeout(s(0));
        assert_eq!([3, 4].map(|sent| other.label(sent)), [1, 1]);
    }
}
