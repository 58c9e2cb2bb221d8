//! Parsing of quantities.

use optcp_units::{Bytes, Dimension, Duration, Quantity, QuantityError, Rate, Time, UNITS, Unit};
use proptest::prelude::*;

#[test]
fn si_values_are_nearest_numbers() {
    for (text, amount, unit) in [
        ("50 ms", 0.05, "s"),
        ("0.1 us", 1e-7, "s"),
        ("2.5 Gbps", 2.5e9, "bit/s"),
        ("1 kB", 1000.0, "B"),
        ("60 packets", 60.0, "packets"),
        ("0.9", 0.9, ""),
    ] {
        assert_eq!(Quantity::parse(text, None).map(Quantity::in_si), Ok((amount, unit)), "{text}");
    }
}

#[test]
fn durations_are_exact() {
    for (text, ps) in [
        ("5 ms", 5_000_000_000),
        ("5ms", 5_000_000_000),
        (" 5  ms ", 5_000_000_000),
        ("0.5 s", 500_000_000_000),
        ("10 us", 10_000_000),
        ("10 µs", 10_000_000),
        ("0.1 us", 100_000),
        ("1.5 ns", 1_500),
        ("7 ps", 7),
        ("0 s", 0),
        ("2 min", 120_000_000_000_000),
        ("1e-3 s", 1_000_000_000),
        ("480 h", 1_728_000_000_000_000_000),
        ("1727999.999999999999 s", 1_727_999_999_999_999_999),
    ] {
        assert_eq!(text.parse(), Ok(Duration::from_ps(ps)), "{text}");
        assert_eq!(text.parse(), Ok(Time::from_ps(ps)), "{text}");
    }
}

#[test]
fn rates_are_exact() {
    for (text, bps) in [
        ("10 Mbps", 10_000_000),
        ("10Mbps", 10_000_000),
        ("10 Mbit", 10_000_000),
        ("10 Mbit/s", 10_000_000),
        ("1 Gbps", 1_000_000_000),
        ("2.5 Gbps", 2_500_000_000),
        ("64 kbps", 64_000),
        ("300 bps", 300),
        ("1 Tbps", 1_000_000_000_000),
    ] {
        assert_eq!(text.parse::<Rate>().map(Rate::bps), Ok(bps), "{text}");
    }
}

#[test]
fn sizes_and_counts_are_exact() {
    for (text, bytes) in [
        ("1500 B", 1_500),
        ("12.5 MB", 12_500_000),
        ("1 kB", 1_000),
        ("1 KiB", 1_024),
        ("0.5 MiB", 524_288),
    ] {
        assert_eq!(text.parse(), Ok(Bytes::new(bytes)), "{text}");
    }
    for (text, count) in [("50 packets", 50), ("1 packet", 1), ("30 segments", 30), ("1segment", 1)]
    {
        assert_eq!(Quantity::parse_whole(text, Some(Dimension::Count)), Ok(count), "{text}");
    }
    assert_eq!(Quantity::parse_whole("12", None), Ok(12));
}

/// Returns the message and hint for a text that is not a duration.
fn duration_error(text: &str) -> (String, Option<String>) {
    let error = text.parse::<Duration>().expect_err("a refused text");
    (error.to_string(), error.hint())
}

#[test]
fn errors_name_the_expected_form() {
    let units = "units of a duration are ps, ns, us, ms, s, min, h";
    for (text, message, hint) in [
        ("fast", "`fast` does not start with a number", None),
        ("", "`` does not start with a number", None),
        ("5. ms", "`5. ms` does not start with a number", None),
        ("-5 ms", "`-5 ms` is below zero", None),
        ("5", "`5` has no unit: expected a duration such as `5 ms`", Some(units)),
        ("5 MS", "unknown unit `MS`", Some("did you mean `ms`?")),
        ("5 sec", "unknown unit `sec`", Some("did you mean `s`?")),
        ("5 msec", "unknown unit `msec`", Some("did you mean `ms`?")),
        ("5 fortnights", "unknown unit `fortnights`", None),
        ("5 Mbps", "`5 Mbps` is a rate: expected a duration such as `5 ms`", Some(units)),
        ("0.5 ps", "`0.5 ps` is not a whole number of ps", None),
        ("0.0001 ns", "`0.0001 ns` is not a whole number of ps", None),
        ("20000000 s", "`20000000 s` is too large or too long", None),
        (
            "481 h",
            "`481 h` is more than 480 h (20 days), the longest time that can be simulated",
            None,
        ),
    ] {
        assert_eq!(duration_error(text), (message.to_owned(), hint.map(str::to_owned)), "{text}");
    }
    assert_eq!("0 bps".parse::<Rate>(), Err(QuantityError::Zero { text: "0 bps".into() }));
    assert_eq!(
        "0.5 bps".parse::<Rate>().unwrap_err().to_string(),
        "`0.5 bps` is not a whole number of bps"
    );
    assert_eq!(
        "10 Mbs".parse::<Rate>().unwrap_err().hint().as_deref(),
        Some("did you mean `Mbps`?")
    );
    assert_eq!(
        "10 mbps".parse::<Rate>().unwrap_err().hint().as_deref(),
        Some("did you mean `Mbps`?")
    );
    assert_eq!(
        "1 mb".parse::<Bytes>().unwrap_err().hint().as_deref(),
        Some("did you mean `125 kB`?")
    );
}

#[test]
fn sums_beyond_maximum_time_are_never() {
    let longest = Duration::LONGEST;
    assert_eq!("480 h".parse(), Ok(longest));
    // 480 x 3600 s; ten times as much fits into 2^64 ps = 18446744 s.
    assert_eq!(longest, Duration::from_secs(1_728_000));
    assert_eq!((longest * 10).as_ps(), 17_280_000_000_000_000_000);
    assert_eq!(Time::ZERO + longest * 11, Time::MAX);
    assert_eq!(Time::MAX + Duration::from_ps(1), Time::MAX);
    let mut sum = longest * 10;
    sum += longest;
    assert_eq!((sum, sum + longest), (Duration::from_ps(u64::MAX), sum));
    // 2^61 B at 1 b/s take 2^64 s, and at 3 b/s a third of that.
    for bps in [1, 3] {
        let time = Rate::from_bps(bps).unwrap().transmission_time(Bytes::new(1 << 61));
        assert_eq!(time.as_ps(), u64::MAX);
    }
    assert_eq!(Bytes::new(u64::MAX) + Bytes::new(1), Bytes::new(u64::MAX));
}

#[test]
fn products_have_at_most_one_unit() {
    let read = |text| Quantity::parse(text, None).unwrap();
    let access = read("0.9").times(read("10 Mbps")).unwrap();
    assert_eq!(access.to_string(), "9 Mbps");
    assert_eq!(access.whole(Some(Dimension::Rate)), Ok(9_000_000));
    assert_eq!(
        read("2 s").times(read("3 s")).unwrap_err().to_string(),
        "`2 s * 3 s` multiplies two quantities that both have units"
    );
}

#[test]
fn spellings_are_unique() {
    let mut spellings: Vec<&str> =
        UNITS.iter().flat_map(|unit| unit.aliases.iter().chain([&unit.name])).copied().collect();
    spellings.sort_unstable();
    let total = spellings.len();
    spellings.dedup();
    assert_eq!(spellings.len(), total);
    for unit in UNITS {
        assert_eq!(Unit::find(unit.name), Some(unit));
    }
}

proptest! {
    #[test]
    fn displayed_values_can_be_parsed(n in any::<u64>(), small in 0u64..20_000_000_000_000) {
        for n in [n, small] {
            let ps = n.min(Duration::LONGEST.as_ps());
            prop_assert_eq!(Duration::from_ps(ps).to_string().parse(), Ok(Duration::from_ps(ps)));
            prop_assert_eq!(Time::from_ps(ps).to_string().parse(), Ok(Time::from_ps(ps)));
            prop_assert_eq!(Bytes::new(n).to_string().parse(), Ok(Bytes::new(n)));
            if let Some(rate) = Rate::from_bps(n) {
                prop_assert_eq!(rate.to_string().parse(), Ok(rate));
            }
        }
    }

    #[test]
    fn arbitrary_text_is_parsed_or_rejected(text in "\\PC{0,12}", number in "[0-9.e+-]{0,12}", unit in "[a-zA-Zµ/]{0,4}") {
        for text in [text, format!("{number}{unit}"), format!("{number} {unit}")] {
            for dimension in Dimension::ALL {
                let _ = Quantity::parse_whole(&text, Some(dimension));
            }
        }
    }
}

proptest! {
    /// The suggestion of a hint has the value of the text: bits and bytes with SI and IEC prefixes.
    #[test]
    fn hint_has_value_of_foreign_unit(
        number in 1_u64..2000,
        (prefix, size) in prop::sample::select(vec![
            ("", 1_u128), ("k", 1000), ("M", 1_000_000), ("G", 1_000_000_000), ("Ki", 1 << 10), ("Mi", 1 << 20),
        ]),
        (base, bits) in prop::sample::select(vec![("b", 1_u128), ("bit", 1), ("bits", 1), ("B", 8), ("bytes", 8)]),
        per_second in prop::sample::select(vec!["", "ps", "/s", "/sec"]),
        expected in prop::sample::select(vec![Dimension::Rate, Dimension::Data]),
    ) {
        let unit = format!("{prefix}{base}{per_second}");
        let Err(error) = Quantity::parse(&format!("{number} {unit}"), Some(expected)) else { return Ok(()) };
        let Some(hint) = error.hint() else { return Ok(()) };
        // A list of all units is not a suggestion.
        let Some(suggested) = hint.split('`').nth(1).map(str::to_owned) else { return Ok(()) };
        let text = if suggested.contains(' ') { suggested } else { format!("{number} {suggested}") };
        let value = Quantity::parse_whole(&text, Some(expected)).expect("a hint can be read");
        let bits_in = if expected == Dimension::Data { 8 } else { 1 };
        prop_assert_eq!(u128::from(value) * bits_in, u128::from(number) * size * bits, "{} {}: {}", number, unit, hint);
    }
}
