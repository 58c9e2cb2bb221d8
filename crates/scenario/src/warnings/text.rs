//! Formatting of numbers and names in messages: three significant digits, and the first few names.

use optcp_units::nearest::list;
use optcp_units::{Duration, Rate};

use super::SHOWN;

/// Formats the first few names, and the number of further ones.
pub(crate) fn first_names(names: &[&str]) -> String {
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => list(names),
        Some(more) => format!("{} and {more} more", list(&names[..SHOWN])),
    }
}

/// Formats a count with its noun: "1 flow", "8 flows".
pub(crate) fn count_noun(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

pub(crate) fn time(duration: Duration) -> String {
    seconds(duration.as_secs_f64())
}

pub(crate) fn seconds(seconds: f64) -> String {
    shown(seconds, &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)])
}

pub(crate) fn bytes(bytes: f64) -> String {
    shown(bytes, &[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)])
}

pub(crate) fn rate(rate: Rate) -> String {
    bits(rate.bps() as f64)
}

pub(crate) fn bits(bps: f64) -> String {
    shown(bps, &[("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)])
}

pub(crate) fn per_cent(share: f64) -> String {
    format!("{} %", digits(share * 100.0))
}

/// Formats a value in the largest unit in which it is at least 1; zero in the first unit.
fn shown(value: f64, units: &[(&str, f64)]) -> String {
    let fits = |&&(_, one): &&(&str, f64)| value == 0.0 || value / one >= 0.9995;
    let last = units.len() - 1;
    let (unit, one) = units.iter().find(fits).unwrap_or(&units[last]);
    format!("{} {unit}", digits(value / one))
}

/// Formats three significant digits, without trailing zeros.
fn digits(value: f64) -> String {
    let whole = format!("{value:.2e}");
    let exponent: i32 = whole.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(2 - exponent).unwrap_or(0);
    let rounded = whole.parse().unwrap_or(value);
    let text = format!("{rounded:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_significant_digits_in_the_largest_unit_that_fits() {
        for (value, text) in [
            (24.041_971_2, "24 s"),
            (0.123_456, "123 ms"),
            (0.999_6, "1 s"),
            (0.020_8, "20.8 ms"),
            (1.005e-5, "10.1 us"),
            (3e-13, "0.3 ps"),
            (86_400.0, "86400 s"),
            (0.0, "0 s"),
        ] {
            assert_eq!(seconds(value), text, "{value}");
        }
        assert_eq!(bytes(30_052_464.0), "30.1 MB");
        assert_eq!(bytes(1_500.0), "1.5 kB");
        assert_eq!(bits(20e6), "20 Mbps");
        assert_eq!(per_cent(0.2), "20 %");
        assert_eq!(count_noun(1, "flow"), "1 flow");
        assert_eq!(count_noun(8, "flow"), "8 flows");
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        assert_eq!(first_names(&["a", "b"]), "`a`, `b`");
        let names: Vec<String> = (0..81).map(|n| format!("l{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(first_names(&names), "`l0`, `l1`, `l2`, `l3`, `l4` and 76 more");
    }
}
