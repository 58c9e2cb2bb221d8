//! The recorded cases.

use crate::case::{Acks, Case};

const BASE: Case = Case {
    name: "",
    mbps: 10,
    rtt_ms: 50,
    queue: 1000,
    marks: None,
    loss_permille: 0,
    outages: &[],
    size: 1_000_000,
    acks: Acks::EverySecond,
    payload: 1200,
};

/// 50 packets are the bandwidth-delay product.
const QUEUE: Case = Case { name: "", size: 2_000_000, ..BASE };

/// A transfer in which slow start overflows the queue once; without an outage, it takes 1.7 s.
const OUTAGE: Case = Case { mbps: 20, rtt_ms: 40, queue: 100, size: 3_000_000, ..BASE };

/// A transfer that loses packets to the queue only.
const LONG: Case = Case { mbps: 50, rtt_ms: 20, queue: 80, size: 10_000_000, ..BASE };

/// All cases.
pub const CASES: &[Case] = &[
    // Slow start: nothing is lost.
    Case { name: "short-10k", size: 10_000, ..BASE },
    Case { name: "short-30k", size: 30_000, ..BASE },
    Case { name: "short-100k", size: 100_000, ..BASE },
    Case { name: "short-10k-slow-far", size: 10_000, mbps: 2, rtt_ms: 300, ..BASE },
    Case { name: "short-100k-fast-near", size: 100_000, mbps: 100, rtt_ms: 10, ..BASE },
    Case { name: "short-100k-fast-far", size: 100_000, mbps: 100, rtt_ms: 300, ..BASE },
    Case { name: "start-1m-fast", mbps: 100, rtt_ms: 100, ..BASE },
    Case { name: "start-1m-fast-1452", mbps: 100, rtt_ms: 100, payload: 1452, ..BASE },
    Case { name: "start-1m-slow-near", mbps: 2, rtt_ms: 10, ..BASE },
    // Losses at queues of 10 to 200 packets.
    Case { name: "queue-10", queue: 10, ..QUEUE },
    Case { name: "queue-25", queue: 25, ..QUEUE },
    Case { name: "queue-50", queue: 50, ..QUEUE },
    Case { name: "queue-100", queue: 100, ..QUEUE },
    Case { name: "queue-200", queue: 200, ..QUEUE },
    Case { name: "queue-50-1452", queue: 50, payload: 1452, ..QUEUE },
    Case { name: "queue-20-slow", mbps: 2, rtt_ms: 100, queue: 20, ..BASE },
    Case { name: "queue-20-slow-far", mbps: 2, rtt_ms: 300, queue: 20, ..BASE },
    Case { name: "long", ..LONG },
    Case { name: "long-fast", mbps: 100, rtt_ms: 30, queue: 300, ..LONG },
    Case { name: "long-fast-small-queue", mbps: 100, rtt_ms: 30, queue: 50, ..LONG },
    // CE marks above 5 or 20 packets, with and without an outage.
    Case { name: "marks-20", marks: Some(20), queue: 200, ..QUEUE },
    Case { name: "marks-20-fast", marks: Some(20), mbps: 100, rtt_ms: 30, queue: 300, ..LONG },
    Case { name: "marks-20-slow", marks: Some(20), mbps: 2, rtt_ms: 100, queue: 200, ..BASE },
    Case { name: "marks-20-far", marks: Some(20), mbps: 20, rtt_ms: 300, size: 3_000_000, ..BASE },
    Case { name: "marks-5-near", marks: Some(5), rtt_ms: 10, ..LONG },
    Case { name: "marks-20-outage-1000", marks: Some(20), outages: &[(800, 1000)], ..OUTAGE },
    // Random losses.
    Case { name: "loss-1-short", loss_permille: 10, size: 100_000, queue: 100, ..BASE },
    Case { name: "loss-1", loss_permille: 10, queue: 100, ..BASE },
    Case { name: "loss-3-short", loss_permille: 30, size: 100_000, queue: 100, ..BASE },
    Case { name: "loss-3", loss_permille: 30, queue: 100, ..BASE },
    Case { name: "loss-1-fast", loss_permille: 10, mbps: 100, rtt_ms: 10, ..LONG },
    Case { name: "loss-3-far", loss_permille: 30, rtt_ms: 300, queue: 100, ..BASE },
    // Outages during the handshake.
    Case { name: "outage-handshake-50", outages: &[(10, 50)], ..OUTAGE },
    Case { name: "outage-handshake-1000", outages: &[(10, 1000)], ..OUTAGE },
    Case { name: "outage-handshake-3000", outages: &[(10, 3000)], ..OUTAGE },
    Case { name: "outage-server-300", outages: &[(30, 300)], ..OUTAGE },
    // Outages after the first data was sent, in the middle, and when the last data is in flight.
    Case { name: "outage-none", ..OUTAGE },
    Case { name: "outage-start-50", outages: &[(50, 50)], ..OUTAGE },
    Case { name: "outage-start-300", outages: &[(50, 300)], ..OUTAGE },
    Case { name: "outage-start-1000", outages: &[(50, 1000)], ..OUTAGE },
    Case { name: "outage-start-3000", outages: &[(50, 3000)], ..OUTAGE },
    Case { name: "outage-middle-50", outages: &[(800, 50)], ..OUTAGE },
    Case { name: "outage-middle-300", outages: &[(800, 300)], ..OUTAGE },
    Case { name: "outage-middle-1000", outages: &[(800, 1000)], ..OUTAGE },
    Case { name: "outage-middle-3000", outages: &[(800, 3000)], ..OUTAGE },
    Case { name: "outage-tail-50", outages: &[(TAIL, 50)], ..OUTAGE },
    Case { name: "outage-tail-300", outages: &[(TAIL, 300)], ..OUTAGE },
    Case { name: "outage-tail-1000", outages: &[(TAIL, 1000)], ..OUTAGE },
    Case { name: "outage-tail-3000", outages: &[(TAIL, 3000)], ..OUTAGE },
    Case { name: "outage-short-tail-50", outages: &[(118, 50)], size: 30_000, ..BASE },
    Case { name: "outage-short-tail-300", outages: &[(118, 300)], size: 30_000, ..BASE },
    Case { name: "outage-short-tail-1000", outages: &[(118, 1000)], size: 30_000, ..BASE },
    Case { name: "outage-twice", outages: &[(400, 300), (1000, 300)], ..OUTAGE },
    Case { name: "outage-far-1000", outages: &[(2000, 1000)], rtt_ms: 300, ..OUTAGE },
    // Acknowledgments of every tenth packet.
    Case { name: "acks-10-short", acks: Acks::EveryTenth, size: 100_000, ..BASE },
    Case { name: "acks-10-queue-50", acks: Acks::EveryTenth, queue: 50, ..QUEUE },
    Case {
        name: "acks-10-outage-middle-1000",
        acks: Acks::EveryTenth,
        outages: &[(800, 1000)],
        ..OUTAGE
    },
];

/// Time at which the last data of `outage-none` has been sent and not arrived, in ms.
const TAIL: u64 = 1400;
