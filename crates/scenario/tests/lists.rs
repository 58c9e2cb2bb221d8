//! Flows listed in a file; sizes, paths and messages by hand.

use optcp_scenario::plan::Spread;
use optcp_scenario::{FlowList, Library, ReferenceResolver, Scenario};
use optcp_units::Duration;

/// A square with a short side A - B - C and a long one A - D - C.
const NETWORK: &str = r#"
stop = "10 s"
[[nodes]]
names = ["A", "B", "C", "D"]
[[links]]
chains = [["A", "B", "C"]]
rate = "10 Mbps"
delay = "1 ms"
queue = "50 packets"
[[links]]
chains = [["A", "D", "C"]]
rate = "10 Mbps"
delay = "1 ms"
queue = "50 packets"
cost = 5
"#;

const ENTRY: &str = r#"
[[flows]]
group = "web"
list = "flows.csv"
path = "shortest"
tcp = "linux-6"
"#;

const SOURCES: &str = r#"
[[traffic]]
group = "calls"
list = "flows.csv"
path = "shortest"
process = "constant"
rate = "1 Mbps"
size = "1028 B"
"#;

/// Rows: start in milliseconds, source, destination, bytes and group. Places of UDP flows among them.
struct Listed(&'static [Row], &'static [usize]);

impl ReferenceResolver for Listed {
    fn graph(&self, _: optcp_scenario::Reference<'_>) -> Result<optcp_scenario::Graph, String> {
        Err("no topology here".to_owned())
    }
    fn flows(&self, _: &str) -> Result<FlowList, String> {
        let mut list = FlowList::default();
        for (line, &(ms, from, to, bytes, group)) in (2..).zip(self.0) {
            let mut index = |name: &str| {
                let known = list.names.iter().position(|known| known == name);
                let index = known.unwrap_or(list.names.len());
                if known.is_none() {
                    list.names.push(name.to_owned());
                }
                u32::try_from(index).expect("few names")
            };
            let (from, to) = (index(from), index(to));
            if !group.is_empty() {
                list.groups.push(index(group));
            }
            list.from.push(from);
            list.to.push(to);
            list.lines.push(line);
            list.starts_ps.push(Duration::from_ms(ms).as_ps());
            list.bytes.push(bytes);
        }
        if !self.1.is_empty() {
            list.udp = (0..self.0.len()).map(|place| self.1.contains(&place)).collect();
        }
        Ok(list)
    }
}

type Row = (u64, &'static str, &'static str, u64, &'static str);

fn read(rows: &'static [Row], more: &str) -> Result<Scenario, String> {
    read_with(rows, &[], more)
}

fn read_with(rows: &'static [Row], udp: &'static [usize], more: &str) -> Result<Scenario, String> {
    let library = Library::new(Listed(rows, udp));
    Scenario::parse_with(&format!("{NETWORK}{more}"), "net.toml", &[], &library)
        .map_err(|diagnostic| diagnostic.render(false))
}

/// Name, path, start in milliseconds and segments of each flow.
fn flows(scenario: &Scenario) -> Vec<(String, String, u64, u32)> {
    let plan = scenario.plan();
    let one = |flow: &optcp_scenario::plan::FlowPlan| {
        let Spread::Fixed(start) = flow.start else { panic!("a drawn start") };
        let nodes: String = flow.path.iter().map(|&node| plan.nodes[node].as_str()).collect();
        (flow.name.clone(), nodes, start.as_ps() / 1_000_000_000, flow.size.expect("a size"))
    };
    plan.flows.iter().map(one).collect()
}

/// Segments of `linux-6` have 1448 B: 1448 B are one, 1449 B are two.
#[test]
fn rows_are_flows_by_pair_and_start() {
    let rows: &[Row] =
        &[(700, "C", "A", 14480, ""), (300, "A", "C", 1449, ""), (200, "A", "C", 1448, "")];
    let found = flows(&read(rows, ENTRY).unwrap());
    let expected =
        [("web/A-C/0", "ABC", 200, 1), ("web/A-C/1", "ABC", 300, 2), ("web/C-A/0", "CBA", 700, 10)];
    let expected =
        expected.map(|(name, path, ms, segments)| (name.to_owned(), path.to_owned(), ms, segments));
    assert_eq!(found, expected);
}

#[test]
fn digest_depends_on_starts_and_sizes_but_not_on_the_order_of_rows() {
    let digest = |rows| read(rows, ENTRY).unwrap().sha256().to_owned();
    let first = digest(&[(1, "A", "C", 1448, ""), (2, "A", "C", 2896, ""), (3, "B", "C", 5, "")]);
    let turned = digest(&[(3, "B", "C", 5, ""), (2, "A", "C", 2896, ""), (1, "A", "C", 1448, "")]);
    let later = digest(&[(1, "A", "C", 1448, ""), (2, "A", "C", 2896, ""), (4, "B", "C", 5, "")]);
    let larger = digest(&[(1, "A", "C", 1448, ""), (2, "A", "C", 2897, ""), (3, "B", "C", 5, "")]);
    assert_eq!(first, turned);
    assert_ne!(first, later);
    assert_ne!(first, larger);
}

#[test]
fn entry_takes_the_rows_of_its_group() {
    let rows: &[Row] = &[(1, "A", "C", 1448, "web"), (2, "A", "B", 1448, "mail")];
    let other = ENTRY.replace("web", "mail").replace("linux-6", "rfc");
    let found = flows(&read(rows, &format!("{ENTRY}{other}")).unwrap());
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["web/A-C/0", "mail/A-B/0"]);
    let message = read(rows, ENTRY).unwrap_err();
    assert!(message.contains("line 3: column `group`: unknown group `mail`"), "{message}");
}

/// Two of twelve rows have less than a segment, a sixth; `stop` itself is too late.
#[test]
fn rows_after_stop_and_short_rows_are_counted_in_warnings() {
    const FULL: Row = (1, "A", "C", 1448, "");
    let rows: &[Row] = &[
        (10_000, "A", "C", 1448, ""),
        (1, "A", "C", 1, ""),
        (1, "A", "C", 1447, ""),
        FULL,
        FULL,
        FULL,
        FULL,
        FULL,
        FULL,
        FULL,
        FULL,
        FULL,
        FULL,
    ];
    let scenario = read(rows, ENTRY).unwrap();
    assert_eq!(scenario.plan().flows.len(), 12);
    let warnings = scenario.warnings();
    let of = |kind: &str| warnings.iter().find(|one| one.kind.name() == kind).unwrap();
    let late = &of("no-effect").message;
    assert_eq!(late, "left out: 1 row of `flows.csv` with a start at 10 s or later");
    let short = &of("whole-segments").message;
    assert!(short.starts_with("2 of 12 flows with less data than a segment of 1.45 kB"), "{short}");
}

#[test]
fn invalid_rows_are_named_by_file_line_and_column() {
    let cases: [(&'static [Row], &str); 5] = [
        (&[(1, "A", "E", 5, "")], "`flows.csv`, line 2: column `to`: unknown node `E`"),
        (&[(1, "A", "B", 5, ""), (1, "E", "B", 5, "")], "line 3: column `from`: unknown node `E`"),
        (&[(1, "A", "A", 5, "")], "line 2: flow from `A` to itself"),
        (&[(1, "A", "B", 0, "")], "line 2: column `bytes`: 0"),
        (&[(10_000, "A", "B", 5, "")], "all flows of `flows.csv` start at 10 s or later"),
    ];
    for (rows, expected) in cases {
        let message = read(rows, ENTRY).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn keys_that_a_list_replaces_are_refused() {
    for key in
        ["from = \"A\"", "size = \"1 MB\"", "start = \"1 s\"", "load = 0.5", "per_source = 2"]
    {
        let message = read(&[(1, "A", "C", 5, "")], &format!("{ENTRY}{key}\n")).unwrap_err();
        let name = key.split(' ').next().unwrap();
        assert!(message.contains(&format!("`{name}` with `list`")), "{message}");
    }
    let routed = ENTRY.replace("path = \"shortest\"\n", "");
    let message = read(&[(1, "A", "C", 5, "")], &routed).unwrap_err();
    assert!(message.contains("flows without a `path` need routing"), "{message}");
}

/// Name, path, start in milliseconds and bytes of each source of datagrams.
fn sources(scenario: &Scenario) -> Vec<(String, String, u64, u64)> {
    let plan = scenario.plan();
    let source = |flow: &optcp_scenario::plan::FlowPlan| {
        let Spread::Fixed(start) = flow.start else { panic!("a drawn start") };
        let nodes: String = flow.path.iter().map(|&node| plan.nodes[node].as_str()).collect();
        Some((flow.name.clone(), nodes, start.as_ps() / 1_000_000_000, flow.datagram_bytes?))
    };
    plan.flows.iter().filter_map(source).collect()
}

#[test]
fn udp_rows_are_sources_and_tcp_rows_are_flows() {
    let rows: &[Row] = &[
        (700, "C", "A", 300, ""),
        (300, "A", "C", 14480, ""),
        (200, "C", "A", 5, ""),
        (100, "A", "B", 1448, ""),
    ];
    let scenario = read_with(rows, &[0, 2], &format!("{ENTRY}{SOURCES}")).unwrap();
    let expected = [("calls/C-A/0", "CBA", 200, 5), ("calls/C-A/1", "CBA", 700, 300)];
    let expected =
        expected.map(|(name, path, ms, bytes)| (name.to_owned(), path.to_owned(), ms, bytes));
    assert_eq!(sources(&scenario), expected);
    let names: Vec<&str> = scenario.plan().flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["web/A-B/0", "web/A-C/0", "calls/C-A/0", "calls/C-A/1"]);
}

#[test]
fn digest_depends_on_starts_and_bytes_of_sources() {
    let digest = |rows, udp| read_with(rows, udp, SOURCES).unwrap().sha256().to_owned();
    let first = digest(&[(1, "A", "C", 10, ""), (2, "A", "C", 20, "")], &[0, 1]);
    assert_eq!(first, digest(&[(2, "A", "C", 20, ""), (1, "A", "C", 10, "")], &[0, 1]));
    assert_ne!(first, digest(&[(1, "A", "C", 10, ""), (2, "A", "C", 21, "")], &[0, 1]));
    assert_ne!(first, digest(&[(1, "A", "C", 10, ""), (3, "A", "C", 20, "")], &[0, 1]));
    let alone: &[Row] = &[(1, "A", "C", 10, "")];
    assert_ne!(digest(alone, &[0]), digest(&[(1, "A", "C", 11, "")], &[0]));
}

#[test]
fn each_row_needs_an_entry_of_its_protocol_and_group() {
    let both: &[Row] = &[(1, "A", "C", 5000, ""), (2, "A", "B", 5, "")];
    let grouped: &[Row] = &[(1, "A", "C", 5000, "web"), (2, "A", "B", 5, "call")];
    let two = format!("{ENTRY}{SOURCES}");
    let cases: [(&'static [Row], &'static [usize], &str, &str); 5] = [
        (both, &[1], ENTRY, "`flows.csv`, line 3: a UDP flow, and no `[[traffic]]` has this list"),
        (both, &[1], SOURCES, "`flows.csv`, line 2: a TCP flow, and no `[[flows]]` has this list"),
        (both, &[], SOURCES, "`flows.csv`, line 2: a TCP flow, and no `[[flows]]` has this list"),
        (grouped, &[1], &two, "line 3: column `group`: unknown group `call`"),
        (
            &[(1, "A", "C", 5, ""), (1, "A", "C", 0, "")],
            &[0, 1],
            SOURCES,
            "line 3: column `bytes`: 0",
        ),
    ];
    for (rows, udp, entries, expected) in cases {
        let message = read_with(rows, udp, entries).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn keys_that_do_not_fit_sources_of_a_list_are_refused() {
    let rows: &[Row] = &[(1, "A", "C", 5, "")];
    for (key, expected) in [
        ("until = \"2 s\"", "`until` with `list`"),
        ("start = \"2 s\"", "`start` with `list`"),
        ("pairs = { among = \"all\" }", "`pairs` with `list`"),
    ] {
        let message = read_with(rows, &[0], &format!("{SOURCES}{key}\n")).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    for (old, new, expected) in [
        ("1028 B", "28 B", "must be above 28 B, the headers of UDP and IPv4"),
        ("\"constant\"", "\"on-off\"", "process `on-off` with `list`"),
        (
            "size = \"1028 B\"",
            "sizes = { kind = \"exponential\", mean = \"100 B\", smallest = \"27 B\" }",
            "at least 28 B, the headers of UDP and IPv4",
        ),
    ] {
        let message = read_with(rows, &[0], &SOURCES.replace(old, new)).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}
