//! Hints for unknown units: the same quantity in a known unit, if there is one.
//!
//! A hint must never change a value. `10 MB/s` and `10 MBps` are 80 Mbps, `75 kb` are 9.375 kB. For an ambiguous unit
//! such as `10 GBPS`, the hint lists all meanings. Typing errors are recognised only if exactly one unit is similar.

use crate::quantity::unit_list;
use crate::{Bytes, Decimal, Dimension, Duration, Quantity, UNITS, Unit};

/// Decimal and binary prefixes of bits and bytes. A small `m` means mega, because there are no thousandths of a bit.
const PREFIXES: &[(&str, u64)] = &[
    ("", 1),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("m", 1_000_000),
    ("G", 1_000_000_000),
    ("g", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("t", 1_000_000_000_000),
    ("Ki", 1 << 10),
    ("ki", 1 << 10),
    ("Mi", 1 << 20),
    ("mi", 1 << 20),
    ("Gi", 1 << 30),
    ("gi", 1 << 30),
    ("Ti", 1 << 40),
    ("ti", 1 << 40),
];

/// Names of bits, and of bytes.
const BASES: [&[&str]; 2] =
    [&["b", "bit", "bits", "Bit", "Bits"], &["B", "byte", "bytes", "Byte", "Bytes"]];
const BITS: [u64; 2] = [1, 8];
const PER_SECOND: &[&str] = &["ps", "/s", "/sec", "/second", "p/s"];

/// Names of time units, in picoseconds.
const SPANS: &[(&[&str], u64)] = &[
    (&["nsec", "nsecs", "nanosecond", "nanoseconds"], 1_000),
    (&["usec", "usecs", "microsecond", "microseconds"], 1_000_000),
    (&["msec", "msecs", "millisecond", "milliseconds"], 1_000_000_000),
    (&["sec", "secs", "second", "seconds"], 1_000_000_000_000),
    (&["mins", "minute", "minutes"], 60_000_000_000_000),
    (&["hr", "hrs", "hour", "hours"], 3_600_000_000_000_000),
    (&["d", "day", "days"], 86_400_000_000_000_000),
];

/// Meaning of a spelling: dimension, and size in base units.
type Meaning = (Dimension, Decimal);

/// Returns the hint for a number with an unknown unit, if there is an unambiguous one.
pub(crate) fn hint(number: Decimal, unit: &str, expected: Option<Dimension>) -> Option<String> {
    let mut means = meanings(unit, expected);
    if means.is_empty() {
        return similar_unit(unit, expected).map(|unit| format!("did you mean `{unit}`?"));
    }
    means.retain(|(dimension, _)| expected.is_none_or(|expected| expected == *dimension));
    let alone = means.len() == 1;
    let written = means.iter().map(|&meaning| written(number, meaning, alone));
    let written: Vec<String> = written.collect::<Option<_>>()?;
    match &written[..] {
        [] => expected.map(unit_list),
        [one] => Some(format!("did you mean `{one}`?")),
        several => Some(format!("`{unit}` has several meanings: `{}`", several.join("` or `"))),
    }
}

/// Formats the unit of equal size if there is one, with the number unless it is the only meaning.
/// Otherwise formats the converted number with a unit. Returns `None` if the conversion is not
/// exact.
fn written(number: Decimal, (dimension, factor): Meaning, alone: bool) -> Option<String> {
    let same = |unit: &&Unit| Decimal::new(u128::from(unit.factor)) == factor;
    if let Some(unit) = dimension.units().find(same) {
        return Some(if alone { unit.name.to_owned() } else { format!("{number} {}", unit.name) });
    }
    let amount = number.times(factor)?;
    match dimension {
        Dimension::Data => Some(Bytes::new(amount.to_u64()?).in_largest_unit()),
        Dimension::Time => Some(Duration::from_ps(amount.to_u64()?).to_string()),
        _ => {
            amount.to_u64()?;
            Some(Quantity { amount, dimension: Some(dimension) }.to_string())
        }
    }
}

/// Returns the meanings of a spelling that other programs use; several if it is ambiguous.
fn meanings(name: &str, expected: Option<Dimension>) -> Vec<Meaning> {
    let name = name.trim_end_matches('.');
    if let Some((_, ps)) = SPANS.iter().find(|(names, _)| names.contains(&name)) {
        return vec![(Dimension::Time, Decimal::new(u128::from(*ps)))];
    }
    let rate = expected == Some(Dimension::Rate);
    let mut found = Vec::new();
    for &(prefix, size) in PREFIXES {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        if rest.is_empty() && !prefix.is_empty() && size % 1000 == 0 && rate {
            found.push(bits(Dimension::Rate, size));
        }
        if rest == "BPS" {
            // Capitals do not distinguish bits from bytes.
            found.extend(BITS.map(|bits_in| bits(Dimension::Rate, size * bits_in)));
        }
        if prefix == "K" && rest == "B" {
            found.extend([1_000, 1_024].map(|size| bits(Dimension::Data, size * 8)));
            continue;
        }
        for (names, bits_in) in BASES.into_iter().zip(BITS) {
            for rest in names.iter().filter_map(|base| rest.strip_prefix(base)) {
                let in_bits = bits_in == 1;
                // `Mb` and `Mbs` stand for a rate where one is expected; `Mbs` also if the dimension is unknown.
                let short = match rest {
                    "" => rate && in_bits,
                    "s" => rate || (in_bits && expected.is_none()),
                    _ => false,
                };
                if PER_SECOND.contains(&rest) || short {
                    found.push(bits(Dimension::Rate, size * bits_in));
                } else if rest.is_empty() || rest == "s" {
                    found.push(bits(Dimension::Data, size * bits_in));
                }
            }
        }
    }
    found.dedup();
    found
}

/// Returns a number of bits as an amount of data or a rate.
fn bits(dimension: Dimension, bits: u64) -> Meaning {
    let bits = Decimal::new(u128::from(bits));
    match dimension {
        // A byte has eight bits: 0.125 is exact.
        Dimension::Data => (dimension, bits.times(Decimal::scaled(125, 3)).unwrap_or(bits)),
        _ => (dimension, bits),
    }
}

/// Returns the only unit that a typing error may stand for: different case, or one letter missing, doubled or moved.
fn similar_unit(name: &str, expected: Option<Dimension>) -> Option<&'static str> {
    let wanted = |unit: &&Unit| expected.is_none_or(|dimension| dimension == unit.dimension);
    let near = |spelling: &str| {
        let first = |text: &str| text.chars().next().map(|c| c.to_ascii_lowercase());
        let moved = spelling.chars().count() != name.chars().count() || {
            let sorted = |text: &str| {
                let mut letters: Vec<char> = text.chars().collect();
                letters.sort_unstable();
                letters
            };
            sorted(spelling) == sorted(name)
        };
        let short = spelling.len() < 2 || name.len() < 2;
        spelling.eq_ignore_ascii_case(name)
            || (!short
                && first(spelling) == first(name)
                && moved
                && strsim::damerau_levenshtein(spelling, name) == 1)
    };
    let mut found: Vec<(&'static str, &'static Unit)> = Vec::new();
    for unit in UNITS.iter().filter(wanted) {
        found.extend(
            unit.spellings().find(|spelling| near(spelling)).map(|spelling| (spelling, unit)),
        );
    }
    match found[..] {
        [(spelling, _)] => Some(spelling),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint_for(text: &str, expected: Dimension) -> Option<String> {
        crate::Quantity::parse(text, Some(expected)).expect_err("an unknown unit").hint()
    }

    /// Expected values follow from the SI and IEC prefixes and eight bits per byte.
    #[test]
    fn hint_for_foreign_unit_keeps_value() {
        use Dimension::{Data, Rate, Time};
        for (text, expected, hint) in [
            ("10 MB/s", Rate, Some("`80 Mbps`")),
            ("10 MBps", Rate, Some("`80 Mbps`")),
            ("1.5 GB/s", Rate, Some("`12 Gbps`")),
            ("125 KB/s", Rate, Some("`1 Mbps`")),
            ("3 B/s", Rate, Some("`24 bps`")),
            ("1 MiB/s", Rate, Some("`8.388608 Mbps`")),
            ("1 Kibit/s", Rate, Some("`1.024 kbps`")),
            ("10 MBs", Rate, Some("`80 Mbps`")),
            ("10 GBPS", Rate, Some("`10 Gbps` or `80 Gbps`")),
            ("10G", Rate, Some("`Gbps`")),
            ("100 M", Rate, Some("`Mbps`")),
            ("10 Mb", Rate, Some("`Mbps`")),
            ("10 Mb/s", Rate, Some("`Mbps`")),
            ("10 mbps", Rate, Some("`Mbps`")),
            ("10 Gpbs", Rate, Some("`Gbps`")),
            ("1 Mbyte", Rate, None),
            ("1000 pps", Rate, None),
            ("1 Mpps", Rate, None),
            ("75 kb", Data, Some("`9.375 kB`")),
            ("1 Mb", Data, Some("`125 kB`")),
            ("1 mb", Data, Some("`125 kB`")),
            ("8 Mib", Data, Some("`1.048576 MB`")),
            ("16 b", Data, Some("`2 B`")),
            ("1 b", Data, None),
            ("1 MBytes", Data, Some("`MB`")),
            ("75 KB", Data, Some("`75 kB` or `75 KiB`")),
            ("1 MB/s", Data, None),
            ("10 M", Data, None),
            ("5 msec", Time, Some("`ms`")),
            ("2 days", Time, Some("`172800 s`")),
            ("5 m", Time, None),
            ("5 kms", Time, None),
            ("5 packtes", Dimension::Count, Some("`packets`")),
        ] {
            let found = hint_for(text, expected);
            let shown = found.as_deref().unwrap_or("nothing");
            match hint {
                Some(hint) => assert!(shown.contains(hint), "{text}: {shown}"),
                None => assert!(!shown.contains("did you mean"), "{text}: {shown}"),
            }
        }
    }
}
