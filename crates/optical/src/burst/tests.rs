use optcp_des::Streams;
use optcp_net::{FlowId, Label, Lossy};

use super::*;

const RATE_BPS: u64 = 1_000_000_000;

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn packet(seq: u32, size: u16) -> Packet {
    Packet::data(FlowId::new(0), Label(0), seq, size, 0)
}

fn assembler(assembly: Assembly, probability: f64) -> Assembler {
    let path = BurstPath {
        port: PortId::new(0),
        rate: Rate::from_bps(RATE_BPS).expect("a rate above zero"),
        offset: Duration::from_us(30),
        carrier: Carrier::Wavelength {
            delay: Duration::from_ms(5),
            loss: IndependentLoss::new(Lossy::Both, probability, Streams::new(1).stream("bursts")),
        },
    };
    Assembler::new(path, assembly)
}

/// Sends the current burst over a path without a core. Returns the burst and the arrival time of its packets, unless it
/// is lost.
fn send(assembler: &mut Assembler, now: Time) -> (Burst, Option<Time>) {
    let (burst, _) = assembler.send(now, 0, &BurstCore::default());
    match assembler.advance(burst, &mut BurstCore::default()).passage {
        Passage::Arrives(at, burst) => (burst, Some(at)),
        Passage::Lost(burst, _) => (burst, None),
        Passage::Continues(..) | Passage::Redundant => panic!("there is no core"),
    }
}

const TIMER: Timer = Timer { period: Duration::from_us(100) };
const SIZE: Size = Size { threshold: Bytes::new(3000) };

#[test]
fn timer_starts_with_first_packet_of_burst() {
    let mut timer = assembler(Assembly::Timer(TIMER), 0.0);
    assert_eq!(timer.gather(us(10), packet(0, 1500)), Gathered::Until(us(110)));
    assert_eq!(timer.gather(us(60), packet(1, 60_000)), Gathered::Waits);
    assert_eq!(timer.due_class(us(110)), Some(0));
    send(&mut timer, us(110));
    assert!(timer.held().eq([(None, [].as_slice())]));
    assert_eq!(timer.gather(us(300), packet(2, 40)), Gathered::Until(us(400)));
}

#[test]
fn burst_of_threshold_size_is_full() {
    let mut size = assembler(Assembly::Size(SIZE), 0.0);
    assert_eq!(size.gather(us(0), packet(0, 1500)), Gathered::Waits);
    assert_eq!(size.held().next().expect("a burst").0, None);
    assert_eq!(size.gather(us(1), packet(1, 1499)), Gathered::Waits);
    assert_eq!(size.gather(us(2), packet(2, 1)), Gathered::Full(0));
    assert_eq!(send(&mut size, us(2)).0.crossing.bytes, 3000);
    assert_eq!(size.gather(us(3), packet(3, 3001)), Gathered::Full(0));
}

#[test]
fn hybrid_burst_leaves_by_timer_or_size() {
    let mut hybrid = assembler(Assembly::Hybrid(Hybrid { timer: TIMER, size: SIZE }), 0.0);
    assert_eq!(hybrid.gather(us(0), packet(0, 1500)), Gathered::Until(us(100)));
    assert_eq!(hybrid.gather(us(50), packet(1, 1500)), Gathered::Full(0));
    send(&mut hybrid, us(50));
    // The burst before has left and its timer was cancelled.
    assert_eq!(hybrid.gather(us(60), packet(2, 1500)), Gathered::Until(us(160)));
    assert_eq!(hybrid.due_class(us(160)), Some(0));
}

/// Offset, transmission and propagation computed by hand. 2500 bytes at 1 Gb/s take 20 us, so a
/// burst that leaves at 100 us is sent from 130 us to 150 us. A burst that leaves at 110 us waits
/// for the wavelength; 1000 bytes take another 8 us.
#[test]
fn packets_arrive_together_after_offset_transmission_and_propagation() {
    let mut timer = assembler(Assembly::Timer(TIMER), 0.0);
    timer.gather(us(0), packet(0, 1500));
    timer.gather(us(1), packet(1, 1000));
    let (first, arrival) = send(&mut timer, us(100));
    assert_eq!(first.packets, [packet(0, 1500), packet(1, 1000)]);
    assert_eq!((first.crossing.bytes, arrival), (2500, Some(us(5150))));
    timer.gather(us(105), packet(2, 1000));
    assert_eq!(send(&mut timer, us(110)).1, Some(us(5158)));
    timer.gather(us(900), packet(3, 1000));
    assert_eq!(send(&mut timer, us(1000)).1, Some(us(6038)));
}

/// Bernoulli trials per burst, independent of its content: n p losses within four standard deviations.
#[test]
fn bursts_are_lost_with_given_probability() {
    const N: u32 = 100_000;
    let mut timer = assembler(Assembly::Timer(TIMER), 0.01);
    let lost = |n: &u32| {
        for seq in 0..1 + n % 40 {
            timer.gather(us(u64::from(*n) * 1000), packet(seq, 1000));
        }
        send(&mut timer, us(u64::from(*n) * 1000 + 100)).1.is_none()
    };
    let found = (0..N).filter(lost).count() as f64;
    let mean = f64::from(N) * 0.01;
    assert!((found - mean).abs() < 4.0 * mean.sqrt(), "{found}");
}

/// At 1 Gb/s, 1250 bytes take 10 us. After a first burst of 1250 bytes the timer is 4 * 10 us. A second one has 6250
/// bytes. The average becomes (1250 + 3 * 6250) / 4 = 5000 bytes, and the timer 160 us, above its maximum of 150 us.
#[test]
fn adaptive_timer_follows_average_burst() {
    let (least, most) = (Duration::from_us(15), Timer { period: Duration::from_us(150) });
    let mut adaptive = assembler(Assembly::Adaptive(Adaptive { least, most, factor: 4 }), 0.0);
    let mut period = |opened: u64, bytes: u16| {
        let Gathered::Until(due) = adaptive.gather(us(opened), packet(0, bytes)) else {
            panic!("a packet opens a burst")
        };
        send(&mut adaptive, due);
        due.as_ps() / 1_000_000 - opened
    };
    assert_eq!(period(0, 1250), 150);
    assert_eq!(period(1000, 6250), 40);
    assert_eq!(period(2000, 125), 150);
    // (5000 + 3 * 125) / 4 = 1343 bytes: 42.976 us, then (1343 + 375) / 4 = 429: 13.7 us.
    assert_eq!(period(3000, 125), 42);
    assert_eq!(period(4000, 125), 15);
}

/// Class 2 has a timer of 50 us and a size of 1000 bytes, the others 100 us and 3000 bytes.
#[test]
fn classes_have_separate_bursts() {
    let usual = BurstClass {
        assembly: Assembly::Hybrid(Hybrid { timer: TIMER, size: SIZE }),
        extra_offset: Duration::ZERO,
    };
    let timer = Timer { period: Duration::from_us(50) };
    let size = Size { threshold: Bytes::new(1000) };
    let mut each = [usual; CLASSES];
    each[2] = BurstClass {
        assembly: Assembly::Hybrid(Hybrid { timer, size }),
        extra_offset: Duration::from_us(7),
    };
    let mut classes =
        assembler(usual.assembly, 0.0).with_classes(&each, FlowClasses([0, 2, 1].into()));
    let of = |flow, size| Packet::data(FlowId::new(flow), Label(0), 0, size, 0);
    assert_eq!(classes.gather(us(0), of(0, 600)), Gathered::Until(us(100)));
    assert_eq!(classes.gather(us(10), of(2, 700)), Gathered::Until(us(110)));
    assert_eq!(classes.gather(us(50), of(1, 500)), Gathered::Until(us(100)));
    assert_eq!(classes.gather(us(60), of(0, 800)), Gathered::Waits);
    // The timers of classes 0 and 2 expire together. Offsets are 30 us and 37 us.
    assert_eq!(classes.due_class(us(100)), Some(2));
    let (burst, _) = classes.send(us(100), 2, &BurstCore::default());
    assert_eq!((burst.packets.len(), burst.crossing.start), (1, us(137)));
    assert_eq!(classes.due_class(us(100)), Some(0));
    let (burst, _) = classes.send(us(100), 0, &BurstCore::default());
    assert_eq!((burst.crossing.bytes, burst.crossing.start), (1400, us(130)));
    assert_eq!(classes.due_class(us(100)), None);
    assert_eq!(classes.due_class(us(110)), Some(1));
    assert_eq!(classes.gather(us(105), of(1, 999)), Gathered::Until(us(155)));
    assert_eq!(classes.gather(us(106), of(1, 1)), Gathered::Full(2));
}
