//! Rates of reserved circuits, their use of spare capacity, and warnings about excess; computed by hand.

use optcp_scenario::{Scenario, WarningKind};

/// From `w` to `e` over `n`, with a second path over `s`. From `w` to `x` over `n`, with a second
/// path over `t`. Four hosts at `w`.
const NETWORK: &str = r#"
stop = "9 s"
nodes = [{ group = "A", count = 4 }, { names = ["w", "n", "s", "t", "e", "x"] }, { group = "B", count = 4 }, { names = ["C"] }]
links = [
    { chains = [["A", "w"], ["e", "B"], ["x", "C"]], rate = "100 Mbps", delay = "2 ms", queue = "100 packets" },
    { chains = [["w", "n"], ["n", "e"], ["n", "x"]], rate = "20 Mbps", delay = "4 ms", queue = "60 packets" },
    { chains = [["w", "s", "e"], ["w", "t", "x"]], rate = "20 Mbps", delay = "5 ms", queue = "60 packets", cost = 2 },
]
"#;

const TO_B: &str = r#"
[[flows]]
group = "f"
from = "A"
to = "B"
path = "shortest"
tcp = "linux-6"
start = "uniform(0 s, 200 ms)"
"#;

const TO_C: &str = r#"
[[flows]]
group = "g"
from = "A0"
to = "C"
path = "shortest"
tcp = "linux-6"
start = "uniform(0 s, 200 ms)"
"#;

fn entry(flows: &str, more: &str) -> String {
    format!(
        "[[protection]]\nflows = {flows}\nscheme = \"1:1\"\nbackup = \"auto\"\nswitch_delay = \"10 ms\"\n{more}\n"
    )
}

fn read(text: &str, set: &[(&str, &str)]) -> Result<Scenario, String> {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Scenario::parse(&format!("{NETWORK}{text}"), "net.toml", &set)
        .map_err(|diagnostic| diagnostic.render(false))
}

/// Returns path and rate in kb/s of each circuit, sorted.
fn circuits(scenario: &Scenario) -> Vec<(String, u64)> {
    let plan = scenario.plan();
    let circuits = plan.links.iter().filter(|link| !link.over.is_empty());
    let mut found: Vec<(String, u64)> = circuits
        .map(|link| {
            let ways: Vec<String> = link.over.iter().map(|&hop| plan.port_name(hop)).collect();
            (ways.join(" "), link.directions[0].rate.bps() / 1000)
        })
        .collect();
    found.sort();
    found
}

fn warnings(scenario: &Scenario, kind: WarningKind) -> Vec<String> {
    let all = scenario.warnings().into_iter().filter(|one| one.kind == kind);
    all.map(|one| one.message).collect()
}

fn circuit(way: &str, kbps: u64) -> (String, u64) {
    (way.to_owned(), kbps)
}

/// Four hosts on one working path have one circuit, with the rate of that path: no failure sends
/// more traffic over it.
#[test]
fn paths_with_one_backup_share_one_circuit() {
    let world = read(&format!("{TO_B}{}", entry("\"f\"", "capacity = \"reserved\"")), &[]);
    let world = world.unwrap_or_else(|problem| panic!("{problem}"));
    let both = [circuit("e->s s->w", 20_000), circuit("w->s s->e", 20_000)];
    assert_eq!(circuits(&world), both);
    assert_eq!(warnings(&world, WarningKind::Oversubscribed), [""; 0]);
    let [spare] = &world.spare()[..] else { panic!("one group") };
    // Two links in two directions each, of 20 Mb/s.
    assert_eq!((spare.working, spare.spare), (4, 4));
    assert_eq!((spare.working_bps, spare.spare_bps), (80_000_000, 80_000_000));
    // Of the network, not of the plan, which has two more.
    assert_eq!((world.summary().links, world.plan().links.len()), (4 + 4 + 1 + 3 + 4, 16 + 2));
}

/// Four flows to B and one to C leave over `w-n`: four and one fifth of 20 Mb/s. `n-e` and `n-x` are theirs alone.
#[test]
fn paths_with_several_backups_share_the_failed_link() {
    let text = format!("{TO_B}{TO_C}{}", entry("[\"f\", \"g\"]", "capacity = \"reserved\""));
    let world = read(&text, &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let all = [
        circuit("e->s s->w", 16_000),
        circuit("w->s s->e", 16_000),
        circuit("w->t t->x", 4_000),
        circuit("x->t t->w", 4_000),
    ];
    assert_eq!(circuits(&world), all);
    assert_eq!(warnings(&world, WarningKind::Oversubscribed), [""; 0]);
    // Each entry for itself: both count on `w-n`.
    let apart = format!(
        "{TO_B}{TO_C}{}{}",
        entry("\"f\"", "capacity = \"reserved\""),
        entry("\"g\"", "capacity = \"reserved\"")
    );
    assert_eq!(circuits(&read(&apart, &[]).unwrap_or_else(|problem| panic!("{problem}"))), all);
    let flows: Vec<u64> = world.spare().iter().map(|one| one.spare_bps).collect();
    assert_eq!(flows, [4 * 16_000_000, 4 * 4_000_000], "two hops, two directions");
}

#[test]
fn circuit_uses_the_given_rate() {
    let reserved =
        format!("{TO_B}{}", entry("\"f\"", "capacity = \"reserved\"\nrate = \"5 Mbps\""));
    let world = read(&reserved, &[]).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(circuits(&world), [circuit("e->s s->w", 5_000), circuit("w->s s->e", 5_000)]);
    assert_eq!(world.spare()[0].spare_bps, 20_000_000);
    assert_eq!(warnings(&world, WarningKind::Oversubscribed), [""; 0]);
    // More than the link that fails.
    let more = read(&reserved, &[("protection.0.rate", "30 Mbps")]).expect("possible");
    let said = warnings(&more, WarningKind::Oversubscribed).join("\n");
    assert!(
        said.contains("when `w-n` fails") && said.contains("30 Mbps instead of 20 Mbps"),
        "{said}"
    );
    for (capacity, with) in [("shared", "`reserved`"), ("line-rate", "`reserved`")] {
        let refused = read(&reserved, &[("protection.0.capacity", capacity)]).expect_err("no use");
        assert!(refused.contains("`rate` is not used here") && refused.contains(with), "{refused}");
    }
}

/// As many circuits as hosts, each as fast as the link that they all shared: four times its rate.
#[test]
fn circuits_at_line_rate_are_oversubscribed() {
    let text = format!("{TO_B}{}", entry("\"f\"", "capacity = \"line-rate\""));
    let world = read(&text, &[]).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(circuits(&world).len(), 8);
    assert!(circuits(&world).iter().all(|(_, kbps)| *kbps == 20_000));
    assert_eq!(world.spare()[0].spare_bps, 8 * 2 * 20_000_000);
    let said = warnings(&world, WarningKind::Oversubscribed);
    assert!(said[0].contains("80 Mbps instead of 20 Mbps"), "{said:?}");
}

/// Capacity that is stated is a bound; without it the rate of the link is, and that only warns.
#[test]
fn reserved_rate_is_limited_by_spare() {
    let text = format!("{TO_B}{}", entry("\"f\"", "capacity = \"reserved\""));
    let refused = read(&text, &[("links.2.spare", "19 Mbps")]).expect_err("too little");
    assert!(refused.contains("backups reserve 20 Mbps on `w-s`"), "{refused}");
    assert!(refused.contains("spare capacity is 19 Mbps"), "{refused}");
    let enough = read(&text, &[("links.2.spare", "20 Mbps")]).expect("enough");
    assert_eq!(warnings(&enough, WarningKind::Oversubscribed), [""; 0]);
    assert_eq!(enough.sha256(), read(&text, &[]).expect("possible").sha256(), "the same world");
    let slow = [("links.2.rate", "8 Mbps")];
    let said = warnings(&read(&text, &slow).expect("possible"), WarningKind::Oversubscribed);
    assert!(
        said[0].contains("backups reserve 20 Mbps on `w-s` in addition to its rate of 8 Mbps"),
        "{said:?}"
    );
    let stated = [("links.2.rate", "8 Mbps"), ("links.2.spare", "20 Mbps")];
    let said = warnings(&read(&text, &stated).expect("possible"), WarningKind::Oversubscribed);
    assert_eq!(said, [""; 0]);
}

/// 1+1 sends copies all the time, so its circuits are reserved by default.
#[test]
fn one_plus_one_reserves_by_default() {
    let scheme = |name: &str, set: &[(&str, &str)]| {
        let text = format!("{TO_B}{}", entry("\"f\"", "")).replace("1:1", name);
        circuits(&read(&text, set).unwrap_or_else(|problem| panic!("{problem}"))).len()
    };
    assert_eq!(scheme("1+1", &[]), 2);
    assert_eq!(scheme("1+1", &[("protection.0.capacity", "shared")]), 0);
    assert_eq!(scheme("1:1", &[]), 0);
    assert_eq!(scheme("restoration", &[]), 0);
}
