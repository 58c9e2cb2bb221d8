//! Numbers with units in text form: "10 Mbps", "0.5 s", "1500 B", "50 packets".

use std::fmt;
use std::str::FromStr;

use crate::{Bytes, Decimal, Dimension, Duration, Rate, Time, Unit, foreign};

/// Exact number with or without a unit. `amount` counts base units of the dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Number of base units (picoseconds, bits per second, bytes, packets), or a plain number.
    pub amount: Decimal,
    /// Dimension; `None` for a plain number.
    pub dimension: Option<Dimension>,
}

/// Reason for which a text is not the expected quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// The text does not start with a number.
    NotANumber {
        /// Whole text.
        text: String,
    },
    /// The number is negative.
    Negative {
        /// Whole text.
        text: String,
    },
    /// The unit is missing.
    NoUnit {
        /// Number.
        text: String,
        /// Expected dimension.
        expected: Dimension,
    },
    /// A unit was given for a plain number.
    UnwantedUnit {
        /// Whole text.
        text: String,
    },
    /// The unit is unknown.
    UnknownUnit {
        /// Unit in the text.
        unit: String,
        /// Equivalent spelling, if unambiguous.
        hint: Option<String>,
    },
    /// The unit belongs to another dimension.
    WrongDimension {
        /// Whole text.
        text: String,
        /// Dimension of the text.
        found: Dimension,
        /// Expected dimension.
        expected: Dimension,
    },
    /// The amount is not an integer number of base units.
    NotWhole {
        /// Whole text.
        text: String,
        /// Base unit; `None` for a plain integer.
        base: Option<&'static str>,
    },
    /// The number has too many digits, or does not fit into 64 bits.
    TooLarge {
        /// Whole text.
        text: String,
    },
    /// The duration exceeds [`Duration::LONGEST`].
    TooLong {
        /// Whole text.
        text: String,
    },
    /// The value is zero but must be positive.
    Zero {
        /// Whole text.
        text: String,
    },
    /// Both factors of a product have units.
    TwoUnits {
        /// Factors in the text.
        text: String,
    },
}

impl QuantityError {
    /// Returns a correction, if there is one in addition to the message.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            QuantityError::UnknownUnit { hint, .. } => hint.clone(),
            QuantityError::NoUnit { expected, .. }
            | QuantityError::WrongDimension { expected, .. } => Some(unit_list(*expected)),
            _ => None,
        }
    }
}

/// Formats the units of a dimension: "units of a duration are ps, ns, ...".
pub(crate) fn unit_list(dimension: Dimension) -> String {
    let names: Vec<&str> = dimension.units().map(|unit| unit.name).collect();
    format!("units of {} are {}", dimension.name(), names.join(", "))
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuantityError::NotANumber { text } => {
                write!(f, "`{text}` does not start with a number")
            }
            QuantityError::Negative { text } => write!(f, "`{text}` is below zero"),
            QuantityError::NoUnit { text, expected } => {
                write!(f, "`{text}` has no unit: expected {expected}")
            }
            QuantityError::UnwantedUnit { text } => {
                write!(f, "`{text}` has a unit: expected a plain number")
            }
            QuantityError::UnknownUnit { unit, .. } => write!(f, "unknown unit `{unit}`"),
            QuantityError::WrongDimension { text, found, expected } => {
                write!(f, "`{text}` is {}: expected {expected}", found.name())
            }
            QuantityError::NotWhole { text, base: Some(base) } => {
                write!(f, "`{text}` is not a whole number of {base}")
            }
            QuantityError::NotWhole { text, base: None } => {
                write!(f, "`{text}` is not a whole number")
            }
            QuantityError::TooLarge { text } => write!(f, "`{text}` is too large or too long"),
            QuantityError::TooLong { text } => write!(
                f,
                "`{text}` is more than {} h (20 days), the longest time that can be simulated",
                Duration::LONGEST.as_ps() / Duration::from_secs(3600).as_ps()
            ),
            QuantityError::Zero { text } => write!(f, "`{text}` is zero: it must be above"),
            QuantityError::TwoUnits { text } => {
                write!(f, "`{text}` multiplies two quantities that both have units")
            }
        }
    }
}

impl std::error::Error for QuantityError {}

impl Quantity {
    /// Parses a number and its optional unit. `expected` is only used for hints.
    ///
    /// # Errors
    /// Returns an error if there is no number, if the unit is unknown, or if there are too many digits.
    pub fn parse(text: &str, expected: Option<Dimension>) -> Result<Self, QuantityError> {
        let text = text.trim();
        let (number, unit) = split(text);
        if number.is_empty() {
            let text = text.to_owned();
            let negative = text.strip_prefix('-').is_some_and(|t| t.starts_with(is_digit));
            return Err(match negative {
                true => QuantityError::Negative { text },
                false => QuantityError::NotANumber { text },
            });
        }
        let too_large = || QuantityError::TooLarge { text: text.to_owned() };
        let amount = Decimal::parse(number).ok_or_else(|| match number.ends_with('.') {
            true => QuantityError::NotANumber { text: text.to_owned() },
            false => too_large(),
        })?;
        if unit.is_empty() {
            return Ok(Quantity { amount, dimension: None });
        }
        let unit = Unit::find(unit).ok_or_else(|| QuantityError::UnknownUnit {
            unit: unit.to_owned(),
            hint: foreign::hint(amount, unit, expected),
        })?;
        let amount = amount.times(Decimal::new(u128::from(unit.factor))).ok_or_else(too_large)?;
        Ok(Quantity { amount, dimension: Some(unit.dimension) })
    }

    /// Returns the product of two quantities of which at most one has a unit.
    ///
    /// # Errors
    /// Returns an error if both have units, or if the product has too many digits.
    pub fn times(self, other: Quantity) -> Result<Quantity, QuantityError> {
        let text = || format!("{self} * {other}");
        let dimension = match (self.dimension, other.dimension) {
            (Some(_), Some(_)) => return Err(QuantityError::TwoUnits { text: text() }),
            (one, other) => one.or(other),
        };
        let amount = self.amount.times(other.amount);
        let amount = amount.ok_or_else(|| QuantityError::TooLarge { text: text() })?;
        Ok(Quantity { amount, dimension })
    }

    /// Returns the number of base units, if the dimension is `expected` (`None`: a plain number).
    ///
    /// # Errors
    /// Returns an error if the dimension differs, or if the amount is not an integer or too large.
    pub fn whole(self, expected: Option<Dimension>) -> Result<u64, QuantityError> {
        let text = || self.to_string();
        match (self.dimension, expected) {
            (None, Some(expected)) => {
                return Err(QuantityError::NoUnit { text: text(), expected });
            }
            (Some(_), None) => return Err(QuantityError::UnwantedUnit { text: text() }),
            (Some(found), Some(expected)) if found != expected => {
                return Err(QuantityError::WrongDimension { text: text(), found, expected });
            }
            _ => {}
        }
        let base = expected.map(Dimension::base);
        self.amount.to_u64().ok_or_else(|| match self.amount.is_whole() {
            false => QuantityError::NotWhole { text: text(), base },
            true => QuantityError::TooLarge { text: text() },
        })
    }

    /// Parses a quantity of one dimension as an integer number of base units.
    ///
    /// # Errors
    /// Returns the errors of [`Self::parse`] and [`Self::whole`], with the text as written.
    pub fn parse_whole(text: &str, expected: Option<Dimension>) -> Result<u64, QuantityError> {
        Self::parse(text, expected)?.whole(expected).map_err(|error| error.quoting(text))
    }
}

impl Quantity {
    /// Returns the amount in SI units (seconds, bits per second, bytes, packets; none for a plain number), for display
    /// only.
    #[must_use]
    pub fn in_si(self) -> (f64, &'static str) {
        let amount: f64 = self.amount.to_string().parse().unwrap_or(f64::NAN);
        match self.dimension {
            Some(Dimension::Time) => (amount / 1e12, "s"),
            Some(Dimension::Rate) => (amount, "bit/s"),
            Some(Dimension::Data) => (amount, "B"),
            Some(Dimension::Count) => (amount, "packets"),
            None => (amount, ""),
        }
    }
}

impl QuantityError {
    /// Replaces the text of the error by the user's text.
    fn quoting(mut self, written: &str) -> Self {
        match &mut self {
            QuantityError::NoUnit { text, .. }
            | QuantityError::UnwantedUnit { text }
            | QuantityError::WrongDimension { text, .. }
            | QuantityError::NotWhole { text, .. }
            | QuantityError::TooLarge { text } => written.trim().clone_into(text),
            _ => {}
        }
        self
    }
}

/// Splits a text into the number at its start and the rest.
fn split(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits(0) == 0 {
        return ("", text);
    }
    let mut end = bytes.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    // An exponent requires digits: no unit starts with "e" and a digit.
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let power = digits(end + 1 + sign);
        if power > 0 {
            end += 1 + sign + power;
        }
    }
    (&text[..end], text[end..].trim_start())
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

impl fmt::Display for Quantity {
    /// Formats the exact value in the base unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Quantity { amount, dimension } = self;
        match (dimension, amount.to_u64()) {
            (None, _) => write!(f, "{amount}"),
            (Some(Dimension::Time), Some(ps)) => write!(f, "{}", Duration::from_ps(ps)),
            (Some(Dimension::Rate), Some(bps)) => crate::rate::write_bps(f, bps),
            (Some(dimension), _) => write!(f, "{amount} {}", dimension.base()),
        }
    }
}

impl FromStr for Duration {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let ps = Quantity::parse_whole(text, Some(Dimension::Time))?;
        let span = Some(Duration::from_ps(ps)).filter(|&span| span <= Duration::LONGEST);
        span.ok_or_else(|| QuantityError::TooLong { text: text.trim().to_owned() })
    }
}

impl FromStr for Time {
    type Err = QuantityError;
    /// Parses a time as a duration since the start of the run.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        text.parse::<Duration>().map(|since_start| Time::ZERO + since_start)
    }
}

impl FromStr for Rate {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bps = Quantity::parse_whole(text, Some(Dimension::Rate))?;
        Rate::from_bps(bps).ok_or_else(|| QuantityError::Zero { text: text.trim().to_owned() })
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Quantity::parse_whole(text, Some(Dimension::Data)).map(Bytes::new)
    }
}
