//! Protection schemes in runs: switching nodes, switching times, and packet delays after them. They
//! are compared with the GMPLS paper's Tables 7 and 8 (scenario D: a = 40, b = 1, c = 10 ms, d_l =
//! 20, d_p = 60 ms).

use optcp_runs::{Cancel, Run, RunOptions, Values, run_branches};
use optcp_scenario::Scenario;
use optcp_units::Time;

const WORLD: &str = include_str!("schemes.toml");
const AROUND: &str = "['L0', 'L6', 'L7', 'L3']";

fn run(settings: &[(&str, &str)]) -> Run {
    let settings: Vec<(String, String)> =
        settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let scenario = Scenario::parse(WORLD, "schemes.toml", &settings)
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let runs = run_branches(
        &[&scenario],
        1,
        RunOptions { digest: true, ..RunOptions::default() },
        &Cancel::default(),
    );
    runs.expect("not cancelled").remove(0)
}

fn with_scheme(scheme: &str) -> Run {
    match scheme {
        "local" => run(&[]),
        _ => run(&[("parameters.scheme", scheme), ("protection.0.backup", AROUND)]),
    }
}

/// Each switch as "5005 L1 data backup", in ms.
fn switches(run: &Run) -> Vec<String> {
    let one = |switch: &optcp_runs::Switched| {
        let ms = switch.at.saturating_since(Time::ZERO).as_ps() / 1_000_000_000;
        let what = if switch.acks { "acks" } else { "data" };
        let to = if switch.to_backup { "backup" } else { "working" };
        format!("{ms} {} {what} {to}", switch.node)
    };
    run.switches.iter().map(one).collect()
}

fn column<'r>(run: &'r Run, series: &str, name: &str) -> &'r Values {
    let series = run.series.iter().find(|one| one.name == series).expect("it is observed");
    &series.columns.iter().find(|one| one.name == name).expect("it has the column").values
}

/// Returns the one-way times, in milliseconds, of the first data packet sent in each second, and of
/// its ACK. Transmission times (5 or 10 us in all) are rounded off. `None` if one of them was lost.
fn one_way_ms(run: &Run, second: u64) -> Option<(u64, u64)> {
    let (Values::U64(at), Values::U8(event), Values::U32(seq)) = (
        column(run, "packets", "time_ps"),
        column(run, "packets", "event"),
        column(run, "packets", "seq"),
    ) else {
        panic!("columns of other types");
    };
    let from = second * 1_000_000_000_000;
    let first = |kind: u8, number: u32, from: u64| {
        let mut rows = at.iter().zip(event).zip(seq).map(|((&at, &e), &s)| (at, e, s));
        rows.find(|&(at, e, s)| at >= from && e == kind && s == number).map(|(at, ..)| at)
    };
    let (sent, number) = at
        .iter()
        .zip(event)
        .zip(seq)
        .find(|((at, event), _)| **at >= from && **event == SENT)
        .map(|((&at, _), &seq)| (at, seq))?;
    let arrived = first(ARRIVED, number, sent)?;
    let acknowledged = first(ACKNOWLEDGED, number + 1, arrived)?;
    const MS: u64 = 1_000_000_000;
    Some(((arrived - sent) / MS, (acknowledged - arrived) / MS))
}

/// Numbers of events in the series `packets`.
const SENT: u8 = 0;
const RESENT: u8 = 1;
const ARRIVED: u8 = 2;
const ACKNOWLEDGED: u8 = 3;

#[test]
fn switchovers_match_table_8() {
    let list = |scheme| switches(&with_scheme(scheme));
    let local = [
        "5005 L1 data backup",
        "5005 L2 acks backup",
        "10000 L1 data working",
        "10000 L2 acks working",
    ];
    assert_eq!(list("local"), local);
    // Signalled over a = 40 ms to L0, over c = 10 ms to L3.
    let path = [
        "5015 L3 acks backup",
        "5045 L0 data backup",
        "10010 L3 acks working",
        "10040 L0 data working",
    ];
    assert_eq!(list("path"), path);
    assert_eq!(list("loopback"), local);
    let variant = [&local[..2], &path[..2], &local[2..], &path[2..]].concat();
    assert_eq!(list("loopback-variant"), variant);
    // The dark needs c to L3 and a to L0; the request 111 ms more.
    let one_to_one = [
        "5126 L0 data backup",
        "5156 L3 acks backup",
        "10121 L0 data working",
        "10151 L3 acks working",
    ];
    assert_eq!(list("1:1"), one_to_one);
    // Notified after a or c; then 111 ms along the backup path and 111 ms back.
    let restoration = [
        "5237 L3 acks backup",
        "5267 L0 data backup",
        "10010 L3 acks working",
        "10040 L0 data working",
    ];
    assert_eq!(list("restoration"), restoration);
}

#[test]
fn packet_delays_match_table_8() {
    for (scheme, during) in [
        ("local", (73, 73)),
        ("path", (113, 113)),
        ("loopback", (113 + 80, 113 + 20)),
        ("loopback-variant", (113, 113)),
        ("1:1", (113, 113)),
        ("restoration", (113, 113)),
    ] {
        let run = with_scheme(scheme);
        assert_eq!(one_way_ms(&run, 3), Some((53, 53)), "{scheme} before");
        assert_eq!(one_way_ms(&run, 7), Some(during), "{scheme} during");
        assert_eq!(one_way_ms(&run, 12), Some((53, 53)), "{scheme} after");
    }
}

/// A sender that fills 4 Mb/s: 500 packets of 1000 B a second.
fn stream(settings: &[(&str, &str)]) -> Run {
    let mut all = vec![
        ("tcp.probe.window_limit", "400 packets"),
        ("links.0.rate", "4 Mbps"),
        ("links.0.queue", "unlimited"),
    ];
    all.extend(settings);
    run(&all)
}

/// Rows of `packets` with this event in (from, to] ms, as segment numbers.
fn rows(run: &Run, kind: u8, (from, to): (u64, u64)) -> Vec<u32> {
    let (Values::U64(at), Values::U8(event), Values::U32(seq)) = (
        column(run, "packets", "time_ps"),
        column(run, "packets", "event"),
        column(run, "packets", "seq"),
    ) else {
        panic!("columns of other types");
    };
    let within = |at: u64| at > from * 1_000_000_000 && at <= to * 1_000_000_000;
    let all = at.iter().zip(event).zip(seq);
    all.filter(|((at, event), _)| **event == kind && within(**at)).map(|(_, &seq)| seq).collect()
}

fn overtakings(arrived: &[u32]) -> usize {
    arrived.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

fn dropped(run: &Run, reason: &str) -> u64 {
    run.drops.iter().find(|(name, _)| *name == reason).map_or(0, |&(_, count)| count)
}

/// The restored path is 20 ms shorter, 10 packets: they are overtaken or discarded (and then
/// retransmitted). The exact rule discards from the first packet on, which leaves L1 at most 2 ms
/// after 10 s; the emulation from 10.001 s on.
#[test]
fn reversion_overtakes_with_merging_and_discards_otherwise() {
    let electrical = stream(&[]);
    let window = (10_000, 10_300);
    assert!(overtakings(&rows(&electrical, ARRIVED, window)) > 0);
    assert_eq!(dropped(&electrical, "not-selected"), 0);

    let optical = stream(&[("parameters.revert", "optical")]);
    // Both directions lose what is on the last 18 to 20 ms of the backup.
    let discarded = dropped(&optical, "not-selected");
    assert!((16..=20).contains(&discarded), "{discarded}");
    let resent = rows(&optical, RESENT, window).len();
    let first: Vec<u32> = rows(&optical, ARRIVED, (10_000, 10_100));
    assert_eq!(overtakings(&first), 0, "discarded, not overtaken");
    assert!(resent > 0);

    let emulated = stream(&[("parameters.revert", "optical-emulated")]);
    let cut = |run: &Run| {
        let (Values::U64(at), Values::U8(reason)) =
            (column(run, "drops", "time_ps"), column(run, "drops", "reason"))
        else {
            panic!("columns of other types");
        };
        let late = at.iter().zip(reason).filter(|(at, _)| **at >= 10_000_000_000_000);
        late.map(|(&at, &reason)| (at, reason)).collect::<Vec<_>>()
    };
    let drops = cut(&emulated);
    assert!((17..=22).contains(&drops.len()), "{drops:?}");
    assert!(drops.iter().all(|&(at, _)| at >= 10_001_000_000_000), "not before the first light");
}

/// 1+1 on a longer backup path loses nothing at the failure. When the loss of signal reaches L3,
/// copies of the lost packets are still in flight. The copies ahead of them, of the last 111 - 51 -
/// 5 = 55 ms or so, belong to packets that have already arrived. The reversion loses as much as the
/// backup path is longer, 60 ms.
#[test]
fn one_plus_one_is_lossless_at_the_failure() {
    let settings = [
        ("parameters.scheme", "1+1"),
        ("parameters.revert", "optical"),
        ("parameters.capacity", "reserved"),
        ("protection.0.backup", AROUND),
    ];
    let run = stream(&settings);
    let gaps = |window| {
        let arrived = rows(&run, ARRIVED, window);
        let mut highest = arrived[0];
        let (mut gaps, mut again) = (0, 0);
        for &seq in &arrived[1..] {
            match seq {
                _ if seq <= highest => again += 1,
                _ => gaps += seq - highest - 1,
            }
            highest = highest.max(seq);
        }
        (gaps, again)
    };
    let (missing, again) = gaps((4900, 5200));
    assert_eq!(missing, 0);
    assert!((25..=30).contains(&again), "{again} packets of 2 ms came twice");
    let (missing, _) = gaps((9_900, 10_100));
    assert!((25..=31).contains(&missing), "{missing} packets of 2 ms are missing");
    let count = |name| run.counts.iter().find(|(key, _)| *key == name).expect("a count").1;
    // Every packet that reached L0 or L3 has a copy, which is all but the last few.
    let (sent, copied) = (count("sent"), count("copied"));
    assert!(copied <= sent && sent - copied < 500, "{copied} of {sent}");
    let expected = [
        "5015 L3 data backup",
        "5045 L0 acks backup",
        "10010 L3 data working",
        "10040 L0 acks working",
    ];
    assert_eq!(switches(&run), expected);
}

/// A circuit has the propagation of its links, and fails with any of them.
#[test]
fn reserved_capacity_is_a_circuit_over_its_links() {
    let reserved = [("parameters.capacity", "reserved")];
    assert_eq!(one_way_ms(&run(&reserved), 7), Some((73, 73)));
    // A fault of the backup sends packets back to the working path, which is down: none arrives.
    let mut both = reserved.to_vec();
    both.extend([("failures.0.link", "['L4', 'L5']"), ("failures.0.at", "4 s")]);
    let scenario = Scenario::parse(WORLD, "schemes.toml", &[]).expect("it is right");
    assert_eq!(scenario.plan().links.iter().filter(|link| !link.over.is_empty()).count(), 0);
    let alone = run(&both);
    assert!(alone.switches.is_empty(), "the working path did not fail");
    assert_eq!(one_way_ms(&alone, 7), Some((53, 53)));
}

/// Hellos every 10 ms, three missing: between 20 and 30 ms after the failure.
#[test]
fn hellos_are_missed_within_the_detection_time() {
    let text = WORLD.replace("switch_delay = \"5 ms\"", "hello = { interval = \"10 ms\" }");
    let scenario = Scenario::parse(&text, "schemes.toml", &[]).expect("it is right");
    for seed in 1..20 {
        let run = run_branches(&[&scenario], seed, RunOptions::default(), &Cancel::default());
        for switch in &run.expect("not cancelled")[0].switches {
            let ms = switch.at.saturating_since(Time::ZERO).as_ps() / 1_000_000_000;
            let since = if ms < 10_000 { (5020, 5030) } else { (10_000, 10_010) };
            assert!((since.0..=since.1).contains(&ms), "{switch:?} with seed {seed}");
        }
    }
}

/// A failing node takes down all of its links: L1 detects L2's failure as a failure of L1-L2.
#[test]
fn a_node_failure_is_protected_around_the_node() {
    let text = WORLD
        .replace("[[failures]]\nlink = [\"L1\", \"L2\"]", "[[failures]]\nnode = \"L2\"")
        .replace("link = [\"L1\", \"L2\"]\nbackup", "backup");
    let settings = [
        ("parameters.scheme".to_owned(), "path".to_owned()),
        ("protection.0.backup".to_owned(), AROUND.to_owned()),
    ];
    let scenario = Scenario::parse(&text, "schemes.toml", &settings)
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    assert_eq!(scenario.plan().failures.len(), 3, "L1-L2, L2-L3, L5-L2");
    let run = run_branches(&[&scenario], 1, RunOptions::default(), &Cancel::default());
    let run = &run.expect("not cancelled")[0];
    // Data: L1 tells L0, 40 ms. ACKs: L3 lies beside the fault.
    assert_eq!(switches(run)[..2], ["5005 L3 acks backup", "5045 L0 data backup"]);
    assert_eq!(one_way_ms(run, 7), Some((113, 113)));
}

/// Branches that differ in scheme, reversion, capacity or length of the backup path equal separate
/// runs.
#[test]
fn a_shared_warm_up_changes_nothing() {
    let settings = |list: &[(&str, &str)]| {
        let mut all = vec![("tcp.probe.window_limit", "400 packets"), ("links.0.rate", "4 Mbps")];
        all.extend(list);
        let all: Vec<_> = all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Scenario::parse(WORLD, "schemes.toml", &all).expect("it is right")
    };
    let around = ("protection.0.backup", AROUND);
    let branches = [
        settings(&[]),
        settings(&[("links.3.delay", "20 ms")]),
        settings(&[("links.3.rate", "1 Gbps"), ("protection.0.switch_delay", "100 ms")]),
        settings(&[("parameters.scheme", "path"), around]),
        settings(&[("parameters.scheme", "loopback-variant"), around]),
        settings(&[("parameters.revert", "optical")]),
        settings(&[("parameters.revert", "optical-emulated")]),
        settings(&[("parameters.capacity", "reserved")]),
        settings(&[("parameters.scheme", "1+1"), ("parameters.revert", "optical"), around]),
    ];
    let branches: Vec<&Scenario> = branches.iter().collect();
    let run = |fork| {
        run_branches(
            &branches,
            1,
            RunOptions { fork, digest: true, ..RunOptions::default() },
            &Cancel::default(),
        )
        .unwrap()
    };
    let (shared, alone) = (run(true), run(false));
    for (index, (a, b)) in shared.iter().zip(&alone).enumerate() {
        assert_eq!(a.records_sha256, b.records_sha256, "branch {index}");
        assert_eq!(a.metrics_sha256, b.metrics_sha256, "branch {index}");
    }
    // Length, rate and scheme of a backup that nothing has come to do not keep branches apart.
    let forked = shared.iter().filter(|run| run.forked_at.is_some()).count();
    let at: Vec<_> = shared.iter().map(|run| run.forked_at).collect();
    assert!(forked >= 6, "{at:?}");
}

/// Every link of the path fails in turn. Looped packets pass the links between the failure and the
/// end of the loop twice. This takes 0, 40 or 41 ms for data, 11, 10 or 0 ms for ACKs.
#[test]
fn every_link_of_the_path_is_protected_from_end_to_end() {
    let text = WORLD.replace("link = [\"L1\", \"L2\"]\nbackup", "backup");
    let links = [("['L0', 'L1']", 0, 11), ("['L1', 'L2']", 40, 10), ("['L2', 'L3']", 41, 0)];
    for scheme in ["path", "loopback", "loopback-variant", "1+1", "1:1", "restoration", "segment"] {
        for (link, to_data_end, to_ack_end) in links {
            let loops = u64::from(scheme == "loopback");
            let settings = [
                ("parameters.scheme", scheme),
                ("parameters.revert", if scheme == "1+1" { "optical" } else { "electrical" }),
                ("protection.0.backup", AROUND),
                ("failures.0.link", link),
            ];
            let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
            let scenario = Scenario::parse(&text, "schemes.toml", &settings).expect("it is right");
            let run = run_branches(&[&scenario], 1, RunOptions::default(), &Cancel::default());
            let run = &run.expect("not cancelled")[0];
            let during = (113 + 2 * loops * to_data_end, 113 + 2 * loops * to_ack_end);
            assert_eq!(one_way_ms(run, 7), Some(during), "{scheme}, {link}");
            assert_eq!(one_way_ms(run, 12), Some((53, 53)), "{scheme}, {link} repaired");
        }
    }
}

/// Links of Fig. 17 in both directions. Local protection needs three for one link; path protection
/// needs three for the three of the path. A loop also needs the reverse path from each failure.
/// These are L0-L1 and L1-L2 for the data, and L2-L3 and L1-L2 for the ACKs.
#[test]
fn spare_capacity_is_counted_by_directions_of_links() {
    let spare = |scheme: &str| {
        let mut text = WORLD.to_owned();
        let mut settings = vec![("parameters.scheme".to_owned(), scheme.to_owned())];
        if scheme != "local" {
            text = text.replace("link = [\"L1\", \"L2\"]\nbackup", "backup");
            settings.push(("protection.0.backup".to_owned(), AROUND.to_owned()));
        }
        let scenario = Scenario::parse(&text, "schemes.toml", &settings).expect("it is right");
        let [one] = &scenario.spare()[..] else { panic!("one protection") };
        (one.working, one.spare)
    };
    assert_eq!(spare("local"), (2, 6));
    for scheme in ["path", "1:1", "restoration"] {
        assert_eq!(spare(scheme), (6, 6), "{scheme}");
    }
    for scheme in ["loopback", "loopback-variant"] {
        assert_eq!(spare(scheme), (6, 6 + 4), "{scheme}");
    }
}
