//! Decisions of each protection scheme, compared with lists computed by hand, without an engine.

use optcp_optical::protection::{
    Decision, Detection, Outage, ProtectedSegment, Reversion, Route, Scheme, SetUp, Switch,
    SwitchAction, SwitchPoint, Timing, decisions,
};
use optcp_units::{Duration, Time};

const fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// GMPLS paper, Fig. 17, data direction, scenario D. L0-L1 takes a = 40 ms, L1-L2 b = 1 ms, L2-L3 c
/// = 10 ms; the backup takes 27, 47 and 37 ms. L1-L2 is protected.
fn segment() -> ProtectedSegment {
    ProtectedSegment {
        working: vec![ms(40), ms(1), ms(10)],
        working_upstream: vec![ms(40), ms(1), ms(10)],
        backup: vec![ms(27), ms(47), ms(37)],
        backup_upstream: vec![ms(27), ms(47), ms(37)],
        covered: vec![1],
        processing: Duration::ZERO,
    }
}

const REVERTIVE: Timing = Timing {
    detection: Detection::Fixed(ms(5)),
    hold_off: Duration::ZERO,
    reversion: Reversion::After(Duration::ZERO),
};

const NO_SET_UP: SetUp = SetUp { computation: Duration::ZERO };

/// The link L1-L2 fails at 5 s and is repaired at 10 s.
fn from_5_to_10_s() -> Vec<Vec<Outage>> {
    vec![vec![], vec![Outage { failure: at(5000), repair: Some(at(10_000)) }], vec![]]
}

/// Decisions as (ms, node, switch).
fn decided(
    scheme: Scheme,
    segment: &ProtectedSegment,
    timing: Timing,
    set_up: SetUp,
    working: &[Vec<Outage>],
    backup: &[Vec<Outage>],
) -> Vec<(u64, usize, Switch)> {
    let points = scheme.points(segment, set_up);
    decisions(&points, timing, &[], working, backup)
        .into_iter()
        .map(|Decision { at, point, switch }| {
            (at.saturating_since(Time::ZERO).as_ps() / 1_000_000_000, points[point].node, switch)
        })
        .collect()
}

fn decided_without_extras(scheme: Scheme) -> Vec<(u64, usize, Switch)> {
    decided(scheme, &segment(), REVERTIVE, NO_SET_UP, &from_5_to_10_s(), &[vec![], vec![], vec![]])
}

const TO: Switch = Switch::ToBackup;
const BACK: Switch = Switch::ToWorking;

#[test]
fn local_switches_at_adjacent_node_after_delta() {
    // The segment is the link itself: node 0 is L1.
    let link = ProtectedSegment {
        working: vec![ms(1)],
        working_upstream: vec![ms(1)],
        covered: vec![0],
        ..segment()
    };
    let working = [from_5_to_10_s()[1].clone()];
    let none = [vec![], vec![], vec![]];
    let list = decided(Scheme::Local, &link, REVERTIVE, NO_SET_UP, &working, &none);
    assert_eq!(list, [(5005, 0, TO), (10_000, 0, BACK)]);
}

#[test]
fn path_switches_at_head_end_after_notification() {
    assert_eq!(decided_without_extras(Scheme::Path), [(5045, 0, TO), (10_040, 0, BACK)]);
}

#[test]
fn loopback_switches_at_adjacent_node() {
    assert_eq!(decided_without_extras(Scheme::LoopBack), [(5005, 1, TO), (10_000, 1, BACK)]);
    let [SwitchPoint { turn, .. }] =
        Scheme::LoopBack.points(&segment(), NO_SET_UP).try_into().unwrap();
    assert_eq!(turn, SwitchAction::Forward(Route::LoopBack));
}

#[test]
fn loopback_variant_loops_until_head_end_is_notified() {
    let list = [(5005, 1, TO), (5045, 0, TO), (10_000, 1, BACK), (10_040, 0, BACK)];
    assert_eq!(decided_without_extras(Scheme::LoopBackVariant), list);
}

/// A failure of the segment's first link needs no loop: the head end itself is adjacent to it.
#[test]
fn failure_next_to_head_end_needs_no_loop() {
    let first = ProtectedSegment { covered: vec![0], ..segment() };
    let working = [from_5_to_10_s()[1].clone(), vec![], vec![]];
    let none = [vec![], vec![], vec![]];
    for scheme in [Scheme::LoopBack, Scheme::LoopBackVariant, Scheme::Path] {
        let list = decided(scheme, &first, REVERTIVE, NO_SET_UP, &working, &none);
        assert_eq!(list, [(5005, 0, TO), (10_000, 0, BACK)], "{scheme:?}");
    }
}

/// Loss of signal reaches L3 10 ms after the failure; L3 is node 3.
#[test]
fn one_plus_one_selects_at_tail_end() {
    assert_eq!(decided_without_extras(Scheme::OnePlusOne), [(5015, 3, TO), (10_010, 3, BACK)]);
}

/// Loss of signal travels 10 ms downstream, the request 27 + 47 + 37 = 111 ms upstream over the backup.
#[test]
fn one_to_one_waits_for_request_of_tail_end() {
    assert_eq!(decided_without_extras(Scheme::OneToOne), [(5126, 0, TO), (10_121, 0, BACK)]);
}

/// Notification after 40 + 2 ms, 50 ms of computation, 111 + 3 x 2 ms down the backup and the same up again.
#[test]
fn restoration_sets_up_backup_first() {
    let segment = ProtectedSegment { processing: ms(2), ..segment() };
    let set_up = SetUp { computation: ms(50) };
    let none = [vec![], vec![], vec![]];
    let list = decided(Scheme::Restoration, &segment, REVERTIVE, set_up, &from_5_to_10_s(), &none);
    let notified = 5005 + 42;
    assert_eq!(list, [(notified + 50 + 2 * 117, 0, TO), (10_042, 0, BACK)]);
}

#[test]
fn repair_within_detection_time_hides_failure() {
    for scheme in [
        Scheme::Path,
        Scheme::LoopBack,
        Scheme::LoopBackVariant,
        Scheme::OnePlusOne,
        Scheme::OneToOne,
        Scheme::Restoration,
    ] {
        let until =
            |ms| vec![vec![], vec![Outage { failure: at(5000), repair: Some(at(ms)) }], vec![]];
        let none = [vec![], vec![], vec![]];
        let list = |working: &[Vec<Outage>]| {
            decided(scheme, &segment(), REVERTIVE, NO_SET_UP, working, &none)
        };
        assert_eq!(list(&until(5004)), [], "{scheme:?}");
        if scheme != Scheme::Restoration {
            // A repair exactly at the declaration: every switchover is reversed.
            let both = list(&until(5005));
            assert_eq!(both.len() % 2, 0, "{scheme:?}");
            assert_eq!(both.first().map(|one| one.2), Some(TO), "{scheme:?}");
            assert_eq!(both.last().map(|one| one.2), Some(BACK), "{scheme:?}");
        }
    }
}

/// With hold-off the failure is declared 5 + 20 ms after it occurs.
#[test]
fn hold_off_ignores_short_failures_and_delays_long_ones() {
    let timing = Timing { hold_off: ms(20), ..REVERTIVE };
    let none = [vec![], vec![], vec![]];
    let list = |repair| {
        let working =
            [vec![], vec![Outage { failure: at(5000), repair: Some(at(repair)) }], vec![]];
        decided(Scheme::Path, &segment(), timing, NO_SET_UP, &working, &none)
    };
    assert_eq!(list(5024), []);
    assert_eq!(list(10_000), [(5065, 0, TO), (10_040, 0, BACK)]);
}

/// With 30 ms of wait-to-restore, packets stay on the backup until a link that flaps every 30 ms is stable.
#[test]
fn flapping_link_stays_on_backup() {
    let timing = Timing { reversion: Reversion::After(ms(30)), ..REVERTIVE };
    let flaps =
        (0..5).map(|i| Outage { failure: at(5000 + 30 * i), repair: Some(at(5000 + 30 * i + 15)) });
    let working = [vec![], flaps.collect(), vec![]];
    let none = [vec![], vec![], vec![]];
    let list = decided(Scheme::Path, &segment(), timing, NO_SET_UP, &working, &none);
    // The last repair is at 5135 ms and is notified 40 ms later.
    assert_eq!(list, [(5045, 0, TO), (5205, 0, BACK)]);
}

/// The first link of the backup fails while it is in use: the adjacent head end detects this after delta.
#[test]
fn failure_of_backup_reverts_to_working_path() {
    let backup = [vec![Outage { failure: at(6000), repair: Some(at(7000)) }], vec![], vec![]];
    let list =
        |scheme| decided(scheme, &segment(), REVERTIVE, NO_SET_UP, &from_5_to_10_s(), &backup);
    let expected = [(5045, 0, TO), (6005, 0, BACK), (7000, 0, TO), (10_040, 0, BACK)];
    assert_eq!(list(Scheme::Path), expected);
}

/// A node failure takes down both of its links; the failure of the upstream link is notified first.
#[test]
fn node_failure_equals_failure_of_two_links() {
    let segment = ProtectedSegment { covered: vec![0, 1, 2], ..segment() };
    let outage = Outage { failure: at(5000), repair: Some(at(10_000)) };
    let working = [vec![], vec![outage], vec![outage]];
    let none = [vec![], vec![], vec![]];
    let list = decided(Scheme::Path, &segment, REVERTIVE, NO_SET_UP, &working, &none);
    // L1-L2 is notified after 40 ms, the repair of L2-L3 after 40 + 1 ms.
    assert_eq!(list, [(5045, 0, TO), (10_041, 0, BACK)]);
}

/// A failure exactly at reversion: the head end reverts first, then switches to the backup again.
#[test]
fn failure_at_time_of_switch_follows_it() {
    let timing = Timing {
        detection: Detection::Fixed(Duration::ZERO),
        reversion: Reversion::After(ms(100)),
        ..REVERTIVE
    };
    let outages = vec![
        Outage { failure: at(5000), repair: Some(at(6000)) },
        Outage { failure: at(6100), repair: None },
    ];
    let working = [vec![], outages, vec![]];
    let none = [vec![], vec![], vec![]];
    let list = decided(Scheme::Path, &segment(), timing, NO_SET_UP, &working, &none);
    assert_eq!(list, [(5040, 0, TO), (6140, 0, BACK), (6140, 0, TO)]);
}
