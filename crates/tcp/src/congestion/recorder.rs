//! Controller for tests, registered like any other: this file and one line.

use std::sync::Arc;

use optcp_units::{Duration, Time};

use super::controller::{Controller, Start, keys};
use super::event::{AckEvent, DeliveryEvent};
use super::slow_start::SlowStart;
use crate::config::{Config, CongestionKind, Measurement, RecoveryKind};
use crate::congestion::CongestionControl;
use crate::delivery::DeliveryRate;
use crate::window::Window;
use crate::{Ack, Profile, SackBlocks, Sender, Seq};

keys! {
    /// Parameters of the recorder.
    pub struct RecorderKeys {
        /// Window factor after a loss.
        share: f64 = 0.5, "as Reno";
    }
}

/// State of the recorder.
#[derive(Clone, Debug)]
pub struct Recorder {
    share: f64,
    slow_start: SlowStart,
    calls: Vec<Call>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    /// Segments acknowledged, and delivered, and the RTT in milliseconds.
    Observed(u32, u32, Option<u64>),
    /// `true`: losses of an RTO are not yet all repaired.
    Grows(bool),
    Delivers(u32),
    Loss,
    Timeout,
    Recovered,
}

impl Controller for Recorder {
    type Keys = RecorderKeys;

    const WANTS_RATES: bool = true;

    fn new(keys: &RecorderKeys, start: Start) -> Self {
        Recorder { share: keys.share, slow_start: start.slow_start, calls: Vec::new() }
    }

    fn observe(&mut self, ack: &AckEvent) {
        let rtt = ack.rtt.map(|rtt| rtt.as_ps() / 1_000_000_000);
        self.calls.push(Call::Observed(ack.acked, ack.delivered, rtt));
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.calls.push(Call::Grows(ack.after_timeout));
        self.slow_start.on_ack(window, mss, ack);
    }

    fn on_delivery(
        &mut self,
        _window: &mut Window,
        _mss: f64,
        ack: &DeliveryEvent,
        _rate: &mut DeliveryRate,
    ) {
        self.calls.push(Call::Delivers(ack.delivered));
    }

    fn on_loss(&mut self, _window: &Window, _mss: f64, amount: f64) -> Option<f64> {
        self.calls.push(Call::Loss);
        Some(amount * self.share)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.calls.push(Call::Timeout);
    }

    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {
        self.calls.push(Call::Recovered);
    }
}

use Call::{Delivers, Grows, Loss, Observed, Recovered, Timeout};

/// Four segments sent at once, and ACKs 100 ms later.
struct Transfer {
    sender: Sender,
    now: Time,
}

impl Transfer {
    fn new(config: Config) -> Self {
        let config = Config { congestion: CongestionKind::Recorder, initial_window: 4, ..config };
        let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
        sender.start();
        let mut transfer = Transfer { sender, now: Time::ZERO };
        transfer.send();
        transfer
    }

    fn send(&mut self) {
        while self.sender.poll_transmit(self.now).is_some() {}
    }

    /// Processes ACKs, each with a range that SACK covers unless it is empty. Returns the resulting
    /// calls to the controller.
    fn process(&mut self, acks: &[(u32, (u32, u32))]) -> Vec<Call> {
        let before = self.recorder().calls.len();
        self.now = self.now + Duration::from_ms(100);
        for &(seq, (start, end)) in acks {
            let mut blocks = SackBlocks::new();
            blocks.push((Seq::new(start), Seq::new(end)));
            let sack = (start < end).then_some(blocks);
            self.sender.handle_ack(self.now, &Ack { sack, ..Ack::cumulative(Seq::new(seq)) });
            self.send();
        }
        self.recorder().calls[before..].to_vec()
    }

    fn recorder(&self) -> &Recorder {
        match self.sender.congestion() {
            CongestionControl::Recorder(recorder) => recorder,
            other => panic!("{other:?}"),
        }
    }
}

const NONE: (u32, u32) = (0, 0);

/// The second of four segments is lost. SACK and the delivery rate report each segment that
/// arrives. The ACK that ends the recovery acknowledges the retransmission and all SACKed segments.
/// The rate belongs to a sender without pacing.
#[test]
fn with_sack_every_delivery_is_reported() {
    let config = Config { recovery: RecoveryKind::Sack, ..Profile::Rfc.config() };
    let mut transfer = Transfer::new(Config { measurement: Measurement::EveryAck, ..config });
    let at_once = Some(100);
    assert_eq!(
        transfer.process(&[(1, NONE)]),
        [Observed(1, 1, at_once), Grows(false), Delivers(1)]
    );
    // Two segments follow, at 100 ms. The originals above the gap arrive late, at 200 ms.
    let recovery = transfer.process(&[(1, (2, 3)), (1, (2, 4)), (1, (2, 5))]);
    let late = Some(200);
    assert_eq!(
        recovery,
        [
            Observed(0, 1, late),
            Delivers(1),
            Observed(0, 1, late),
            Delivers(1),
            Observed(0, 1, at_once),
            Loss,
            Delivers(1)
        ]
    );
    let max = transfer.sender.max_sent().number();
    assert_eq!(
        transfer.process(&[(max, NONE)]),
        [Observed(max - 1, max - 4, None), Recovered, Delivers(max - 4)]
    );
}

/// Without SACK a duplicate ACK stands for a segment that arrived, and the ACK that moves on tells of those that are
/// left. Nobody measures a rate.
#[test]
fn without_sack_duplicate_acks_are_deliveries() {
    for (recovery, last) in [
        (RecoveryKind::Tahoe, Grows(false)),
        (RecoveryKind::Reno, Recovered),
        (RecoveryKind::NewReno, Recovered),
    ] {
        let mut transfer = Transfer::new(Config { recovery, ..Profile::Rfc.config() });
        assert_eq!(transfer.process(&[(1, NONE)]), [Observed(1, 1, Some(100)), Grows(false)]);
        let duplicate = Observed(0, 1, None);
        let lost = transfer.process(&[(1, NONE); 3]);
        assert_eq!(lost, [duplicate, duplicate, duplicate, Loss], "{recovery:?}");
        let max = transfer.sender.max_sent().number();
        let end = transfer.process(&[(max, NONE)]);
        assert_eq!(end, [Observed(max - 1, max - 4, None), last], "{recovery:?}");
    }
}

/// RFC 6582: a partial ACK acknowledges up to the next gap, and the recovery continues.
#[test]
fn partial_ack_is_observed_without_growth() {
    let mut transfer = Transfer::new(Profile::Rfc.config());
    transfer.process(&[(1, NONE); 4]);
    assert_eq!(transfer.process(&[(2, NONE)]), [Observed(1, 1, None)]);
}

/// The timer asks for ssthresh as a recovery does, then says what has happened.
#[test]
fn a_timeout_is_a_loss_too() {
    let mut transfer = Transfer::new(Profile::Rfc.config());
    let due = transfer.sender.deadline().unwrap();
    transfer.sender.handle_timer(due);
    assert_eq!(transfer.recorder().calls, [Loss, Timeout]);
    // Half of four segments.
    assert_eq!(transfer.sender.window().ssthresh.to_bits(), 2920_f64.to_bits());
    transfer.send();
    let repaired = transfer.process(&[(1, NONE), (4, NONE)]);
    assert_eq!(repaired[1..], [Grows(true), Observed(3, 3, None), Grows(false)]);
}
