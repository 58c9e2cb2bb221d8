//! Bad scenarios and what is said about them.

use optcp_scenario::Scenario;

/// The message for each file of `tests/bad`, kept as a snapshot.
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
    arrivals,
    bundles,
    bursts,
    circle,
    core,
    decimal_comma,
    duplicates,
    failures,
    files_of_a_run,
    hystart,
    impossible_packets,
    losses,
    losses_as_written,
    missing_keys,
    names,
    no_routing,
    no_unit,
    nodes,
    observe,
    one_head,
    other_choice,
    pacing,
    paths,
    product_of_units,
    protected_bundles,
    protection,
    queues,
    routed_bundles,
    routing,
    routing_as_written,
    schemes,
    small_byte_queue,
    sweep,
    syntax,
    tcp,
    tcp_of_flows,
    too_fine,
    too_long,
    too_long_to_detect,
    too_much,
    traffic,
    traffic_as_written,
    unknown_choice,
    unknown_keys,
    unknown_parameter,
    unknown_unit,
    wrong_dimension,
    wrong_type,
    zero_rate,
);

/// The message for a good file with one bad override.
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
fn colours_only_when_asked() {
    let diagnostic = Scenario::parse("stop = 1", "x.toml", &[]).unwrap_err();
    assert!(diagnostic.render(true).contains('\u{1b}'));
    assert!(!diagnostic.render(false).contains('\u{1b}'));
    assert_eq!(diagnostic.to_string(), diagnostic.render(false));
}

/// What the messages of `hystart` ask for is enough.
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
