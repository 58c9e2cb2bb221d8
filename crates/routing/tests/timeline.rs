//! When routers rewrite what, worked out by hand on a square.
//!
//! ```text
//!     A(0) --1-- C(1)        every link 10 ms, but A-B 20 ms; costs 1, but B-D 3
//!      |          |          a router works 1 ms on an announcement, 5 ms on its routes,
//!     B(2) --3-- D(3)        and rewrites its table in 10, 20, 40 and 80 ms: A, C, B, D
//! ```

use std::collections::BTreeSet;

use optcp_routing::{
    Cause, Converge, Entry, Failure, Forwarding, Link, Mechanism, Protect, Routes, Timeline,
    Timing, Topology, announcements, sightings, timeline,
};
use optcp_units::{Duration, Time};

const AC: usize = 0;

fn square() -> Topology {
    let link = |a, b, cost| Some(Link { ends: [a, b], costs: [cost; 2] });
    Topology::new(4, vec![link(0, 1, 1), link(0, 2, 1), link(2, 3, 3), link(3, 1, 1)])
}

fn timing() -> Timing {
    let ms = Duration::from_ms;
    Timing {
        detection: ms(5),
        detection_up: ms(7),
        hold_down: ms(1000),
        flooding: ms(1),
        computation: ms(5),
        update: [10, 20, 40, 80].map(ms).to_vec(),
        hold: Duration::ZERO,
        delay: [10, 20, 10, 10].map(|delay| [ms(delay); 2]).to_vec(),
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn failure(from: u64, to: Option<u64>) -> Failure {
    Failure { link: AC, directions: [true; 2], at: at(from), repair: to.map(at) }
}

/// One next hop for each destination.
fn one(mechanism: Mechanism) -> Forwarding {
    Forwarding { mechanism, protect: Protect::Link, multipath: false }
}

fn run(failures: &[Failure], converge: Converge) -> Timeline {
    let by = Mechanism::TiLfa;
    timeline(&square(), failures, &timing(), one(by), converge, &mut || true)
        .expect("it is not cancelled")
}

/// Each change as (ms, router, destination, way, cause).
fn listed_changes(timeline: &Timeline) -> Vec<(u64, usize, usize, Vec<usize>, Cause)> {
    let way = |entry: &Entry| match entry {
        Entry::Next((link, _)) => vec![*link],
        Entry::Ecmp(hops) => hops.iter().map(|hop| hop.0).collect(),
        Entry::Backup(backup) => backup.hops.iter().map(|hop| hop.0).collect(),
    };
    let one = |change: &optcp_routing::Change| {
        let ms = change.at.as_ps() / 1_000_000_000;
        (ms, change.router, change.destination, way(&change.entry), change.cause)
    };
    timeline.changes.iter().map(one).collect()
}

use Cause::{Convergence as Conv, Failure as Fail, Repair as Back};

/// Changes at A and C until the failure is flooded. A reaches C and D over A-C, and C reaches A and
/// B. The other path is A-B-D-C, in which B-D costs 3. For A, D is the first node from which
/// shortest paths avoid A-C; for C, it is B.
fn adjacent_changes(ms: u64) -> Vec<(u64, usize, usize, Vec<usize>, Cause)> {
    vec![
        (ms, 0, 1, vec![1, 2], Fail),
        (ms, 0, 3, vec![1, 2], Fail),
        (ms, 1, 0, vec![3, 2], Fail),
        (ms, 1, 2, vec![3, 2], Fail),
    ]
}

fn adjacent_reversals(ms: u64) -> Vec<(u64, usize, usize, Vec<usize>, Cause)> {
    [(0, 1), (0, 3), (1, 0), (1, 2)]
        .map(|(router, destination)| (ms, router, destination, vec![AC], Back))
        .to_vec()
}

#[test]
fn transient_failure_changes_adjacent_entries_and_back() {
    for converge in [Converge::Own, Converge::Synchronized] {
        // Seen at 2000 + 5 and 2990 + 7, before 2005 + 1000.
        let timeline = run(&[failure(2000, Some(2990))], converge);
        assert!(timeline.announcements.is_empty());
        assert_eq!(
            listed_changes(&timeline),
            [adjacent_changes(2005), adjacent_reversals(2997)].concat()
        );
    }
}

#[test]
fn failure_shorter_than_detection_changes_nothing() {
    let timeline = run(&[failure(2000, Some(2005))], Converge::Own);
    assert!(timeline.changes.is_empty() && timeline.announcements.is_empty());
}

#[test]
fn repair_report_ends_the_hold_down_timer() {
    let announced = |repair| {
        announcements(&square(), &[failure(2000, Some(repair))], &timing(), &mut || true).unwrap()
    };
    assert!(announced(2998).is_empty(), "known at 3005, when the timer ends");
    assert_eq!(announced(2999).len(), 2);
}

#[test]
fn each_router_acts_in_its_own_time() {
    let timeline = run(&[failure(2000, None)], Converge::Own);
    let [report] = &timeline.announcements[..] else { panic!("one announcement") };
    assert_eq!((report.at, report.senders, report.up), (at(3005), 2, false));
    // A and C know at once; B from A after 20 + 1 ms; D from C after 10 + 1 ms. Then 5 ms and the update.
    let installed = [3005 + 5 + 10, 3005 + 5 + 20, 3026 + 5 + 40, 3016 + 5 + 80];
    assert_eq!(report.installed, installed.map(|ms| Some(at(ms))));
    // After that A uses B, and C uses D. B reaches C and D over B-D. The earlier path over A had
    // cost 1 + 1 + 1: lower cost, or equal cost with fewer hops, decides. D reaches A and B over
    // B-D.
    let then = vec![
        (3020, 0, 1, vec![1], Conv),
        (3020, 0, 3, vec![1], Conv),
        (3030, 1, 0, vec![3], Conv),
        (3030, 1, 2, vec![3], Conv),
        (3071, 2, 1, vec![2], Conv),
        (3101, 3, 0, vec![2], Conv),
    ];
    assert_eq!(listed_changes(&timeline), [adjacent_changes(2005), then].concat());
}

#[test]
fn synchronized_routers_act_when_the_last_is_ready() {
    let timeline = run(&[failure(2000, None)], Converge::Synchronized);
    let then: Vec<_> = [(0, 1, 1), (0, 3, 1), (1, 0, 3), (1, 2, 3), (2, 1, 2), (3, 0, 2)]
        .map(|(router, destination, link)| (3101, router, destination, vec![link], Conv))
        .to_vec();
    assert_eq!(listed_changes(&timeline), [adjacent_changes(2005), then].concat());
}

#[test]
fn a_failure_that_ends_while_routers_converge_makes_them_converge_back() {
    // The link works again at 3040, which A and C detect and flood at 3047. B and D have not acted
    // on the first report, or D has not.
    let timeline = run(&[failure(2000, Some(3040))], Converge::Own);
    let [down, up] = &timeline.announcements[..] else { panic!("two announcements") };
    assert_eq!((down.at, up.at, up.up), (at(3005), at(3047), true));
    // Over A-C too: B from A at 3047 + 21, D from C at 3047 + 11.
    let installed = [3047 + 5 + 10, 3047 + 5 + 20, 3068 + 5 + 40, 3058 + 5 + 80];
    assert_eq!(up.installed, installed.map(|ms| Some(at(ms))));
    let then = vec![
        (3020, 0, 1, vec![1], Conv),
        (3020, 0, 3, vec![1], Conv),
        (3030, 1, 0, vec![3], Conv),
        (3030, 1, 2, vec![3], Conv),
        (3062, 0, 1, vec![0], Conv),
        (3062, 0, 3, vec![0], Conv),
        (3071, 2, 1, vec![2], Conv),
        (3072, 1, 0, vec![0], Conv),
        (3072, 1, 2, vec![0], Conv),
        (3101, 3, 0, vec![2], Conv),
        (3113, 2, 1, vec![1], Conv),
        (3143, 3, 0, vec![3], Conv),
    ];
    assert_eq!(listed_changes(&timeline), [adjacent_changes(2005), then].concat());
}

#[test]
fn a_link_that_flaps_before_its_repair_is_seen_stays_down() {
    let flapping = [failure(2000, Some(2100)), failure(2103, Some(2200))];
    let seen = sightings(&flapping, &timing());
    let times: Vec<_> = seen.iter().map(|one| (one.hop, one.down, one.up)).collect();
    assert_eq!(times, [0, 1].map(|way| ((AC, way), at(2005), Some(at(2207)))));
    // One that fails after the repair is seen is another failure.
    let two = [failure(2000, Some(2100)), failure(2107, Some(2200))];
    assert_eq!(sightings(&two, &timing()).len(), 4);
}

/// A failure from 1 to 2 s within a longer one of the same link, from 0 to 3 s. The link is down until 3 s plus the
/// detection of 7 ms.
#[test]
fn failure_within_a_longer_one_does_not_end_it() {
    let seen = sightings(&[failure(0, Some(3000)), failure(1000, Some(2000))], &timing());
    assert!(seen.iter().all(|seen| (seen.down, seen.up) == (at(5), Some(at(3007)))), "{seen:?}");
    assert_eq!(seen.len(), 2);
}

#[test]
fn failure_of_one_direction_is_detected_by_its_sender() {
    let one_way = Failure { directions: [true, false], ..failure(2000, Some(2990)) };
    let timeline = run(&[one_way], Converge::Own);
    let routers: Vec<usize> = timeline.changes.iter().map(|change| change.router).collect();
    assert_eq!(routers, [0, 0, 0, 0]);
}

#[test]
fn a_router_that_is_cut_off_keeps_its_table() {
    // Both links of A fail: C and B say so, and A is alone.
    let second = Failure { link: 1, ..failure(2000, None) };
    let timeline = run(&[failure(2000, None), second], Converge::Own);
    assert_eq!(timeline.announcements.len(), 2);
    let late = timeline.changes.iter().filter(|change| change.cause == Conv);
    let routers: BTreeSet<usize> = late.map(|change| change.router).collect();
    // C and B find the path between them over D. D lost its path to A and keeps the others.
    assert_eq!(routers, [1, 2].into());
}

/// B is cut off from 1000 to 8000 ms, detected at 1005 and 8007, while A-C fails permanently. A and
/// C flood this at 3005. B receives the report when its links work again, from the nearest informed
/// router: D, 10 + 1 ms away, or A, 20 + 1 ms. 5 ms of computation and its update of 40 ms follow.
#[test]
fn reconnected_router_receives_missed_reports() {
    let cut = |link| Failure { link, directions: [true; 2], at: at(1000), repair: Some(at(8000)) };
    let found =
        announcements(&square(), &[failure(2000, None), cut(1), cut(2)], &timing(), &mut || true)
            .unwrap();
    let report = found.iter().find(|one| one.link == AC).expect("it is announced");
    assert_eq!((report.at, report.up), (at(3005), false));
    assert_eq!(report.installed[2], Some(at(8007 + 11 + 5 + 40)));
    // C and D are beside each other; A has its own sight alone.
    assert_eq!(report.installed[0], Some(at(3005 + 5 + 10)));
}

/// A-C is down from A to C from 2000 to 9000 ms, and from C to A from 2000 to 6000 ms. Both report
/// the failure at 3005. C detects its own direction again at 6007, A at 9007. Only then the link is
/// up for all.
#[test]
fn link_is_up_once_both_ends_report_it() {
    let of = |directions, repair| Failure {
        link: AC,
        directions,
        at: at(2000),
        repair: Some(at(repair)),
    };
    let failures = [of([true, false], 9000), of([false, true], 6000)];
    let found = announcements(&square(), &failures, &timing(), &mut || true).unwrap();
    let reports: Vec<_> = found.iter().map(|one| (one.at, one.up, one.senders)).collect();
    assert_eq!(reports, [(at(3005), false, 2), (at(9007), true, 1)]);
}

/// Three links fail permanently and one is repaired. The callback runs once per step, and any
/// `false` cancels the computation.
#[test]
fn computation_can_be_cancelled() {
    let cut = |link| Failure { link, ..failure(2500, None) };
    let failures = [failure(2000, Some(5000)), cut(1), cut(2)];
    let ask = |refused: Option<u64>| {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            Some(asked) != refused
        };
        let by = Mechanism::RemoteLfa;
        let (timing, own) = (timing(), Converge::Own);
        let line = timeline(&square(), &failures, &timing, one(by), own, &mut go_on).is_some();
        (line, asked)
    };
    let (done, questions) = ask(None);
    assert!(done && questions > 10, "{questions}");
    for refused in 1..=questions {
        assert_eq!(ask(Some(refused)), (false, refused));
    }
}

/// Several next hops of equal cost, computed by hand on the square with all costs 1. A and D reach
/// each other over C and over B. When A-C fails, A removes C from the set at once and keeps B; C
/// does the same with A. Destinations with a single next hop use its repair path.
#[test]
fn a_next_hop_that_fails_leaves_its_set() {
    let link = |a, b| Some(Link { ends: [a, b], costs: [1; 2] });
    let square = Topology::new(4, vec![link(0, 1), link(0, 2), link(2, 3), link(3, 1)]);
    let forwarding = Forwarding { multipath: true, ..one(Mechanism::None) };
    let failures = [failure(100, Some(1050))];
    let line = timeline(&square, &failures, &timing(), forwarding, Converge::Own, &mut || true);
    let expected = [
        (105, 0, 3, vec![1], Fail),
        (105, 1, 2, vec![3], Fail),
        (1057, 0, 3, vec![0, 1], Back),
        (1057, 1, 2, vec![0, 3], Back),
    ];
    assert_eq!(listed_changes(&line.expect("it is not cancelled")), expected);
}

/// With routers that hold their tables after a failure.
fn holding(failures: &[Failure], hold: u64, converge: Converge) -> Timeline {
    let timing = Timing { hold: Duration::from_ms(hold), ..timing() };
    let by = one(Mechanism::TiLfa);
    timeline(&square(), failures, &timing, by, converge, &mut || true).expect("it is not cancelled")
}

/// After which changes packets of a destination go round for ever: (ms, destination).
fn loops(timeline: &Timeline) -> Vec<(u64, usize)> {
    let (square, routes) = (square(), Routes::new(&square()));
    let first = |router| [0, 1, 2, 3].map(|to| routes.next(router, to).map(Entry::Next));
    let mut tables = [0, 1, 2, 3].map(first);
    let hop_end = |(link, direction): (usize, usize)| {
        square.links()[link].expect("a link").ends[1 - direction]
    };
    let mut found = Vec::new();
    for same in timeline.changes.chunk_by(|a, b| a.at == b.at) {
        for change in same {
            tables[change.router][change.destination] = Some(change.entry.clone());
        }
        for destination in [0, 1, 2, 3] {
            let goes_round = |from: usize| {
                let mut node = from;
                for _ in 0..8 {
                    let hops = match &tables[node][destination] {
                        _ if node == destination => return false,
                        Some(Entry::Next(hop)) => vec![*hop],
                        Some(Entry::Backup(backup)) => backup.hops.clone(),
                        Some(Entry::Ecmp(_)) | None => panic!("one next hop each"),
                    };
                    if hops[0].0 == AC {
                        return false;
                    }
                    node = hop_end(hops[hops.len() - 1]);
                }
                true
            };
            if (0..4).any(goes_round) {
                found.push((same[0].at.as_ps() / 1_000_000_000, destination));
            }
        }
    }
    found
}

/// Without hold, A has its new FIB at 3020 ms and sends packets for C to B, which returns them
/// until 3071. Packets for A loop between C, which is ready at 3030, and D, ready at 3101. With a
/// hold of 60 ms, A acts at 3080, and C at 3090 is still earlier than D. With 100 ms, both act
/// after B and D, and their repair paths do not loop.
#[test]
fn holding_adjacent_routers_prevents_loops() {
    let after = |hold| holding(&[failure(2000, None)], hold, Converge::Own);
    assert_eq!(loops(&after(0)), [(3020, 1), (3030, 0), (3030, 1), (3071, 0)]);
    assert_eq!(loops(&after(60)), [(3090, 0)]);
    assert_eq!(loops(&after(100)), []);
    let then = vec![
        (3071, 2, 1, vec![2], Conv),
        (3101, 3, 0, vec![2], Conv),
        (3120, 0, 1, vec![1], Conv),
        (3120, 0, 3, vec![1], Conv),
        (3130, 1, 0, vec![3], Conv),
        (3130, 1, 2, vec![3], Conv),
    ];
    assert_eq!(listed_changes(&after(100)), [adjacent_changes(2005), then].concat());
}

#[test]
fn synchronized_routers_all_hold_their_fibs() {
    let timeline = holding(&[failure(2000, None)], 100, Converge::Synchronized);
    let late: Vec<u64> = listed_changes(&timeline).iter().skip(4).map(|change| change.0).collect();
    assert_eq!(late, [3201; 6]);
}

/// A and C detect at 3107, during their hold, that the link works again: they keep their FIBs. B
/// and D installed theirs at 3071 and 3101. They revert when they are ready for the repair report,
/// which arrives 21 and 11 ms later. A repair detected at 3017, earlier than they are ready, causes
/// no hold.
#[test]
fn a_repair_ends_the_hold() {
    let timeline = holding(&[failure(2000, Some(3100))], 100, Converge::Own);
    let others = vec![(3071, 2, 1, vec![2], Conv), (3101, 3, 0, vec![2], Conv)];
    let back = vec![(3173, 2, 1, vec![1], Conv), (3203, 3, 0, vec![3], Conv)];
    assert_eq!(
        listed_changes(&timeline),
        [adjacent_changes(2005), others, adjacent_reversals(3107), back].concat()
    );

    let early = [failure(2000, Some(3010))];
    for converge in [Converge::Own, Converge::Synchronized] {
        assert_eq!(holding(&early, 100, converge), holding(&early, 0, converge));
    }

    // All together they would be ready at 3101 for the failure and at 3203 for its end.
    let timeline = holding(&[failure(2000, Some(3100))], 100, Converge::Synchronized);
    assert_eq!(
        listed_changes(&timeline),
        [adjacent_changes(2005), adjacent_reversals(3107)].concat()
    );
}

/// D and C report at 3105 that their link fails too. The report reaches A over B at 3137, during
/// its hold. A has its FIB for both failures 15 ms later: D is reached over B, and C is
/// unreachable.
#[test]
fn another_report_ends_the_hold() {
    let second = Failure { link: 3, ..failure(2100, None) };
    let timeline = holding(&[failure(2000, None), second], 200, Converge::Own);
    let of_a =
        listed_changes(&timeline).into_iter().filter(|change| change.1 == 0 && change.4 == Conv);
    assert_eq!(of_a.collect::<Vec<_>>(), [(3152, 0, 3, vec![1], Conv)]);
}
