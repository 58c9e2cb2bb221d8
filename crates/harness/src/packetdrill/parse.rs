//! Script parser.

use optcp_units::{Codepoint, Duration, Marking};

use super::assertion;
use super::cursor::Cursor;
use super::script::{Action, COUNTERS, Call, Ect, Event, Options, Refusal, Script, Segment, When};

/// Prefix of comments with directives for OpTCP.
const DIRECTIVE: &str = "optcp:";

/// Maximum time in a script: the clock counts picoseconds, and all times of a script must fit.
const LONGEST: Duration = Duration::from_secs(10_000);

const NO_FAST_OPEN: &str = "TCP Fast Open is not simulated";
const NO_URGENT: &str = "urgent data is not simulated";

/// Calls that pass data to TCP.
pub(super) const WRITES: [&str; 3] = ["write", "send", "sendto"];

/// Parses a script.
pub(super) fn parse(text: &str) -> Result<Script, Refusal> {
    let mut script = Script::default();
    let mut at = Cursor::new(text);
    loop {
        skip(&mut at, &mut script)?;
        let line = at.line();
        match at.peek() {
            None => return Ok(script),
            Some('`') => script.commands.push(command(&mut at)?),
            Some('-') if script.events.is_empty() => option(&mut at, &mut script)?,
            Some(_) => {
                let when = when(&mut at)?;
                let waits = waits(&mut at)?;
                skip(&mut at, &mut script)?;
                if at.peek() == Some('`') {
                    script.commands.push(command(&mut at)?);
                    continue;
                }
                let action = action(&mut at, when)?;
                if let Action::Call(call) = &action {
                    check_write(call, waits).map_err(|reason| Refusal::new(line, reason))?;
                }
                script.events.push(Event { line, when, action });
            }
        }
    }
}

/// Skips white space and comments, and stores directives.
fn skip(at: &mut Cursor<'_>, script: &mut Script) -> Result<(), Refusal> {
    loop {
        at.skip_space();
        let line = at.line();
        if at.take("//") {
            let comment = at.take_while(|c| c != '\n').trim();
            if let Some(choices) = comment.strip_prefix(DIRECTIVE) {
                script.directives.push((line, choices.trim().to_owned()));
            }
        } else if at.take("/*") {
            at.take_until("*/").ok_or_else(|| Refusal::new(line, "the comment has no end"))?;
        } else {
            return Ok(());
        }
    }
}

fn command(at: &mut Cursor<'_>) -> Result<(usize, String), Refusal> {
    let line = at.line();
    at.expect("`")?;
    let text = at.take_until("`").ok_or_else(|| Refusal::new(line, "the command has no end"))?;
    Ok((line, text.to_owned()))
}

/// Parses `--name=value`, before the first event.
fn option(at: &mut Cursor<'_>, script: &mut Script) -> Result<(), Refusal> {
    let refused = at.clone();
    let text = at.take_while(|c| !c.is_whitespace());
    match text.split_once('=').unwrap_or((text, "")) {
        ("--tolerance_usecs", value) => {
            let wrong = || refused.refuse(format!("`{value}` is not a number of microseconds"));
            let us: u32 = value.parse().map_err(|_| wrong())?;
            script.tolerance = Some(Duration::from_us(us.into()));
            Ok(())
        }
        ("--tcp_ts_tick_usecs", value) => {
            let wrong = || refused.refuse(format!("`{value}` is not a number of microseconds"));
            let us: u32 = value.parse().map_err(|_| wrong())?;
            script.stamp_tick =
                Some(Duration::from_us(us.into())).filter(|&tick| tick > Duration::ZERO);
            Ok(())
        }
        ("--ip_version", "ipv6") => Err(refused.refuse("IPv6 is not simulated")),
        // These options set addresses and packetdrill's execution. Segments of the peer that stand for
        // several are refused individually.
        ("--ip_version", "ipv4")
        | ("--mss" | "--local_ip" | "--remote_ip" | "--send_omit_free", _) => Ok(()),
        _ => Err(refused.refuse(format!("the option `{text}` is not supported"))),
    }
}

/// Parses the time of an event.
fn when(at: &mut Cursor<'_>) -> Result<When, Refusal> {
    if at.take("*") {
        return Ok(When::Any);
    }
    let relative = at.take("+");
    let from = seconds(at)?;
    let mut until = None;
    at.skip_blanks();
    if at.take("~") {
        at.skip_blanks();
        if relative {
            at.expect("+")?;
        }
        until = Some(seconds(at)?);
    }
    Ok(if relative { When::After(from, until) } else { When::At(from, until) })
}

/// Returns whether the next call blocks. The time of its return does not matter to TCP, unless it writes.
fn waits(at: &mut Cursor<'_>) -> Result<bool, Refusal> {
    at.skip_blanks();
    let waits = at.take("...");
    if waits {
        at.skip_blanks();
        at.take("+");
        seconds(at)?;
    }
    Ok(waits)
}

fn seconds(at: &mut Cursor<'_>) -> Result<Duration, Refusal> {
    let (before, found) = (at.clone(), at.found());
    let mut text = at.take_while(|c| c.is_ascii_digit()).to_owned();
    // "0...1" is a range, not a fraction.
    if at.rest().starts_with('.') && !at.rest().starts_with("...") {
        text += at.take_while(|c| c == '.');
        text += at.take_while(|c| c.is_ascii_digit());
    }
    let value = text.parse().ok().and_then(Duration::from_secs_f64);
    value
        .filter(|&value| value <= LONGEST)
        .ok_or_else(|| before.refuse(format!("expected a time in seconds, found {found}")))
}

fn action(at: &mut Cursor<'_>, when: When) -> Result<Action, Refusal> {
    let line = at.line();
    match at.peek() {
        Some('<') => {
            at.take("<");
            let segment = segment(at)?;
            if segment.codepoint == Some(Ect::Either) {
                return Err(Refusal::new(line, "expected one codepoint for a segment of the peer"));
            }
            Ok(Action::Inbound(segment))
        }
        Some('>') => {
            at.take(">");
            let segment = segment(at)?;
            if segment.window.is_some() {
                return Err(Refusal::new(line, "the window that we advertise is not simulated"));
            }
            if segment.reset {
                return Err(Refusal::new(line, "our endpoint sends no RST"));
            }
            Ok(Action::Outbound(segment))
        }
        Some('%') => {
            at.expect("%{")?;
            let code = at.take_until("}%");
            let code = code.ok_or_else(|| Refusal::new(line, "the code has no end"))?;
            Ok(Action::Code(assertion::parse(code, line)?))
        }
        Some(c) if c.is_ascii_alphabetic() => {
            if matches!(when, When::At(_, Some(_)) | When::After(_, Some(_))) {
                return Err(at.refuse("a call needs a single time, not a range"));
            }
            call(at).map(Action::Call)
        }
        _ => Err(at.refuse(format!(
            "expected a segment, a system call, a command or code, found {}",
            at.found()
        ))),
    }
}

fn segment(at: &mut Cursor<'_>) -> Result<Segment, Refusal> {
    at.skip_blanks();
    let mut codepoint = None;
    if at.rest().starts_with('[') {
        at.take("[");
        let code = at.take_while(|c| c != ']').trim();
        at.expect("]")?;
        codepoint = Some(match code {
            "noecn" => Ect::This(Codepoint::NotEct),
            "ect0" => Ect::This(Codepoint::Ect0),
            "ect1" => Ect::This(Codepoint::Ect1),
            "ce" => Ect::This(Codepoint::Ce),
            "ect01" => Ect::Either,
            _ => return Err(at.refuse(format!("[{code}]: the IP header is not simulated"))),
        });
        at.skip_blanks();
    }
    if at.rest().starts_with("icmp") || at.rest().starts_with("udp") {
        return Err(at.refuse("only TCP segments are simulated"));
    }
    let mut segment = Segment { codepoint, ..Segment::default() };
    let flags = at.take_while(|c| !c.is_whitespace());
    let mut acknowledges = false;
    for flag in flags.chars() {
        match flag {
            'S' => segment.syn = true,
            'F' => segment.fin = true,
            'R' => segment.reset = true,
            '.' => acknowledges = true,
            // PSH has no effect: data reach the application immediately.
            'P' | '-' => {}
            'E' => segment.flags |= Marking::ECE,
            'W' => segment.flags |= Marking::CWR,
            'A' => segment.flags |= Marking::AE,
            // The three flags as a number.
            '0'..='7' => segment.flags |= u8::try_from(flag.to_digit(8).unwrap_or(0)).unwrap_or(0),
            'U' => return Err(at.refuse(NO_URGENT)),
            _ => {
                return Err(at.refuse(format!(
                    "`{flag}` is not one of the flags S, F, R, P, E, W, A and ."
                )));
            }
        }
    }
    at.skip_blanks();
    segment.seq = at.number("a sequence number")?;
    if segment.syn && segment.seq != 0 {
        return Err(at.refuse("sequence numbers count from a SYN, which is 0"));
    }
    at.expect(":")?;
    let end = at.number("a sequence number")?;
    at.expect("(")?;
    segment.length = at.number("a length")?;
    at.expect(")")?;
    if segment.seq + segment.length != end {
        let Segment { seq, length, .. } = segment;
        return Err(at.refuse(format!("{seq}:{end} is not {length} bytes")));
    }
    loop {
        let before = at.clone();
        at.skip_space();
        if at.take("ack ") {
            at.skip_blanks();
            segment.ack = Some(at.number("an acknowledgment number")?);
        } else if at.take("win ") {
            at.skip_blanks();
            segment.window = Some(at.number("a window")?);
        } else if at.take("urg ") {
            return Err(at.refuse(NO_URGENT));
        } else if at.take("<") {
            segment.options = options(at)?;
            break;
        } else {
            *at = before;
            break;
        }
    }
    match (acknowledges, segment.ack) {
        (true, None) => Err(at.refuse("the flag `.` needs an acknowledgment number")),
        (false, Some(_)) => Err(at.refuse("an acknowledgment number needs the flag `.`")),
        _ => Ok(segment),
    }
}

fn options(at: &mut Cursor<'_>) -> Result<Options, Refusal> {
    let mut options = Options::default();
    let start = at.clone();
    let list = at.take_until(">").ok_or_else(|| start.refuse("the options have no end"))?;
    for option in list.split(',') {
        let words: Vec<&str> = option.split_whitespace().collect();
        let name = words.first().unwrap_or(&"");
        let wrong = || start.refuse(format!("the TCP option `{name}` is not supported"));
        let stamp = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        let number = |text: &str| stamp(text).map(u64::from);
        match words[..] {
            ["nop" | "eol"] => {}
            ["..."] => options.any = true,
            ["mss", size] => options.mss = Some(number(size)?),
            ["sackOK"] => options.sack_permitted = true,
            ["wscale", scale] => options.scale = Some(scale.parse().map_err(|_| wrong())?),
            ["TS", "val", value, "ecr", echo] => {
                options.stamps = Some((stamp(value)?, stamp(echo)?));
            }
            ["sack", ref blocks @ ..] => {
                for block in blocks {
                    let (from, to) = block.split_once(':').ok_or_else(wrong)?;
                    options.sack.push((number(from)?, number(to)?));
                }
            }
            ["FO" | "FOEXP", ..] => return Err(start.refuse(NO_FAST_OPEN)),
            ["ECN", ref counts @ ..] if !counts.is_empty() && counts.len() % 2 == 0 => {
                let mut all = [None; 3];
                for pair in counts.chunks(2) {
                    let place = COUNTERS.iter().position(|name| *name == pair[0]);
                    all[place.ok_or_else(wrong)?] = Some(stamp(pair[1])?);
                }
                options.ecn = Some(all);
            }
            _ => return Err(wrong()),
        }
    }
    Ok(options)
}

/// Parses `name(arguments) = result ERROR (words)`.
fn call(at: &mut Cursor<'_>) -> Result<Call, Refusal> {
    let name = at.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
    at.skip_blanks();
    at.expect("(")?;
    let arguments = arguments(at)?;
    at.skip_space();
    at.expect("=")?;
    let (before, rest) = (at.clone(), at.take_while(|c| c != '\n'));
    // The result may be followed by a comment or, rarely, by the next event.
    let rest = rest.split("//").next().unwrap_or_default().trim();
    let mut words = rest.split_whitespace();
    let result = words.next().unwrap_or_default();
    let number = match result.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None if result == "..." => Some(0),
        None => result.parse().ok(),
    };
    let wrong =
        || before.refuse(format!("expected the result of `{name}`, found {}", before.found()));
    let result = number.ok_or_else(wrong)?;
    let error = words.next().filter(|word| !word.starts_with('(')).map(str::to_owned);
    Ok(Call { name, arguments, result, error })
}

/// Checks that a writing call has no flags and does not block.
fn check_write(call: &Call, waits: bool) -> Result<(), String> {
    if !WRITES.contains(&&*call.name) {
        return Ok(());
    }
    match call.arguments.get(3).filter(|flags| *flags != "0") {
        Some(flags) if flags.contains("MSG_FASTOPEN") => Err(NO_FAST_OPEN.to_owned()),
        Some(flags) => Err(format!("`{flags}` is not simulated")),
        None if waits => Err("the send buffer is unlimited: no write waits".to_owned()),
        None => Ok(()),
    }
}

/// Parses the arguments of a call up to its closing parenthesis.
fn arguments(at: &mut Cursor<'_>) -> Result<Vec<String>, Refusal> {
    let start = at.clone();
    let (mut depth, mut quoted) = (0_usize, false);
    let mut list = vec![String::new()];
    while let Some(c) = at.peek() {
        at.take(c.encode_utf8(&mut [0; 4]));
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            ')' if depth == 0 => {
                let words = list.iter().map(|argument| argument.trim().to_owned());
                return Ok(words.filter(|argument| !argument.is_empty()).collect());
            }
            ',' if depth == 0 => {
                list.push(String::new());
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(argument) = list.last_mut() {
            argument.push(c);
        }
    }
    Err(start.refuse("the arguments have no end"))
}
