//! File format of conformance cases, and its error messages.
//!
//! Keys are read individually, so that a message names the case, the key and the expectation.
//! Serde's own message for a JSON value does not.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use optcp_units::nearest::suggestion;

/// Conformance case. Its expected results are used by the comparison and are not read here.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name.
    pub id: String,
    /// Loss recovery. Any text: an unknown name rejects only this case.
    pub(super) variant: String,
    pub(super) links: [CaseLink; 2],
    pub(super) tcp: Tcp,
    pub(super) segments: u32,
    pub(super) drops: Vec<[u32; 2]>,
    pub(super) ack_drops: Vec<u64>,
    pub(super) delay_events: Vec<DelayEvent>,
}

/// Both directions of a link; the limit applies to the forward direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaseLink {
    pub(super) rate_bps: u64,
    pub(super) delay_s: f64,
    pub(super) buffer_pkts: Option<u32>,
}

/// Change of the second link's forward delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayEvent {
    pub(super) t: f64,
    pub(super) delay_s: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Tcp {
    pub(super) mss: u64,
    pub(super) header: u64,
    pub(super) ack_bytes: u64,
    pub(super) iw: u32,
    pub(super) ssthresh0: Option<u32>,
    pub(super) rwnd_segments: u32,
    pub(super) min_rto_s: f64,
    pub(super) initial_rto_s: f64,
    pub(super) limited_transmit: bool,
    pub(super) delayed_ack: bool,
    pub(super) handshake: bool,
    pub(super) newreno_impatient: bool,
    pub(super) integer_halving: bool,
}

/// Format error: case, key and expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    /// Name of the case, if it could be read.
    pub case: Option<String>,
    /// Problem.
    pub problem: String,
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.case {
            Some(case) => write!(f, "case {case}: {}", self.problem),
            None => write!(f, "{}", self.problem),
        }
    }
}

impl std::error::Error for FormError {}

/// Maximum size of an IP packet.
const MAX_PACKET: u64 = 65_535;
/// Maximum time, far above the length of a run and far below the range of [`Time`].
const MAX_SECONDS: f64 = 100_000.0;
/// Maximum number of segments for a single-flow case, far below the range of its type.
const MAX_SEGMENTS: u32 = 100_000_000;
const MAX_RATE: f64 = 1e15;

/// Reads a file of cases.
///
/// # Errors
/// The first format error.
pub fn parse(text: &str) -> Result<Vec<Case>, FormError> {
    let anonymous = |problem: String| FormError { case: None, problem };
    let file: Value =
        serde_json::from_str(text).map_err(|error| anonymous(format!("not JSON: {error}")))?;
    let listed = file.get("scenarios").and_then(Value::as_array).ok_or_else(|| {
        anonymous("expected an object whose key `scenarios` holds a list of cases".into())
    })?;
    let mut names = BTreeSet::new();
    let mut cases = Vec::with_capacity(listed.len());
    for (number, value) in listed.iter().enumerate() {
        let place = format!("entry {} of the list", number + 1);
        let name = value.get("id").and_then(Value::as_str).map(str::to_owned);
        let case = read_case(value).map_err(|problem| FormError {
            case: Some(name.unwrap_or_else(|| place.clone())),
            problem,
        })?;
        if !names.insert(case.id.clone()) {
            let problem = "duplicate `id`".into();
            return Err(FormError { case: Some(case.id), problem });
        }
        cases.push(case);
    }
    Ok(cases)
}

fn read_case(value: &Value) -> Result<Case, String> {
    let keys = Keys::of(value, String::new())?;
    let links: Vec<Value> = keys.get("links")?;
    let [near, far] = links.as_slice() else {
        return Err(format!("`links`: expected two links, found {}", links.len()));
    };
    let drops: Vec<[u32; 2]> = keys.optional("drops")?.unwrap_or_default();
    if let Some([segment, _]) = drops.iter().find(|[_, nth]| *nth == 0) {
        return Err(format!("`drops`: [{segment}, 0]: transmissions count from 1"));
    }
    let events: Vec<Value> = keys.optional("delay_events")?.unwrap_or_default();
    let events = events.iter().enumerate().map(|(i, event)| {
        let keys = Keys::of(event, format!("delay_events[{i}]."))?;
        keys.only(&["t", "delay_s"])?;
        Ok(DelayEvent { t: keys.seconds("t")?, delay_s: keys.seconds("delay_s")? })
    });
    Ok(Case {
        id: keys.get("id")?,
        variant: keys.get("variant")?,
        links: [link(near, 0)?, link(far, 1)?],
        tcp: tcp(&keys.get("tcp")?)?,
        segments: keys.between("segments", 1, MAX_SEGMENTS)?,
        drops,
        ack_drops: keys.optional("ack_drops")?.unwrap_or_default(),
        delay_events: events.collect::<Result<_, String>>()?,
    })
}

fn link(value: &Value, index: usize) -> Result<CaseLink, String> {
    let keys = Keys::of(value, format!("links[{index}]."))?;
    keys.only(&["rate_bps", "delay_s", "buffer_pkts"])?;
    let rate: f64 = keys.get("rate_bps")?;
    let rounded = rate.round();
    if !(1.0..=MAX_RATE).contains(&rounded) {
        return Err(keys.bad("rate_bps", "a rate of 1 to 1e15 bit/s", rate));
    }
    let buffer_pkts: Option<u32> = keys.optional("buffer_pkts")?;
    if buffer_pkts == Some(0) {
        return Err(keys.bad("buffer_pkts", "at least 1 packet, or null for no limit", 0));
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked above")]
    Ok(CaseLink { rate_bps: rounded as u64, delay_s: keys.seconds("delay_s")?, buffer_pkts })
}

fn tcp(value: &Value) -> Result<Tcp, String> {
    const KEYS: &[&str] = &[
        "mss",
        "header",
        "ack_bytes",
        "iw",
        "ssthresh0",
        "rwnd_segments",
        "min_rto_s",
        "initial_rto_s",
        "limited_transmit",
        "delayed_ack",
        "handshake",
        "newreno_impatient",
        "integer_halving",
    ];
    let keys = Keys::of(value, "tcp.".into())?;
    keys.only(KEYS)?;
    let ssthresh0: Option<Option<u32>> = keys.get("ssthresh0").map(Some)?;
    let initial_rto_s = keys.seconds("initial_rto_s")?;
    if initial_rto_s <= 0.0 {
        return Err(keys.bad("initial_rto_s", "a time above zero", initial_rto_s));
    }
    Ok(Tcp {
        mss: keys.between("mss", 1, MAX_PACKET)?,
        header: keys.between("header", 0, MAX_PACKET)?,
        ack_bytes: keys.between("ack_bytes", 1, MAX_PACKET)?,
        iw: keys.between("iw", 1, MAX_SEGMENTS)?,
        ssthresh0: ssthresh0.flatten(),
        rwnd_segments: keys.between("rwnd_segments", 1, MAX_SEGMENTS)?,
        min_rto_s: keys.seconds("min_rto_s")?,
        initial_rto_s,
        limited_transmit: keys.get("limited_transmit")?,
        delayed_ack: keys.get("delayed_ack")?,
        handshake: keys.get("handshake")?,
        newreno_impatient: keys.get("newreno_impatient")?,
        integer_halving: keys.optional("integer_halving")?.unwrap_or_default(),
    })
}

/// JSON object with the path that leads to it.
struct Keys<'a> {
    map: &'a Map<String, Value>,
    path: String,
}

impl<'a> Keys<'a> {
    fn of(value: &'a Value, path: String) -> Result<Self, String> {
        match value {
            Value::Object(map) => Ok(Keys { map, path }),
            _ if path.is_empty() => Err("expected an object".into()),
            _ => Err(format!("`{}`: expected an object", path.trim_end_matches('.'))),
        }
    }

    fn bad(&self, key: &str, expected: &str, found: impl fmt::Display) -> String {
        format!("`{}{key}`: expected {expected}, found {found}", self.path)
    }

    /// Returns the value of a required key.
    fn get<T: DeserializeOwned>(&self, key: &str) -> Result<T, String> {
        let value = self.map.get(key).ok_or_else(|| format!("`{}{key}` is missing", self.path))?;
        T::deserialize(value).map_err(|error| format!("`{}{key}`: {error}", self.path))
    }

    /// Returns the value of an optional key.
    fn optional<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, String> {
        if self.map.get(key).is_none_or(Value::is_null) {
            return Ok(None);
        }
        self.get(key).map(Some)
    }

    fn between<T>(&self, key: &str, low: T, high: T) -> Result<T, String>
    where
        T: DeserializeOwned + PartialOrd + fmt::Display,
    {
        let value: T = self.get(key)?;
        if value < low || value > high {
            return Err(self.bad(key, &format!("{low} to {high}"), value));
        }
        Ok(value)
    }

    fn seconds(&self, key: &str) -> Result<f64, String> {
        let value: f64 = self.get(key)?;
        if !(0.0..=MAX_SECONDS).contains(&value) {
            return Err(self.bad(key, &format!("0 to {MAX_SECONDS} seconds"), value));
        }
        Ok(value)
    }

    fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.map.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let help = suggestion(key, "keys", known.iter().copied()).unwrap_or_default();
                Err(format!("`{}{key}` is not a key of a case; {help}", self.path))
            }
        }
    }
}
