//! Packetdrill scripts: passing ones, and every message for others.

use optcp_harness::packetdrill::{Verdict, run_script};
use optcp_units::Duration;

/// A server whose connection is open after 0.1 s, with `events` from then on.
fn server(events: &str) -> String {
    format!(
        "// optcp: profile = \"rfc\"\n\
         0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0 bind(3, ..., ...) = 0\n\
         +0 listen(3, 1) = 0\n\
         +0 < S 0:0(0) win 65535 <mss 1000,nop,wscale 7>\n\
         +0 > S. 0:0(0) ack 1 <mss 1460,nop,wscale 8>\n\
         +.1 < . 1:1(0) ack 1 win 1000\n\
         +0 accept(3, ..., ...) = 4\n\
         {events}\n"
    )
}

/// How a script ends, in one line.
fn outcome(text: &str) -> String {
    match run_script(text, None) {
        Verdict::Passed => "ok".to_owned(),
        Verdict::Failed(m) => {
            let at = m.at.as_secs_f64();
            format!("{} at {at:.6} s: expected {}; happened {}", m.line, m.expected, m.happened)
        }
        Verdict::Refused(refusal) => format!("{} refused: {}", refusal.line, refusal.reason),
    }
}

fn outcomes(scripts: &[String]) -> String {
    let lines: Vec<String> = scripts.iter().map(|script| outcome(script)).collect();
    lines.join("\n")
}

const WRITE: &str = "+0 write(4, ..., 3000) = 3000\n";

fn written(events: &str) -> String {
    server(&(WRITE.to_owned() + events))
}

/// One expected segment matches several sent ones, and several expected segments match others of
/// equal bytes.
#[test]
fn segments_are_matched_by_their_bytes() {
    assert_eq!(outcome(&written("+0 > P. 1:3001(3000) ack 1")), "ok");
    let apart = "+0 > . 1:1001(1000) ack 1\n+0 > . 1001:3001(2000) ack 1";
    assert_eq!(outcome(&written(apart)), "ok");
}

/// The socket that listens may be closed; the connection's own end is a FIN on the last data.
#[test]
fn a_fin_ends_the_data() {
    let script = "+0 close(3) = 0\n\
                  +0 write(4, ..., 4000) = 4000\n\
                  +0 close(4) = 0\n\
                  +0 > . 1:3001(3000) ack 1\n\
                  +.1 < . 1:1(0) ack 1001 win 1000\n\
                  +0 > FP. 3001:4001(1000) ack 1\n\
                  +0 < F. 1:1(0) ack 4002 win 1000\n\
                  +0 > . 4002:4002(0) ack 2";
    assert_eq!(outcome(&server(script)), "ok");
}

/// Our FIN is sent once. The peer continues, later writes fail, and closing sends nothing more.
#[test]
fn a_shutdown_ends_the_data() {
    let script = "+0 shutdown(4, SHUT_RD) = 0\n\
                  +0 write(4, ..., 1000) = 1000\n\
                  +0 > P. 1:1001(1000) ack 1\n\
                  +.1 < . 1:1(0) ack 1001 win 1000\n\
                  +0 shutdown(4, SHUT_WR) = 0\n\
                  +0 > F. 1001:1001(0) ack 1\n\
                  +0 write(4, ..., 1000) = -1 EPIPE (Broken pipe)\n\
                  +0 close(4) = 0\n\
                  +.1 < P. 1:1001(1000) ack 1002 win 1000\n\
                  +0 > . 1002:1002(0) ack 1001";
    assert_eq!(outcome(&server(script)), "ok");
    let open = "+0 write(4, ..., 1000) = -1 EPIPE (Broken pipe)";
    assert_eq!(outcome(&server(open)), "9 refused: `write` never fails here");
}

/// Ours in the SYN, and the smaller one of both in what is sent.
#[test]
fn a_socket_may_have_a_largest_segment() {
    let script = |value: &str| {
        format!(
            "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
             +0 setsockopt(3, SOL_TCP, TCP_MAXSEG, [{value}], 4) = 0\n\
             +0 getsockopt(3, SOL_TCP, TCP_MAXSEG, [{value}], [4]) = 0\n\
             +.1 ... 0.2 connect(3, ..., ...) = 0\n\
             +0 > S 0:0(0) <mss {value},sackOK,TS val 7 ecr 0,nop,wscale 8>\n\
             +.1 < S. 0:0(0) ack 1 win 32792 <mss 1200,nop,wscale 7>\n\
             +0 > . 1:1(0) ack 1\n\
             +0 getsockopt(3, SOL_TCP, TCP_MAXSEG, [1100], [4]) = 0\n\
             +0 %{{ assert tcpi_advmss == {value} and tcpi_snd_mss == 1100 }}%\n\
             +0 write(3, ..., 2200) = 2200\n\
             +0 > P. 1:2201(2200) ack 1\n"
        )
    };
    assert_eq!(outcome(&script("1100")), "ok");
    let other = "8 at 0.200000 s: expected TCP_MAXSEG = 1100; happened TCP_MAXSEG = 1200";
    assert_eq!(outcome(&script("1300")), other);
    assert_eq!(outcome(&script("9000")), "2 refused: TCP_MAXSEG is from 48 to 1460 here");
}

/// With a clock for the script's timestamps a second is a thousand of them; without one they are names.
#[test]
fn timestamps_may_be_compared_with_the_clock() {
    let script = |head: &str, last: u32| {
        format!(
            "{head}0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
             +0 < S 0:0(0) win 20000 <mss 1000,sackOK,TS val 100 ecr 0>\n\
             +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 100 ecr 100>\n\
             +.1 < . 1:1(0) ack 1 win 20000 <nop,nop,TS val 200 ecr 100>\n\
             +0 accept(3, ..., ...) = 4\n\
             +1 close(4) = 0\n\
             +0 > F. 1:1(0) ack 1 <nop,nop,TS val {last} ecr 200>\n"
        )
    };
    let clock = "--tcp_ts_tick_usecs=1000\n";
    assert_eq!(outcome(&script(clock, 1200)), "ok");
    assert_eq!(outcome(&script("", 1300)), "ok");
    let found = outcome(&script(clock, 1300));
    assert!(found.ends_with("its timestamp is that of 1.100 s after the first one"), "{found}");
}

/// A backslash goes on with the statement.
#[test]
fn code_may_go_on_with_the_next_line() {
    let code = "+0 %{ assert tcpi_unacked == 0 and \\\n tcpi_snd_cwnd == 99 }%";
    let found = outcome(&server(code));
    assert!(found.starts_with("9 at 0.100000 s: expected tcpi_unacked == 0 and"), "{found}");
}

/// A range, a relative time after it, `*` and an absolute time. The timeout is due a second after 0.1 s.
#[test]
fn times_count_from_the_event_before() {
    let script = "+0 > . 1:3001(3000) ack 1\n\
                  +.9~+1.1 > . 1:1001(1000) ack 1\n\
                  +.1 < . 1:1(0) ack 1001 win 1000\n\
                  * > . 1001:3001(2000) ack 1\n\
                  1.3 < . 1:1(0) ack 3001 win 1000\n\
                  +0 %{ assert tcpi_unacked == 0 }%";
    assert_eq!(outcome(&written(script)), "ok");
}

#[test]
fn sent_segments_may_deviate_by_the_tolerance() {
    let late = "+0 > . 1:3001(3000) ack 1\n+.995 > . 1:1001(1000) ack 1";
    assert!(outcome(&written(late)).starts_with("11 at 0.100000 s"));
    let verdict_within = |ms| run_script(&written(late), Some(Duration::from_ms(ms)));
    assert_eq!(verdict_within(5), Verdict::Passed);
    assert_ne!(verdict_within(4), Verdict::Passed);
    let own = format!("--tolerance_usecs=5000\n{}", written(late));
    assert_eq!(run_script(&own, None), Verdict::Passed);
}

#[test]
fn failure_reports_expected_and_actual_segment() {
    insta::assert_snapshot!(outcomes(&[
        written("+0 > . 1:4001(4000) ack 1"),
        written("+0 > . 1:2501(2500) ack 1"),
        written("+0 > . 1001:2001(1000) ack 1"),
        written("+0 > . 1:1001(1000) ack 2"),
        written("+0 > F. 1:1001(1000) ack 1"),
        written("+0 > . 1:1001(1000) ack 1 <nop,nop,sack 1:2>"),
        written("+.1 > . 1:3001(3000) ack 1"),
        server("+0 > . 1:1001(1000) ack 1"),
        written("+0 %{ assert tcpi_snd_cwnd == 3 and tcpi_unacked < 3, 'never' }%"),
        written("+0 %{ x = 2\nx += 3\nassert 1 <= x < tcpi_snd_cwnd }%"),
    ]));
}

#[test]
fn unsupported_features_are_refused_with_the_reason() {
    let own = |line: &str| server("").replace("profile = \"rfc\"", line);
    insta::assert_snapshot!(outcomes(&[
        server("+0 poll([{fd=4, events=POLLIN, revents=0}], 1, 0) = 0"),
        server("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0"),
        server("+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [0], [4]) = 0"),
        server("+0 send(4, ..., 400, MSG_EOR) = 400"),
        server("+0 sendto(4, ..., 400, MSG_FASTOPEN, ..., ...) = 400"),
        server("+0...0.2 write(4, ..., 3000) = 3000"),
        server("+0 > R. 1:1(0) ack 1"),
        server("+0 < . 1:1(0) ack 2 win 9"),
        server("+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, [\"swift\"], 5) = 0"),
        server("+0 write(4, ..., 3000) = 2000"),
        server("+0 write(3, ..., 3000) = 3000"),
        server("+0 < . 1:1(0) ack 1 win 0"),
        written("+.1 < . 1:1(0) ack 501 win 1000"),
        server("+0 < P. 1:1001(1000) ack 1 win 9\n+0 < P. 1:2001(2000) ack 1 win 9"),
        server("+0 > . 1:1(0) ack 1 win 500"),
        server("+0 < [ect01] . 1:1(0) ack 1 win 9"),
        server("+0 < [ttl 3] . 1:1(0) ack 1 win 9"),
        server("+0 < PU. 1:2(1) ack 1 win 9"),
        server("+0 < S 0:0(0) win 9"),
        server("").replace("mss 1000", "mss 40"),
        server("20000 close(4) = 0"),
        server("+0 < . 1:1(0) ack 1 win 9 <FO abcd>"),
        server("+0 < . 1:1(0) ack 1 win 9 <md5 abcd>"),
        server("+0 %{ assert tcpi_snd_cwd == 3 }%"),
        server("+0 %{ assert tcpi_busy_time == 3 }%"),
        server("+0 %{ import os }%"),
        server("+0 %{ assert len(x) == 3 }%"),
        format!("`sysctl -q net.ipv4.tcp_reordering=10`\n{}", server("")),
        format!("`./defaults.sh\ntc qdisc replace dev tun0 root fq limit 5`\n{}", server("")),
        format!("`sysctl net.ipv4.tcp_pacing_ss_ratio=150`\n{}", server("")),
        format!("`sysctl net.ipv4.tcp_min_tso_segs=0`\n{}", server("")),
        server("").replace("// optcp: profile = \"rfc\"", "`sysctl tcp_congestion_control=bbr`"),
        format!("`rm -rf /`\n{}", server("")),
        format!("--ip_version=ipv6\n{}", server("")),
        format!("--strict_segments\n{}", server("")),
        format!("--tcp_ts_tick_usecs=ms\n{}", server("")),
        own("profil = \"rfc\""),
        own("profile = \"rfcs\""),
        own("timestamp_undo = true, timestamps = false"),
        own("profile = "),
    ]));
}

#[test]
fn mistake_is_reported_with_its_line() {
    insta::assert_snapshot!(outcomes(&[
        String::new(),
        server("+0 < . 1:1001(999) ack 1"),
        server("+0 < . 1:1(0)"),
        server("+0 < X. 1:1(0) ack 1"),
        server("+0 < . 1:1(0 ack 1"),
        server("+x < . 1:1(0) ack 1"),
        server("+0 write(4, ..., 3000"),
        server("+0 write(4, ..., 3000) = many"),
        server("+0 %{ assert 1"),
        server("/* never closed"),
        server("`never closed"),
        server("+0 !"),
    ]));
}

/// Extreme numbers: Python's remainder, and values that exceed 64 bits.
#[test]
fn arithmetic_at_its_bounds() {
    let remainder = "assert -9223372036854775807 % 4611686018427387905 == 3";
    assert_eq!(outcome(&server(&format!("+0 %{{ {remainder} }}%"))), "ok");
    let least = "x = -9223372036854775807 - 1\nassert -x > 0";
    let found = outcome(&server(&format!("+0 %{{ {least} }}%")));
    assert_eq!(found, "10 refused: -(-9223372036854775808) has no value");
}

/// Excessive requests are refused, not executed.
#[test]
fn a_script_without_bounds_is_refused() {
    for deep in ["(", "-", "not "] {
        let found = outcome(&server(&format!("+0 %{{ assert {}1 }}%", deep.repeat(50_000))));
        assert!(found.ends_with("more than 1000 characters"), "{found}");
    }
    let write = "+0 write(4, ..., 4294967295) = 4294967295\n";
    let found = outcome(&server(write));
    assert!(found.ends_with("script with more than 1000000 segments"), "{found}");
    // From 0.1 s on, line 9: the event behind a hundred of them.
    let found = outcome(&server(&"+10000 close(3) = 0\n".repeat(2000)));
    assert_eq!(found, "109 refused: a script lasts no longer than 1000000.000000 s");
    // The timestamps go back, which is nearly all the way round, by ticks of more than an hour.
    let found = outcome(
        "--tcp_ts_tick_usecs=4294967295\n\
         0 < S 0:0(0) win 20000 <mss 1000,sackOK,TS val 100 ecr 0>\n\
         +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 100 ecr 100>\n\
         +.1 < P. 1:1001(1000) ack 1 win 20000 <nop,nop,TS val 200 ecr 100>\n\
         +0 > . 1:1(0) ack 1001 <nop,nop,TS val 99 ecr 200>",
    );
    assert!(found.ends_with("its timestamp is that of 0.100 s after the first one"), "{found}");
    let found = outcome(&format!("--tolerance_usecs=18446744073709551615\n{}", server("")));
    assert!(found.starts_with("1 refused"), "{found}");
}

/// Scripts with a character left out, doubled or turned into a digit end somehow, and not in a panic.
#[test]
fn a_damaged_script_ends_without_a_panic() {
    let scripts = [
        include_str!("../../../tests/packetdrill/undo/a-timestamp-of-the-original.pkt"),
        include_str!("../../../tests/packetdrill/handshake/we-open-the-connection.pkt"),
        include_str!("../../../tests/packetdrill/sack/every-other-segment-is-missing.pkt"),
        include_str!("../../../tests/packetdrill/rack/a-lost-retransmission-is-sent-again.pkt"),
    ];
    for script in scripts {
        assert_eq!(run_script(script, None), Verdict::Passed);
        for (at, character) in script.char_indices() {
            let (before, after) = (&script[..at], &script[at + character.len_utf8()..]);
            for other in ["", "0", "9", &character.to_string().repeat(2)] {
                let _ = run_script(&format!("{before}{other}{after}"), None);
            }
        }
    }
}

/// All relevant commands of the kernel's default settings, and further settings of a script.
#[test]
fn settings_become_choices() {
    let settings = "`../common/defaults.sh\n\
                    sysctl -q net.ipv4.tcp_wmem=\"4096 $((256*1024)) 4194304\" > /dev/null 2>&1\n\
                    ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_sack=0 \\\n\
                    \t\t/proc/sys/net/ipv4/tcp_tso_win_divisor=100\n\
                    ip tcp_metrics flush all # nothing`\n";
    let syn = "0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n";
    let without = "+0 > S. 0:0(0) ack 1 <mss 1460,nop,wscale 8>\n";
    assert_eq!(outcome(&format!("{settings}{syn}{without}")), "ok");
    // Without the setting both ends use SACK.
    let with = "+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>\n";
    assert_eq!(outcome(&format!("{syn}{with}")), "ok");
}

/// A connection with a window of 40 segments that pauses for three seconds, behind the commands of `settings`.
fn after_a_pause(settings: &str, segments: u32) -> String {
    let last = 30_001 + 1000 * segments;
    format!(
        "{settings}0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 10>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
+.1 < . 1:1(0) ack 1 win 5000
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 30000) = 30000
+0 > P. 1:10001(10000) ack 1
+.1 < . 1:1(0) ack 10001 win 5000
+0 > P. 10001:30001(20000) ack 1
+.1 < . 1:1(0) ack 30001 win 5000
+3 write(4, ..., 50000) = 50000
+0 > P. 30001:{last}({}) ack 1
",
        last - 30_001
    )
}

/// `tcp_slow_start_after_idle` governs the window after a pause. This also applies in the initial
/// settings of the scripts of the kernel and of packetdrill, and to a profile that a script names.
#[test]
fn slow_start_after_idle_is_switched_off() {
    let off = "`sysctl -q net.ipv4.tcp_slow_start_after_idle=0`\n";
    for (settings, segments) in [
        ("", 10),
        (off, 40),
        ("`../common/defaults.sh`\n", 40),
        ("`./defaults.sh\nsysctl net.ipv4.tcp_slow_start_after_idle=1`\n", 10),
        (
            "// optcp: profile = \"linux-6\", congestion = \"reno\"\n`sysctl tcp_slow_start_after_idle=0`\n",
            40,
        ),
        ("// optcp: restart_after_idle = true\n`sysctl tcp_slow_start_after_idle=0`\n", 10),
    ] {
        assert_eq!(outcome(&after_a_pause(settings, segments)), "ok", "{settings}");
    }
}

/// Settings that do more than one thing, or another one than their number says.
#[test]
fn setting_changes_all_its_parameters() {
    let open = |settings: &str, syn: &str, answer: &str| {
        outcome(&format!(
            "{settings}\n0 < S 0:0(0) win 65535 <{syn}>\n+0 > S. 0:0(0) ack 1 <{answer}>\n"
        ))
    };
    let syn = "mss 1000,sackOK,nop,nop,nop,wscale 7";
    // RFC 7323 section 1.3: a window that is not scaled is not offered to be.
    let plain = "mss 1460,nop,nop,sackOK";
    assert_eq!(open("`sysctl tcp_window_scaling=0`", syn, plain), "ok");
    // Without timestamps nothing can be undone by them, although such a comment would be refused.
    let stamped = "mss 1000,sackOK,TS val 1 ecr 0,nop,wscale 7";
    let answer = "mss 1460,nop,nop,sackOK,nop,wscale 8";
    let settings = "// optcp: initial_window = 4\n`sysctl tcp_timestamps=0 tcp_dsack=0`";
    assert_eq!(open(settings, stamped, answer), "ok");
    for known in [
        "tcp_retries2=15",
        "tcp_rto_min_us=200000",
        "tcp_rto_max_ms=60000",
        "tcp_syn_linear_timeouts=0",
        "tcp_comp_sack_nr=0",
        "tcp_max_reordering=100",
        "net.core.rmem_max=1000000",
    ] {
        assert_eq!(open(&format!("`sysctl {known}`"), syn, answer), "ok", "{known}");
    }
    for unknown in [
        "tcp_retries2=3",
        "tcp_rto_min_us=5000",
        "tcp_rto_max_ms=500",
        "tcp_thin_linear_timeouts=1",
        "tcp_comp_sack_nr=44",
        "tcp_mtu_probing=1",
        "tcp_no_such_thing=1",
    ] {
        let found = open(&format!("`sysctl {unknown}`"), syn, answer);
        assert!(found.starts_with("1 refused: "), "{unknown}: {found}");
    }
}

/// The queue of a sender that asks for pacing does not matter, nor when the socket chooses: HyStart and pacing go with the
/// congestion control.
#[test]
fn congestion_control_sets_its_requirements() {
    let socket = |settings: &str, name: &str| {
        format!("{settings}{}", after_a_pause("", 10).replace(
            "+0 accept(3, ..., ...) = 4",
            &format!("+0 accept(3, ..., ...) = 4\n+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, \"{name}\", 4) = 0"),
        ))
    };
    assert_eq!(outcome(&socket("", "reno")), "ok");
    assert_eq!(outcome(&socket("`sysctl tcp_congestion_control=bbr`\n", "reno")), "ok");
    assert_eq!(outcome(&socket("// optcp: congestion = \"dctcp\"\n", "reno")), "ok");
}

/// Settings cannot change during a connection. A command that restores them after its last segment
/// has no effect.
#[test]
fn a_setting_in_the_middle_of_a_connection_is_refused() {
    let script = |last: &str| after_a_pause("", 10).replace("+3 write", last);
    let late = "+0 `sysctl tcp_slow_start_after_idle=0`\n+3 write";
    let found = outcome(&script(late));
    assert!(found.contains("refused: settings cannot change during"), "{found}");
    assert_eq!(outcome(&script("+0 `sysctl tcp_slow_start_after_idle=1`\n+3 write")), "ok");
    let restored = format!("{}`sysctl tcp_slow_start_after_idle=0`\n", after_a_pause("", 10));
    assert_eq!(outcome(&restored), "ok");
}
