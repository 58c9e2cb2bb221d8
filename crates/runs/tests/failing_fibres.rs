//! Failing fibres and nodes of a core of burst switches: runs against numbers worked out by hand.
//!
//! E sends a packet of 1250 bytes to F every 10 ms, each a burst of 10 us at 1 Gb/s. The working route E, A, F takes 2 ms.
//! The route E, B, F takes 4 ms, and the detour E, A, B, F 4 ms.

use crate::support::run_on_both;

const CORE: &str = r#"
title = "Failing fibres"
stop = "1001 ms"

[[nodes]]
names = ["E", "F", "A", "B"]

[[links]]
chain = ["E", "A", "F"]
wavelengths = 1
rate = "1 Gbps"
delay = "1 ms"
queue = "unlimited"

[[links]]
chain = ["E", "B", "F"]
wavelengths = 1
rate = "1 Gbps"
delay = "2 ms"
queue = "unlimited"

[[links]]
chain = ["A", "B"]
wavelengths = 1
rate = "1 Gbps"
delay = "1 ms"
queue = "unlimited"

[core]
processing = "1 ms"
detection = "50 ms"

[[bursts]]
path = ["E", "A", "F"]
assembly = "size"
size = "1 B"
protection = "none"

[[traffic]]
group = "sent"
path = ["E", "F"]
process = "constant"
rate = "1 Mbps"
size = "1250 B"
"#;

/// Returns the number of packets dropped by reason, without zeros.
fn drops_of(text: &str, set: &[(&str, &str)]) -> Vec<(String, u64)> {
    let run = run_on_both(text, set, 1);
    let drops = run.drops.iter().filter(|(_, count)| *count > 0);
    drops.map(|(reason, count)| (reason.to_string(), *count)).collect()
}

/// Returns the drops in the core with these failures.
fn drops(failures: &str, set: &[(&str, &str)]) -> Vec<(String, u64)> {
    drops_of(&format!("{CORE}{failures}"), set)
}

fn dropped(reason: &str, count: u64) -> (String, u64) {
    (reason.to_owned(), count)
}

const CUT: &str = "[[failures]]\nlink = [\"A\", \"F\"]\nat = \"205.5 ms\"\nrepair = \"455.5 ms\"\n";

/// Packets leave at 0, 10, 20 ms and so on. Each needs an offset of 1 ms, so it is at A after 2 ms and on the fibre until 3.01 ms.
/// From 205.5 to 455.5 ms the bursts of 210 to 450 ms are lost, each since its control packet finds the fibre down.
#[test]
fn unprotected_bursts_are_lost_from_failure_to_repair() {
    assert_eq!(drops(CUT, &[]), [dropped("link-down", 25)]);
    // Bits of the burst of 200 ms are on the fibre from 202 to 203.01 ms.
    let at = |at| drops(CUT, &[("failures.0.at", at)]);
    assert_eq!(at("203.005 ms"), [dropped("link-down", 25), dropped("lost-in-flight", 1)]);
    assert_eq!(at("203.01 ms"), [dropped("link-down", 25)]);
    assert_eq!(drops(CUT, &[("failures.0.packets", "kept")]), [dropped("link-down", 25)]);
    // The other direction carries nothing.
    let back = CUT.replace("[\"A\", \"F\"]", "[\"F\", \"A\"]") + "direction = \"forward\"\n";
    assert_eq!(drops(&back, &[]), []);
}

/// A is a node of both fibres. A burst of 200 ms is on the first fibre from 201 to 202.01 ms.
#[test]
fn node_fails_with_its_fibres() {
    let node = CUT.replace("link = [\"A\", \"F\"]", "node = \"A\"");
    assert_eq!(drops(&node, &[]), [dropped("link-down", 25)]);
    let at = [("failures.0.at", "202.005 ms")];
    assert_eq!(drops(&node, &at), [dropped("link-down", 25), dropped("lost-in-flight", 1)]);
}

/// The failure is detected at 255.5 ms. Control packets reach A 2 ms after their bursts were complete. The burst of
/// 260 ms is the first one that is deflected, and the bursts of 210 to 250 ms are lost. Two fibres need an offset of 1 ms at A, which has none.
#[test]
fn deflection_begins_with_detection() {
    let set = |line| [("bursts.0.protection", "deflection"), ("core.delay_line", line)];
    assert_eq!(drops(CUT, &set("1 ms")), [dropped("link-down", 5)]);
    assert_eq!(drops(CUT, &set("0.999 ms")), [dropped("link-down", 25)]);
    let offset = [("bursts.0.protection", "deflection"), ("bursts.0.offset", "2 ms")];
    assert_eq!(drops(CUT, &offset), [dropped("link-down", 5)]);
}

/// The report takes 2 ms to E: 257.5 ms. It works on until the report of the repair, 457.5 ms.
#[test]
fn backup_begins_with_notification() {
    let set = [("bursts.0.protection", "1:1")];
    assert_eq!(drops(CUT, &set), [dropped("link-down", 5)]);
    // 260 ms: detection 2.5 ms later and not before the burst of 260 ms leaves.
    let later = [("bursts.0.protection", "1:1"), ("core.detection", "52.6 ms")];
    assert_eq!(drops(CUT, &later), [dropped("link-down", 6)]);
}

#[test]
fn copies_survive_a_failure_of_either_route() {
    let set = [("bursts.0.protection", "1+1")];
    assert_eq!(drops(CUT, &set), []);
    let other = CUT.replace("\"A\", \"F\"", "\"E\", \"B\"");
    assert_eq!(drops(&other, &set), []);
    // From 300 to 400 ms both are down: the bursts of 300 to 390 ms.
    let second = other.replace("205.5", "299").replace("455.5", "395");
    assert_eq!(drops(&format!("{CUT}{second}"), &set), [dropped("link-down", 10)]);
}

/// Edge nodes E, F and G are routers, with a fibre between each two. The fibre from E to F fails under the route of bursts
/// between both. Routers detect it after 20 ms and send the packets over G from then on.
const ROUTED: &str = r#"
title = "Routers at the edge"
stop = "1001 ms"

[[nodes]]
names = ["E", "F", "G"]

[[links]]
chain = ["E", "F", "G", "E"]
wavelengths = 4
rate = "1 Gbps"
delay = "1 ms"
queue = "unlimited"

[[bursts]]
path = ["E", "F"]
assembly = "size"
size = "1 B"
protection = "none"

[[bursts]]
path = ["F", "G"]
assembly = "size"
size = "1 B"

[[bursts]]
path = ["G", "E"]
assembly = "size"
size = "1 B"

[routing]
repair = "lfa"
detection = "20 ms"
hold_down = "10 s"

[[traffic]]
group = "sent"
from = "E"
to = "F"
process = "constant"
rate = "1 Mbps"
size = "1250 B"

[[failures]]
link = ["E", "F"]
at = "205.5 ms"
repair = "455.5 ms"
"#;

/// The packets of 210 and 220 ms are lost, and of 460 and 470 ms none. With protection of the core, routers do nothing.
#[test]
fn routers_use_other_routes_of_bursts() {
    let drops = |set: &[(&str, &str)]| drops_of(ROUTED, set);
    assert_eq!(drops(&[]), [dropped("link-down", 2)]);
    assert_eq!(drops(&[("routing.repair", "none")]), [dropped("link-down", 25)]);
    // The switch at E deflects at once, because its detection takes no time.
    assert_eq!(drops(&[("bursts.0.protection", "deflection"), ("routing.repair", "none")]), []);
}
