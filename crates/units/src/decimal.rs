//! Exact decimal numbers, so that "0.1 us" is exactly 100000 ps.

use std::fmt;

/// Maximum absolute exponent of ten; larger values do not fit into 64 bits.
const MAX_EXPONENT: i32 = 60;

/// Non-negative decimal number: `digits` times ten to the `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Creates an integer.
    #[must_use]
    pub const fn new(whole: u128) -> Self {
        Decimal { digits: whole, exponent: 0 }.normal()
    }

    /// Parses "12", "0.25" or "1.5e-3"; `None` for any other text and for too many digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            None => (text, 0),
            Some((mantissa, power)) => (mantissa, power.parse::<i32>().ok()?),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let has_fraction = mantissa.len() > whole.len();
        if whole.is_empty() || (has_fraction && fraction.is_empty()) {
            return None;
        }
        let mut digits: u128 = 0;
        for c in whole.chars().chain(fraction.chars()) {
            digits = digits.checked_mul(10)?.checked_add(u128::from(c.to_digit(10)?))?;
        }
        let exponent = power.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        if digits != 0 && !(-MAX_EXPONENT..=MAX_EXPONENT).contains(&exponent) {
            return None;
        }
        Some(Decimal { digits, exponent }.normal())
    }

    /// Returns the product, or `None` if it has too many digits.
    #[must_use]
    pub fn times(self, other: Decimal) -> Option<Decimal> {
        let digits = self.digits.checked_mul(other.digits)?;
        let exponent = self.exponent + other.exponent;
        let exponents = -MAX_EXPONENT..=MAX_EXPONENT;
        (digits == 0 || exponents.contains(&exponent))
            .then(|| Decimal { digits, exponent }.normal())
    }

    /// Returns whether the number is an integer of any size.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.exponent >= 0
    }

    /// Returns the value if it is an integer and fits.
    #[must_use]
    pub fn to_u64(self) -> Option<u64> {
        let scale = 10u128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        u64::try_from(self.digits.checked_mul(scale)?).ok()
    }

    /// Normalises the representation: no trailing zeros in `digits`, and exponent 0 for zero.
    const fn normal(mut self) -> Self {
        if self.digits == 0 {
            self.exponent = 0;
        }
        while self.digits != 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.exponent += 1;
        }
        self
    }

    /// Returns `value` / 10^`places`, exactly.
    pub(crate) fn scaled(value: u64, places: u8) -> Self {
        Decimal { digits: u128::from(value), exponent: -i32::from(places) }.normal()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = self.digits.to_string();
        match usize::try_from(self.exponent) {
            Ok(zeros) => write!(f, "{digits}{}", "0".repeat(zeros)),
            Err(_) => {
                let places = self.exponent.unsigned_abs() as usize;
                if digits.len() <= places {
                    digits.insert_str(0, &"0".repeat(places + 1 - digits.len()));
                }
                digits.insert(digits.len() - places, '.');
                f.write_str(&digits)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_parsed_and_formatted_exactly() {
        for (text, shown) in [
            ("0", "0"),
            ("0.0", "0"),
            ("12", "12"),
            ("1200", "1200"),
            ("0.25", "0.25"),
            ("007.50", "7.5"),
            ("1.5e-3", "0.0015"),
            ("2e3", "2000"),
            ("0e99", "0"),
        ] {
            assert_eq!(
                Decimal::parse(text).map(|d| d.to_string()).as_deref(),
                Some(shown),
                "{text}"
            );
        }
        for text in ["", ".", "1.", ".5", "-1", "1e", "1e99", "0x10", "1 0", "1.2.3", "١"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse(&"9".repeat(40)), None);
    }

    #[test]
    fn products_are_exact() {
        let share = Decimal::parse("0.9").unwrap();
        assert_eq!(share.times(Decimal::new(10_000_000)).unwrap().to_u64(), Some(9_000_000));
        assert_eq!(share.times(Decimal::new(1)).unwrap().to_u64(), None);
        assert_eq!(Decimal::new(u128::MAX).times(Decimal::new(2)), None);
        assert_eq!(Decimal::new(1 << 64).to_u64(), None);
    }
}
