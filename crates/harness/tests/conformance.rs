//! Conformance cases compared with results of other stacks, and messages for invalid cases.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;

use optcp_harness::conformance::run_text;
use serde_json::{Value, json};

const REFERENCE: &str = include_str!("../../../tests/reference/tcp/scenarios.json");
const MORE: &str = include_str!("../../../tests/reference/tcp/more-cases.json");
const MORE_SACK: &str = include_str!("../../../tests/reference/tcp/more-sack-cases.json");
const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/tcp/traces");

type Sequence = Vec<(f64, u64)>;

fn sequence(rows: &Value) -> Sequence {
    let row = |row: &Value| (row[0].as_f64().unwrap(), row[1].as_u64().unwrap());
    rows.as_array().unwrap().iter().map(row).collect()
}

/// The recorded transmissions of a reference case, where they are kept.
#[expect(clippy::disallowed_methods, reason = "the traces are files of the repository")]
fn trace(id: &str) -> Option<Sequence> {
    let text = std::fs::read_to_string(format!("{TRACES}/{id}.csv")).ok()?;
    let row = |line: &str| {
        let mut fields = line.split(',');
        let time = fields.next().unwrap().parse().unwrap();
        (time, fields.next().unwrap().parse().unwrap())
    };
    Some(text.lines().skip(1).map(row).collect())
}

/// Returns the deviations of a result, by the rules of tests/reference/tcp/compare.py.
fn faults(case: &Value, got: &Value, recorded: Option<&Sequence>) -> Vec<String> {
    let (expect, tolerance) = (&case["expect"], &case["tolerance"]);
    let time_s = tolerance["time_s"].as_f64().unwrap();
    let counts = tolerance["counts"].as_f64().unwrap();
    let mut faults = Vec::new();
    for (key, allowed) in
        [("completion_ack_s", time_s), ("retransmissions", counts), ("timeouts", counts)]
    {
        let (want, have) = (expect[key].as_f64().unwrap(), got[key].as_f64());
        if have.is_none_or(|have| (have - want).abs() > allowed) {
            faults.push(format!("{key} {have:?}, expected {want}"));
        }
    }
    if let Some(want) = recorded
        && tolerance["counts"] == 0
    {
        let have = sequence(&got["sequence"]);
        if have.len() != want.len() {
            faults.push(format!("{} transmissions, expected {}", have.len(), want.len()));
        }
        let pairs = have.iter().zip(want);
        let differs = |(have, want): &(&(f64, u64), &(f64, u64))| {
            have.1 != want.1 || (have.0 - want.0).abs() > time_s
        };
        if let Some((i, (have, want))) = pairs.enumerate().find(|(_, pair)| differs(pair)) {
            faults.push(format!("transmission {i} is {have:?}, expected {want:?}"));
        }
    }
    faults
}

fn run(text: &str) -> (BTreeMap<String, Value>, Vec<String>) {
    let (results, refused) = run_text(text).unwrap();
    let results = serde_json::from_str(&results).unwrap();
    (results, refused.into_iter().map(|refused| refused.id).collect())
}

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    file["scenarios"].as_array().unwrap().clone()
}

#[test]
fn the_reference_cases_agree() {
    let (results, refused) = run(REFERENCE);
    let mut traced = 0;
    for case in cases(REFERENCE) {
        let id = case["id"].as_str().unwrap();
        let recorded = trace(id);
        traced += usize::from(recorded.is_some());
        assert_eq!(faults(&case, &results[id], recorded.as_ref()), [""; 0], "{id}");
    }
    assert_eq!((results.len(), refused.len(), traced), (30, 0, 29));
}

/// Sixty cases that hold their transmissions agree.
fn sixty_agree(text: &str) {
    let (results, refused) = run(text);
    for case in cases(text) {
        let id = case["id"].as_str().unwrap();
        let recorded = sequence(&case["expect"]["sequence"]);
        assert_eq!(faults(&case, &results[id], Some(&recorded)), [""; 0], "{id}");
    }
    assert_eq!((results.len(), refused.len()), (60, 0));
}

#[test]
fn sixty_random_cases_agree_with_ns_2() {
    sixty_agree(MORE);
}

#[test]
fn sixty_bursts_and_random_cases_of_sack_agree_with_ns_2() {
    sixty_agree(MORE_SACK);
}

/// A plain case: 100 ms round trip, 100 Mb/s.
fn plain() -> Value {
    json!({
        "id": "plain", "variant": "newreno", "segments": 50, "drops": [],
        "links": [
            { "rate_bps": 1e9, "delay_s": 0.001, "buffer_pkts": null },
            { "rate_bps": 1e8, "delay_s": 0.049, "buffer_pkts": null }
        ],
        "tcp": {
            "mss": 1460, "header": 40, "ack_bytes": 40, "iw": 10, "ssthresh0": null,
            "rwnd_segments": 1000, "min_rto_s": 1.0, "initial_rto_s": 1.0,
            "limited_transmit": false, "delayed_ack": false, "handshake": false,
            "newreno_impatient": false
        }
    })
}

/// The plain case with the value at a JSON pointer replaced.
fn with(pointer: &str, value: Value) -> Value {
    let mut case = plain();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = case.pointer_mut(parent).unwrap();
    match key.parse::<usize>() {
        Ok(index) => parent[index] = value,
        Err(_) => parent[key] = value,
    }
    case
}

fn file(case: &Value) -> String {
    json!({ "scenarios": [case] }).to_string()
}

#[test]
fn invalid_case_is_reported_with_its_key() {
    for (pointer, value, message) in [
        (
            "/variant",
            json!(3),
            "case plain: `variant`: invalid type: integer `3`, expected a string",
        ),
        ("/segments", json!(0), "case plain: `segments`: expected 1 to 100000000, found 0"),
        (
            "/segments",
            json!(-1),
            "case plain: `segments`: invalid value: integer `-1`, expected u32",
        ),
        (
            "/drops",
            json!([[3]]),
            "case plain: `drops`: invalid length 1, expected an array of length 2",
        ),
        ("/drops", json!([[3, 0]]), "case plain: `drops`: [3, 0]: transmissions count from 1"),
        (
            "/ack_drops",
            json!("all"),
            "case plain: `ack_drops`: invalid type: string \"all\", expected a sequence",
        ),
        (
            "/delay_events",
            json!([{ "t": -1, "delay_s": 1 }]),
            "case plain: `delay_events[0].t`: expected 0 to 100000 seconds, found -1",
        ),
        ("/delay_events", json!([7]), "case plain: `delay_events[0]`: expected an object"),
        ("/links", json!([]), "case plain: `links`: expected two links, found 0"),
        (
            "/links/1/rate_bps",
            json!(0),
            "case plain: `links[1].rate_bps`: expected a rate of 1 to 1e15 bit/s, found 0",
        ),
        (
            "/links/0/delay_s",
            json!("1 ms"),
            "case plain: `links[0].delay_s`: invalid type: string \"1 ms\", expected f64",
        ),
        (
            "/links/0/buffer_pkts",
            json!(0),
            "case plain: `links[0].buffer_pkts`: expected at least 1 packet, or null for no limit, found 0",
        ),
        (
            "/links/0/bufer_pkts",
            json!(9),
            "case plain: `links[0].bufer_pkts` is not a key of a case; did you mean `buffer_pkts`?",
        ),
        ("/tcp/mss", json!(0), "case plain: `tcp.mss`: expected 1 to 65535, found 0"),
        (
            "/tcp/iw",
            json!(2.5),
            "case plain: `tcp.iw`: invalid type: floating point `2.5`, expected u32",
        ),
        (
            "/tcp/handshake",
            json!(1),
            "case plain: `tcp.handshake`: invalid type: integer `1`, expected a boolean",
        ),
        (
            "/tcp/initial_rto_s",
            json!(0),
            "case plain: `tcp.initial_rto_s`: expected a time above zero, found 0",
        ),
        (
            "/tcp/min_rto",
            json!(1),
            "case plain: `tcp.min_rto` is not a key of a case; did you mean `min_rto_s`?",
        ),
        ("/tcp", json!([]), "case plain: `tcp`: expected an object"),
        (
            "/id",
            json!(1),
            "case entry 1 of the list: `id`: invalid type: integer `1`, expected a string",
        ),
    ] {
        let error = run_text(&file(&with(pointer, value))).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let mut short = plain();
    short["tcp"].as_object_mut().unwrap().remove("iw");
    assert_eq!(run_text(&file(&short)).unwrap_err().to_string(), "case plain: `tcp.iw` is missing");
    let twice = json!({ "scenarios": [plain(), plain()] }).to_string();
    let message = "case plain: duplicate `id`";
    assert_eq!(run_text(&twice).unwrap_err().to_string(), message);
    let message = "expected an object whose key `scenarios` holds a list of cases";
    assert_eq!(run_text("[]").unwrap_err().to_string(), message);
    let error = run_text("{").unwrap_err().to_string();
    assert!(error.starts_with("not JSON: EOF while parsing"), "{error}");
}

/// Odd but legal values: every transfer completes, with the number of transmissions that follows
/// from the losses.
#[test]
fn odd_values_are_run_as_they_say() {
    for (pointer, value, transmissions) in [
        ("/tcp/ssthresh0", json!(0), 50),
        ("/tcp/ssthresh0", json!(1), 50),
        ("/tcp/iw", json!(1000), 50),
        ("/tcp/rwnd_segments", json!(1), 50),
        ("/tcp/min_rto_s", json!(0), 50),
        ("/tcp/header", json!(0), 50),
        ("/segments", json!(1), 1),
        ("/links/0/delay_s", json!(0), 50),
        ("/drops", json!([[9, 1], [9, 1], [9, 3], [700, 1]]), 51),
        ("/ack_drops", json!([20, 20, 9000]), 50),
        ("/delay_events", json!([{ "t": 0, "delay_s": 0 }, { "t": 0, "delay_s": 0.2 }]), 50),
        ("/links/1/buffer_pkts", json!(1_000_000), 50),
    ] {
        let (results, _) = run(&file(&with(pointer, value.clone())));
        let result = &results["plain"];
        assert!(result["completion_ack_s"].is_f64(), "{pointer} {value}");
        let sent = result["sequence"].as_array().unwrap().len();
        assert_eq!(sent, transmissions, "{pointer} {value}");
    }
    // A queue of one packet takes one of each burst; the rest needs the timer, but gets there.
    let (results, _) = run(&file(&with("/links/1/buffer_pkts", json!(1))));
    assert!(results["plain"]["completion_ack_s"].is_f64());
    // Lost for good: nothing completes, and the sender goes on trying once a minute.
    let forever: Vec<_> = (1..2000).map(|nth| json!([49, nth])).collect();
    let (results, _) = run(&file(&with("/drops", json!(forever))));
    assert!(results["plain"]["completion_ack_s"].is_null());
    assert!(results["plain"]["timeouts"].as_u64().unwrap() > 500);
}

/// tests/reference/tcp/analytic.json, `newreno_burst`: W in flight, B consecutive losses, ssthresh
/// = W/2, no limited transmit. Recovery takes B round trips. The i-th sends one retransmission and
/// max(0, ssthresh - B + i - 1) new segments.
#[test]
fn a_burst_is_recovered_by_the_law_of_newreno() {
    const ROUND_TRIP: f64 = 0.1;
    for window in [10_u64, 20, 40] {
        for burst in 1..=window - 3 {
            let mut case = plain();
            case["tcp"]["iw"] = json!(window);
            case["tcp"]["ssthresh0"] = json!(window);
            case["segments"] = json!(2000);
            // The ACK of segment 0 keeps the window full: 1 to W are out, 1 to B of them lost.
            case["drops"] = (1..=burst).map(|segment| json!([segment, 1])).collect();
            let (results, _) = run(&file(&case));
            let result = &results["plain"];
            assert_eq!(result["retransmissions"], json!(burst), "W {window} B {burst}");
            assert_eq!(result["timeouts"], 0, "W {window} B {burst}");
            let sent = sequence(&result["sequence"]);
            let again: Vec<(f64, u64)> =
                (1..=burst).map(|s| *sent.iter().rfind(|&&(_, seq)| seq == s).unwrap()).collect();
            for (i, &(start, _)) in (1..).zip(&again) {
                let end = again.get(i).map_or(start + ROUND_TRIP, |&(next, _)| next);
                assert!((end - start - ROUND_TRIP).abs() < 0.005, "W {window} B {burst} round {i}");
                let new = sent.iter().filter(|&&(t, seq)| t >= start && t < end && seq > window);
                let law = (window / 2 + i as u64).saturating_sub(burst + 1);
                assert_eq!(new.count() as u64, law, "W {window} B {burst} round {i}");
            }
        }
    }
}
