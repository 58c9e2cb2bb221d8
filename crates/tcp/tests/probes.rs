//! Timers of tail loss probes.

use std::sync::Arc;

use optcp_tcp::{Ack, Config, Profile, Sender, Seq};
use optcp_units::{Duration, Time};

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Sends what the sender may send. Returns the segments.
fn sent(sender: &mut Sender, ms: u64) -> Vec<u32> {
    std::iter::from_fn(|| sender.poll_transmit(at(ms))).map(|sent| sent.seq.number()).collect()
}

/// By hand, from `tcp_schedule_loss_probe`, `tcp_send_loss_probe` and `tcp_rearm_rto` of Linux, with ticks of 4 ms. The RTT is
/// 40 ms, the RTO 240 ms, and the timeout of a probe 2 x 40 + 2 ms, which is 21 ticks.
#[test]
fn new_data_after_a_probe_move_the_rto_back_to_the_oldest_segment() {
    let mut config = Profile::Linux6.config();
    (config.timestamps, config.timestamp_undo) = (false, false);
    let mut sender = Sender::new(Arc::new(Config { ..config }), Some(6), Duration::ZERO);
    sender.withhold(4);
    sender.start();
    assert_eq!(sent(&mut sender, 0), [0, 1]);
    sender.handle_ack(at(40), &Ack::cumulative(Seq::new(2)));
    sender.supply(2);
    assert_eq!(sent(&mut sender, 100), [2, 3]);
    // Tick 25 + 21, and the slot after it.
    assert_eq!(sender.deadline(), Some(at(4 * 47)));
    sender.handle_timer(at(188));
    assert_eq!(sent(&mut sender, 188), [3]);
    // The RTO after the probe: 60 ticks.
    assert_eq!(sender.deadline(), Some(at(4 * (47 + 60 + 1))));
    sender.supply(2);
    assert_eq!(sent(&mut sender, 200), [4, 5]);
    assert_eq!(sender.deadline(), Some(at(4 * (50 + 21 + 1))));
    sender.handle_timer(at(288));
    assert!(sent(&mut sender, 288).is_empty());
    // The oldest segment left at 100 ms: 52 ms are left of its RTO.
    assert_eq!(sender.deadline(), Some(at(4 * (72 + 13 + 1))));
    assert_eq!(sender.counts().timeouts, 0);
    sender.handle_timer(at(344));
    assert_eq!(sender.counts().timeouts, 1);
    assert_eq!(sent(&mut sender, 344), [2]);
}
