//! End of a connection: sender and receiver, with a byte-based interface.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use optcp_net::INITIAL_TTL;
use optcp_tcp::config::Ecn;
use optcp_tcp::{
    Ack, ByteCounters, Config, EcnCounters, Feedback, Receiver, SackBlocks, Sender, Seq, Timestamp,
};
use optcp_units::{Bytes, Codepoint, Duration, Marking, Time};

use super::assertion::Names;
use super::choices::Choices;
use super::script::{Ect, Options, Segment};
use super::sequence::{Incoming, Outgoing};

/// Segment sent by the endpoint.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub at: Time,
    pub segment: Segment,
}

/// Endpoint under test.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    config: Arc<Config>,
    /// Configuration offered in the SYN.
    offered: Config,
    our_mss: u64,
    sender: Sender,
    receiver: Receiver,
    outgoing: Outgoing,
    incoming: Incoming,
    /// SYN of the peer, once received.
    peer: Option<Segment>,
    /// Sent segments that have not been checked.
    pub sent: VecDeque<Sent>,
    /// Last window field outside a SYN, unscaled.
    window: Option<u64>,
    /// Our timestamps, by their names in the script.
    stamps: BTreeMap<u32, Timestamp>,
    /// `true`: our segments carry the AccECN option. They do not if the peer's SYN-ACK, or its answer to
    /// ours, had none.
    sends_option: Option<bool>,
    /// ACE value with which the next segment reports the codepoint of the SYN-ACK (RFC 9768 section 3.2.2.1).
    tells: Option<u8>,
    /// `true`: the application has closed its direction.
    closed: bool,
    /// `true`: the peer has reset the connection.
    dead: bool,
}

/// Linux's value of a threshold that was never set.
const NO_THRESHOLD: i64 = 0x7fff_ffff;

impl Endpoint {
    pub(super) fn new(choices: Choices, incoming: Incoming) -> Self {
        let Choices { agreed, offered, our_mss } = choices;
        let config = Arc::new(agreed);
        // The receiver does not count the SYN.
        let receiver = Config { handshake: false, ..(*config).clone() };
        // The AccECN option counts bytes in the segments of the script's peer.
        let receiver = match (config.ecn, incoming.size()) {
            (Ecn::Accurate, Some(size)) => Config { mss: Bytes::new(size), ..receiver },
            _ => receiver,
        };
        Endpoint {
            sender: Sender::new(config.clone(), Some(0), Duration::ZERO),
            receiver: Receiver::new(&receiver, Duration::ZERO),
            outgoing: Outgoing::new(config.mss.count()),
            incoming,
            config,
            offered,
            our_mss,
            sends_option: None,
            tells: None,
            closed: false,
            peer: None,
            sent: VecDeque::new(),
            window: None,
            stamps: BTreeMap::new(),
            dead: false,
        }
    }

    /// Returns the time of the next timer.
    pub(super) fn deadline(&self) -> Option<Time> {
        let both = [self.sender.deadline(), self.receiver.deadline()];
        both.into_iter().flatten().min().filter(|_| !self.dead)
    }

    /// Processes the time given by `deadline`.
    pub(super) fn expire(&mut self, now: Time) {
        if self.sender.deadline().is_some_and(|at| at <= now) {
            self.sender.handle_timer(now);
            self.transmit(now);
        }
        if self.receiver.deadline().is_some_and(|at| at <= now) {
            let ack = self.receiver.handle_timer(now);
            self.acknowledge(now, &ack);
        }
    }

    /// Opens the connection actively.
    pub(super) fn connect(&mut self, now: Time) {
        self.sender.start();
        self.transmit(now);
    }

    /// Writes `bytes` as the application.
    pub(super) fn write(&mut self, now: Time, bytes: u64) -> Result<(), String> {
        let more = self.outgoing.write(bytes, self.sender.max_sent().number() as usize)?;
        self.supply(now, more);
        Ok(())
    }

    /// Closes the application's direction, possibly again.
    pub(super) fn close(&mut self, now: Time) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let more = self.outgoing.close(self.sender.max_sent().number() as usize);
        self.supply(now, more);
    }

    /// Returns whether the application has closed its direction.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the maximum segment size: set by the application before the connection, negotiated later.
    pub(super) fn mss(&self) -> u64 {
        if self.peer.is_none() { self.our_mss } else { self.config.mss.count() }
    }

    fn supply(&mut self, now: Time, more: u32) {
        self.sender.supply(more);
        // A listening socket does not open the connection.
        if self.sender.max_sent() > Seq::ZERO {
            self.transmit(now);
        }
    }

    /// Processes a segment of the peer.
    pub(super) fn receive(&mut self, now: Time, segment: &Segment) -> Result<(), String> {
        if segment.reset {
            self.dead = true;
            return Ok(());
        }
        let stamp = segment.options.stamps.filter(|_| self.config.timestamps);
        let echo = match stamp {
            Some((_, echo)) if segment.ack.is_some() => *self
                .stamps
                .get(&echo)
                .ok_or_else(|| format!("no sent segment has TS val {echo}"))?,
            _ => 0,
        };
        if segment.syn {
            if self.peer.is_some() {
                return Err("there is one connection in a script, and one SYN of the peer".into());
            }
            self.peer = Some(segment.clone());
            self.receiver.handle_bare(stamp.map_or(0, |(value, _)| value), Marking::NONE);
            if segment.ack.is_none() {
                self.receiver.handle_syn(segment.marking());
                self.connect(now);
                return Ok(());
            }
        }
        if segment.ack.is_some() {
            self.sends_option.get_or_insert(segment.options.ecn.is_some());
        }
        if let Some(ack) = segment.ack {
            self.acknowledged(now, segment, ack, echo)?;
        }
        let value = stamp.map_or(0, |(value, _)| value);
        let mut reply = None;
        let numbers = self.incoming.numbers(segment.seq.max(1), segment.seq + segment.span());
        for number in numbers.collect::<Vec<_>>() {
            let marking = segment.marking();
            let arrival = self.receiver.handle_segment(now, number, value, INITIAL_TTL, marking);
            if let Some(earlier) = self.receiver.take_earlier() {
                self.acknowledge(now, &earlier);
            }
            reply = arrival.ack.or(reply);
        }
        if segment.span() == 0 {
            self.receiver.handle_bare(value, segment.marking());
        } else if segment.fin || segment.syn {
            // RFC 9293 sections 3.10.7.3 and 3.10.7.4: SYN and FIN are acknowledged immediately.
            reply = reply.or_else(|| Some(self.receiver.acknowledge(now)));
        }
        // Sent data carry the acknowledgment; otherwise it is sent alone.
        if !self.transmit(now)
            && let Some(ack) = reply
        {
            self.acknowledge(now, &ack);
        }
        Ok(())
    }

    /// Passes the acknowledgment of a segment to our sender.
    fn acknowledged(
        &mut self,
        now: Time,
        segment: &Segment,
        ack: u64,
        echo: Timestamp,
    ) -> Result<(), String> {
        if ack > self.outgoing.end(self.sender.max_sent().number() as usize) {
            return Err(format!("ack {ack} covers what was not sent (RFC 5961)"));
        }
        let seq = self
            .outgoing
            .acknowledged(ack)
            .ok_or_else(|| format!("ack {ack} ends inside a sent segment"))?;
        let mut sack = SackBlocks::new();
        for &(from, to) in &segment.options.sack {
            self.outgoing.covered(from, to).into_iter().for_each(|block| sack.push(block));
        }
        let sack = Some(sack).filter(|sack| self.config.sack() && !sack.as_slice().is_empty());
        let opened = self.open(segment)?;
        // RFC 5681 section 2: a duplicate ACK carries no data and does not change the window.
        let plain = segment.span() == 0 && !opened;
        if seq > self.sender.una() || sack.is_some() || plain {
            let opens = self.sender.una() == Seq::ZERO;
            let marking = match self.peer.as_ref().filter(|_| opens) {
                // Our SYN-ACK has negotiated already.
                Some(peer) if peer.ack.is_none() => negotiation_fields(&self.config),
                _ => segment.marking(),
            };
            let counters = segment.options.ecn.map(counters).map(EcnCounters::Bytes);
            self.sender
                .handle_ack(now, &Ack { echo, sack, marking, counters, ..Ack::cumulative(seq) });
            if opens && segment.syn {
                let feedback = self.sender.feedback();
                self.receiver.agree(feedback);
                self.receiver
                    .handle_bare(segment.options.stamps.map_or(0, |(value, _)| value), marking);
                let accurate = feedback == Feedback::Accurate;
                self.tells = accurate.then(|| answer_to(segment.marking().codepoint()));
            }
        }
        Ok(())
    }

    /// Sets the peer's window; returns whether it changed.
    fn open(&mut self, segment: &Segment) -> Result<bool, String> {
        let Some(window) = segment.window else { return Ok(false) };
        let ours = self.peer.as_ref().and_then(|syn| syn.options.scale);
        let shift = if segment.syn { 0 } else { ours.unwrap_or(0) };
        let segments = (window << shift.min(14)) / self.config.mss.count();
        if segments == 0 {
            return Err("a window of less than a segment: window probes are not simulated".into());
        }
        self.sender.set_receiver_window(u32::try_from(segments).unwrap_or(u32::MAX));
        let before = self.window.replace(window);
        Ok(before.is_some_and(|before| before != window))
    }

    /// Sends everything that the sender has; returns whether there was anything.
    fn transmit(&mut self, now: Time) -> bool {
        let mut any = false;
        while !self.dead
            && let Some(sent) = self.sender.poll_transmit(now)
        {
            any = true;
            let (seq, length, fin) = self.outgoing.segment(sent.seq.number() as usize);
            let syn = sent.seq == Seq::ZERO;
            let ack = self.receiver.acknowledge(now);
            let mut segment = Segment { syn, fin, seq, length, ..self.bare(&ack, sent.stamp) };
            let classic = self.sender.feedback() == Feedback::Classic;
            let ect = sent.marking.codepoint();
            // A FIN alone is not data (RFC 3168 section 6.1.6).
            let ect = if classic && length == 0 && !syn { Codepoint::NotEct } else { ect };
            segment.codepoint = Some(Ect::This(ect));
            if syn && sent.retransmission {
                segment.options.ecn = None;
            }
            if classic && sent.marking.has(Marking::CWR) {
                segment.flags |= Marking::CWR;
            }
            if self.peer.is_none() {
                (segment.ack, segment.flags) = (None, sent.marking.flags());
                segment.options.ecn = None;
            }
            if syn {
                self.offer(now, &mut segment.options);
            }
            self.sent.push_back(Sent { at: now, segment });
        }
        any
    }

    /// Sets the options of our SYN; a SYN-ACK offers what both ends support.
    fn offer(&self, now: Time, options: &mut Options) {
        let peer = self.peer.as_ref().map(|syn| &syn.options);
        let own = if peer.is_some() { &self.config } else { &self.offered };
        options.mss = Some(self.our_mss);
        options.sack_permitted = own.sack();
        options.scale = (own.window_scaling && peer.is_none_or(|peer| peer.scale.is_some()))
            .then_some(OUR_SCALE);
        if peer.is_none() {
            options.stamps = own.timestamps.then(|| (self.sender.stamp(now), 0));
        }
    }

    /// Sends an ACK without data.
    fn acknowledge(&mut self, now: Time, ack: &Ack) {
        let stamp = self.sender.stamp(now);
        let seq = self.outgoing.end(self.sender.max_sent().number() as usize);
        let segment = Segment { seq, ..self.bare(ack, stamp) };
        self.sent.push_back(Sent { at: now, segment });
    }

    /// Returns a segment with the fields common to all segments.
    fn bare(&mut self, ack: &Ack, stamp: Timestamp) -> Segment {
        let start = |number| self.incoming.start(number);
        let sack = ack.sack.map_or(Vec::new(), |sack| {
            sack.as_slice().iter().map(|&(from, to)| (start(from), start(to))).collect()
        });
        let stamps = self.config.timestamps.then_some((stamp, ack.echo));
        let counters = ack.counters.and_then(EcnCounters::bytes);
        let counters = counters.filter(|_| self.sends_option != Some(false));
        let ecn = counters.map(|all| {
            let has = |least: u8, count| (all.count >= least).then_some(count);
            [has(3, all.ect0), has(2, all.ce), has(1, all.ect1)]
        });
        let options = Options { stamps, sack, ecn, ..Options::default() };
        let flags = self.tells.take().unwrap_or(ack.marking.flags());
        let codepoint = Some(Ect::This(ack.marking.codepoint()));
        Segment { ack: Some(start(ack.seq)), options, flags, codepoint, ..Segment::default() }
    }

    /// Returns the resolution of our timestamps.
    pub(super) fn stamp_tick(&self) -> Duration {
        self.config.timestamp_tick
    }

    /// Assigns the script's `name` to one of our timestamps.
    pub(super) fn name_stamp(&mut self, name: u32, stamp: Timestamp) {
        self.stamps.insert(name, stamp);
    }

    /// Returns the variables for assertions, as in Linux.
    pub(super) fn info(&self) -> Names {
        let info = self.sender.info();
        let microseconds = |of: Duration| (of.as_ps() / 1_000_000).cast_signed();
        let values = [
            ("tcpi_snd_cwnd", i64::from(info.cwnd)),
            ("tcpi_snd_ssthresh", info.ssthresh.map_or(NO_THRESHOLD, i64::from)),
            ("tcpi_ca_state", i64::from(info.state as u8)),
            ("tcpi_unacked", i64::from(info.unacked)),
            ("tcpi_sacked", i64::from(info.sacked)),
            ("tcpi_lost", i64::from(info.lost)),
            ("tcpi_retrans", i64::from(info.retransmitted)),
            ("tcpi_reordering", i64::from(info.reordering)),
            ("tcpi_total_retrans", info.retransmissions.cast_signed()),
            ("tcpi_advmss", self.our_mss.cast_signed()),
            ("tcpi_snd_mss", self.config.mss.count().cast_signed()),
            ("tcpi_rto", microseconds(info.rto)),
            ("tcpi_delivered_ce", info.delivered_ce.cast_signed()),
            ("tcpi_rtt", info.srtt.map_or(0, microseconds)),
        ];
        values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Returns the ECN fields of an ACK of our SYN-ACK from which our sender derives the negotiated mode.
fn negotiation_fields(config: &Config) -> Marking {
    let flags = match config.ecn {
        Ecn::Off => 0,
        Ecn::Rfc3168 | Ecn::Dctcp => Marking::ECE,
        Ecn::Accurate => Marking::CWR,
    };
    Marking::new(Codepoint::NotEct, flags)
}

/// Returns the answer to a SYN-ACK with this codepoint (RFC 9768 table 3).
fn answer_to(codepoint: Codepoint) -> u8 {
    match codepoint {
        Codepoint::NotEct => Marking::CWR,
        Codepoint::Ect1 => Marking::CWR | Marking::ECE,
        Codepoint::Ect0 => Marking::AE,
        Codepoint::Ce => Marking::AE | Marking::CWR,
    }
}

/// Returns the counters of the option; all except CE may be missing.
fn counters([ect0, ce, ect1]: [Option<u32>; 3]) -> ByteCounters {
    let count = if ce.is_some() { 2 } else { 1 };
    let [ect0, ce, ect1] = [ect0, ce, ect1].map(Option::unwrap_or_default);
    ByteCounters { ect0, ce, ect1, count }
}

/// Linux's window scale for its default buffers; it is not compared.
const OUR_SCALE: u8 = 8;
