//! Script execution: events in order, and comparison with the endpoint's behaviour.

use optcp_tcp::Timestamp;
use optcp_units::{Duration, Marking, Time};

use super::assertion::{Failure, Names};
use super::choices;
use super::endpoint::{Endpoint, Sent};
use super::parse::WRITES;
use super::script::{Action, Call, Ect, Event, Refusal, Script, Segment, When};
use super::sequence::Incoming;

/// Difference between script and endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Line of the script, counted from 1.
    pub line: usize,
    /// Time of the script.
    pub at: Duration,
    /// Expectation of the line.
    pub expected: String,
    /// Actual behaviour.
    pub happened: String,
}

/// Reason for ending a run early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Refused(Refusal),
    Failed(Mismatch),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Stop::Refused(refusal)
    }
}

/// Wait for `*`, long enough for every timer to fire.
const EVER: Duration = Duration::from_secs(3600);

/// Maximum time of an event: later times, by `*` or a tolerance, must also fit.
const LATEST: Time = Time::from_ps(1_000_000 * 1_000_000_000_000);

/// Runs a script with `tolerance` for times.
pub(super) fn run(script: &Script, tolerance: Duration) -> Result<(), Stop> {
    let endpoint = Endpoint::new(choices::choices(script)?, Incoming::new(script)?);
    let start = Time::ZERO;
    let own = Names::new();
    let stamp_tick = script.stamp_tick;
    let mut run = Run {
        endpoint,
        now: start,
        base: start,
        tolerance,
        own,
        connection: None,
        stamp_tick,
        first_stamp: None,
    };
    script.events.iter().try_for_each(|event| run.event(event))
}

struct Run {
    endpoint: Endpoint,
    now: Time,
    /// Time of the previous event, to which relative times refer.
    base: Time,
    tolerance: Duration,
    /// Names assigned by the script's code.
    own: Names,
    /// File descriptor of the connection, once known.
    connection: Option<String>,
    /// Resolution of the script's timestamps, if they are compared.
    stamp_tick: Option<Duration>,
    /// Our first timestamp: its name, and its value as sent.
    first_stamp: Option<(u32, Timestamp)>,
}

impl Run {
    fn event(&mut self, event: &Event) -> Result<(), Stop> {
        if self.now.max(self.base) > LATEST {
            let reason = format!("a script lasts no longer than {}", seconds(LATEST));
            return Err(Refusal::new(event.line, reason).into());
        }
        let (from, until) = match event.when {
            When::Any => (self.now, Some(self.now + EVER)),
            When::At(from, until) => (Time::ZERO + from, until.map(|until| Time::ZERO + until)),
            When::After(from, until) => (self.base + from, until.map(|until| self.base + until)),
        };
        if let Action::Outbound(expected) = &event.action {
            return self.outbound(event, expected, from, until);
        }
        self.advance(from);
        self.base = if event.when == When::Any { self.now } else { from };
        let refuse = |reason| Stop::Refused(Refusal::new(event.line, reason));
        match &event.action {
            Action::Inbound(segment) => {
                self.endpoint.receive(self.now, segment).map_err(refuse)?;
            }
            Action::Call(call) if call.name == "getsockopt" => self.get_option(event, call)?,
            Action::Call(call) => self.call(call).map_err(refuse)?,
            Action::Code(statements) => {
                let info = self.endpoint.info();
                for statement in statements {
                    let result = statement.run(&info, &mut self.own);
                    result.map_err(|failure| self.unheld(statement.line, failure))?;
                }
            }
            Action::Outbound(_) => {}
        }
        Ok(())
    }

    /// Fires timers until `to`, including those due at that time.
    fn advance(&mut self, to: Time) {
        while let Some(at) = self.endpoint.deadline().filter(|&at| at <= to) {
            self.now = self.now.max(at);
            self.endpoint.expire(self.now);
        }
        self.now = self.now.max(to);
    }

    /// Executes a system call. Calls without effect on TCP are ignored.
    fn call(&mut self, call: &Call) -> Result<(), String> {
        let Call { name, arguments, result, error } = call;
        let may_fail = match (name.as_str(), error.as_deref()) {
            (_, None) | ("accept" | "read" | "recv", _) | ("connect", Some("EINPROGRESS")) => true,
            (name, Some("EPIPE")) => WRITES.contains(&name) && self.endpoint.is_closed(),
            _ => false,
        };
        if !may_fail {
            return Err(format!("`{name}` never fails here"));
        }
        if WRITES.contains(&name.as_str()) && self.endpoint.is_closed() {
            return match error {
                Some(_) => Ok(()),
                None => Err(format!("`{name}` fails here: the application has closed")),
            };
        }
        match (name.as_str(), &arguments[..]) {
            ("socket" | "bind" | "listen" | "read" | "recv" | "fcntl", _) => Ok(()),
            ("accept", _) => {
                self.connection = Some(result.to_string());
                Ok(())
            }
            ("setsockopt", [_, _, option, ..]) => match option.as_str() {
                "SO_REUSEADDR" | "SO_SNDBUF" | "SO_RCVBUF" | "TCP_NODELAY" | "TCP_CONGESTION"
                | "TCP_MAXSEG" | "IP_TOS" | "IP_MTU_DISCOVER" => Ok(()),
                _ => Err(format!("the socket option {option} is not simulated")),
            },
            ("connect", [socket, ..]) => {
                self.connection = Some(socket.clone());
                self.endpoint.connect(self.now);
                Ok(())
            }
            ("write" | "send" | "sendto", [socket, _, count, ..]) => {
                if self.connection.as_ref() != Some(socket) {
                    return Err(format!("{socket} is not the connection"));
                }
                let wrong = || format!("`{count}` is not a number of bytes");
                let bytes: u64 = count.parse().map(u32::into).map_err(|_| wrong())?;
                if u64::try_from(*result) != Ok(bytes) {
                    return Err(format!(
                        "the send buffer is unlimited: all {bytes} bytes are taken"
                    ));
                }
                self.endpoint.write(self.now, bytes)
            }
            // Data that the application no longer reads are acknowledged anyway.
            ("shutdown", [_, how]) if how == "SHUT_RD" => Ok(()),
            ("close" | "shutdown", [socket, ..]) => {
                // Closing other, listening sockets has no effect.
                if self.connection.as_ref() == Some(socket) {
                    self.endpoint.close(self.now);
                }
                Ok(())
            }
            _ => Err(format!("the system call `{name}` is not simulated")),
        }
    }

    /// Checks the value of a socket option.
    fn get_option(&self, event: &Event, call: &Call) -> Result<(), Stop> {
        let found = match call.option() {
            Some(("TCP_MAXSEG", _)) => self.endpoint.mss().to_string(),
            option => {
                let name = option.map_or("of `getsockopt`", |(name, _)| name);
                let reason = format!("the socket option {name} is not simulated");
                return Err(Refusal::new(event.line, reason).into());
            }
        };
        match call.option() {
            Some((name, value)) if value != found => Err(Stop::Failed(Mismatch {
                line: event.line,
                at: self.now - Time::ZERO,
                expected: format!("{name} = {value}"),
                happened: format!("{name} = {found}"),
            })),
            _ => Ok(()),
        }
    }

    /// Checks an expected segment, which may represent several segments sent individually.
    fn outbound(
        &mut self,
        event: &Event,
        expected: &Segment,
        from: Time,
        until: Option<Time>,
    ) -> Result<(), Stop> {
        let any = event.when == When::Any;
        let earliest = if any { Time::ZERO } else { earlier(from, self.tolerance) };
        let latest = until.unwrap_or(from) + if any { Duration::ZERO } else { self.tolerance };
        let mut whole: Option<Segment> = None;
        loop {
            let Some(Sent { at, segment }) = self.next_sent(latest) else {
                return Err(self.failed(event, expected, nothing(whole.as_ref(), latest)));
            };
            if at < earliest || at > latest {
                let when = if at < earliest { "too early" } else { "too late" };
                let happened = format!("> {segment} at {}: {when}", seconds(at));
                return Err(self.failed(event, expected, happened));
            }
            self.now = self.now.max(at);
            if let Some(difference) = difference(expected, whole.as_ref(), &segment) {
                let happened = format!("> {segment} at {}: {difference}", seconds(at));
                return Err(self.failed(event, expected, happened));
            }
            if let Some(difference) = self.name_stamp(expected, &segment) {
                let happened = format!("> {segment} at {}: {difference}", seconds(at));
                return Err(self.failed(event, expected, happened));
            }
            let length = whole.as_ref().map_or(0, |whole| whole.length) + segment.length;
            if length == expected.length {
                self.base = if until.is_some() || any { at } else { from };
                return Ok(());
            }
            let first = whole.get_or_insert(segment);
            first.length = length;
        }
    }

    /// Stores the script's name of our timestamp; returns its error, if the script has a clock for
    /// timestamps.
    fn name_stamp(&mut self, expected: &Segment, sent: &Segment) -> Option<String> {
        let ((name, _), (stamp, _)) = (expected.options.stamps?, sent.options.stamps?);
        self.endpoint.name_stamp(name, stamp);
        let (first_name, first) = *self.first_stamp.get_or_insert((name, stamp));
        let passed = |ticks: u32, tick: Duration| u64::from(ticks).saturating_mul(tick.as_ps());
        let expected = passed(name.wrapping_sub(first_name), self.stamp_tick?);
        let found = passed(stamp.wrapping_sub(first), self.endpoint.stamp_tick());
        (expected.abs_diff(found) > self.tolerance.as_ps()).then(|| {
            let found = Duration::from_ps(found).as_secs_f64();
            format!("its timestamp is that of {found:.3} s after the first one")
        })
    }

    /// Takes the next unchecked segment, firing timers until `latest`.
    fn next_sent(&mut self, latest: Time) -> Option<Sent> {
        while self.endpoint.sent.is_empty() {
            let at = self.endpoint.deadline().filter(|&at| at <= latest)?;
            self.now = self.now.max(at);
            self.endpoint.expire(self.now);
        }
        self.endpoint.sent.pop_front()
    }

    fn failed(&self, event: &Event, expected: &Segment, happened: String) -> Stop {
        let at = self.now - Time::ZERO;
        let expected = format!("> {expected}");
        Stop::Failed(Mismatch { line: event.line, at, expected, happened })
    }

    fn unheld(&self, line: usize, failure: Failure) -> Stop {
        let at = self.now - Time::ZERO;
        match failure {
            Failure::Unknown(reason) => Stop::Refused(Refusal::new(line, reason)),
            Failure::False(expected, values) => {
                let values: Vec<String> =
                    values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                Stop::Failed(Mismatch { line, at, expected, happened: values.join(", ") })
            }
        }
    }
}

fn earlier(at: Time, by: Duration) -> Time {
    Time::from_ps(at.as_ps().saturating_sub(by.as_ps()))
}

fn seconds(at: Time) -> String {
    format!("{:.6} s", at.as_secs_f64())
}

fn nothing(whole: Option<&Segment>, latest: Time) -> String {
    match whole {
        None => format!("nothing was sent until {}", seconds(latest)),
        Some(part) => format!("> {part}, then nothing until {}", seconds(latest)),
    }
}

/// Returns the difference between `sent` and the expected segment, of which `whole` has been sent already.
fn difference(expected: &Segment, whole: Option<&Segment>, sent: &Segment) -> Option<String> {
    let done = whole.map_or(0, |whole| whole.length);
    let last = done + sent.length == expected.length;
    let number = |what, want, found| {
        (want != found).then(|| format!("{what} {found} where {want} is expected"))
    };
    let flag = |what, want: bool, found: bool| {
        (want != found).then(|| format!("{what} {}", if found { "is set" } else { "is missing" }))
    };
    let (options, wanted) = (&sent.options, &expected.options);
    // With AE, CWR is a bit of a count.
    let accurate = expected.has(Marking::AE) || options.ecn.is_some();
    let compared = [
        flag("SYN", expected.syn, sent.syn),
        flag("FIN", expected.fin && last, sent.fin),
        flag("RST", expected.reset, sent.reset),
        flag("ECE", expected.has(Marking::ECE), sent.has(Marking::ECE)),
        // A packet that represents several has CWR if the first of them has it.
        flag("CWR", expected.has(Marking::CWR) && (done == 0 || accurate), sent.has(Marking::CWR)),
        flag("AE", expected.has(Marking::AE), sent.has(Marking::AE)),
        number("sequence number", expected.seq + done, sent.seq),
        (done + sent.length > expected.length).then(|| {
            format!("{} bytes where {} are expected", done + sent.length, expected.length)
        }),
        (sent.length == 0 && !last)
            .then(|| format!("no data where {} bytes are expected", expected.length - done)),
        flag("ACK", expected.ack.is_some(), sent.ack.is_some()),
        expected.ack.zip(sent.ack).and_then(|(want, found)| number("ack", want, found)),
    ];
    let first = compared.into_iter().flatten().next();
    let found = sent.marking().codepoint();
    let codepoint = expected.codepoint.filter(|expected| !expected.is(found)).map(|expected| {
        let found = Ect::This(found).name();
        format!("the codepoint {found} where {} is expected", expected.name())
    });
    first.or(codepoint).or_else(|| {
        if wanted.any {
            return None;
        }
        let compared = [
            (wanted.mss != options.mss).then_some("mss"),
            (wanted.sack_permitted != options.sack_permitted).then_some("sackOK"),
            (wanted.scale.is_some() != options.scale.is_some()).then_some("wscale"),
            (wanted.stamps.is_some() != options.stamps.is_some()).then_some("TS"),
            (wanted.stamps.map(|stamps| stamps.1) != options.stamps.map(|stamps| stamps.1))
                .then_some("the echoed timestamp"),
            (wanted.sack != options.sack).then_some("sack"),
            (wanted.ecn != options.ecn).then_some("ECN"),
        ];
        let first = compared.into_iter().flatten().next();
        first.map(|option| format!("the option {option} differs"))
    })
}
