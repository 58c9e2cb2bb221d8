//! Pairs, computed paths and backups, values of `every`, and named options; computed by hand on a small
//! network.

use optcp_net::Setting;
use optcp_scenario::plan::{Carries, Plan};
use optcp_scenario::{Library, Matrix, ReferenceResolver, Scenario};
use optcp_units::Duration;

/// A trap: the shortest path from A to F, over B and E, leaves no other without its links; two disjoint ones exist.
/// H is a host of A with one link.
const NETWORK: &str = r#"
stop = "10 s"
[[nodes]]
names = ["A", "B", "C", "D", "E", "F"]
group = "core"
[[nodes]]
names = ["H"]
[[links]]
chains = [["A", "B"], ["B", "E"], ["E", "F"], ["H", "A"]]
rate = "10 Mbps"
delay = "1 ms"
queue = "50 packets"
cost = 1
[[links]]
chains = [["A", "C"], ["C", "E"], ["B", "D"], ["D", "F"]]
rate = "10 Mbps"
delay = "100 us"
queue = "50 packets"
cost = 2
"#;

struct Matrices;

impl ReferenceResolver for Matrices {
    fn graph(&self, _: optcp_scenario::Reference<'_>) -> Result<optcp_scenario::Graph, String> {
        Err("no topology here".to_owned())
    }
    fn matrix(&self, _: &str) -> Result<Matrix, String> {
        let entry =
            |line, from: &str, to: &str, weight| (line, from.to_owned(), to.to_owned(), weight);
        let rows = vec![entry(1, "A", "F", 3000), entry(2, "F", "A", 1000), entry(3, "B", "C", 0)];
        Ok(Matrix { heading: None, rows })
    }
}

fn read(more: &str, set: &[(&str, &str)]) -> Result<Scenario, String> {
    let set: Vec<_> =
        set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let library = Library::new(Matrices);
    Scenario::parse_with(&format!("{NETWORK}{more}"), "net.toml", &set, &library)
        .map_err(|diagnostic| diagnostic.render(false))
}

fn world(more: &str) -> Scenario {
    read(more, &[]).unwrap_or_else(|problem| panic!("{problem}"))
}

/// "A B E F" for each flow.
fn paths(plan: &Plan) -> Vec<String> {
    plan.flows.iter().map(|flow| named(plan, &flow.path)).collect()
}

fn named(plan: &Plan, nodes: &[usize]) -> String {
    nodes.iter().map(|&node| plan.nodes[node].as_str()).collect::<Vec<_>>().join(" ")
}

fn backups(plan: &Plan) -> Vec<String> {
    plan.protections.iter().map(|one| named(plan, &one.backup)).collect()
}

fn flows(path: &str) -> String {
    format!("[[flows]]\ngroup = \"web\"\nfrom = \"H\"\nto = \"F\"\n{path}\n")
}

#[test]
fn shortest_path_depends_on_metric() {
    // By hops and by delay (1.2 ms) three and two paths are equal: at A the neighbour B comes first, at B then D.
    for (path, expected) in [
        ("path = \"shortest\"", "H A B E F"),
        ("path = \"shortest\"\nmetric = \"hops\"", "H A B D F"),
        ("path = \"shortest\"\nmetric = \"delay\"", "H A B D F"),
    ] {
        assert_eq!(paths(world(&flows(path)).plan()), [expected], "{path}");
    }
}

#[test]
fn each_of_k_shortest_paths_has_flows() {
    let found = world(&flows("path = \"shortest\"\npaths = 3\nper_source = 2"));
    let [first, second, third] = ["H A B E F", "H A B D F", "H A C E F"];
    assert_eq!(paths(found.plan()), [first, first, second, second, third, third]);
    let names: Vec<&str> = found.plan().flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names[..2], ["web/H/0", "web/H/1"]);
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), 6);
}

/// From A, the disjoint pair is A B D F and A C E F, each of cost 5. It does not contain the
/// shortest path of cost 3.
#[test]
fn shortest_pair_allows_a_disjoint_backup() {
    let flows = "[[flows]]\ngroup = \"web\"\nfrom = \"A\"\nto = \"F\"\n";
    let protection = "[[protection]]\nflows = \"web\"\nscheme = \"1:1\"\nbackup = \"node-disjoint\"\nswitch_delay = \"1 ms\"\n";
    let pair = world(&format!("{flows}path = \"shortest-pair\"\n{protection}"));
    assert_eq!(paths(pair.plan()), ["A B D F"]);
    assert_eq!(backups(pair.plan()), ["A C E F"]);
    // The shortest path has a backup around its last two links only, or its first two.
    let shortest = world(&format!("{flows}path = \"shortest\"\n{protection}"));
    assert_eq!(paths(shortest.plan()), ["A B E F"]);
    assert_eq!(backups(shortest.plan()), ["A C E"]);
}

/// Around each link in the direction of the data, from its one end to the other; the host's link has none.
#[test]
fn local_backups_bypass_each_link() {
    let more = format!(
        "{}[[protection]]\nflows = \"web\"\nbackup = \"auto\"\nswitch_delay = \"1 ms\"\n",
        flows("path = \"shortest\"")
    );
    assert_eq!(backups(world(&more).plan()), ["A C E B", "B A C E", "E B D F"]);
}

#[test]
fn backups_avoid_shared_risks() {
    let more = format!(
        "{}[[risks]]\nname = \"duct\"\nlinks = [[\"A\", \"B\"], [\"C\", \"E\"]]\n[[protection]]\nflows = \"web\"\nbackup = \"KIND\"\nswitch_delay = \"1 ms\"\n",
        flows("path = \"shortest\"")
    );
    // Around A-B and B-E the only way goes over C-E: with a risk that is shared, none is left for A-B.
    let found = |kind: &str| backups(world(&more.replace("KIND", kind)).plan());
    assert_eq!(found("link-disjoint"), ["A C E B", "B A C E", "E B D F"]);
    assert_eq!(found("risk-disjoint"), ["B A C E", "E B D F"]);
    // `auto` takes what there is, and a warning names it.
    assert_eq!(found("auto"), ["A C E B", "B A C E", "E B D F"]);
    let warnings = world(&more.replace("KIND", "auto")).warnings();
    assert!(warnings.iter().any(|one| one.kind.name() == "shared-risk"), "{warnings:?}");
}

/// A link on the cycle has the rest of it; B-E has two parts of equal length.
#[test]
fn p_cycle_protects_links_on_it_and_across_it() {
    let more = format!(
        "{}[[protection]]\nflows = \"web\"\nbackup = \"p-cycle\"\ncycle = CYCLE\nswitch_delay = \"1 ms\"\n",
        flows("path = \"shortest\"")
    );
    let found = |cycle: &str| backups(world(&more.replace("CYCLE", cycle)).plan());
    let hamiltonian = found(r#"["A", "B", "D", "F", "E", "C"]"#);
    assert_eq!([&hamiltonian[0], &hamiltonian[2]], ["A C E F D B", "E C A B D F"]);
    assert!(["B A C E", "B D F E"].contains(&hamiltonian[1].as_str()), "{hamiltonian:?}");
    assert_eq!(found(r#"["E", "F", "D", "B"]"#), ["B D F E", "E B D F"], "A-B is not on the cycle");
}

#[test]
fn all_pairs_of_a_group_occur_once() {
    let all =
        world("[[flows]]\ngroup = \"web\"\npairs = { among = \"core\" }\npath = \"shortest\"\n");
    assert_eq!(all.plan().flows.len(), 6 * 5);
    let two = world(
        "[[flows]]\ngroup = \"web\"\npairs = { from = \"H\", to = \"core\" }\npath = \"shortest\"\n",
    );
    assert_eq!(two.plan().flows.len(), 6);
}

#[test]
fn pairs_are_drawn_once_or_per_run() {
    let pairs = |seed: &str| {
        format!(
            "[[flows]]\ngroup = \"web\"\npairs = {{ among = \"core\", count = 4{seed} }}\npath = \"shortest\"\n"
        )
    };
    let once = world(&pairs(", seed = 3"));
    assert_eq!(once.plan().flows.len(), 4);
    assert_eq!(paths(once.plan()), paths(world(&pairs(", seed = 3")).plan()));
    assert_ne!(paths(once.plan()), paths(world(&pairs(", seed = 4")).plan()));
    let each = world(&pairs(""));
    assert!(each.plan().flows.iter().all(|flow| matches!(flow.carries, Carries::Drawn(0))));
    assert_eq!(each.summary().flows, 4);
}

/// A matrix has two pairs, of which one is three times as likely. A pair of weight zero does not
/// count.
#[test]
fn pair_probabilities_follow_the_matrix() {
    let more = "[[flows]]\ngroup = \"web\"\npairs = { among = \"core\", matrix = \"m.csv\", count = 4000, seed = 1 }\npath = \"shortest\"\nsize = \"1 segments\"\n";
    let found = paths(world(more).plan());
    let there = found.iter().filter(|path| path.starts_with('A')).count();
    assert!(found.iter().all(|path| path.starts_with('A') || path.starts_with('F')));
    // 3000 expected, with a standard deviation of 27.
    assert!(there.abs_diff(3000) < 110, "{there}");
}

/// A node's capacity is the sum of the rates of its links, and all links are alike.
#[test]
fn gravity_uses_node_capacities() {
    let more = "[[flows]]\ngroup = \"web\"\npairs = { from = \"B\", to = \"core\", weights = \"gravity\", count = 10000, seed = 1 }\npath = \"shortest\"\nsize = \"1 segments\"\n";
    let found = world(more);
    let to = |name: &str| {
        found
            .plan()
            .flows
            .iter()
            .filter(|flow| named(found.plan(), &flow.path).ends_with(name))
            .count()
    };
    // Links: A 3, C 2, D 2, E 3, F 2: of 12 in all.
    for (name, links) in [("A", 3), ("C", 2), ("D", 2), ("E", 3), ("F", 2)] {
        let expected = 10_000 * links / 12;
        assert!(to(name).abs_diff(expected) < 200, "{name}: {}, expected {expected}", to(name));
    }
}

/// 10 Mb/s at load 0.5 are 500 segments of 1250 B a second where all flows cross one link: 50 flows of ten segments.
#[test]
fn arrival_rate_follows_from_load() {
    let more = "[tcp.t]\nmss = \"1210 B\"\nheader = \"40 B\"\n[[flows]]\ngroup = \"web\"\nfrom = \"H\"\nto = \"F\"\npath = \"shortest\"\ntcp = \"t\"\nload = 0.5\nsize = \"12100 B\"\n";
    let rate = world(more).plan().arrivals[0].rate.per_second();
    assert!((rate - 50.0).abs() < 1e-3, "{rate}");
}

/// In kB the mean is 0.3 x 0.5 + 0.2 x 1 + 0.5 x 7 = 3.85, and with headers 3.85 x 1250 / 1210. At
/// 5 Mb/s this gives 157.143 flows per second.
#[test]
fn sizes_are_read_from_a_table() {
    let flows = "[tcp.t]\nmss = \"1210 B\"\nheader = \"40 B\"\n[[flows]]\ngroup = \"web\"\nfrom = \"H\"\nto = \"F\"\npath = \"shortest\"\ntcp = \"t\"\nload = 0.5\n";
    let points = "[[\"1 kB\", 30], [\"1 kB\", 50], [\"4 kB\", 50], [\"10 kB\", 100]]";
    let found = world(&format!("{flows}sizes = {{ kind = \"points\", points = {points} }}\n"));
    let arrivals = &found.plan().arrivals[0];
    assert!((arrivals.volume.mean() - 3850.0).abs() < 1e-9);
    assert!((arrivals.rate.per_second() - 157.143).abs() < 1e-3);
    let resolved = found.resolved_json();
    assert!(
        resolved.contains("[[1000.0,0.3],[1000.0,0.5],[4000.0,0.5],[10000.0,1.0]]"),
        "{resolved}"
    );
}

#[test]
fn ecmp_spreads_flows_over_paths_of_equal_cost() {
    let more = "[[flows]]\ngroup = \"web\"\nfrom = \"A\"\nto = \"F\"\npath = \"ecmp\"\nmetric = \"hops\"\nper_source = 600\nsize = \"1 segments\"\n";
    let found = paths(world(more).plan());
    let on = |path: &str| found.iter().filter(|one| *one == path).count();
    // At A half go to B and half to C; at B half to D and half to E. Standard deviations are 12 and 11.
    for (path, expected) in [("A C E F", 300), ("A B D F", 150), ("A B E F", 150)] {
        assert!(on(path).abs_diff(expected) < 50, "{path}: {}", on(path));
    }
}

/// Shortest paths from A to C, D or E, and on to F. Over C it is A-C-E-F, over D A-B-D-F, and over
/// E A-B-E-F or A-C-E-F.
#[test]
fn valiant_spreads_flows_over_nodes() {
    let group = "[[nodes]]\nnames = [\"G\"]\ngroup = \"far\"\n";
    let more = |via: &str| {
        format!(
            "{group}[[flows]]\ngroup = \"web\"\nfrom = \"A\"\nto = \"F\"\npath = \"valiant\"\n{via}metric = \"hops\"\nper_source = 300\nsize = \"1 segments\"\n"
        )
    };
    let found = read(&more("via = \"core\"\n"), &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let paths = paths(found.plan());
    let through = |node: &str| paths.iter().filter(|one| one.contains(node)).count();
    assert!(paths.iter().all(|path| path.starts_with("A ") && path.ends_with(" F")), "{paths:?}");
    assert!(through("C") > 50 && through("D") > 50, "{paths:?}");
    let none = read(&more("via = \"far\"\n"), &[]).expect_err("G is not linked");
    assert!(none.contains("no path from `A` to `F`"), "{none}");
    let unsaid = read(&more(""), &[]).expect_err("no group");
    assert!(unsaid.contains("needs `via`, a group of nodes"), "{unsaid}");
}

#[test]
fn every_link_node_risk_and_pair_can_be_filtered() {
    let base = format!(
        "{}[[risks]]\nname = \"duct\"\nlinks = [[\"A\", \"B\"], [\"C\", \"E\"]]\n[[risks]]\nname = \"far\"\nlinks = [[\"B\", \"D\"]]\n[[failures]]\nlink = [\"A\", \"B\"]\nat = \"1 s\"\n",
        flows("path = \"shortest\"")
    );
    let axis = |key: &str, text: &str| {
        let found = read(&format!("{base}[sweep]\n\"failures.0.{key}\" = \"{text}\"\n"), &[]);
        found.map(|world| (world.axes()[0].1.join(" "), world.warnings()))
    };
    let (links, warnings) = axis("link", "every").expect("possible");
    assert_eq!(links, "A-B B-E E-F H-A");
    let left_out =
        warnings.iter().find(|one| one.kind.name() == "idle-in-sweep").expect("some are left out");
    assert_eq!(
        left_out.message,
        "4 of 8 values are left out, since no traffic crosses them: `A-C`, `C-E`, `B-D`, `D-F`; select values with `every \
         carrying GROUP`"
    );
    assert_eq!(axis("link", "every among core").expect("possible").0, "A-B B-E E-F");
    assert_eq!(axis("link", "every carrying web matching *-E").expect("possible").0, "B-E");
    assert_eq!(axis("node", "every among core").expect("possible").0, "A B E F");
    assert_eq!(axis("risk", "every").expect("possible").0, "duct");
    let pairs = axis("links", "every among core matching A*").expect("possible").0;
    assert_eq!(pairs, "[\"A-B\", \"A-C\"]");
    assert!(
        axis("link", "every carring web")
            .expect_err("no filter")
            .contains("did you mean `carrying`?")
    );
    assert!(
        axis("link", "every carrying wob").expect_err("no group").contains("did you mean `web`?")
    );
}

#[test]
fn named_options_stand_for_settings() {
    let base = flows("path = \"shortest\"");
    let sweep = "[sweep]\nway = { short = {}, direct = { stop = \"3 s\" }, \"by delay\" = { \"flows.0.metric\" = \"delay\" } }\n";
    let world = read(&format!("{base}{sweep}"), &[]).expect("possible");
    assert_eq!(world.axes()[0].0, "sweep.way");
    assert_eq!(world.axes()[0].1, ["short", "direct", "by delay"]);
    let cell = |name: &str| {
        world.with_overrides(&[("sweep.way".to_owned(), name.to_owned())]).expect("a cell")
    };
    assert_eq!(cell("short").sha256(), read(&base, &[]).expect("possible").sha256());
    assert_eq!(cell("direct").plan().stop.to_string(), "3 s");
    assert!(cell("direct").axes().is_empty());
    // One after the other: nothing is left of the first.
    let again = cell("direct").with_overrides(&[("sweep.way".to_owned(), "short".to_owned())]);
    assert_eq!(again.expect("a cell").sha256(), cell("short").sha256());
    let refused = read(&format!("{base}{sweep}"), &[("sweep.way", "shrt")]).expect_err("no choice");
    assert!(refused.contains("did you mean `short`?"), "{refused}");
    let misspelt = read(&format!("{base}[sweep]\nparameter.rate = [\"1 Mbps\"]\n"), &[])
        .expect_err("no section");
    assert!(misspelt.contains("did you mean `parameters`?"), "{misspelt}");
}

/// A queue is one value that replaces any other. A table without `kind` changes the existing queue.
#[test]
fn named_option_may_be_a_queue() {
    let sweep = "[sweep.queue]\nshort = { links.0.queue = \"5 packets\" }\n\
        codel = { links.0.queue = { kind = \"codel\", limit = \"9 packets\", target = \"2 ms\" } }\n\
        red = { links.0.queue = { kind = \"red\", limit = \"90 packets\" } }\nlate = { links.0.queue.target = \"9 ms\" }\n";
    let set =
        [("links.0.queue", "{ kind = \"codel\", limit = \"90 packets\", target = \"7 ms\" }")];
    let world = read(&format!("{}{sweep}", flows("path = \"shortest\"")), &set).expect("possible");
    let queue = |name: &str| {
        let cell = world.with_overrides(&[("sweep.queue".to_owned(), name.to_owned())]);
        let cell = cell.expect("a cell");
        let discipline = &cell.plan().links[0].directions[0].discipline;
        (discipline.kind().name(), discipline.get("target"))
    };
    let ms = |ms: u64| Some(Setting::Time(Duration::from_ms(ms)));
    assert_eq!(queue("short"), ("drop-tail", None));
    assert_eq!(queue("codel"), ("codel", ms(2)));
    assert_eq!(queue("red"), ("red", None));
    assert_eq!(queue("late"), ("codel", ms(9)));
}

#[test]
fn several_entries_make_one_group() {
    let two = format!(
        "{}{}",
        flows("path = \"shortest\""),
        flows("path = \"shortest\"\nmetric = \"hops\"\nsize = \"1 MB\"")
    );
    let world = world(&two);
    assert_eq!(world.summary().groups, ["web"]);
    let names: Vec<&str> = world.plan().flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["web/H/0", "web/H/1"]);
    assert!(world.resolved_json().contains("\"size_segments\":685"), "1 MB in segments of 1460 B");
}

/// A warning, the end of a file that causes it, and further settings.
type Cause<'c> = (&'c str, String, &'c [(&'c str, &'c str)]);

/// Each warning with the file that causes it, and without it silence.
#[test]
fn probable_mistakes_cause_warnings() {
    let web = flows("path = \"shortest\"");
    let cut = "[[failures]]\nlink = [\"A\", \"B\"]\nat = \"1 s\"\n";
    let protected = "[[protection]]\nflows = \"web\"\nlink = [\"A\", \"B\"]\nbackup = [\"A\", \"C\", \"E\", \"B\"]\nswitch_delay = \"10 ms\"\n";
    let causes: &[Cause<'_>] = &[
        ("long-delay", web.clone(), &[("links.0.delay", "4 s")]),
        ("slow-rate", web.clone(), &[("links.0.rate", "20 kbps")]),
        (
            "late-switch",
            format!("{web}{cut}{protected}"),
            &[("protection.0.switch_delay", "11 s"), ("stop", "1 min")],
        ),
        (
            "shallow-queue",
            web.clone(),
            &[
                ("links.0.rate", "1 Gbps"),
                ("links.0.queue", "2 packets"),
                ("links.0.delay", "20 ms"),
                ("links.1.rate", "1 Gbps"),
            ],
        ),
        ("deep-queue", web.clone(), &[("links.0.queue", "20 MB")]),
        (
            "high-loss",
            format!(
                "{web}[[losses]]\nlink = [\"A\", \"B\"]\nkind = \"independent\"\nprobability = 0.2\n"
            ),
            &[],
        ),
        ("idle-failure", format!("{web}[[failures]]\nlink = [\"C\", \"E\"]\nat = \"1 s\"\n"), &[]),
        (
            "not-covered",
            format!("{web}{protected}[[failures]]\nlink = [\"E\", \"F\"]\nat = \"1 s\"\n"),
            &[],
        ),
        ("cut-for-good", format!("{web}{cut}"), &[]),
        (
            "gives-up",
            format!("{web}tcp = \"linux-6\"\n{cut}repair = \"926 s\"\n"),
            &[("stop", "1000 s")],
        ),
        ("equal-starts", flows("path = \"shortest\"\nper_source = 3"), &[]),
        ("short-run", web.clone(), &[("stop", "100 ms")]),
        (
            "warm-up",
            format!("{web}[[observe]]\nname = \"p\"\nkind = \"ports\"\ninterval = \"1 s\"\n"),
            &[("flows.0.start", "1 s")],
        ),
        (
            "ecn-mismatch",
            format!("{web}tcp = \"t\"\n[tcp.t]\necn = \"accurate\"\nreceiver_ecn = \"rfc3168\"\n"),
            &[],
        ),
    ];
    assert!(world(&web).warnings().is_empty(), "{:?}", world(&web).warnings());
    for (name, text, set) in causes {
        let found = read(text, set).unwrap_or_else(|problem| panic!("{problem}")).warnings();
        let one = found.iter().find(|one| one.kind.name() == *name);
        let one = one.unwrap_or_else(|| panic!("{name}: {found:?}"));
        assert!(one.place.starts_with("net.toml:") || one.place.starts_with("--set "), "{one:?}");
        let silenced = format!("silence = [\"{name}\"]\n{NETWORK}{text}");
        let set: Vec<_> =
            set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let silenced = Scenario::parse(&silenced, "net.toml", &set).expect("possible");
        assert!(silenced.warnings().iter().all(|one| one.kind.name() != *name), "{name}");
        assert_eq!(
            silenced.sha256(),
            read(text, &set.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>())
                .expect("possible")
                .sha256()
        );
    }
}

/// Linux's R2, 924.6 s after the first retransmission, with outages of 924 s and 925 s. The path is
/// alone or has a backup, and routed flows have another path or not. Random outages warn by their
/// mean, if one in a hundred lasts that long (924.6 s / ln 100 = 200.8 s).
#[test]
fn outage_beyond_linux_timeout_causes_warning() {
    let cut = |link: &str, repair: &str| {
        format!("[[failures]]\nlink = {link}\nat = \"1 s\"\nrepair = \"{repair}\"\n")
    };
    let process = |repair: &str| {
        format!("[[failures]]\nlink = [\"A\", \"B\"]\nmtbf = \"1000 s\"\nmttr = \"{repair}\"\n")
    };
    let backup = "[[protection]]\nflows = \"web\"\nlink = [\"A\", \"B\"]\nbackup = [\"A\", \"C\", \"E\", \"B\"]\nswitch_delay = \"10 ms\"\n";
    let ab = "[\"A\", \"B\"]";
    let tables = "[routing]\ndetection = \"10 ms\"\n";
    for (tcp, failure, rest, warns) in [
        ("linux-6", cut(ab, "925 s"), "", false),
        ("linux-6", cut(ab, "926 s"), "", true),
        ("linux-6-bbr", cut(ab, "926 s"), "", true),
        ("rfc", cut(ab, "926 s"), "", false),
        ("linux-6", cut(ab, "926 s"), backup, false),
        ("linux-6", cut(ab, "926 s"), tables, false),
        ("linux-6", cut("[\"H\", \"A\"]", "926 s"), tables, true),
        ("linux-6", process("200 s"), "", false),
        ("linux-6", process("201 s"), "", true),
    ] {
        let path = if rest == tables { "" } else { "path = \"shortest\"" };
        let text = format!("{}tcp = \"{tcp}\"\n{failure}{rest}", flows(path));
        let found =
            read(&text, &[("stop", "1000 s")]).unwrap_or_else(|problem| panic!("{problem}"));
        let found = found.warnings();
        let named = found.iter().any(|one| one.kind.name() == "gives-up");
        assert_eq!(named, warns, "{tcp} {failure}{rest}: {found:?}");
    }
}
