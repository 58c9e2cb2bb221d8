//! Error messages of invalid scenarios.

use optcp_scenario::Scenario;

/// Message for each file of `tests/bad`, stored as a snapshot.
macro_rules! bad {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            let name = concat!(stringify!($name), ".toml");
            let text = include_str!(concat!("bad/", stringify!($name), ".toml"));
            let diagnostic = Scenario::parse(text, name, &[]).unwrap_err();
            insta::assert_snapshot!(diagnostic.render(false));
        }
    )*};
}

bad!(
    applications,
    arrivals,
    bdp_without_flows,
    buckets,
    bundles,
    burst_classes,
    bursts,
    circle,
    circuits,
    core,
    decimal_comma,
    distributions,
    duplicates,
    ecn,
    failures,
    fibres,
    files_of_a_run,
    foreign_units,
    forwarding,
    hystart,
    impairments,
    impossible_packets,
    inferred_costs,
    inferred_nodes,
    lightpaths,
    losses,
    losses_as_written,
    marked_risks,
    mesh,
    mesh_of_groups,
    multipath,
    missing_keys,
    names,
    names_of_folders,
    no_distributions,
    no_risks,
    no_routing,
    no_way_back,
    no_unit,
    nodes,
    observe,
    one_head,
    notices,
    other_choice,
    pacing,
    path_state,
    p_cycles,
    paths,
    product_of_units,
    protected_bundles,
    protected_links,
    protected_links_around,
    protected_without_routers,
    protection,
    python_congestion,
    queue_disciplines,
    queue_tables,
    queues,
    quic,
    relative_queue,
    repeated_values,
    resequencing,
    routed_bundles,
    routing,
    routing_as_written,
    schedules,
    schemes,
    short_queue,
    sizes,
    sizes_as_written,
    small_byte_queue,
    sweep,
    syntax,
    tcp,
    tcp_of_flows,
    too_fine,
    too_long,
    too_long_to_detect,
    too_much,
    topology_delay,
    traffic,
    traffic_as_written,
    unknown_choice,
    unknown_keys,
    unknown_parameter,
    unknown_unit,
    wrong_dimension,
    writes,
    wrong_type,
    zero_rate,
    voqs,
);

/// Returns the message for a valid file with one invalid override.
fn with_override(key: &str, value: &str) -> String {
    let text = include_str!("small.toml");
    let set = [(key.to_owned(), value.to_owned())];
    match Scenario::parse(text, "small.toml", &set) {
        Ok(_) => panic!("--set {key}={value} is accepted"),
        Err(diagnostic) => diagnostic.render(false),
    }
}

#[test]
fn overrides() {
    let messages = [
        ("parameters.backbone", "10 Mbs"),
        ("parameters.backbon", "10 Mbps"),
        ("links.0.rat", "10 Mbps"),
        ("links.3.rate", "10 Mbps"),
        ("tcp.all.profile", "rcf"),
        ("tcp.al.profile", "rfc"),
        ("tcp.all.mss", "65496 B"),
        ("failures.0.at", "20 s"),
        ("flow.0.tcp", "all"),
        ("stopp", "1 s"),
        ("stop.at", "1 s"),
        ("links..rate", "1 s"),
    ]
    .map(|(key, value)| with_override(key, value));
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn long_key_path_is_rejected() {
    let key = format!("observe.0{}", ".a".repeat(60_000));
    assert!(with_override(&key, "1").contains("key path with 60002 steps"));
}

/// The renderer panics beyond column 65535.
#[test]
fn long_line_is_truncated_in_message() {
    let text = format!("title = \"x\"\nstop = [{} \"1 Xs\"]", "\"1 s\",".repeat(20_000));
    let message = Scenario::parse(&text, "long.toml", &[]).unwrap_err().render(false);
    assert!(message.contains("long.toml:2:8]"), "{message}");
    assert!(message.len() < 2000);
    let keys: String = (0..9000).map(|i| format!("a{i} = 1, ")).collect();
    let text = format!("parameters = {{ {keys}here = \"$there\" }}");
    let column = text.find("\"$there").unwrap() + 1;
    let message = Scenario::parse(&text, "long.toml", &[]).unwrap_err().render(false);
    assert!(column > 65_535 && message.contains(&format!("long.toml:1:{column}]")), "{message}");
    let message = with_override("stop", &" ".repeat(70_000));
    assert!(message.contains("command line:1:12]") && message.len() < 2000, "{message}");
}

#[test]
fn control_characters_are_replaced_in_messages() {
    let text = "title = \"\u{1b}[2J\"\nstop = \"\u{9b}31m\rs\"";
    let message = Scenario::parse(text, "cursor.toml", &[]).unwrap_err().render(false);
    assert!(!message.contains(['\u{1b}', '\u{9b}', '\r']), "{message}");
    let message = with_override("stop.\u{1b}", "\u{1b}[2J");
    assert!(!message.contains('\u{1b}'), "{message}");
}

/// Thirty lines that would be 2^30 texts.
#[test]
fn exponentially_growing_parameters_are_rejected() {
    let doubled = (0..30).map(|i| format!("p{i} = [\"$p{0}\", \"$p{0}\"]\n", i + 1));
    let text = format!("[parameters]\n{}p30 = 1\n", doubled.collect::<String>());
    let message = Scenario::parse(&text, "doubled.toml", &[]).unwrap_err().render(false);
    let expected = "parameters expand to more than 10000000 bytes";
    assert_eq!(message.matches(expected).count(), 1, "{message}");
}

#[test]
fn colours_are_optional() {
    let diagnostic = Scenario::parse("stop = 1", "x.toml", &[]).unwrap_err();
    assert!(diagnostic.render(true).contains('\u{1b}'));
    assert!(!diagnostic.render(false).contains('\u{1b}'));
    assert_eq!(diagnostic.to_string(), diagnostic.render(false));
}

/// Following the messages of `hystart` is sufficient.
#[test]
fn hystart_with_round_trips_of_most_acks() {
    for (profile, more) in [
        ("rfc", "timestamps = true"),
        ("rfc", "recovery = \"sack\"\nmeasurement = \"every-ack\""),
        ("linux-6", "timestamps = false\ntimestamp_undo = false"),
    ] {
        let table = format!("profile = \"{profile}\"\nslow_start = \"hystart\"\n{more}\n");
        let text = include_str!("bad/hystart.toml")
            .replace("slow_start = \"hystart\"\n", &table)
            .replace("slow_start = \"hystart++\"\n", "");
        Scenario::parse(&text, "good.toml", &[]).expect(more);
    }
}
