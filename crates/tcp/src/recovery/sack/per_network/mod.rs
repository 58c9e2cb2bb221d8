//! SACK loss recovery with separate state per network.
//!
//! # Model
//! Scoreboard and tail loss probe belong to the connection. Each network has its own loss
//! detection, recovery phase, reduction and undo state, as in a [`Sack`]. One of them is *in view*
//! at a time, at the place of the only one in an undivided connection. An ACK is divided among
//! networks, each of which processes its share in view.
//!
//! The loss detection declares a segment lost only because of later segments on the same network,
//! because another network may be faster. RACK declares it lost after the reordering window plus
//! the mean of its network's RTT and the longest RTT. Duplicate counting leaves it to the timer.
//! Lost segments are retransmitted on the active network.
//!
//! # References
//! See [`crate::networks`]. The wait for a gap after a change of networks is a decision of OpTCP.
//! The authors' kernel has one RACK per connection, and the paper leaves such losses to RACK-TLP
//! and the timer.
//!
//! # Parameters
//! `path_state`, and the parameters of [`Sack`].
//!
//! # Limitations
//! Segments that an RTO marks as lost reduce the window of the active network only. After an undo, all
//! segments count as in flight again, as in the authors' kernel. Tail loss probes and their repairs belong to
//! the active network.

pub(super) mod counts;

use std::collections::BTreeMap;

use optcp_units::{Duration, Time};

use super::delivered::Delivery;
use super::rack::View;
use super::round_trip::measure;
use super::scoreboard::Scoreboard;
use super::{AckReport, Before, NewLosses, Phase, Sack, restart_timer_for_oldest};
use crate::acknowledgment::Ack;
use crate::info::Tally;
use crate::recovery::policy::Recovery;
use crate::rtt::halfway;
use crate::seq::Seq;
use crate::tcb::Tcb;

use counts::{Counts, CountsByNetwork, Delivered, SentOn};

/// SACK recovery with per-network state.
#[derive(Clone, Debug)]
pub struct SackPerNetwork {
    /// State of the network in view, and of the connection.
    sack: Sack,
    /// States of the other networks; a placeholder for the one in view.
    inactive: Vec<Sack>,
    /// Network in view.
    in_view: u8,
    /// Active network. It is in view except while an ACK, a timer or an RTO is divided.
    present: u8,
    /// `true`: a recovery has started on an inactive network, and its first retransmission is sent regardless
    /// of the window.
    forced: bool,
    /// Networks that lost retransmitted segments, from the oldest reduction on that may be undone.
    repaired: BTreeMap<Seq, u8>,
}

/// Part of an ACK that concerns one network.
struct Share {
    before: Counts,
    /// Number of cumulatively acknowledged segments.
    acked: u32,
    delivery: Delivery,
    /// `true`: it acknowledges a retransmission of a segment that the network had lost.
    answers: bool,
}

/// Returns the networks on which an outstanding segment was sent.
fn networks_of(board: &Scoreboard, seq: Seq) -> Option<SentOn> {
    board.by_network.as_ref()?.sent_on(board.place(seq)?)
}

/// Selects segments that were last sent on a network.
fn sent_on(network: u8) -> impl Fn(&Scoreboard, Seq) -> bool {
    move |board, seq| networks_of(board, seq).is_some_and(|sent_on| sent_on.last == network)
}

/// Exchanges the state that does not belong to the connection.
fn exchange(sack: &mut Sack, other: &mut Sack) {
    std::mem::swap(sack, other);
    std::mem::swap(&mut sack.board, &mut other.board);
    std::mem::swap(&mut sack.probe, &mut other.probe);
}

impl SackPerNetwork {
    /// Divides a connection without outstanding data into `networks` networks, of which `present` is active.
    pub(in crate::recovery) fn new(
        mut sack: Sack,
        tcb: &mut Tcb,
        networks: u8,
        present: u8,
    ) -> Self {
        tcb.enable_per_network_state(networks, present);
        sack.board.by_network = Some(Box::new(CountsByNetwork::new(networks, present)));
        SackPerNetwork {
            sack,
            inactive: vec![Sack::new(&tcb.config); usize::from(networks)],
            in_view: present,
            present,
            forced: false,
            repaired: BTreeMap::new(),
        }
    }

    /// Activates a network.
    pub(in crate::recovery) fn change_network(&mut self, tcb: &mut Tcb, now: Time, network: u8) {
        if self.present != network {
            self.present = network;
            self.bring_into_view(tcb, network);
            tcb.on_network(now);
        }
    }

    /// Brings a network into view: its state moves to the place of an undivided connection's state.
    fn bring_into_view(&mut self, tcb: &mut Tcb, network: u8) {
        if self.in_view != network {
            exchange(&mut self.sack, &mut self.inactive[usize::from(self.in_view)]);
            exchange(&mut self.sack, &mut self.inactive[usize::from(network)]);
            self.in_view = network;
        }
        if let Some(counts) = &mut self.sack.board.by_network {
            counts.at = network;
        }
        tcb.select(usize::from(network), self.counts().outstanding);
    }

    /// Returns the numbers of the networks.
    fn networks(&self) -> std::ops::Range<u8> {
        0..u8::try_from(self.inactive.len()).unwrap_or(u8::MAX)
    }

    /// Returns the counts of the network in view.
    fn counts(&self) -> Counts {
        self.sack.board.by_network.as_ref().map(|counts| counts.in_view()).unwrap_or_default()
    }

    /// Returns the state of a network, in view or not.
    fn state(&mut self, network: u8) -> &mut Sack {
        if network == self.in_view {
            &mut self.sack
        } else {
            &mut self.inactive[usize::from(network)]
        }
    }

    /// Returns the counts of a network when an ACK arrives or a timer fires.
    fn before(counts: Counts) -> Before {
        Before { outstanding: counts.outstanding, sacked: counts.sacked }
    }

    /// Returns the retransmissions in flight of segments that the network in view had lost, at the start of a
    /// reduction. Older reductions of this network can no longer be undone, and their records are removed.
    fn resent(&mut self) -> u32 {
        let board = &self.sack.board;
        let of_it = |seq: Seq, lost: u8| lost == self.in_view && board.is_resent(seq);
        let repaired = self.repaired.range(board.una()..);
        let count = repaired.filter(|&(&seq, &lost)| of_it(seq, lost)).count();
        let others = self.inactive.iter().filter_map(|inactive| inactive.undo.marker());
        let oldest = others.chain([board.una()]).min().unwrap_or_default();
        self.repaired = self.repaired.split_off(&oldest);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Divides a report of duplicate segments: it may undo the reductions of networks that had lost them.
    fn share_duplicate(&mut self, block: (Seq, Seq)) {
        let (una, end) = (self.sack.board.una(), self.sack.board.end());
        self.sack.detection.on_duplicate(una, end);
        self.inactive.iter_mut().for_each(|inactive| inactive.detection.on_duplicate(una, end));
        let repaired: Vec<(Seq, u8)> =
            self.repaired.range(block.0..block.1).map(|(&seq, &lost)| (seq, lost)).collect();
        for (seq, lost) in repaired {
            self.state(lost).undo.on_duplicate((seq, seq.next()));
        }
    }

    /// Updates the scoreboard, and divides the report of an ACK among networks.
    fn share_out(&mut self, now: Time, ack: &Ack, reports: bool) -> Vec<Share> {
        let board = &mut self.sack.board;
        let before = board.by_network.as_ref().map_or_else(Vec::new, |counts| counts.each.clone());
        board.acknowledge(ack.seq, |_, _| ());
        if let Some(sack) = &ack.sack {
            board.sack_all(&sack.as_slice()[usize::from(reports)..], |_, _| ());
        }
        let Some(counts) = &mut board.by_network else { return Vec::new() };
        let (delivered, acked) = counts.take_delivered();
        let share = |(before, acked)| Share {
            before,
            acked,
            delivery: Delivery::default(),
            answers: false,
        };
        let mut shares: Vec<Share> = before.into_iter().zip(acked).map(share).collect();
        self.networks().for_each(|network| self.state(network).detection.begin_ack());
        for Delivered { seq, segment, sent_on, sacked } in delivered {
            shares[usize::from(sent_on.first)].delivery.add(segment, sacked);
            if let Some(&lost) = self.repaired.get(&seq).filter(|_| !sacked) {
                shares[usize::from(lost)].answers = true;
            }
            for (network, share) in self.networks().zip(&mut shares) {
                let state = self.state(network);
                share.delivery.original |=
                    state.phase == Phase::Loss && !segment.again && seq < state.until;
            }
            self.state(sent_on.last).detection.on_delivered(seq, segment, now, sacked);
        }
        shares
    }

    /// Returns the inputs of loss detection on the network in view.
    fn detection_view(&self, tcb: &Tcb, now: Time, recovering: bool) -> View {
        let own = self.sack.detection.evidence();
        let others = self.inactive.iter().filter_map(|inactive| inactive.detection.evidence());
        // Without its own RTT, the speed difference to other networks is unknown.
        let beyond = own.and_then(|(_, rtt)| {
            let (latest, longest) =
                others.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)))?;
            Some((latest, halfway(rtt, longest.max(rtt))))
        });
        View { sacked: self.counts().sacked, beyond, ..self.sack.view(tcb, now, recovering) }
    }

    /// Detects segments that the network in view has lost.
    fn detect(&mut self, tcb: &Tcb, now: Time) -> NewLosses {
        let resent = self.sack.board.resent();
        let view = self.detection_view(tcb, now, self.sack.phase != Phase::Open);
        let Sack { detection, board, .. } = &mut self.sack;
        let lost = detection.detect(board, view, sent_on(self.in_view));
        NewLosses { lost, again: board.resent() < resent }
    }

    /// Starts a recovery of the network in view like [`Sack::recover`]. `lost`: it has lost a segment.
    fn recover(&mut self, tcb: &mut Tcb, before: Before, lost: bool, again: bool) {
        if self.sack.begins_recovery(tcb, lost, again) {
            let resent = self.resent();
            self.sack.enter_recovery(tcb, before, resent);
        }
        // A segment beyond the window is sent on the active network, whichever is in view.
        if self.in_view != self.present {
            self.forced |= std::mem::take(&mut self.sack.forced);
        }
    }

    /// Processes the part of an ACK that concerns the network in view.
    fn take_share(
        &mut self,
        tcb: &mut Tcb,
        now: Time,
        ack: &Ack,
        advanced: bool,
        share: &Share,
        rtt: Option<Duration>,
    ) {
        let Share { before, acked, delivery, answers } = *share;
        let event = (acked > 0 || delivery.segments > 0)
            .then(|| tcb.observe(now, acked, delivery.segments, rtt))
            .filter(|_| acked > 0);
        let NewLosses { lost, again } = self.detect(tcb, now);
        let phase_before = self.sack.phase;
        self.sack.change_phase(tcb, AckReport { ack, advanced, answers, delivery });
        self.recover(tcb, Self::before(before), lost > 0, again);
        let safe = advanced && lost == 0;
        self.sack.set_window(tcb, delivery.segments, safe, event, phase_before);
    }

    /// Returns whether the counts of all networks add up to the scoreboard's.
    fn adds_up(&self) -> bool {
        let each = self.sack.board.by_network.iter().flat_map(|counts| &counts.each);
        let sum = each.fold(Counts::default(), |sum, counts| Counts {
            outstanding: sum.outstanding + counts.outstanding,
            sacked: sum.sacked + counts.sacked,
            pipe: sum.pipe + counts.pipe,
        });
        sum == self.sack.board.counts()
    }

    /// Reschedules the probe after an ACK or a segment, or cancels it, also while losses of another network
    /// are repaired.
    fn schedule_probe(&mut self, tcb: &Tcb, now: Time, sends: bool) {
        if self.inactive.iter().any(|inactive| inactive.phase != Phase::Open) {
            self.sack.probe.cancel();
        } else {
            self.sack.schedule_probe(tcb, now, sends);
        }
    }
}

impl Recovery for SackPerNetwork {
    fn in_recovery(&self) -> bool {
        self.sack.in_recovery()
    }

    fn in_loss(&self, tcb: &Tcb) -> bool {
        self.sack.in_loss(tcb)
    }

    fn tally(&self, tcb: &Tcb) -> Tally {
        self.sack.tally(tcb)
    }

    fn on_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        let advanced = ack.seq > tcb.una;
        let duplicate = ack.sack.and_then(|sack| sack.duplicate(ack.seq));
        let trimmed = ack.sack.and_then(|sack| sack.trimmed());
        let shares = self.share_out(now, ack, duplicate.is_some() || trimmed.is_some());
        if let Some(seq) = trimmed {
            // The network of its last transmission accepts it.
            self.networks().for_each(|network| self.state(network).detection.on_trimmed(seq));
        }
        if let Some(block) = duplicate {
            self.share_duplicate(block);
        }
        let delivered: u32 = shares.iter().map(|share| share.delivery.segments).sum();
        let rtt = measure(tcb, now, ack, shares[usize::from(self.present)].delivery, advanced);
        if advanced {
            tcb.move_on(now, ack.seq);
        }
        let repeated = !advanced && delivered == 0 && trimmed.is_none();
        self.sack.look_at_probe(tcb, ack, duplicate, repeated);
        for (network, share) in self.networks().zip(shares) {
            self.bring_into_view(tcb, network);
            let rtt = rtt.filter(|_| network == self.present);
            self.take_share(tcb, now, ack, advanced, &share, rtt);
        }
        self.bring_into_view(tcb, self.present);
        debug_assert!(self.adds_up(), "a segment is counted on no network, or on two");
        if advanced || delivered > 0 {
            self.schedule_probe(tcb, now, false);
        }
    }

    fn on_marks(&mut self, _tcb: &mut Tcb) {}

    /// Processes an RTO on the active network.
    fn on_timeout(&mut self, tcb: &mut Tcb, now: Time) {
        let resent = self.resent();
        self.sack.enter_loss(tcb, resent);
        for network in self.networks() {
            self.bring_into_view(tcb, network);
            let view = self.detection_view(tcb, now, true);
            let Sack { detection, board, .. } = &mut self.sack;
            detection.on_timeout(board, view, sent_on(network));
        }
        self.bring_into_view(tcb, self.present);
        self.sack.board.newly_lost().for_each(|seq| tcb.on_lost(seq, now));
        tcb.timer.forget();
    }

    fn next_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        let lost = self.sack.board.next_lost();
        if self.sack.probe.due {
            return self.sack.choose_segment(tcb);
        }
        if std::mem::take(&mut self.forced) && lost.is_some() {
            return lost;
        }
        // Another network may have lost it.
        let is_open = self.sack.phase == Phase::Open;
        let has_room = self.sack.carried(tcb) < tcb.window.segments(tcb.mss());
        if is_open && has_room && lost.is_some() {
            return lost;
        }
        self.sack.choose_segment(tcb)
    }

    fn carried(&self, tcb: &Tcb) -> u32 {
        self.sack.carried(tcb)
    }

    /// Records a transmission on the active network, possibly a retransmission.
    fn on_sent(&mut self, tcb: &mut Tcb, seq: Seq, now: Time) {
        let sent_before = networks_of(&self.sack.board, seq);
        let Sack { detection, board, .. } = &mut self.sack;
        board.on_sent(seq, now);
        detection.on_sent(board, seq, now, sent_on(self.present));
        if let Some(sent_before) = sent_before {
            self.repaired.insert(seq, sent_before.last);
            self.state(sent_before.last).undo.on_retransmission(tcb.stamp(now));
            restart_timer_for_oldest(tcb, seq, now);
        }
        tcb.on_sent(seq, self.sack.board.pipe());
        if let Some(reduction) = &mut self.sack.reduction {
            reduction.on_sent();
        }
        self.schedule_probe(tcb, now, true);
    }

    /// Returns the earliest time of the probe's timer and the networks' reordering windows.
    fn deadline(&self) -> Option<Time> {
        let inactive = self.inactive.iter().map(|inactive| inactive.detection.deadline());
        inactive.chain([self.sack.deadline()]).flatten().min()
    }

    fn on_timer(&mut self, tcb: &mut Tcb, now: Time) -> bool {
        self.sack.expire_probe(tcb, now);
        for network in self.networks() {
            self.bring_into_view(tcb, network);
            if self.sack.detection.deadline().is_none_or(|at| at > now) {
                continue;
            }
            let before = Self::before(self.counts());
            let lost = self.detect(tcb, now).lost > 0;
            self.recover(tcb, before, lost, lost);
            if self.sack.phase == Phase::Recovery {
                self.sack.reduce(tcb, 0, false);
            }
        }
        self.bring_into_view(tcb, self.present);
        false
    }
}
