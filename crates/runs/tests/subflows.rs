//! Connections over several subflows, compared with times and choices worked out by hand.

use optcp_runs::{Run, Series, Values};

use crate::support::run_on_both;

/// Two paths of two links each, of 10 Mbit/s. A full packet of 1500 bytes takes 1.2 ms per link.
const TWO_PATHS: &str = r#"
title = "Two paths"
stop = "20 s"

[tcp.t]
initial_window = "4 segments"
window_limit = "40 segments"
handshake = false
congestion = "lia"

[[nodes]]
names = ["S", "U", "V", "R"]

[[links]]
chain = ["S", "U", "R"]
rate = "10 Mbps"
delay = "10 ms"
queue = "100 packets"

[[links]]
chain = ["S", "V", "R"]
rate = "10 Mbps"
delay = "30 ms"
queue = "100 packets"

[[flows]]
group = "mp"
tcp = "t"
size = "12 segments"
multipath = { paths = [["S", "U", "R"], ["S", "V", "R"]] }

[[observe]]
name = "packets"
kind = "packets"

[[observe]]
name = "completions"
kind = "completions"

[[observe]]
name = "outages"
kind = "outages"
after = "1 s"

[[observe]]
name = "goodput"
kind = "goodput"
interval = "20 s"
"#;

const MS: u64 = 1_000_000_000;

fn series<'r>(run: &'r Run, name: &str) -> &'r Series {
    run.series.iter().find(|series| series.name == name).expect("a series")
}

fn column(series: &Series, name: &str) -> Vec<u64> {
    let column = series.columns.iter().find(|column| column.name == name).expect("a column");
    match &column.values {
        Values::U64(values) => values.clone(),
        Values::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Values::U8(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Values::Bool(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Values::F64(_) => panic!("{name} is no column of whole numbers"),
    }
}

/// Time, event, flow and data number of each packet at an endpoint.
fn packets(run: &Run) -> Vec<(u64, String, u64, u64)> {
    let packets = series(run, "packets");
    let names = &packets.names.iter().find(|(list, _)| *list == "events").expect("events").1;
    let event = column(packets, "event")
        .into_iter()
        .map(|event| names[usize::try_from(event).expect("an index")].clone());
    let rest = column(packets, "time_ps").into_iter().zip(column(packets, "flow"));
    let rest = rest.zip(column(packets, "data_seq"));
    event.zip(rest).map(|(event, ((at, flow), data))| (at, event, flow, data)).collect()
}

/// Data numbers that a subflow sends in new segments, in order.
fn sent(run: &Run, subflow: u64) -> Vec<u64> {
    let new = |(_, event, flow, _): &(u64, String, u64, u64)| event == "sent" && *flow == subflow;
    packets(run).into_iter().filter(new).map(|(_, _, _, data)| data).collect()
}

/// Windows of four segments. Until the first RTT sample, subflow 0 is preferred by number. Subflow 0 has an RTT of 40 ms,
/// subflow 1 of 120 ms, so all later data follow the ACKs of subflow 0.
#[test]
fn schedulers_choose_subflows_as_worked_by_hand() {
    for (scheduler, first, second) in [
        ("min-rtt", vec![1, 2, 3, 4, 9, 10, 11, 12], vec![5, 6, 7, 8]),
        ("round-robin", vec![1, 3, 5, 7, 9, 10, 11, 12], vec![2, 4, 6, 8]),
    ] {
        let run = run_on_both(TWO_PATHS, &[("flows.0.multipath.scheduler", scheduler)], 1);
        assert_eq!(sent(&run, 0), first, "{scheduler}");
        assert_eq!(sent(&run, 1), second, "{scheduler}");
    }
}

/// Time until the ACK of the first packet returns to subflow 0. The packet takes 2 * (1.2 + 10) ms, its ACK of 40 bytes
/// 2 * (0.032 + 10) ms.
const FIRST_RTT: u64 = 2 * (1_200_000_000 + 10 * MS) + 2 * (10 * MS + 32_000_000);

/// Of 8 segments, the last to arrive is the fourth of subflow 1. It waits for three others, and takes five transmissions
/// of 1.2 ms and twice 30 ms. Of 12 segments, subflow 0 sends four more when ACKs return: again five transmissions, and
/// twice 10 ms.
#[test]
fn connection_completes_with_its_last_subflow() {
    let (five, first_rtt) = (5 * 1_200_000_000, FIRST_RTT);
    for (size, last) in [(8, five + 60 * MS), (12, first_rtt + five + 20 * MS)] {
        let run = run_on_both(TWO_PATHS, &[("flows.0.size", &format!("{size} segments"))], 1);
        let done = series(&run, "completions");
        assert_eq!(column(done, "time_ps"), [last]);
        assert_eq!(column(done, "bytes"), [size * 1460]);
        assert_eq!(done.names.iter().find(|(list, _)| *list == "flows").unwrap().1[2], "mp/S/0");
    }
}

/// Each subflow sends all data. The connection completes as the faster subflow alone would: four segments in the first
/// round trip, then eight back to back.
#[test]
fn redundant_connection_completes_with_its_faster_subflow() {
    let run = run_on_both(TWO_PATHS, &[("flows.0.multipath.scheduler", "redundant")], 1);
    assert_eq!(sent(&run, 0), (1..=12).collect::<Vec<_>>());
    let last = FIRST_RTT + 9 * 1_200_000_000 + 20 * MS;
    assert_eq!(column(series(&run, "completions"), "time_ps"), [last]);
}

const CUT: &str = r#"
[[failures]]
link = ["S", "U"]
at = "3 s"
repair = "9 s"
"#;

/// The first path fails at 3 s, with ACKs of data that have arrived. RFC 6298: the RTO is 1 s, and starts at the last ACK of
/// new data; it doubles. At the first RTO, the receive window has stopped the other subflow. It sends a window of 16 segments
/// of the failed path again, which the receiver has. Their first ACK carries the data ACK. Then it sends the missing
/// data: the stall ends three times half a round trip after the RTO. The failed subflow returns with the first
/// retransmission after the repair, 1 + 2 + 4 s after the ACK. In slow start it retransmits 1, 2, 4 and 8 segments, then
/// sends new data.
#[test]
fn failed_path_stalls_until_reinjection_and_returns() {
    let text = TWO_PATHS.replace("size = \"12 segments\"\n", "") + CUT;
    let run = run_on_both(&text, &[], 1);
    let packets = packets(&run);
    let repair = 9_000 * MS;
    let acked = packets
        .iter()
        .filter(|(at, event, flow, _)| event == "acked" && *flow == 0 && *at < repair);
    let last_ack = acked.map(|row| row.0).max().expect("an ACK");
    assert!((2_900 * MS..3_000 * MS).contains(&last_ack), "{last_ack}");
    let resent: Vec<u64> = (packets.iter())
        .filter(|(at, event, flow, _)| event == "resent" && *flow == 0 && *at < 11_000 * MS)
        .map(|row| row.0)
        .collect();
    assert_eq!(resent[..3], [1, 3, 7].map(|seconds| last_ack + seconds * 1_000 * MS));
    let before = packets.iter().filter(|row| row.2 == 0 && row.1 == "sent" && row.0 < resent[0]);
    let lost = before.map(|row| row.3).max().expect("data");
    let again: Vec<u64> = (packets.iter())
        .filter(|(at, event, flow, data)| {
            event == "sent" && *flow == 1 && *at == resent[0] && *data <= lost
        })
        .map(|row| row.3)
        .collect();
    assert!(again.is_sorted(), "{again:?}");
    let outages = series(&run, "outages");
    let row = column(outages, "flow").iter().position(|&flow| flow == 2).expect("the connection");
    let ended = column(outages, "time_ps")[row];
    let (there, back) = (2 * 1_200_000_000 + 60 * MS, 60 * MS + 2 * 32_000_000);
    assert_eq!(again.len(), 16);
    assert_eq!(ended, resent[0] + there + back + there);
    assert!(column(outages, "lost_packets")[row] > 0);
    let returned =
        packets.iter().find(|(at, event, flow, _)| event == "sent" && *flow == 0 && *at > repair);
    assert_eq!(returned.expect("new data").0, resent[2] + 4 * FIRST_RTT);
}

const BOTH_CUT: &str = r#"
[[failures]]
links = [["S", "U"], ["S", "V"]]
at = "3 s"
"#;

/// Rows of a flow in a series with a column `flow`: values of the other columns.
fn rows_of<const N: usize>(run: &Run, name: &str, flow: u64, columns: [&str; N]) -> Vec<[u64; N]> {
    let series = series(run, name);
    let columns = columns.map(|name| column(series, name));
    let flows = column(series, "flow").into_iter().enumerate().filter(|(_, of)| *of == flow);
    flows.map(|(row, _)| columns.each_ref().map(|values| values[row])).collect()
}

/// Both paths fail. RFC 6298: an RTO is 1 s after the last ACK of new data, and the next one 2 s later. The user timeout of
/// 2 s counts from the first retransmission (RFC 5482), so subflow 0 ends 3 s after its last ACK. The other subflow has
/// nothing outstanding: the receive window waits for subflow 0. It sends the data of subflow 0 at its first RTO, and thus
/// ends 1 s later than subflow 0, and the connection with it.
#[test]
fn connection_is_aborted_when_all_subflows_are() {
    let goodput = "[[observe]]\nname = \"goodput\"\nkind = \"goodput\"\ninterval = \"20 s\"\n";
    let text = TWO_PATHS.replace("12 segments", "40000 segments").replace(goodput, "") + BOTH_CUT;
    let set = [("tcp.t.user_timeout", "2 s"), ("end_with_flows", "true")];
    let run = run_on_both(&text, &set, 1);
    let packets = packets(&run);
    let acked = packets.iter().filter(|row| row.1 == "acked" && row.2 == 0);
    let end = acked.map(|row| row.0).max().expect("an ACK") + 4_000 * MS;
    let resent = packets.iter().filter(|row| row.1 == "resent" && row.0 > 3_000 * MS);
    let resent: Vec<(u64, u64)> = resent.map(|row| (row.0, row.2)).collect();
    assert_eq!(resent, [(end - 3_000 * MS, 0), (end - 2_000 * MS, 1)]);
    for flow in 0..3 {
        // The run ends at the next whole second.
        let row = rows_of(&run, "outages", flow, ["aborted", "ended", "time_ps"]);
        assert_eq!(row, [[1, 0, 7_000 * MS]], "flow {flow}");
    }
    let done = rows_of(&run, "completions", 2, ["time_ps", "finished", "aborted"]);
    assert_eq!(done, [[end, 0, 1]]);
}

/// The first path fails, and the subflow on it gives up. The other subflow completes the transfer.
#[test]
fn connection_with_a_working_subflow_is_not_aborted() {
    let size = TWO_PATHS.replace("12 segments", "3000 segments");
    let text = size + &BOTH_CUT.replace(r#", ["S", "V"]"#, "");
    let run = run_on_both(&text, &[("tcp.t.user_timeout", "2 s")], 1);
    assert_eq!(rows_of(&run, "outages", 0, ["aborted"]), [[1]]);
    assert_eq!(rows_of(&run, "outages", 2, ["aborted"]), [[0]]);
    assert_eq!(rows_of(&run, "completions", 2, ["finished", "aborted"]), [[1, 0]]);
}

/// The SYN of the first subflow is lost after 0, 1 and 3 s, and the timer fires at 7 s (RFC 6298). The other subflow never
/// joins, although its path works.
#[test]
fn connection_whose_first_subflow_never_opens_is_aborted() {
    let set = [("tcp.t.handshake", "true"), ("tcp.t.syn_retries", "2")];
    let cut = BOTH_CUT.replace("3 s", "0 s").replace(r#", ["S", "V"]"#, "");
    let run = run_on_both(&(TWO_PATHS.to_owned() + &cut), &set, 1);
    let done = rows_of(&run, "completions", 2, ["time_ps", "finished", "aborted"]);
    assert_eq!(done, [[7_000 * MS, 0, 1]]);
}
