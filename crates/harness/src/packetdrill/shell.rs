//! The commands for a shell in a script: what they mean for a simulated endpoint.
//!
//! Nothing is executed. A command is known to make no difference here, or to be a choice of ours by
//! another name, or it is refused.

use optcp_tcp::config::{Config, Ecn, LossDetectionKind, Pacing, ReceiverEcn, RecoveryKind};

use super::choices::congestion;
use super::script::Refusal;

/// Settings that no script's outcome depends on: memory, SYN retries, Fast Open and limits for what is
/// refused here.
const HARMLESS: &[&str] = &[
    "tcp_autocorking",
    "tcp_fack",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_invalid_ratelimit",
    "tcp_limit_output_bytes",
    "tcp_mem",
    "tcp_moderate_rcvbuf",
    "tcp_no_metrics_save",
    "tcp_notsent_lowat",
    "tcp_rmem",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_syncookies",
    "tcp_tso_rtt_log",
    "tcp_tso_win_divisor",
    "tcp_wmem",
];

/// Applies the commands of a script, of which `text` stands at `line`.
pub(super) fn apply(line: usize, text: &str, config: &mut Config) -> Result<(), Refusal> {
    for (line, command) in commands(line, text) {
        let (command, words) = (command.as_str(), words(&command));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let refused =
            |why: &str| Refusal::new(line, format!("the command `{command}` is refused: {why}"));
        let (name, rest) = match words.split_first() {
            None => continue,
            Some((name, rest)) => (name.rsplit('/').next().unwrap_or_default(), rest),
        };
        match (name, rest) {
            // The profile of Linux is what a script starts from anyway.
            ("defaults.sh", _) => {}
            ("sysctl" | "set_sysctls.py", settings) => {
                for setting in settings.iter().filter(|word| !word.starts_with('-')) {
                    let (name, value) =
                        setting.split_once('=').ok_or_else(|| refused("no value"))?;
                    set(name, value, config).map_err(|why| refused(&why))?;
                }
            }
            // A segment of a script stands for what the network card would have put together or cut.
            ("ip", ["tcp_metrics", ..]) | ("ethtool", ["-K", ..]) => {}
            ("tc", ["qdisc", .., "pfifo"]) => config.pacing = Pacing::None,
            // It lets segments out when the sender's pacing says; with nothing else after its name.
            ("tc", ["qdisc", .., "fq"]) => config.pacing = Pacing::Window,
            // Both tests of HyStart, as they are by default.
            ("echo", ["3"]) if command.ends_with("tcp_cubic/parameters/hystart_detect") => {}
            ("tc", _) => {
                return Err(refused("of the endpoint's queues only `fq` and `pfifo` are known"));
            }
            (restore, []) if restore.starts_with("sysctl_restore") => {}
            _ => return Err(refused("it is neither a setting nor `defaults.sh`")),
        }
    }
    Ok(())
}

/// The commands of a text and the lines where they begin.
fn commands(first: usize, text: &str) -> Vec<(usize, String)> {
    let lines = joined(first, text).into_iter();
    let commands = lines.flat_map(|(line, text)| {
        let commands: Vec<_> = text.split(';').map(|one| (line, one.trim().to_owned())).collect();
        commands
    });
    commands.collect()
}

/// The lines of a text, each with its number; a backslash at the end of a line goes on with the next one.
pub(super) fn joined(first: usize, text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (line, part) in (first..).zip(text.split('\n')) {
        let body = part.strip_suffix('\\').unwrap_or(part);
        match lines.last_mut().filter(|_| goes_on) {
            Some((_, whole)) => *whole = format!("{} {}", whole.trim_end(), body.trim()),
            None => lines.push((line, body.to_owned())),
        }
        goes_on = body != part;
    }
    lines
}

/// The words of a command, without its comment and redirections.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in command.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') if word.is_empty() => break,
            // What is written where makes no difference to what a command means.
            (None, '>') => break,
            (None, _) if c.is_whitespace() => {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            }
            _ => word.push(c),
        }
    }
    words
}

/// One kernel setting.
fn set(name: &str, value: &str, config: &mut Config) -> Result<(), String> {
    let name = name.rsplit(['.', '/']).next().unwrap_or_default();
    match (name, value) {
        ("tcp_sack", "0") => config.recovery = RecoveryKind::NewReno,
        ("tcp_sack", _) => config.recovery = RecoveryKind::Sack,
        ("tcp_dsack", _) => config.dsack = value != "0",
        ("tcp_timestamps", _) => config.timestamps = value != "0",
        ("tcp_frto", _) => config.frto = value != "0",
        ("tcp_early_retrans", _) => config.tail_loss_probe = value != "0",
        ("tcp_recovery", "0") => config.loss_detection = LossDetectionKind::Duplicates,
        ("tcp_recovery", "1") => config.loss_detection = LossDetectionKind::Rack,
        ("tcp_congestion_control", name) => config.congestion = congestion(name)?,
        ("tcp_slow_start_after_idle", _) => config.idle_restart = value != "0",
        ("tcp_min_tso_segs", segments) => {
            let segments = segments.parse().ok().filter(|&segments| segments > 0);
            config.pacing_burst = segments.ok_or("it is no number of segments")?;
        }
        ("tcp_pacing_ss_ratio", "200") | ("tcp_pacing_ca_ratio", "120") => {}
        ("tcp_ecn", how) => {
            let (asks, agrees) = match how {
                "0" => (Ecn::Off, ReceiverEcn::Off),
                "1" => (Ecn::Rfc3168, ReceiverEcn::Rfc3168),
                "2" => (Ecn::Off, ReceiverEcn::Rfc3168),
                "3" => (Ecn::Accurate, ReceiverEcn::Accurate),
                "4" => (Ecn::Rfc3168, ReceiverEcn::Accurate),
                "5" => (Ecn::Off, ReceiverEcn::Accurate),
                _ => return Err(format!("`{name} = {value}` is not supported")),
            };
            (config.ecn, config.receiver_ecn) = (asks, agrees);
        }
        ("tcp_ecn_option", "0") => config.accecn_option = false,
        // With 1 and 2 it is sent here on every ACK.
        ("tcp_ecn_option", "1" | "2") => config.accecn_option = true,
        ("tcp_ecn_fallback", "1") | ("tcp_reordering", "3") | ("tcp_mtu_probing", "0") => {}
        _ if HARMLESS.contains(&name) => {}
        _ => return Err(format!("`{name} = {value}` is not supported")),
    }
    Ok(())
}
