//! Network with coordinates, demands and hosts; computed by hand.

use optcp_scenario::plan::Plan;
use optcp_scenario::{Graph, GraphLink, Library, Reference, ReferenceResolver, Scenario};

/// Cities, and where they are in millionths of a degree of longitude and latitude.
const CITIES: [(&str, [i64; 2]); 4] =
    [("A", [0, 0]), ("B", [1_000_000, 0]), ("C", [0, 1_000_000]), ("D", [-1_000_000, 1_000_000])];

struct Atlas;

impl ReferenceResolver for Atlas {
    fn graph(&self, _: Reference<'_>) -> Result<Graph, String> {
        let link = |ends| GraphLink { ends, name: None, length_mm: Some(100_000_000) };
        Ok(Graph {
            nodes: CITIES.map(|(name, _)| name.to_owned()).to_vec(),
            places: CITIES.map(|(_, place)| Some(place)).to_vec(),
            links: [[0, 1], [0, 2], [2, 3]].map(link).to_vec(),
            demands: vec![(0, 1, 3000), (0, 2, 1000), (1, 0, 2000)],
            ..Graph::default()
        })
    }
}

/// Hosts of A (S0, S1 and R0), of B (S2 and R1) and of C (R2). S3 has two links, and S4 connects to
/// another host.
const WORLD: &str = r#"
stop = "10 s"
[topology]
name = "cities"
group = "city"
rate = "10 Mbps"
queue = "50 packets"
[[nodes]]
group = "S"
count = 5
[[nodes]]
group = "R"
count = 3
[[links]]
chains = [["S0", "A"], ["S1", "A"], ["S2", "B"], ["S3", "A"], ["S3", "B"], ["S4", "S0"], ["R0", "A"], ["R1", "B"], ["R2", "C"]]
rate = "1 Mbps"
delay = "1 ms"
queue = "50 packets"
"#;

fn read(more: &str) -> Result<Scenario, String> {
    Scenario::parse_with(&format!("{WORLD}{more}"), "known.toml", &[], &Library::new(Atlas))
        .map_err(|diagnostic| diagnostic.render(false))
}

fn world(more: &str) -> Scenario {
    read(more).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Flows that come at random between pairs.
fn between(pairs: &str) -> String {
    format!(
        "[[flows]]\ngroup = \"web\"\npairs = {{ {pairs} }}\npath = \"shortest\"\narrivals = \"10 flows/s\"\nsize = \"10 kB\"\n"
    )
}

/// Each pair with its weight: "S0-R1 3000".
fn weights(plan: &Plan) -> Vec<String> {
    let ends = plan.flows.iter().map(|flow| {
        let [from, to] = [flow.path.first(), flow.path.last()].map(|node| *node.expect("a path"));
        format!("{}-{}", plan.nodes[from], plan.nodes[to])
    });
    let weights = &plan.arrivals[0].weights;
    ends.zip(weights).map(|(ends, weight)| format!("{ends} {weight}")).collect()
}

/// A sends 3 to B and 1 to C, B 2 to A. S3 and S4 stand for no city.
#[test]
fn hosts_have_the_demands_of_their_cities() {
    let found = world(&between(r#"from = "S", to = "R", weights = "demands""#));
    let hosts = ["S0-R1 3000", "S0-R2 1000", "S1-R1 3000", "S1-R2 1000", "S2-R0 2000"];
    assert_eq!(weights(found.plan()), hosts);
    // A city stands for itself, also where the other end is a host; a city and its own host are one.
    let found = world(&between(r#"from = "city", to = "R", weights = "demands""#));
    assert_eq!(weights(found.plan()), ["A-R1 3000", "A-R2 1000", "B-R0 2000"]);
    let found = world(&between(r#"among = "city", weights = "demands""#));
    assert_eq!(weights(found.plan()), ["A-B 3000", "A-C 1000", "B-A 2000"]);
    let none = read(&between(r#"from = "S4", to = "R", weights = "demands""#));
    assert!(none.is_err_and(|problem| problem.contains("no such pair of nodes")));
}

/// In Mb/s, A has two links of 10 and four of 1, B one and three, C two and one. S3, of no city,
/// has two of 1.
#[test]
fn hosts_have_the_gravity_of_their_cities() {
    let found = world(&between(r#"from = "S", to = "R", weights = "gravity""#));
    let expected = [
        ("S0-R1", 24 * 13),
        ("S0-R2", 24 * 21),
        ("S1-R1", 24 * 13),
        ("S1-R2", 24 * 21),
        ("S2-R0", 13 * 24),
        ("S2-R2", 13 * 21),
        ("S3-R0", 2 * 24),
        ("S3-R1", 2 * 13),
        ("S3-R2", 2 * 21),
        ("S4-R0", 24),
        ("S4-R1", 13),
        ("S4-R2", 21),
    ];
    let expected = expected.map(|(pair, weight)| format!("{pair} {}", weight * 1_000_000));
    assert_eq!(weights(found.plan()), expected);
}

/// The risks of an entry, each with its links: "duct-A-D-C: A-D A-C".
fn risks(entry: &str) -> Vec<String> {
    let more = format!(
        "[[links]]\nchains = [[\"A\", \"D\"]]\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = \"50 packets\"\n[[risks]]\nname = \"duct\"\n{entry}\n"
    );
    let found = world(&format!("{more}{}", between(r#"among = "city""#)));
    let plan = found.plan();
    let links = |links: &[usize]| {
        links.iter().map(|&link| format!(" {}", plan.links[link].name)).collect::<String>()
    };
    plan.risks.iter().map(|risk| format!("{}:{}", risk.name, links(&risk.links))).collect()
}

/// Bearings at A: C 0, B 90, D 315.004 (tan b = -sin 1 cos 1 / sin 1). At C: A 180, D 270.009. At
/// D: C 89.991, A 134.996. B has one link to a city. Links of hosts have unknown bearings.
#[test]
fn adjacent_links_of_a_node_share_a_duct() {
    let every = |within| risks(&format!("leaving = \"every\"\nwithin_degrees = {within}"));
    let (at_c, at_d) = ("duct-C-A-D: A-C C-D", "duct-D-C-A: C-D A-D");
    let at_a = ["duct-A-C-B: A-C A-B", "duct-A-B-D: A-B A-D", "duct-A-D-C: A-D A-C"];
    assert_eq!(every("44.99"), [""; 0]);
    assert_eq!(every("45"), [at_a[2]]);
    assert_eq!(every("45.01"), [at_a[2], at_d]);
    assert_eq!(every("90.001"), [at_a[0], at_a[2], at_d]);
    assert_eq!(every("180"), [at_a[0], at_a[2], at_c, at_d]);
    // Between B and D, going round, are 225 degrees.
    assert_eq!(every("360"), [at_a[0], at_a[1], at_a[2], at_c, at_d]);
    assert_eq!(risks("leaving = \"C\"\nwithin_degrees = 91"), [at_c]);
    assert_eq!(risks("leaving = \"B\"\nwithin_degrees = 360"), [""; 0]);
}

/// Three links from A to B: neighbours are two pairs, and the ends have the same ones.
#[test]
fn parallel_links_share_ducts_once() {
    let more = "[[links]]\nchain = [\"A\", \"B\"]\nname = \"more\"\ncount = 2\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = \"50 packets\"\n[[risks]]\nname = \"duct\"\nleaving = \"every\"\nwithin_degrees = 0\n";
    let found = world(&format!("{more}{}", between(r#"among = "city""#)));
    let risks: Vec<(&str, &[usize])> =
        found.plan().risks.iter().map(|risk| (&risk.name[..], &risk.links[..])).collect();
    let more = |number| found.plan().links.iter().position(|link| link.name == number);
    let (one, other) = (more("more0").expect("a link"), more("more1").expect("a link"));
    assert_eq!(risks, [("duct-A-B-B", &[0, one][..]), ("duct-A-B-B-2", &[one, other][..])]);
}
