//! Tests of failing fibres, with times worked out by hand.
//!
//! Fibres take 100 us, a byte takes 1 us, and a switch takes 10 us for a control packet. A burst of 30 bytes leaves at 0
//! with an offset of 20 us and takes the route 0, 1, 2.
//!
//! | fibre | control packet | burst |
//! |---|---|---|
//! | 0 | 0 to 100 us | 20 to 150 us |
//! | 1 | 110 to 210 us | 120 to 250 us |
//! | 2 | 220 to 320 us | 220 to 350 us |

use optcp_net::{FlowId, Label};

use super::*;
use crate::switching::{Conversion, Failing, Fibre, Scheduling};

/// Failures of fibres: fibre, time, repair, and whether the fibre is taken out of service.
type Failures<'a> = &'a [(FibreId, u64, Option<u64>, bool)];

struct Case<'a> {
    failures: Failures<'a>,
    detection: u64,
    delay_line: u64,
    offset: u64,
    protection: BurstProtection,
    others: &'a [&'a [FibreId]],
    leaves: u64,
}

const PLAIN: Case<'_> = Case {
    failures: &[],
    detection: 1000,
    delay_line: 0,
    offset: 20,
    protection: BurstProtection::None,
    others: &[],
    leaves: 0,
};

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Result of a burst: arrival in microseconds, or the reason of its loss, then requests per fibre.
type Fate = (Result<u64, DropReason>, [u64; 7]);

fn fate(case: &Case<'_>) -> Fate {
    let rate = Rate::from_bps(8_000_000).expect("a rate above zero");
    let fibres = (0..7).map(|_| Fibre::new(2, rate, Duration::from_us(100))).collect();
    let processing = Duration::from_us(10);
    let mut core = BurstCore::new(fibres, Scheduling::LaucVf, Conversion::Full, processing)
        .with_failures(Failing {
            detection: Duration::from_us(case.detection),
            delay_line: Duration::from_us(case.delay_line),
        });
    let others = case.others.iter().map(|route| route.to_vec());
    let all = std::iter::once(vec![0, 1, 2]).chain(others).collect();
    let path = BurstPath {
        port: PortId::new(0),
        rate,
        offset: Duration::from_us(case.offset),
        carrier: Carrier::Fibres(BurstRoutes { protection: case.protection, all }),
    };
    let mut assembler = Assembler::new(path, Assembly::Size(Size { threshold: Bytes::new(30) }));
    let mut actions: Vec<(u64, FibreId, Option<bool>)> = Vec::new();
    for &(fibre, at, repair, kept) in case.failures {
        actions.push((at, fibre, Some(kept)));
        actions.extend(repair.map(|at| (at, fibre, None)));
    }
    actions.sort_unstable_by_key(|action| action.0);
    let mut actions = actions.into_iter().peekable();
    // Actions precede events at the same time.
    let mut act = |core: &mut BurstCore, until: u64| {
        while let Some((at, fibre, fails)) = actions.next_if(|action| action.0 <= until) {
            match fails {
                Some(kept) => core.fail(fibre, us(at), kept),
                None => core.restore(fibre, us(at)),
            }
        }
    };
    let packet = Packet::data(FlowId::new(0), Label(0), 0, 30, 0);
    assert_eq!(assembler.gather(us(case.leaves), packet), Gathered::Full(0));
    act(&mut core, case.leaves);
    let (burst, copy) = assembler.send(us(case.leaves), 0, &core);
    let copy = copy.map(|copy| {
        let number = copy.number;
        assembler.hold(copy);
        number
    });
    let mut pending = Vec::new();
    let mut fates = Vec::new();
    let mut follow = |step: Step, pending: &mut Vec<(Time, u32)>| match step.passage {
        Passage::Continues(at, number) => pending.push((at, number)),
        Passage::Redundant => {}
        Passage::Arrives(at, burst) => {
            assert_eq!(burst.packets.len(), 1);
            fates.push(Ok(at.as_ps() / 1_000_000));
        }
        Passage::Lost(burst, reason) => {
            assert_eq!(burst.packets.len(), 1);
            fates.push(Err(reason));
        }
    };
    follow(assembler.advance(burst, &mut core), &mut pending);
    if let Some(number) = copy {
        let copy = assembler.take(number);
        follow(assembler.advance(copy, &mut core), &mut pending);
    }
    while let Some(&next) = pending.iter().min() {
        pending.retain(|&other| other != next);
        act(&mut core, next.0.as_ps() / 1_000_000);
        let burst = assembler.take(next.1);
        follow(assembler.advance(burst, &mut core), &mut pending);
    }
    assert_eq!(fates.len(), 1, "a burst has one fate");
    let requests = std::array::from_fn(|fibre| {
        core.tally(FibreId::try_from(fibre).expect("few fibres"), us(10_000)).bursts
    });
    (fates[0], requests)
}

const IN_FLIGHT: Result<u64, DropReason> = Err(DropReason::LostInFlight);
const DOWN: Result<u64, DropReason> = Err(DropReason::LinkDown);

/// Expected result of a burst by the failure of one fibre.
fn check(fibre: FibreId, from: u64, repair: Option<u64>, expected: Result<u64, DropReason>) {
    let failures = &[(fibre, from, repair, false)];
    let found = fate(&Case { failures, ..PLAIN }).0;
    assert_eq!(found, expected, "fibre {fibre} fails at {from}, repair {repair:?}");
}

#[test]
fn burst_or_control_packet_on_failing_fibre_is_lost() {
    check(1, 250, None, Ok(350));
    check(1, 249, Some(249), IN_FLIGHT);
    // The control packet has left at 210, the burst not before 250.
    check(1, 220, Some(230), IN_FLIGHT);
    // Between entry of the control packet and of the burst.
    check(1, 111, Some(112), IN_FLIGHT);
    check(1, 100, Some(110), Ok(350));
    check(1, 100, Some(111), DOWN);
    check(2, 349, None, IN_FLIGHT);
    check(2, 350, None, Ok(350));
    check(0, 0, None, DOWN);
    check(0, 150, None, Ok(350));
}

/// The offset is 500 us. The control packet has left the first fibre at 100, and the burst is on it from 500 to 630.
#[test]
fn reserved_burst_passes_if_fibre_is_repaired_before_it_enters() {
    let with = |repair| {
        let failures = &[(0, 150, repair, false)];
        fate(&Case { failures, offset: 500, ..PLAIN })
    };
    assert_eq!(with(Some(500)).0, Ok(830));
    // Reservations remain on all fibres.
    assert_eq!(with(Some(501)), (DOWN, [1, 1, 1, 0, 0, 0, 0]));
    assert_eq!(with(None), (DOWN, [1, 1, 1, 0, 0, 0, 0]));
}

/// The control packet reaches the second fibre at 110.
#[test]
fn detected_failure_is_not_reserved() {
    let with = |detection| fate(&Case { failures: &[(1, 50, None, false)], detection, ..PLAIN });
    assert_eq!(with(60), (DOWN, [1, 0, 0, 0, 0, 0, 0]));
    // The control packet is lost on the fibre, so the third is not reserved.
    assert_eq!(with(61), (DOWN, [1, 1, 0, 0, 0, 0, 0]));
}

#[test]
fn fibre_out_of_service_passes_reserved_bursts() {
    let with = |at| fate(&Case { failures: &[(1, at, None, true)], ..PLAIN });
    assert_eq!(with(110), (DOWN, [1, 0, 0, 0, 0, 0, 0]));
    assert_eq!(with(111), (Ok(350), [1, 1, 1, 0, 0, 0, 0]));
}

/// At the switch the control packet is 10 us ahead. The detour has three fibres to go and needs 20 us.
#[test]
fn deflected_burst_needs_offset_or_delay_line() {
    let with = |delay_line, offset, also: Option<(FibreId, u64)>| {
        let mut failures = vec![(1, 0, None, false)];
        failures.extend(also.map(|(fibre, at)| (fibre, at, None, false)));
        fate(&Case {
            failures: &failures,
            detection: 0,
            delay_line,
            offset,
            protection: BurstProtection::Deflection,
            others: &[&[3, 4, 1, 2], &[0, 3, 4, 2], &[]],
            ..PLAIN
        })
    };
    assert_eq!(with(0, 20, None), (DOWN, [1, 0, 0, 0, 0, 0, 0]));
    assert_eq!(with(9, 20, None).0, DOWN);
    // Instead of 120 it leaves the switch at 130, or at 170.
    assert_eq!(with(10, 20, None), (Ok(460), [1, 0, 1, 1, 1, 0, 0]));
    assert_eq!(with(50, 20, None).0, Ok(500));
    assert_eq!(with(0, 30, None).0, Ok(460));
    // The delay line comes after the first fibre, which the burst has left at 150.
    assert_eq!(with(50, 20, Some((0, 149))).0, IN_FLIGHT);
    assert_eq!(with(50, 20, Some((0, 150))).0, Ok(500));
    // On fibre 3 it is from 170 to 300.
    assert_eq!(with(50, 20, Some((3, 299))).0, IN_FLIGHT);
    assert_eq!(with(50, 20, Some((3, 300))).0, Ok(500));
    // A burst is deflected once, and has no path around the last fibre.
    assert_eq!(with(10, 20, Some((4, 0))).0, DOWN);
}

/// Four fibres need an offset of 30 us.
#[test]
fn deflection_at_the_edge_extends_the_offset() {
    let case = Case {
        failures: &[(0, 0, None, false)],
        detection: 0,
        protection: BurstProtection::Deflection,
        others: &[&[3, 4, 1, 2], &[], &[]],
        ..PLAIN
    };
    assert_eq!(fate(&case), (Ok(460), [0, 1, 1, 1, 1, 0, 0]));
}

/// The third fibre fails at 1000 and is repaired at 2000. The report takes 220 us from its switch to the ingress edge node.
#[test]
fn ingress_uses_backup_route_after_detection_and_notification() {
    let with = |leaves| {
        let failures = &[(2, 1000, Some(2000), false)];
        let protection = BurstProtection::OneToOne;
        fate(&Case { failures, detection: 50, protection, others: &[&[3, 4]], leaves, ..PLAIN })
    };
    assert_eq!(with(1269), (DOWN, [1, 1, 0, 0, 0, 0, 0]));
    // Two fibres: 20 + 200 + 30 after it leaves.
    assert_eq!(with(1270), (Ok(1520), [0, 0, 0, 1, 1, 0, 0]));
    assert_eq!(with(2219), (Ok(2469), [0, 0, 0, 1, 1, 0, 0]));
    assert_eq!(with(2220), (Ok(2570), [1, 1, 1, 0, 0, 0, 0]));
}

/// The copies arrive at 350 and 250.
#[test]
fn first_of_two_copies_arrives() {
    let with = |failures| {
        let protection = BurstProtection::OnePlusOne;
        fate(&Case { failures, protection, others: &[&[3, 4]], ..PLAIN })
    };
    assert_eq!(with(&[]), (Ok(250), [1, 1, 1, 1, 1, 0, 0]));
    assert_eq!(with(&[(0, 30, None, false)]).0, Ok(250));
    assert_eq!(with(&[(3, 30, None, false)]).0, Ok(350));
    // The copy that could have arrived first is lost last.
    assert_eq!(with(&[(3, 149, None, false), (0, 30, None, false)]).0, IN_FLIGHT);
    assert_eq!(with(&[(0, 0, None, false), (3, 0, None, false)]).0, DOWN);
}
