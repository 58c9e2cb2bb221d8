//! Scheduled changes, computed by hand.

use std::collections::BTreeMap;

use optcp_net::Chance;
use optcp_scenario::plan::{ChangePlan, Plan, SchedulePlan};
use optcp_scenario::{Graph, Library, Reference, ReferenceResolver, Rows, Scenario, Values};
use optcp_units::{Duration, Time};

const WORLD: &str = r#"
stop = "1 s"
[[nodes]]
names = ["tor", "core"]
[[nodes]]
group = "hosts"
count = 3
[[links]]
chains = [["tor", "hosts"], ["tor", "core"]]
rate = "10 Mbps"
delay = "1 ms"
queue = "50 packets"
[[schedules]]
changes = [{ at = "5 ms", "#;

/// Returns the ports that a change affects, in order.
fn changed(change: &str, expected: &[ChangePlan]) -> Vec<String> {
    let text = format!("{WORLD}{change} }}]");
    let scenario = Scenario::parse(&text, "changes.toml", &[])
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let plan = scenario.plan();
    let changes = &plan.schedules[0].steps[0].changes;
    assert!(changes.iter().all(|(_, change)| expected.contains(change)), "{changes:?}");
    changes.iter().map(|&(hop, _)| plan.port_name(hop)).collect()
}

#[test]
fn change_applies_to_every_named_link() {
    let set = [ChangePlan::Ece(true)];
    let forward = r#"link = ["tor", "hosts"], direction = "forward", ece = "set""#;
    assert_eq!(changed(forward, &set), ["tor->hosts0", "tor->hosts1", "tor->hosts2"]);
    let kept = r#"link = ["hosts", "tor"], direction = "backward", ece = "kept""#;
    let ports = ["tor->hosts0", "tor->hosts1", "tor->hosts2"];
    assert_eq!(changed(kept, &[ChangePlan::Ece(false)]), ports);
    let both = r#"link = ["tor", "core"], transmitter = "holds", ece = "set""#;
    let ports = ["tor->core", "tor->core", "core->tor", "core->tor"];
    assert_eq!(changed(both, &[ChangePlan::Sends(false), ChangePlan::Ece(true)]), ports);
}

const RACKS: &str = r#"
stop = "1 ms"
[[nodes]]
group = "T"
count = 4
[[links]]
mesh = "T"
rate = "10 Gbps"
delay = "1 us"
queue = "50 packets"
"#;

fn plan(text: &str) -> Plan {
    let scenario = Scenario::parse(text, "changes.toml", &[])
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    scenario.plan().clone()
}

/// Returns the sending periods of each link in a cycle, in us, and the length of the cycle.
fn days(plan: &Plan, schedule: &SchedulePlan) -> (BTreeMap<String, Vec<(u64, bool)>>, u64) {
    let mut found: BTreeMap<String, Vec<(u64, bool)>> = BTreeMap::new();
    for step in &schedule.steps {
        for &((link, direction), change) in &step.changes {
            let ChangePlan::Sends(sends) = change else { panic!("{change:?}") };
            let at = (step.after.as_ps() / 1_000_000, sends);
            let changes = found.entry(plan.links[link].name.clone()).or_default();
            match direction {
                0 => changes.push(at),
                _ => assert_eq!(changes.last(), Some(&at), "both directions are alike"),
            }
        }
    }
    (found, schedule.period.map_or(0, |period| period.as_ps() / 1_000_000))
}

/// Four members. Matching 0 joins 1 and 3 (0 and 2 wait), 1 joins 0-1 and 2-3, 2 joins 0-2 (1 and 3
/// wait). Matching 3 joins 0-3 and 1-2.
#[test]
fn round_robin_connects_each_pair_once_per_cycle() {
    let text = format!(
        "{RACKS}[[schedules]]\ngenerator = {{ kind = \"round-robin\", among = \"T\", day = \"90 us\", night = \"10 us\" }}\n"
    );
    let plan = plan(&text);
    let [once, cycle] = &plan.schedules[..] else { panic!("{:?}", plan.schedules) };
    let (found, length) = days(&plan, cycle);
    assert_eq!(length, 400);
    let day = |at| vec![(at, true), (at + 90, false)];
    let expected = [
        ("T1-T3", 0),
        ("T0-T1", 100),
        ("T2-T3", 100),
        ("T0-T2", 200),
        ("T0-T3", 300),
        ("T1-T2", 300),
    ];
    assert_eq!(found, expected.map(|(link, at)| (link.to_owned(), day(at))).into());
    let (first, _) = days(&plan, once);
    let sending: Vec<_> =
        first.iter().filter(|(_, at)| at[0] == (0, true)).map(|(link, _)| link).collect();
    assert_eq!(sending, ["T1-T3"]);
    assert_eq!(first.len(), 6);
}

/// The first of two switches has the matchings 0 and 2, the second 1 and 3, half a slot later. Its
/// last day lasts into the next cycle.
#[test]
fn staggered_rotor_switches_reconfigure_in_turn() {
    let text = format!(
        "{RACKS}[[schedules]]\ngenerator = {{ kind = \"rotor\", among = \"T\", switches = 2, day = \"90 us\", night = \"10 us\", phases = \"staggered\" }}\n"
    );
    let plan = plan(&text);
    let (found, length) = days(&plan, &plan.schedules[1]);
    assert_eq!(length, 200);
    let day = |at| vec![(at, true), (at + 90, false)];
    let later = vec![(40, false), (150, true)];
    let expected = [
        ("T1-T3", day(0)),
        ("T0-T2", day(100)),
        ("T0-T1", day(50)),
        ("T2-T3", day(50)),
        ("T0-T3", later.clone()),
        ("T1-T2", later),
    ];
    assert_eq!(found, expected.map(|(link, days)| (link.to_owned(), days)).into());
    let (first, _) = days(&plan, &plan.schedules[0]);
    let sending: Vec<_> =
        first.iter().filter(|(_, at)| at[0] == (0, true)).map(|(link, _)| link).collect();
    assert_eq!(sending, ["T0-T3", "T1-T2", "T1-T3"]);
}

#[test]
fn scheduled_state_causes_one_failure_per_period() {
    let changes = r#"[[schedules]]
period = "400 us"
changes = [
  { at = "100 us", link = "T0-T1", state = "down" },
  { at = "150 us", link = "T0-T1", direction = "forward", state = "up" },
  { at = "200 us", link = "T0-T1", state = "up", rate = "1 Gbps" },
]
"#;
    let plan = plan(&format!("{RACKS}{changes}"));
    let us = |us| Time::ZERO + Duration::from_us(us);
    let found = plan.failures.iter().map(|one| (one.at, one.repair, one.directions));
    let mut found: Vec<_> = found.collect();
    found.sort();
    let mut expected = Vec::new();
    for period in [0, 400] {
        expected.push((us(period + 100), Some(us(period + 150)), [true, false]));
        expected.push((us(period + 100), Some(us(period + 200)), [false, true]));
    }
    // The run ends when it would work again.
    expected.push((us(900), None, [false, true]));
    expected.push((us(900), Some(us(950)), [true, false]));
    assert_eq!(found, expected);
    assert_eq!(plan.schedules.len(), 1);
    assert_eq!(plan.schedules[0].steps.len(), 1, "the rate alone changes by schedule");
}

/// Slot 0 has the circuits 1-3 of switch 0, and 0-1 and 2-3 of switch 1; slot 1 has 0-2, and 0-3 and 1-2.
#[test]
fn queues_use_the_member_with_a_circuit() {
    let text = format!(
        "{RACKS}[[voqs]]\nname = \"q\"\nmesh = \"T\"\nserved = \"none\"\nqueue = \"50 packets\"\n[[schedules]]\ngenerator = {{ kind = \"rotor\", among = \"T\", switches = 2, day = \"90 us\", night = \"10 us\", two_hops = true }}\n"
    );
    let plan = plan(&text);
    let mut served: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    for step in &plan.schedules[1].steps {
        for &(hop, change) in &step.changes {
            let ChangePlan::Serve(way) = change else { continue };
            let ways = &plan.links[hop.0].voq.as_ref().expect("only queues are served").ways;
            let way = way.map_or("none", |way| &ways[usize::from(way)].name);
            let at = step.after.as_ps() / 1_000_000;
            served.entry(plan.port_name(hop)).or_default().push((at, way.to_owned()));
        }
    }
    let is = |port: &str, expected: &[(u64, &str)]| {
        let expected: Vec<_> = expected.iter().map(|&(at, way)| (at, way.to_owned())).collect();
        assert_eq!(served[port], expected, "{port}");
    };
    is("q-T0-T1:T0->T1", &[(0, "direct"), (90, "none"), (100, "T3"), (190, "none")]);
    is("q-T0-T1:T1->T0", &[(0, "direct"), (90, "none"), (100, "T2"), (190, "none")]);
    // Switch 0 joins member 0 to itself in slot 0.
    is("q-T0-T2:T0->T2", &[(0, "none"), (100, "direct"), (190, "none")]);
    is("q-T0-T3:T0->T3", &[(0, "T1"), (90, "none"), (100, "direct"), (190, "none")]);
    assert_eq!(served.len(), 12);
    let sends = plan.schedules[1].steps[0].changes.iter();
    let links = sends.filter(|(_, change)| *change == ChangePlan::Sends(true));
    let links: Vec<String> = links.map(|&(hop, _)| plan.port_name(hop)).collect();
    assert_eq!(links, ["T1->T3", "T3->T1", "T0->T1", "T1->T0", "T2->T3", "T3->T2"]);
}

struct Trace;

impl ReferenceResolver for Trace {
    fn graph(&self, _: Reference<'_>) -> Result<Graph, String> {
        Err("no topology here".to_owned())
    }

    fn table(&self, file: &str) -> Result<Rows, String> {
        let row = |line, fields: &[(&str, &str)]| {
            let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
            (line, fields.iter().map(own).collect())
        };
        let delay = if file == "bad.csv" { "12 MHz" } else { "3 us" };
        Ok(vec![
            row(2, &[("at", "10 us"), ("link", "T0-T1"), ("delay", "2 us")]),
            row(
                4,
                &[("at", "20 us"), ("link", "T0-T1"), ("delay", delay), ("direction", "forward")],
            ),
        ])
    }
}

#[test]
fn changes_are_read_from_a_file() {
    let read = |file: &str| {
        let text = format!("{RACKS}[[schedules]]\nfile = \"{file}\"\n");
        Scenario::parse_with(&text, "changes.toml", &[], &Library::new(Trace))
    };
    let scenario = read("trace.csv").unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let steps = &scenario.plan().schedules[0].steps;
    let delay = |us| ChangePlan::Delay(Duration::from_us(us));
    assert_eq!(steps[0].changes, [((0, 0), delay(2)), ((0, 1), delay(2))]);
    assert_eq!(steps[1].changes, [((0, 0), delay(3))]);
    let problem = read("bad.csv").expect_err("a frequency is no delay").render(false);
    assert!(problem.contains("`bad.csv`, line 4: "), "{problem}");
    assert!(problem.contains("changes.toml:12"), "{problem}");
}

struct Opportunities;

impl ReferenceResolver for Opportunities {
    fn graph(&self, _: Reference<'_>) -> Result<Graph, String> {
        Err("no topology here".to_owned())
    }

    fn values(&self, file: &str) -> Result<Values, String> {
        match file {
            "missing.trace" => Err(format!("cannot read `{file}`: No such file or directory")),
            "busy.trace" => Ok((1..=834).map(|line| (line, "1".to_owned())).collect()),
            _ => Ok((1..).zip(file.split_whitespace().map(str::to_owned)).collect()),
        }
    }
}

fn traced(rest: &str) -> Result<Scenario, String> {
    let text = format!("{RACKS}[[schedules]]\n{rest}\n");
    Scenario::parse_with(&text, "changes.toml", &[], &Library::new(Opportunities))
        .map_err(|problem| problem.render(false))
}

/// 1500 B take 1.2 us at 10 Gb/s; opportunities at 0 ms are also those at the end of each round.
#[test]
fn transmitter_sends_only_at_trace_opportunities() {
    let of = r#"form = "mahimahi", file = "0 1 3 3", link = "T0-T1", direction = "backward""#;
    let scenario = traced(&of.replace(", ", "\n")).unwrap_or_else(|problem| panic!("{problem}"));
    let [once, rounds] = &scenario.plan().schedules[..] else { panic!("two schedules") };
    assert_eq!((once.start, once.period), (Time::ZERO, None));
    assert_eq!(rounds.start, Time::ZERO + Duration::from_ms(1));
    assert_eq!(rounds.period, Some(Duration::from_ms(3)));
    let steps = |schedule: &SchedulePlan| {
        let steps = schedule.steps.iter().map(|step| {
            let [((0, 1), ChangePlan::Sends(sends))] = step.changes[..] else {
                panic!("{:?}", step.changes)
            };
            (step.after.as_ps(), sends)
        });
        steps.collect::<Vec<_>>()
    };
    assert_eq!(steps(once), [(0, true), (1, false)]);
    let at = [0, 2_000_000_000, 2_001_200_000, 2_002_400_000];
    let expected: Vec<_> = at.iter().flat_map(|&ps| [(ps, true), (ps + 1, false)]).collect();
    assert_eq!(steps(rounds), expected);
}

#[test]
fn invalid_traces_are_rejected() {
    let mahimahi = "form = \"mahimahi\"\n";
    let link = "link = \"T0-T1\"\n";
    for (rest, said) in [
        (
            format!("{mahimahi}{link}file = \"missing.trace\""),
            "cannot read `missing.trace`: No such",
        ),
        (format!("{mahimahi}{link}file = \"\""), "has no time after 0 ms"),
        (format!("{mahimahi}{link}file = \"0 0\""), "`0 0` has no time after 0 ms"),
        (format!("{mahimahi}{link}file = \"1 x\""), "line 2: `x` is not a time in ms"),
        (format!("{mahimahi}{link}file = \"1 -2\""), "line 2: `-2` is not a time in ms"),
        (format!("{mahimahi}{link}file = \"9999999999\""), "`9999999999` is not a time"),
        (format!("{mahimahi}{link}file = \"3 2\""), "`3 2`, line 2: 2 ms after 3 ms"),
        (
            format!("{mahimahi}{link}file = \"busy.trace\""),
            "has 834 packets of 1500 B in one millisecond",
        ),
        (format!("{mahimahi}{link}"), "a mahimahi trace needs a file and a link"),
        (format!("{mahimahi}file = \"1\""), "a mahimahi trace needs a file and a link"),
        (
            format!("{mahimahi}{link}file = \"1\"\nperiod = \"1 ms\""),
            "a mahimahi trace defines all changes",
        ),
        (format!("{mahimahi}file = \"1\"\nlink = \"T0-T9\""), "T0-T9"),
        ("form = \"changes\"\nchanges = []".to_owned(), "`form` is not used here"),
        (format!("{link}file = \"1\""), "`link` is not used here"),
        ("file = \"1\"\ndirection = \"both\"".to_owned(), "`direction` is not used here"),
        ("file = \"1\"\nform = \"mahimah\"".to_owned(), "mahimahi"),
    ] {
        let problem = traced(&rest).map(drop).expect_err(&rest);
        assert!(problem.contains(said), "{problem}");
    }
}

/// Three leaves and two spines: 3 x 2 links, from each leaf to each spine.
#[test]
fn mesh_of_two_groups_links_each_member_with_each_of_the_other() {
    let nodes = "[[nodes]]\ngroup = 'leaf'\ncount = 3\n[[nodes]]\ngroup = 'spine'\ncount = 2\n";
    let links = "[[links]]\nmesh = ['leaf', 'spine']\nrate = '1 Gbps'\ndelay = '1 us'\nqueue = '9 packets'\n";
    let plan = plan(&format!("stop = '1 s'\n{nodes}{links}"));
    let names: Vec<&str> = plan.links.iter().map(|link| link.name.as_str()).collect();
    let expected = [
        "leaf0-spine0",
        "leaf0-spine1",
        "leaf1-spine0",
        "leaf1-spine1",
        "leaf2-spine0",
        "leaf2-spine1",
    ];
    assert_eq!(names, expected);
}

/// A loss applies to both directions, unless one is given.
#[test]
fn loss_is_a_change_of_each_direction() {
    let loss = [ChangePlan::Loss(Chance::new(0.25))];
    let both = changed(r#"link = ["tor", "core"], loss = 0.25"#, &loss);
    assert_eq!(both, ["tor->core", "core->tor"]);
    let one = changed(r#"link = ["tor", "core"], direction = "forward", loss = 0.25"#, &loss);
    assert_eq!(one, ["tor->core"]);
}
