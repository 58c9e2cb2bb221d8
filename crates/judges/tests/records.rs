//! The recorded transfers. `cargo run --example judge NAME > crates/judges/record/NAME.json` writes a record.

use optcp_judges::case::Control;
use optcp_judges::cases::CASES;
use optcp_judges::record::{Judge, SEED, cases, losses};

fn assert_equal_lines(text: &str, record: &str) {
    for (line, recorded) in text.lines().zip(record.lines()) {
        assert_eq!(line, recorded);
    }
    assert_eq!(text.len(), record.len());
}

#[test]
fn transfers_of_quinn_match_the_record() {
    assert_equal_lines(&Judge::Quinn.record(), include_str!("../record/quinn.json"));
}

#[test]
fn transfers_of_s2n_match_the_record() {
    assert_equal_lines(&Judge::S2n.record(), include_str!("../record/s2n.json"));
}

#[test]
fn cases_match_the_record() {
    assert_equal_lines(&cases(), include_str!("../record/cases.json"));
}

/// The record has 100 seeds, of which three are repeated.
#[test]
fn durations_with_random_losses_match_the_record() {
    let record = include_str!("../record/losses.json");
    let lines = losses(3);
    assert_eq!(record.lines().count(), lines.len() + 2);
    for (line, recorded) in lines.iter().zip(record.lines().skip(1)) {
        let start = line.strip_suffix(']').expect("a list");
        assert!(recorded.starts_with(&format!("{start},")), "{start} {recorded}");
    }
}

/// All packets are ECN-capable, so the queue marks them instead of overflowing. The first mark ends slow start: the client
/// reduces its window by the factor of the control (RFC 9002, section 7.3.2; RFC 9438, section 4.6). The ACK with this mark
/// may have added its two packets of 1,200 bytes before.
#[test]
fn marks_of_the_network_reduce_the_window() {
    let case = CASES.iter().find(|one| one.name == "marks-20").expect("a case");
    for (judge, control, percent) in [
        (Judge::Quinn, Control::NewReno, 50),
        (Judge::Quinn, Control::Cubic, 70),
        (Judge::S2n, Control::Cubic, 70),
    ] {
        let transfer = judge.run(case, control, SEED).expect("it has this control");
        assert_eq!(transfer.end.lost, 0);
        let windows: Vec<u64> = transfer.changes.iter().map(|change| change.state.cwnd).collect();
        let first = windows.windows(2).find(|pair| pair[1] < pair[0]).expect("a reduction");
        let window = |added| (first[0] + added) * percent / 100;
        assert!((window(0)..=window(2400)).contains(&first[1]), "{judge:?} {control:?}: {first:?}");
    }
}

/// The client sends every byte, and the server has it after a handshake of one RTT, half an RTT, and its time on the link.
#[test]
fn all_data_is_sent_before_it_arrives() {
    for (judge, control, case) in [
        (Judge::Quinn, Control::NewReno, "queue-10"),
        (Judge::Quinn, Control::Cubic, "loss-3"),
        (Judge::Quinn, Control::Bbr, "outage-middle-1000"),
        (Judge::S2n, Control::Cubic, "outage-tail-300"),
        (Judge::S2n, Control::Bbr, "loss-1"),
    ] {
        let case = CASES.iter().find(|one| one.name == case).expect("a case");
        let transfer = judge.run(case, control, SEED).expect("it has this control");
        let completed = transfer.completed.expect("it completes");
        let mut ranges: Vec<_> =
            transfer.sent.iter().flat_map(|sent| sent.content.data.clone()).collect();
        ranges.sort_unstable();
        let end = ranges.iter().fold(
            0,
            |end, (start, length)| {
                if *start <= end { end.max(start + length) } else { end }
            },
        );
        assert_eq!(end, case.size, "{}", case.name);
        // 10^9 ps are 1 ms.
        let least = case.rtt_ms * 1_500_000_000 + case.size * 8_000_000 / case.mbps;
        assert!(completed.as_ps() > least, "{}", case.name);
    }
}
