//! A run that is stopped, copied and changed on its way is the run that was never touched.

use optcp_runs::{Cancel, Condition, Engine, LiveRun, PortId, Run, RunOptions, run_branches};
use optcp_scenario::Scenario;
use optcp_units::{Duration, Time};

const RING: &str = include_str!("../../../python/optcp/scenarios/ring.toml");
const DIGEST: RunOptions =
    RunOptions { digest: true, fork: false, engine: Engine::Fast, threads: 1 };

fn ring(overrides: &[(&str, &str)]) -> Scenario {
    parsed(RING, overrides)
}

fn parsed(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Scenario::parse(text, "ring.toml", &overrides).expect("the ring is a world")
}

fn failing(at: &str) -> Scenario {
    ring(&[("failures.0.at", at)])
}

fn whole(scenario: &Scenario) -> Run {
    let runs = run_branches(&[scenario], 1, DIGEST, &Cancel::default());
    runs.expect("nobody stops it").remove(0)
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

#[test]
fn pausing_a_run_does_not_change_it() {
    let scenario = failing("3 s");
    let mut run = LiveRun::new(&scenario, 1, DIGEST);
    for at in (0..8000).step_by(370) {
        run.advance(ms(at));
        run = run.clone();
    }
    assert_eq!(run.finish(), whole(&scenario));
}

#[test]
fn fork_continues_as_another_scenario() {
    let [late, early] = ["6 s", "2 s"].map(failing);
    let mut trunk = LiveRun::new(&late, 1, DIGEST);
    trunk.advance(ms(2000));
    let mut fork = trunk.clone();
    assert_eq!(fork.change(&early), Ok(()));
    let forked_at = Some(ms(2000));
    assert_eq!(fork.finish(), Run { forked_at, ..whole(&early) });
    assert_eq!(trunk.finish(), whole(&late), "the fork has left it alone");
    assert_ne!(whole(&late).records_sha256, whole(&early).records_sha256);
}

#[test]
fn past_of_a_run_cannot_be_changed() {
    let [late, early] = ["6 s", "2 s"].map(failing);
    let mut run = LiveRun::new(&late, 1, DIGEST);
    run.advance(ms(2500));
    assert_eq!(run.change(&early), Err(ms(2000)));
    assert_eq!(run.change(&ring(&[("links.1.queue", "20 packets")])), Err(Time::ZERO));
    assert_eq!(run.finish(), whole(&late));
}

/// The run continues as one whose scenario had the change from the start, whichever engine runs it. The first schedule
/// of a link simulates the past again, the second extends the run.
#[test]
fn change_of_a_link_in_force_equals_schedule_in_the_file() {
    let scheduled = |count: usize| {
        let changes = [
            "{ at = \"2500 ms\", link = [\"east\", \"B\"], rate = \"5 Mbps\" }",
            "{ at = \"4 s\", link = [\"east\", \"B\"], rate = \"9 Mbps\", queue = \"9 packets\" }",
        ];
        let entry = |change: &&str| format!("\n[[schedules]]\nchanges = [{change}]\n");
        let text: String = changes[..count].iter().map(entry).collect();
        parsed(&format!("{RING}{text}"), &[])
    };
    for engine in [Engine::Fast, Engine::Reference] {
        let mut run = LiveRun::new(&scheduled(0), 1, RunOptions { engine, ..DIGEST });
        run.advance(ms(2500));
        assert_eq!(run.change(&scheduled(1)), Ok(()));
        run.advance(ms(4000));
        assert_eq!(run.change(&scheduled(2)), Ok(()));
        let (live, whole) = (run.finish(), whole(&scheduled(2)));
        assert_eq!(live.records_sha256, whole.records_sha256, "{engine:?}");
        assert_eq!(live.series, whole.series, "{engine:?}");
    }
}

/// Times of the packets in the run's own observations.
#[test]
fn run_stops_at_the_first_event_after_which_a_condition_holds() {
    let text = format!("{RING}\n[[observe]]\nname = \"drops\"\nkind = \"drops\"\n");
    let scenario = parsed(&text, &[]);
    for engine in [Engine::Fast, Engine::Reference] {
        let options = RunOptions { engine, ..DIGEST };
        let mut run = LiveRun::new(&scenario, 1, options);
        let end = scenario.plan().stop;
        let mut until = |condition: Condition| {
            let found = run.advance_until(end, &[condition], &mut |_| true).expect("not cancelled");
            (
                found.map(|(_, at)| at),
                run.now(),
                run.counts().dropped_in_all(),
                run.port_states(&[port(&run)])[0].queue_packets,
            )
        };
        let (at, now, drops, _) = until(Condition::Dropped(1));
        assert_eq!((at.map(|at| at + Duration::from_ps(1)), drops), (Some(now), 1));
        let mut before = LiveRun::new(&scenario, 1, options);
        before.advance(at.expect("a packet is dropped"));
        assert_eq!(before.counts().dropped_in_all(), 0, "nothing is dropped before");
        let (again, ..) = until(Condition::Dropped(1));
        assert_eq!(again, Some(now), "the condition holds already");
        let (at, now, ..) = until(Condition::Dropped(u64::MAX));
        assert_eq!((at, now), (None, end));
        assert_eq!(run.finish().records_sha256, whole(&scenario).records_sha256);
    }
}

/// Returns the port from east to B.
fn port(run: &LiveRun) -> PortId {
    PortId::at(run.ports().position(|name| name == "east->B").expect("a port of the ring"))
}

/// A datagram of 1250 B takes 1 ms at 10 Mbps, and one arrives every 0.5 ms from the start on. The eighteenth arrives
/// at 8.5 ms, when eight have left.
#[test]
fn run_stops_when_queue_of_an_overloaded_link_reaches_threshold() {
    let text = r#"
        stop = "1 s"
        nodes = [{ names = ["A", "B"] }]
        links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "1 ms", queue = "100 packets" }]
        [[traffic]]
        group = "load"
        path = ["A", "B"]
        process = "constant"
        rate = "2000 packets/s"
        size = "1250 B"
    "#;
    let scenario = Scenario::parse(text, "overload.toml", &[]).expect("a scenario");
    for engine in [Engine::Fast, Engine::Reference] {
        let mut run = LiveRun::new(&scenario, 1, RunOptions { engine, ..DIGEST });
        let queue = [Condition::Queue(PortId::at(0), 10)];
        let found = run.advance_until(ms(1000), &queue, &mut |_| true);
        let at = Time::ZERO + Duration::from_us(8500);
        assert_eq!(found, Ok(Some((0, at))), "{engine:?}");
        assert_eq!(run.port_states(&[PortId::at(0)])[0].queue_bytes, 12_500);
    }
}

#[test]
fn run_that_ends_with_its_flows_can_be_paused() {
    let ends = [("end_with_flows", "true"), ("flows.0.size", "1 MB"), ("failures.0.repair", "4 s")];
    let text = RING.replace("kind = \"goodput\"\ninterval = \"100 ms\"", "kind = \"completions\"");
    let scenario = parsed(&text, &ends);
    // How many steps the engine takes is its own affair, and no part of the digests: `counts` has them.
    for stops in [&[400, 2000, 7999][..], &[1000, 1001, 5500]] {
        let mut run = LiveRun::new(&scenario, 1, DIGEST);
        stops.iter().for_each(|&at| run.advance(ms(at)));
        let counts = whole(&scenario).counts;
        assert_eq!(Run { counts, ..run.finish() }, whole(&scenario));
    }
}

/// A run ends at the first whole second after the end of the flow, also after hours without an
/// event. One segment takes an hour in each direction and less than 0.1 s to be sent. Its ACK
/// arrives between 7200 s and 7200.1 s, and the run ends at 7201 s. Of two datagrams, at 7200.9 s
/// and 7201.1 s, the first is sent: three packets in all.
#[test]
fn run_ends_at_next_whole_second_after_long_stall() {
    let text = r#"
        stop = "10 h"
        end_with_flows = true

        [[nodes]]
        names = ["A", "B"]

        [[links]]
        chain = ["A", "B"]
        rate = "1 Mbps"
        delay = "1 h"
        queue = "10 packets"

        [tcp.patient]
        min_rto = "5 h"
        initial_rto = "5 h"
        max_rto = "5 h"

        [[flows]]
        group = "file"
        path = ["A", "B"]
        tcp = "patient"
        size = "1 segments"

        [[traffic]]
        group = "early"
        path = ["A", "B"]
        process = "constant"
        rate = "0.001 packets/s"
        size = "100 B"
        start = "7200.9 s"

        [[traffic]]
        group = "late"
        path = ["A", "B"]
        process = "constant"
        rate = "0.001 packets/s"
        size = "100 B"
        start = "7201.1 s"
    "#;
    let scenario = Scenario::parse(text, "patient.toml", &[]).expect("a world");
    for engine in [Engine::Reference, Engine::Fast] {
        let options = RunOptions { engine, ..DIGEST };
        let runs = run_branches(&[&scenario], 1, options, &Cancel::default());
        let counts = runs.expect("nobody stops it").remove(0).counts;
        let sent = counts.iter().find(|(name, _)| *name == "sent").expect("a count");
        assert_eq!(sent.1, 3, "{engine:?}: {counts:?}");
    }
}
