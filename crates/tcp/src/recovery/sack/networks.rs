//! Losses and their repair where each network has a state of its own.
//!
//! # Models
//! The scoreboard is that of the connection. Each network has a loss detection, a phase of repair, a reduction and what may take
//! it back. A segment behind which others have arrived is lost by the rule of the loss detection if these were sent on the same
//! network; those that came by another may only have been faster. What tells losses by time takes such a segment for lost once
//! it is older than the mean of its own network's and the longest round trip, and the reordering window; what counts segments
//! leaves it to the timer. What is lost is sent again on the present network.
//! # Source
//! See [`crate::networks`]. How long a hole behind a change of networks is waited for is this simulator's choice: the authors'
//! kernel has one RACK for the connection, and the paper leaves such losses to RACK-TLP and the timer.
//! # Parameters
//! `path_state`, and those of the parent module.
//! # Limits
//! What is marked lost by a timeout reduces the window of the present network only. Reductions that are taken back take all
//! segments for under way again, as in the authors' kernel. Tail loss probes and what repairs them are of the present network.

use std::collections::BTreeMap;

use optcp_units::{Duration, Time};

use super::delivered::Delivery;
use super::lanes::{Lane, Lanes, News};
use super::probe::Verdict;
use super::rack::View;
use super::round_trip::measure;
use super::scoreboard::Scoreboard;
use super::{Found, Phase, Sack};
use crate::acknowledgment::Ack;
use crate::rtt::halfway;
use crate::seq::Seq;
use crate::tcb::Tcb;

/// See the module's text.
#[derive(Clone, Debug)]
pub(super) struct Networks {
    /// By network what is not of the connection; nothing in the place of the one that is looked at.
    parked: Vec<Sack>,
    /// The network that is looked at.
    at: u8,
    /// The one in use.
    here: u8,
    /// A recovery has begun on a network that is not in use: its first retransmission is sent whatever the window.
    forced: bool,
    /// On which network what was sent again had been lost, from the oldest reduction on that may be taken back.
    repaired: BTreeMap<Seq, u8>,
}

/// What an ACK tells of one network.
struct Share {
    before: Lane,
    /// Segments that it acknowledges cumulatively.
    acked: u32,
    delivery: Delivery,
    /// Whether it acknowledges one that was sent again because the network had lost it.
    answers: bool,
}

/// The segments that were sent last on a network.
fn sent_on(network: u8) -> impl Fn(&Scoreboard, Seq) -> bool {
    move |board, seq| board.networks_of(seq).is_some_and(|sent| sent.last == network)
}

impl Sack {
    /// See [`crate::recovery::policy::Recovery::divide`].
    pub(super) fn keep_apart(&mut self, tcb: &mut Tcb, networks: u8, present: u8) {
        tcb.divide(networks, present);
        let parked = vec![Sack::new(&tcb.config); usize::from(networks)];
        self.board.lanes = Some(Box::new(Lanes::new(networks, present)));
        let repaired = BTreeMap::new();
        self.networks = Some(Box::new(Networks {
            parked,
            at: present,
            here: present,
            forced: false,
            repaired,
        }));
    }

    /// See [`crate::recovery::policy::Recovery::change_network`].
    pub(super) fn go_on(&mut self, tcb: &mut Tcb, now: Time, network: u8) {
        let Some(networks) = self.networks.as_mut().filter(|it| it.here != network) else {
            return;
        };
        networks.here = network;
        self.select(tcb, network);
        tcb.on_network(now);
    }

    fn numbers(&self) -> std::ops::Range<u8> {
        0..self.networks.as_ref().map_or(0, |it| u8::try_from(it.parked.len()).unwrap_or(u8::MAX))
    }

    fn here(&self) -> u8 {
        self.networks.as_ref().map_or(0, |networks| networks.here)
    }

    /// Looks at a network: its state is where that of an undivided connection is.
    fn select(&mut self, tcb: &mut Tcb, network: u8) {
        let Some(mut networks) = self.networks.take() else { return };
        if networks.at != network {
            self.exchange(&mut networks.parked[usize::from(networks.at)]);
            self.exchange(&mut networks.parked[usize::from(network)]);
            networks.at = network;
        }
        self.networks = Some(networks);
        if let Some(lanes) = &mut self.board.lanes {
            lanes.at = network;
        }
        tcb.select(usize::from(network), self.board.lane().outstanding);
    }

    /// Takes what is not of the connection for that of another network.
    fn exchange(&mut self, other: &mut Sack) {
        std::mem::swap(self, other);
        std::mem::swap(&mut self.board, &mut other.board);
        std::mem::swap(&mut self.probe, &mut other.probe);
    }

    /// Whether losses of another network are being repaired.
    pub(super) fn repairs_elsewhere(&self) -> bool {
        self.networks
            .as_ref()
            .is_some_and(|networks| networks.parked.iter().any(|one| one.phase != Phase::Open))
    }

    /// Retransmissions under way, of what was lost on the network that is looked at.
    pub(super) fn resent(&mut self) -> u32 {
        let Some(networks) = &mut self.networks else { return self.board.resent() };
        let of_it = |seq: Seq, of: u8| of == networks.at && self.board.is_resent(seq);
        let found = networks.repaired.range(self.board.una()..);
        let count = found.filter(|&(&seq, &of)| of_it(seq, of)).count();
        // A reduction begins: nothing before can take an older one of this network back.
        let others = networks.parked.iter().filter_map(|one| one.undo.marker());
        let oldest = others.chain([self.board.una()]).min().unwrap_or_default();
        networks.repaired = networks.repaired.split_off(&oldest);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// A segment is sent on the present network, perhaps again.
    pub(super) fn on_sent_to_network(&mut self, tcb: &mut Tcb, seq: Seq, now: Time) {
        let before = self.board.networks_of(seq);
        self.board.on_sent(seq, now);
        let here = self.here();
        self.detection.on_sent(&self.board, seq, now, sent_on(here));
        let Some(before) = before else { return };
        let stamp = tcb.stamp(now);
        let Some(networks) = &mut self.networks else { return };
        networks.repaired.insert(seq, before.last);
        match before.last {
            lost if lost == here => self.undo.on_retransmission(stamp),
            lost => networks.parked[usize::from(lost)].undo.on_retransmission(stamp),
        }
    }

    /// Segments have come twice: whose reductions that may take back.
    fn on_duplicate_of_networks(&mut self, block: (Seq, Seq)) {
        let (una, end) = (self.board.una(), self.board.end());
        self.detection.on_duplicate(una, end);
        let Some(networks) = &mut self.networks else { return };
        let Networks { parked, at, repaired, .. } = &mut **networks;
        parked.iter_mut().for_each(|one| one.detection.on_duplicate(una, end));
        for (&seq, &network) in repaired.range(block.0..block.1) {
            let undo = match network == *at {
                true => &mut self.undo,
                false => &mut parked[usize::from(network)].undo,
            };
            undo.on_duplicate((seq, seq.next()));
        }
    }

    /// Brings the scoreboard up to date, and shares out among networks what the ACK tells.
    fn share_out(&mut self, now: Time, ack: &Ack, reports: bool) -> Vec<Share> {
        let before = self.board.lanes.as_ref().map_or_else(Vec::new, |lanes| lanes.each.clone());
        self.board.acknowledge(ack.seq, |_, _| ());
        if let Some(sack) = &ack.sack {
            self.board.sack_all(&sack.as_slice()[usize::from(reports)..], |_, _| ());
        }
        let (news, acked) = self.board.take_news();
        let Some(mut networks) = self.networks.take() else { return Vec::new() };
        let (here, repaired) = (usize::from(networks.at), &networks.repaired);
        let mut shares: Vec<Share> = before
            .into_iter()
            .zip(acked)
            .map(|(before, acked)| Share {
                before,
                acked,
                delivery: Delivery::default(),
                answers: false,
            })
            .collect();
        for &News { seq, segment, sent, sacked } in &news {
            let (first, last) = (usize::from(sent.first), usize::from(sent.last));
            shares[first].delivery.add(segment, sacked);
            if let Some(&lost) = repaired.get(&seq).filter(|_| !sacked) {
                shares[usize::from(lost)].answers = true;
            }
            for (number, share) in shares.iter_mut().enumerate() {
                let one = if number == here { &*self } else { &networks.parked[number] };
                share.delivery.original |=
                    one.phase == Phase::Loss && !segment.again && seq < one.until;
            }
            let one = if last == here { &mut *self } else { &mut networks.parked[last] };
            one.detection.on_delivered(seq, segment, now, sacked);
        }
        self.networks = Some(networks);
        shares
    }

    /// What loss detection goes by, on the network that is looked at.
    fn view_of_network(&self, tcb: &Tcb, now: Time) -> View {
        let own = self.detection.evidence();
        let parked = self.networks.iter().flat_map(|networks| &networks.parked);
        let others = parked.filter_map(|one| one.detection.evidence());
        // Without a round trip of its own nothing tells how much slower it is.
        let beyond = own.and_then(|(_, rtt)| {
            let (latest, longest) =
                others.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)))?;
            Some((latest, halfway(rtt, longest.max(rtt))))
        });
        let sacked = self.board.lane().sacked;
        View { sacked, beyond, ..self.view(tcb, now, self.phase != Phase::Open) }
    }

    /// Looks for what the network that is looked at has lost.
    fn detect_on_network(&mut self, tcb: &Tcb, now: Time, network: u8) -> Found {
        let resent = self.board.resent();
        let view = self.view_of_network(tcb, now);
        let lost = self.detection.detect(&mut self.board, view, sent_on(network));
        Found { lost, again: self.board.resent() < resent }
    }

    /// See [`crate::recovery::policy::Recovery::on_ack`].
    #[inline(never)]
    pub(super) fn on_ack_of_networks(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        let advanced = ack.seq > tcb.una;
        let duplicate = ack.sack.and_then(|sack| sack.duplicate(ack.seq));
        let shares = self.share_out(now, ack, duplicate.is_some());
        let here = self.here();
        if let Some(block) = duplicate {
            self.on_duplicate_of_networks(block);
        }
        let delivered: u32 = shares.iter().map(|share| share.delivery.segments).sum();
        let rtt = measure(tcb, now, ack, shares[usize::from(here)].delivery, advanced);
        if advanced {
            tcb.move_on(now, ack.seq);
        }
        let plain = !advanced && delivered == 0 && duplicate.is_none();
        if self.probe.on_ack(ack.seq, duplicate, plain) == Verdict::Repaired
            && self.phase == Phase::Open
        {
            tcb.reduce();
            tcb.on_recovered();
        }
        for (network, share) in self.numbers().zip(shares) {
            self.select(tcb, network);
            let rtt = rtt.filter(|_| network == here);
            self.take_share(tcb, now, ack, advanced, &share, rtt);
            self.pass_on_forced(network == here);
        }
        self.select(tcb, here);
        debug_assert!(self.board.adds_up(), "a segment is counted on no network, or on two");
        if advanced || delivered > 0 {
            self.schedule_probe(tcb, now);
        }
    }

    /// What goes beyond the window goes on the network in use, be it the one that is looked at or not.
    fn pass_on_forced(&mut self, in_use: bool) {
        if let Some(networks) = self.networks.as_mut().filter(|_| !in_use) {
            networks.forced |= std::mem::take(&mut self.forced);
        }
    }

    /// The first retransmission of a recovery that has begun on a network that is not in use.
    pub(super) fn forced_elsewhere(&mut self) -> Option<Seq> {
        let forced = std::mem::take(&mut self.networks.as_mut()?.forced);
        self.board.next_lost().filter(|_| forced)
    }

    /// What follows from an ACK for the network that is looked at.
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
        let network = self.networks.as_ref().map_or(0, |networks| networks.at);
        let Found { lost, again } = self.detect_on_network(tcb, now, network);
        let was = self.phase;
        self.change_phase(tcb, ack, (advanced, answers), delivery);
        self.recover_if(lost > 0, tcb, now, (before.outstanding, before.sacked), again);
        if self.phase == Phase::Recovery || self.reduction.is_some() {
            self.reduce(tcb, delivery.segments, advanced && lost == 0);
        } else if let Some(event) = event
            && (was != Phase::Recovery || tcb.config.exit_ack_grows)
        {
            tcb.grow(event);
        }
    }

    /// The retransmission timer expired, on the present network.
    pub(super) fn on_timeout_of_networks(&mut self, tcb: &mut Tcb, now: Time) {
        let here = self.here();
        for network in self.numbers() {
            self.select(tcb, network);
            let view = View { recovering: true, ..self.view_of_network(tcb, now) };
            self.detection.on_timeout(&mut self.board, view, sent_on(network));
        }
        self.select(tcb, here);
    }

    /// When a network's reordering window ends.
    pub(super) fn deadline_of_networks(&self) -> Option<Time> {
        let parked = self.networks.iter().flat_map(|networks| &networks.parked);
        parked
            .map(|one| one.detection.deadline())
            .chain([self.detection.deadline()])
            .flatten()
            .min()
    }

    /// The reordering windows of some networks may have ended.
    pub(super) fn on_timer_of_networks(&mut self, tcb: &mut Tcb, now: Time) {
        let here = self.here();
        for network in self.numbers() {
            self.select(tcb, network);
            if self.detection.deadline().is_none_or(|at| at > now) {
                continue;
            }
            let before = self.board.lane();
            let lost = self.detect_on_network(tcb, now, network).lost > 0;
            self.recover_if(lost, tcb, now, (before.outstanding, before.sacked), lost);
            if self.phase == Phase::Recovery {
                self.reduce(tcb, 0, false);
            }
            self.pass_on_forced(network == here);
        }
        self.select(tcb, here);
    }
}
