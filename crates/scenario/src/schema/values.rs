//! Values that scenario files write as text: quantities, distributions, links.

use std::borrow::Cow;
use std::fmt;

use optcp_units::nearest::suggestion;
use optcp_units::{Bytes, Decimal, Dimension, Duration, Quantity, QuantityError, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::plan::{QueueLimit, Shape, Spread};

/// Value that can be parsed from text and, for some types, from a number.
pub(crate) trait Written: Sized {
    /// Expected form, for messages and the JSON Schema.
    const EXPECTED: &'static str;
    /// Examples for the JSON Schema.
    const EXAMPLES: &'static [&'static str];
    /// JSON Schema of the numbers that are accepted without quotes, if any.
    const NUMBERS: Option<fn() -> Schema> = None;

    /// Parses the text.
    ///
    /// # Errors
    /// The text is not of the expected form.
    fn from_text(text: &str) -> Result<Self, QuantityError>;
}

pub(super) struct WrittenVisitor<T>(pub(super) std::marker::PhantomData<T>);

impl<T: Written> Visitor<'_> for WrittenVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).map_err(|error| {
            let (message, help) = describe_error(text, &error);
            let help = help.unwrap_or_default();
            // Message, label and help are separated by line breaks: see `de::Error::custom`.
            E::custom(format!("{message}\nexpected {}\n{help}", T::EXPECTED))
        })
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

/// Distribution of random values.
pub(crate) struct Distribution {
    /// Name.
    pub name: &'static str,
    /// Syntax.
    pub form: &'static str,
    /// Minimum and maximum number of arguments.
    arguments: [usize; 2],
    pub summary: &'static str,
    pub source: &'static str,
}

/// All distributions.
pub(crate) const DISTRIBUTIONS: &[Distribution] = &[
    Distribution {
        name: "uniform",
        form: "uniform(low, high)",
        arguments: [2, 2],
        summary: "uniform from low to high; drawn once per link or flow",
        source: "OpTCP",
    },
    Distribution {
        name: "normal",
        form: "normal(mean, deviation, most)",
        arguments: [2, 3],
        summary: "normal; values below zero, or above the maximum `most` if present, are drawn again",
        source: "normal distribution, truncated; drawn after Box and Muller 1958",
    },
    Distribution {
        name: "exponential",
        form: "exponential(mean, most)",
        arguments: [1, 2],
        summary: "exponential; values above the maximum `most`, if present, are drawn again",
        source: "exponential distribution",
    },
    Distribution {
        name: "lognormal",
        form: "lognormal(mean, deviation, most)",
        arguments: [2, 3],
        summary: "lognormal with this mean and standard deviation; values above the maximum `most`, if present, are drawn again",
        source: "lognormal distribution",
    },
    Distribution {
        name: "pareto",
        form: "pareto(mean, shape, most)",
        arguments: [2, 3],
        summary: "Pareto with this tail index; values above the maximum `most`, if present, are drawn again",
        source: "Pareto distribution",
    },
    Distribution {
        name: "choice",
        form: "choice(a, b, ...)",
        arguments: [1, 1_000_000],
        summary: "one of the listed values, with equal probability",
        source: "OpTCP",
    },
    Distribution {
        name: "file",
        form: "file(name, unit)",
        arguments: [1, 2],
        summary: "one of the values in a file (one per line), with equal probability; with `unit`, the lines are plain numbers",
        source: "empirical distribution",
    },
];

/// Splits a text such as `uniform(1 ms, 2 ms)` into name and arguments.
fn call(text: &str) -> Option<(&str, &str)> {
    let (name, inner) = text.trim().strip_suffix(')')?.split_once('(')?;
    Some((name.trim_end(), inner))
}

/// Returns name and arguments of a distribution whose number of arguments is valid.
pub(crate) fn drawn_from(text: &str) -> Option<(&'static str, Vec<&str>)> {
    let (name, inner) = call(text)?;
    let found = DISTRIBUTIONS.iter().find(|one| one.name == name)?;
    let arguments: Vec<&str> = inner.split(',').map(str::trim).collect();
    let [least, most] = found.arguments;
    (least..=most).contains(&arguments.len()).then_some((found.name, arguments))
}

/// Deserializes a type from the table that a visitor was given.
fn read_map<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: A) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(map))
}

/// Returns message and help for a text that is not a quantity.
pub(crate) fn describe_error(text: &str, error: &QuantityError) -> (String, Option<String>) {
    match decimal_comma(text).or_else(|| no_such_distribution(text)) {
        Some((message, help)) => (message, Some(help)),
        None => (error.to_string(), error.hint()),
    }
}

/// Returns message and help for a text that looks like a distribution but is not valid.
fn no_such_distribution(text: &str) -> Option<(String, String)> {
    let (name, _) = call(text).filter(|_| drawn_from(text).is_none())?;
    match DISTRIBUTIONS.iter().find(|one| one.name == name) {
        Some(one) => Some((
            format!("wrong number of arguments in `{text}`"),
            format!("expected `{}`", one.form),
        )),
        None => suggestion(name, "distributions", DISTRIBUTIONS.iter().map(|one| one.name))
            .map(|help| (format!("unknown distribution `{name}`"), help)),
    }
}

/// Returns message and help for a text with a comma inside a number; `None` for other texts.
fn decimal_comma(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let digits = |from: usize| text.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let inside =
        |&at: &usize| text[..at].ends_with(|c: char| c.is_ascii_digit()) && digits(at + 1) > 0;
    let commas: Vec<usize> = text.match_indices(',').map(|(at, _)| at).filter(inside).collect();
    // Commas between arguments are allowed.
    let between = text.matches(',').count() - commas.len();
    let arguments = call(text)
        .and_then(|(name, _)| DISTRIBUTIONS.iter().find(|one| one.name == name))
        .map_or([1, 1], |one| one.arguments);
    if commas.is_empty() || !(arguments[0]..=arguments[1]).contains(&(between + 1)) {
        return None;
    }
    let with = |sign: &str| {
        let mut written = text.to_owned();
        commas.iter().rev().for_each(|&at| written.replace_range(at..=at, sign));
        format!("`{written}`")
    };
    let thousands = format!("write thousands without a separator: {}", with(""));
    let decimal = format!("use a decimal point: {}", with("."));
    // Three digits after the comma may be thousands or decimals; the message offers both.
    let help = match commas.iter().any(|at| digits(at + 1) == 3) {
        true if commas.len() > between + 1 => thousands,
        true => format!("{decimal}; {thousands}"),
        false => decimal,
    };
    Some((format!("`{text}` has a comma in a number"), help))
}

pub(super) fn written_schema<T: Written>() -> Schema {
    let text = json_schema!({
        "type": "string", "description": T::EXPECTED, "examples": T::EXAMPLES
    });
    match T::NUMBERS {
        None => text,
        Some(numbers) => json_schema!({ "anyOf": [numbers(), text] }),
    }
}

fn whole_numbers() -> Schema {
    json_schema!({ "type": "integer", "minimum": 0 })
}

/// Implements `Deserialize` and `JsonSchema` for types that implement [`Written`].
macro_rules! written {
    ($($Type:ident),*) => {$(
        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(WrittenVisitor(std::marker::PhantomData))
            }
        }

        impl JsonSchema for $Type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($Type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                written_schema::<$Type>()
            }
        }
    )*};
}

pub(super) use written;

written!(Span, Speed, Size, Count, Cost, Limit, Probability, Delay, Queue, Buffer, Volume);

/// Duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub Duration);

impl Written for Span {
    const EXPECTED: &'static str = "a duration such as `5 ms`";
    const EXAMPLES: &'static [&'static str] = &["5 ms", "0.5 s"];
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        text.parse().map(Span)
    }
}

/// Transmission rate above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Speed(pub Rate);

impl Written for Speed {
    const EXPECTED: &'static str = "a rate such as `10 Mbps`";
    const EXAMPLES: &'static [&'static str] = &["10 Mbps", "2.5 Gbps"];
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        text.parse().map(Speed)
    }
}

/// Amount of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub Bytes);

impl Written for Size {
    const EXPECTED: &'static str = "a data size such as `1500 B`";
    const EXAMPLES: &'static [&'static str] = &["1500 B", "12.5 MB"];
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        text.parse().map(Size)
    }
}

/// Whole number, with or without the unit `packets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub u32);

impl Written for Count {
    const EXPECTED: &'static str = "a whole number such as `10` or `30 packets`";
    const EXAMPLES: &'static [&'static str] = &["30 packets", "$sources"];
    const NUMBERS: Option<fn() -> Schema> = Some(whole_numbers);
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        let quantity = Quantity::parse(text, Some(Dimension::Count))?;
        // The unit may be omitted: only a count is valid here.
        let dimension = quantity.dimension.and(Some(Dimension::Count));
        let count = Quantity::parse_whole(text, dimension)?;
        let too_large = |_| QuantityError::TooLarge { text: text.trim().to_owned() };
        u32::try_from(count).map(Count).map_err(too_large)
    }
}

/// Cost of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Fixed cost.
    Fixed(u32),
    /// 1 per microsecond of propagation delay.
    Delay,
}

impl Written for Cost {
    const EXPECTED: &'static str = "a cost such as `10`, or `delay`";
    const EXAMPLES: &'static [&'static str] = &["delay", "$cost"];
    const NUMBERS: Option<fn() -> Schema> = Some(whole_numbers);
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "delay" => Ok(Cost::Delay),
            text => Count::from_text(text).map(|count| Cost::Fixed(count.0)),
        }
    }
}

/// Count, or `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub Option<u32>);

impl Written for Limit {
    const EXPECTED: &'static str = "a count such as `30 packets`, or `unlimited`";
    const EXAMPLES: &'static [&'static str] = &["30 packets", "unlimited"];
    const NUMBERS: Option<fn() -> Schema> = Some(whole_numbers);
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "unlimited" => Ok(Limit(None)),
            text => Count::from_text(text).map(|count| Limit(Some(count.0))),
        }
    }
}

/// Probability. Its range (0 to 1) is checked where it is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Probability(pub f64);

impl Written for Probability {
    const EXPECTED: &'static str = "a probability such as `0.001`";
    const EXAMPLES: &'static [&'static str] = &["$loss"];
    const NUMBERS: Option<fn() -> Schema> =
        Some(|| json_schema!({ "type": "number", "minimum": 0, "maximum": 1 }));
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        let quantity = Quantity::parse(text, None)?;
        if quantity.dimension.is_some() {
            return Err(QuantityError::UnwantedUnit { text: text.to_owned() });
        }
        let not_a_number = |_| QuantityError::NotANumber { text: text.to_owned() };
        text.trim().parse().map(Probability).map_err(not_a_number)
    }
}

/// Duration or distribution of durations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Delay(pub Spread);

impl Written for Delay {
    const EXPECTED: &'static str =
        "a duration such as `5 ms`, or a distribution such as `uniform(10 ms, 100 ms)`";
    const EXAMPLES: &'static [&'static str] = &[
        "5 ms",
        "uniform(10 ms, 100 ms)",
        "normal(20 ms, 3 ms)",
        "exponential(1 s, 10 s)",
        "lognormal(20 ms, 10 ms)",
        "pareto(20 ms, 1.5)",
        "choice(1 ms, 10 ms, 100 ms)",
    ];
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        let Some((name, arguments)) = drawn_from(text) else {
            return Ok(Delay(Spread::Fixed(text.parse()?)));
        };
        let span = |at: usize| arguments[at].parse::<Duration>();
        // The maximum follows the distribution's own arguments.
        let cut = |shape, own: usize| {
            let most = arguments.get(own).map(|text| text.parse()).transpose()?;
            Ok(Spread::Cut { shape, mean: span(0)?, most })
        };
        Ok(Delay(match name {
            "uniform" => Spread::Uniform { low: span(0)?, high: span(1)? },
            "normal" => cut(Shape::Normal(span(1)?), 2)?,
            "exponential" => cut(Shape::Exponential, 1)?,
            "lognormal" => cut(Shape::Lognormal(span(1)?), 2)?,
            "pareto" => cut(Shape::Pareto(Probability::from_text(arguments[1])?.0), 2)?,
            _ => Spread::Choice((0..arguments.len()).map(span).collect::<Result<_, _>>()?),
        }))
    }
}

/// Queue length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue(pub QueueLimit);

impl Written for Queue {
    const EXPECTED: &'static str = "a queue such as `50 packets`, `12.5 MB` or `unlimited`";
    const EXAMPLES: &'static [&'static str] = &["50 packets", "12.5 MB", "unlimited"];

    /// Reads `unlimited`, a data size, or a number of packets, which needs no unit.
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "unlimited" {
            return Ok(Queue(QueueLimit::Unlimited));
        }
        let quantity = Quantity::parse(text, None)?;
        Ok(Queue(match quantity.dimension {
            Some(Dimension::Data) => QueueLimit::Bytes(text.parse()?),
            _ => QueueLimit::Packets(Quantity::parse_whole(text, Some(Dimension::Count))?),
        }))
    }
}

/// Queue limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// Packets or bytes.
    Limit(QueueLimit),
    /// Data that the link sends in this time.
    Time(Duration),
    /// Millionths of the bandwidth-delay product.
    Bdp(u64),
}

impl Buffer {
    /// Millionths in one.
    pub const MILLION: u64 = 1_000_000;

    /// Returns whether no packet fits, which is not allowed.
    pub fn is_nothing(self) -> bool {
        match self {
            Buffer::Limit(limit) => limit.is_nothing(),
            Buffer::Time(time) => time == Duration::ZERO,
            Buffer::Bdp(millionths) => millionths == 0,
        }
    }
}

impl Written for Buffer {
    const EXPECTED: &'static str =
        "a queue such as `50 packets`, `12.5 MB`, `5 ms`, `0.5 BDP` or `unlimited`";
    const EXAMPLES: &'static [&'static str] =
        &["50 packets", "12.5 MB", "5 ms", "0.5 BDP", "unlimited"];

    /// Reads a time, a multiple of the bandwidth-delay product, or a queue length.
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        if let Some(multiple) = text.trim().strip_suffix("BDP") {
            let quantity = Quantity::parse(multiple.trim_end(), None)?;
            let millionths = quantity.amount.times(Decimal::new(Buffer::MILLION.into()));
            return match millionths.and_then(Decimal::to_u64) {
                Some(millionths) if quantity.dimension.is_none() => Ok(Buffer::Bdp(millionths)),
                _ => Err(QuantityError::NotANumber { text: text.to_owned() }),
            };
        }
        match Quantity::parse(text, None) {
            Ok(Quantity { dimension: Some(Dimension::Time), .. }) => text.parse().map(Buffer::Time),
            _ => Queue::from_text(text).map(|queue| Buffer::Limit(queue.0)),
        }
    }
}

/// Amount of data of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Volume {
    /// Unlimited.
    Greedy,
    /// Amount of data, sent in as many segments as needed.
    Data(Bytes),
    /// Number of full segments.
    Segments(u32),
}

impl Written for Volume {
    const EXPECTED: &'static str = "`greedy`, a data size such as `1 MB`, or `100 segments`";
    const EXAMPLES: &'static [&'static str] = &["greedy", "1 MB", "100 segments"];
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "greedy" {
            return Ok(Volume::Greedy);
        }
        let quantity = Quantity::parse(text, None)?;
        match quantity.dimension {
            Some(Dimension::Count) => Count::from_text(text).map(|count| Volume::Segments(count.0)),
            _ => text.parse().map(Volume::Data),
        }
    }
}

/// Link, by its two nodes or by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkRef {
    Ends([String; 2]),
    Name(String),
}

/// Expected form of a [`LinkRef`].
const LINK: &str = "a link such as `[\"L1\", \"L2\"]`, or its name";

impl<'de> Deserialize<'de> for LinkRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LinkVisitor;

        impl<'de> Visitor<'de> for LinkVisitor {
            type Value = LinkRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(LINK)
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<LinkRef, E> {
                Ok(LinkRef::Name(name.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut ends: A) -> Result<LinkRef, A::Error> {
                let pair = (ends.next_element()?, ends.next_element()?);
                match (pair, ends.next_element::<String>()?) {
                    ((Some(from), Some(to)), None) => Ok(LinkRef::Ends([from, to])),
                    _ => Err(A::Error::custom(format!("a link has two ends\nexpected {LINK}"))),
                }
            }
        }

        deserializer.deserialize_any(LinkVisitor)
    }
}

impl JsonSchema for LinkRef {
    fn schema_name() -> Cow<'static, str> {
        "LinkRef".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": LINK, "anyOf": [
            { "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 },
            { "type": "string" }
        ] })
    }
}

/// Delay for data and ACKs, equal or separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SwitchDelay {
    pub data: Duration,
    pub ack: Duration,
}

/// Expected form of a [`SwitchDelay`].
const SWITCH_DELAY: &str = "a duration such as `50 ms`, or `{ data = \"50 ms\", ack = \"60 ms\" }`";

/// Separate delays for data and ACKs.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EachWay {
    /// Delay for data packets.
    data: Span,
    /// Delay for ACKs.
    ack: Span,
}

impl<'de> Deserialize<'de> for SwitchDelay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DelayVisitor;

        impl<'de> Visitor<'de> for DelayVisitor {
            type Value = SwitchDelay;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(SWITCH_DELAY)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SwitchDelay, E> {
                let Span(both) =
                    WrittenVisitor::<Span>(std::marker::PhantomData).visit_str(text)?;
                Ok(SwitchDelay { data: both, ack: both })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SwitchDelay, A::Error> {
                let EachWay { data, ack } = read_map(map)?;
                Ok(SwitchDelay { data: data.0, ack: ack.0 })
            }
        }

        deserializer.deserialize_any(DelayVisitor)
    }
}

impl JsonSchema for SwitchDelay {
    fn schema_name() -> Cow<'static, str> {
        "SwitchDelay".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Span>();
        let each = generator.subschema_for::<EachWay>();
        json_schema!({ "description": SWITCH_DELAY, "anyOf": [one, each] })
    }
}
