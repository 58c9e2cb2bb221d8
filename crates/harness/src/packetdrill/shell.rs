//! Shell commands of a script, translated for a simulated endpoint.
//!
//! Nothing is executed. A command is ignored if it has no effect here, translated to a parameter, or refused.

use optcp_tcp::config::{Config, Ecn, LossDetectionKind, Pacing, ReceiverEcn, RecoveryKind};
use optcp_tcp::profile::Profile;
use optcp_units::Duration;

use super::choices::congestion;
use super::script::{Action, Refusal, Script};

/// Settings that do not affect any script. They concern memory, the windows that it allows, start
/// and end of connections, metrics of earlier ones, Fast Open, and limits of refused features.
const HARMLESS: &[&str] = &[
    "rmem_default",
    "rmem_max",
    "tcp_abort_on_overflow",
    "tcp_adv_win_scale",
    "tcp_allowed_congestion_control",
    "tcp_app_win",
    "tcp_autocorking",
    "tcp_backlog_ack_defer",
    "tcp_base_mss",
    "tcp_challenge_ack_limit",
    "tcp_early_demux",
    "tcp_fack",
    "tcp_fastopen",
    "tcp_fastopen_blackhole_timeout_sec",
    "tcp_fastopen_key",
    "tcp_fin_timeout",
    "tcp_invalid_ratelimit",
    "tcp_keepalive_intvl",
    "tcp_keepalive_probes",
    "tcp_keepalive_time",
    "tcp_limit_output_bytes",
    "tcp_low_latency",
    "tcp_max_orphans",
    "tcp_max_reordering",
    "tcp_max_syn_backlog",
    "tcp_max_tw_buckets",
    "tcp_mem",
    "tcp_moderate_rcvbuf",
    "tcp_mtu_probe_floor",
    "tcp_no_metrics_save",
    "tcp_no_ssthresh_metrics_save",
    "tcp_notsent_lowat",
    "tcp_probe_interval",
    "tcp_probe_threshold",
    "tcp_retries1",
    "tcp_rfc1337",
    "tcp_rmem",
    "tcp_shrink_window",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_syncookies",
    "tcp_tso_rtt_log",
    "tcp_tso_win_divisor",
    "tcp_tw_reuse",
    "tcp_wmem",
    "tcp_workaround_signed_windows",
    "wmem_default",
    "wmem_max",
];

/// Settings of which only one value is supported.
const FIXED: &[(&str, &str)] = &[
    ("tcp_comp_sack_delay_ns", "0"),
    ("tcp_comp_sack_nr", "0"),
    ("tcp_ecn_fallback", "1"),
    ("tcp_min_rtt_wlen", "300"),
    ("tcp_mtu_probing", "0"),
    ("tcp_pacing_ca_ratio", "120"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_pingpong_thresh", "1"),
    ("tcp_plb_enabled", "0"),
    ("tcp_reflect_tos", "0"),
    ("tcp_reordering", "3"),
    ("tcp_retries2", "15"),
    ("tcp_thin_linear_timeouts", "0"),
];

/// Settings of `defaults.sh`, in the versions of the kernel's and packetdrill's scripts, that differ from
/// Linux's defaults.
const DEFAULTS_SH: &[(&str, &str)] = &[("tcp_slow_start_after_idle", "0"), ("tcp_ecn", "0")];

/// Minimum of `tcp_rto_min_us`: at lower values, Linux delays ACKs by less than 40 ms, which is not
/// simulated.
const LEAST_MIN_RTO: Duration = Duration::from_ms(41);

/// Applies the commands of a script to the configuration of `profile`.
pub(super) fn apply(script: &Script, profile: Profile, config: &mut Config) -> Result<(), Refusal> {
    let is_segment = |action: &Action| matches!(action, Action::Inbound(_) | Action::Outbound(_));
    let segments = script.events.iter().filter(|event| is_segment(&event.action));
    let lines: Vec<usize> = segments.map(|event| event.line).collect();
    for (line, text) in &script.commands {
        let begun = lines.iter().any(|segment| segment < line);
        let over = !lines.iter().any(|segment| segment > line);
        if !begun {
            apply_one(*line, text, profile, config)?;
            continue;
        }
        // Commands after the last segment restore the settings.
        let mut changed = config.clone();
        apply_one(*line, text, profile, &mut changed)?;
        if !over && changed != *config {
            let reason = "settings cannot change during a connection";
            return Err(Refusal::new(*line, reason));
        }
    }
    Ok(())
}

/// Applies the commands of `text` at `line`.
fn apply_one(
    line: usize,
    text: &str,
    profile: Profile,
    config: &mut Config,
) -> Result<(), Refusal> {
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
            ("defaults.sh", _) => {
                for (name, value) in DEFAULTS_SH {
                    set(name, value, profile, config).map_err(|why| refused(&why))?;
                }
            }
            ("sysctl" | "set_sysctls.py", settings) => {
                for setting in settings.iter().filter(|word| !word.starts_with('-')) {
                    let (name, value) =
                        setting.split_once('=').ok_or_else(|| refused("no value"))?;
                    set(name, value, profile, config).map_err(|why| refused(&why))?;
                }
            }
            // Segments of a script correspond to those after the network card has merged or split them.
            ("ip", ["tcp_metrics", ..]) | ("ethtool", ["-K", ..]) => {}
            ("tc", ["qdisc", .., "pfifo"]) => config.pacing = Pacing::None,
            // The queue `fq` paces segments; no further options are supported.
            ("tc", ["qdisc", .., "fq"]) => config.pacing = Pacing::Window,
            // Both tests of HyStart, which is the default.
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

/// Returns the commands of a text with their lines.
fn commands(first: usize, text: &str) -> Vec<(usize, String)> {
    let lines = joined(first, text).into_iter();
    let commands = lines.flat_map(|(line, text)| {
        let commands: Vec<_> = text.split(';').map(|one| (line, one.trim().to_owned())).collect();
        commands
    });
    commands.collect()
}

/// Returns the lines of a text with their numbers; a backslash at the end joins a line with the next.
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

/// Returns the words of a command, without comment and redirections.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in command.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') if word.is_empty() => break,
            // Redirections do not change the meaning of a command.
            (None, '>') => break,
            (None, _) if c.is_whitespace() => {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            }
            _ => word.push(c),
        }
    }
    words
}

/// Applies one kernel setting with all its effects.
fn set(name: &str, value: &str, profile: Profile, config: &mut Config) -> Result<(), String> {
    let name = name.rsplit(['.', '/']).next().unwrap_or_default();
    let unknown = || format!("`{name} = {value}` is not supported");
    let on = value != "0";
    match (name, value) {
        ("tcp_sack", "0") => config.recovery = RecoveryKind::NewReno,
        ("tcp_sack", _) => config.recovery = RecoveryKind::Sack,
        ("tcp_dsack", _) => config.dsack = on,
        ("tcp_timestamps", _) => {
            config.timestamps = on;
            config.timestamp_undo = on && profile.config().timestamp_undo;
        }
        ("tcp_window_scaling", _) => config.window_scaling = on,
        ("tcp_frto", _) => config.frto = on,
        // 1 and 2 belong to older kernels: no probes.
        ("tcp_early_retrans", how) => config.tail_loss_probe = matches!(how, "3" | "4"),
        ("tcp_recovery", "0") => config.loss_detection = LossDetectionKind::Duplicates,
        ("tcp_recovery", "1") => config.loss_detection = LossDetectionKind::Rack,
        ("tcp_congestion_control", name) => profile.adopt(congestion(name)?, config),
        ("tcp_slow_start_after_idle", "0") => {
            (config.restart_after_idle, config.idle_restart) = (false, false);
        }
        ("tcp_slow_start_after_idle", _) => config.restart_after_idle = true,
        ("tcp_min_tso_segs", segments) => {
            let segments = segments.parse().ok().filter(|&segments| segments > 0);
            config.pacing_burst = segments.ok_or("expected a number of segments")?;
        }
        ("tcp_syn_linear_timeouts", many) => {
            config.syn_linear_timeouts = many.parse().map_err(|_| unknown())?;
        }
        ("tcp_rto_max_ms", ms) => {
            let ms = ms.parse().ok().filter(|ms| (1_000..=120_000).contains(ms));
            config.max_rto = Duration::from_ms(ms.ok_or("expected a value from 1000 to 120000")?);
        }
        ("tcp_rto_min_us", us) => {
            let us = us.parse().ok().map(Duration::from_us);
            let us = us.filter(|us| (LEAST_MIN_RTO..=config.max_rto).contains(us));
            config.min_rto = us.ok_or(
                "expected a value from 41000 (below, ACKs would be delayed less) to the maximum",
            )?;
        }
        ("tcp_ecn", how) => {
            let (asks, agrees) = match how {
                "0" => (Ecn::Off, ReceiverEcn::Off),
                "1" => (Ecn::Rfc3168, ReceiverEcn::Rfc3168),
                "2" => (Ecn::Off, ReceiverEcn::Rfc3168),
                "3" => (Ecn::Accurate, ReceiverEcn::Accurate),
                "4" => (Ecn::Rfc3168, ReceiverEcn::Accurate),
                "5" => (Ecn::Off, ReceiverEcn::Accurate),
                _ => return Err(unknown()),
            };
            (config.ecn, config.receiver_ecn) = (asks, agrees);
        }
        ("tcp_ecn_option", "0") => config.accecn_option = false,
        // With 1 and 2, every ACK carries the option here.
        ("tcp_ecn_option", "1" | "2") => config.accecn_option = true,
        known if FIXED.contains(&known) => {}
        _ if HARMLESS.contains(&name) => {}
        _ => return Err(unknown()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page lists every supported setting, and no others as ignored.
    #[test]
    fn the_page_lists_the_settings() {
        let page = include_str!("../../../../docs/developers/packetdrill.md");
        for name in HARMLESS {
            assert!(page.split_whitespace().any(|word| word == *name), "{name}");
        }
        for (name, value) in FIXED {
            assert!(page.contains(&format!("`{name}={value}`")), "{name}");
        }
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `tcp_"));
        let rows: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
        assert_eq!(rows.len(), 15);
        let profile = Profile::Linux6;
        for name in rows {
            let name = format!("tcp_{name}");
            let values = ["0", "1", "2000", "300000", "reno"];
            let known = values.iter().any(|value| {
                let mut config = profile.config();
                set(&name, value, profile, &mut config).is_ok() && config != profile.config()
            });
            assert!(known, "`{name}` changes nothing");
        }
    }
}
