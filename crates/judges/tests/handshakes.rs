//! Times of handshakes, worked by hand.

use optcp_judges::case::Control;
use optcp_judges::cases::CASES;
use optcp_judges::link::End;
use optcp_judges::record::{Judge, SEED};
use optcp_judges::transfer::Transfer;

fn run(judge: Judge, case: &str) -> Transfer {
    let case = CASES.iter().find(|one| one.name == case).expect("a case");
    judge.run(case, Control::Cubic, SEED).expect("both have CUBIC")
}

/// 1,228 bytes take 0.9824 ms at 10 Mb/s, and the delay is 25 ms. The server answers at once, so the client knows at
/// 51.9648 ms that the server's first datagram has arrived. Packets in response leave one picosecond after each arrival.
#[test]
fn handshake_takes_one_rtt() {
    for judge in Judge::ALL {
        let transfer = run(judge, "short-10k");
        let times = |from| {
            let sent = transfer.sent.iter().filter(move |sent| sent.from == from);
            sent.map(|sent| (sent.at.as_ps(), sent.size)).collect::<Vec<_>>()
        };
        assert_eq!(times(End::Client)[0], (0, 1228));
        assert_eq!(times(End::Server)[0], (25_982_400_000, 1228));
        assert_eq!(transfer.connected.expect("it is connected").as_ps(), 51_964_800_001);
        assert_eq!(times(End::Client)[1], (51_964_800_001, 1228));
    }
}

/// RFC 9002, sections 6.2.1 and 6.2.2: without a sample the RTT is 333 ms and its variation half of that. The probe timeout is
/// 333 + 4 x 166.5 = 999 ms, and then twice as long. The outage from 10 to 1,010 ms loses the packets of 0 and 999 ms.
#[test]
fn probe_timeout_without_rtt_sample_is_999_ms() {
    for judge in Judge::ALL {
        let transfer = run(judge, "outage-handshake-1000");
        let client = transfer.sent.iter().filter(|sent| sent.from == End::Client);
        let mut times: Vec<u64> = client.map(|sent| sent.at.as_ps() / 1_000_000_000).collect();
        times.dedup();
        assert_eq!(times[..3], [0, 999, 2997], "{judge:?}");
    }
}
