//! Lookahead: minimum time from the event that sends a packet to the packet's arrival at another vertex.
//!
//! # Model
//! A packet that enters a port at time t arrives behind its link at t plus the link delay or later.
//! If it entered the port early, the event began earlier than t, by the delays of all links passed
//! early in this event ([`EventStart`]). The lookahead of a channel is the sum of these delays.
//!
//! An endpoint that takes packets early has a lookahead equal to their advance. The event that
//! delivers a packet begins that much before the packet arrives. Its timers must not have less, so
//! they also fire in advance, by at most the advance of every packet (*timer advance*). This is
//! safe. After all events up to (due time - advance), all packets that reach the endpoint before
//! the due time have reached it.
//!
//! Invariant: the packets of an event executed at time t arrive in other logical processes at t + lookahead or later.
//!
//! # References
//! Lookahead: Chandy and Misra 1979; Fujimoto 1990. Its sum over early steps, and timers in advance, are specific to
//! this simulator.
//!
//! # Limitations
//! Transmission times and queueing delays are ignored, although they increase the real lookahead.

use optcp_net::PortId;

use super::super::policy::NoWindowsReason;
use super::super::vertices::Vertex;
use super::footprint::Footprints;
use super::view::NetworkView;
use crate::fast::eager::Feeder;

/// Path length of early steps above which a loop is assumed.
const MAX_PATH_HOPS: usize = 1000;
/// Timer advance without an upper bound, which the window length then limits.
const UNBOUNDED: u64 = u64::MAX;

/// Start of the event in which a packet enters a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventStart {
    /// Time from the start until the packet enters the port, in ps.
    pub(super) before: u64,
    /// Endpoint that sends the packet; `None` if it comes from a port.
    pub(super) end: Option<usize>,
}

/// Times within events.
#[derive(Clone, Debug)]
pub(super) struct Lookahead {
    /// Event start by port.
    pub(super) starts: Vec<EventStart>,
    /// Timer advance of endpoints by vertex, in ps; zero for ports.
    pub(super) timer_advances: Vec<u64>,
}

impl Lookahead {
    /// Computes the times within the events of a run.
    pub(super) fn find(
        view: &NetworkView<'_>,
        footprints: &Footprints,
    ) -> Result<Self, NoWindowsReason> {
        let mut known = vec![None; view.ports.len()];
        let starts =
            (0..view.ports.len()).map(|port| event_start(view, footprints, port, &mut known, 0));
        let starts = starts.collect::<Result<Vec<_>, _>>()?;
        let mut timer_advances = vec![0; view.vertex_count()];
        for (flow, receives) in view.ends() {
            timer_advances[view.vertices.end(flow, receives)] =
                timer_advance(view, &starts, flow, receives, 0)?;
        }
        Ok(Lookahead { starts, timer_advances })
    }
}

/// Returns the start of the event in which packets enter `port`; `known` caches results.
fn event_start(
    view: &NetworkView<'_>,
    footprints: &Footprints,
    port: usize,
    known: &mut [Option<EventStart>],
    depth: usize,
) -> Result<EventStart, NoWindowsReason> {
    if let Some(start) = known[port] {
        return Ok(start);
    }
    if depth > MAX_PATH_HOPS {
        return Err(NoWindowsReason::Endless);
    }
    let start = match view.only_feeder(port) {
        Some(Vertex::Port(feeder)) if footprints.entered_early[port] => {
            let start = event_start(view, footprints, feeder.index(), known, depth + 1)?;
            let delay = view.ports.get(feeder).delay().as_ps();
            EventStart { before: start.before + delay, ..start }
        }
        Some(Vertex::End { flow, receives }) => {
            EventStart { before: 0, end: Some(view.vertices.end(flow, receives)) }
        }
        _ => EventStart { before: 0, end: None },
    };
    known[port] = Some(start);
    Ok(start)
}

/// Returns the timer advance of an endpoint, in ps.
fn timer_advance(
    view: &NetworkView<'_>,
    starts: &[EventStart],
    flow: usize,
    receives: bool,
    depth: usize,
) -> Result<u64, NoWindowsReason> {
    if depth > MAX_PATH_HOPS {
        return Err(NoWindowsReason::Endless);
    }
    if view.is_source(flow, receives) {
        return Ok(if has_ports_alone(view, flow, receives) { UNBOUNDED } else { 0 });
    }
    let Some(port) = view.early_feeder(flow, receives) else { return Ok(0) };
    let EventStart { before, end } = starts[port];
    let advance_of_sender = match end.map(|end| view.vertices.at(end)) {
        Some(Vertex::End { flow, receives }) => {
            timer_advance(view, starts, flow, receives, depth + 1)?
        }
        _ => 0,
    };
    let delay = view.ports.get(PortId::at(port)).delay().as_ps();
    Ok(advance_of_sender.saturating_add(before + delay))
}

/// Returns whether no other traffic enters the output ports of an endpoint.
fn has_ports_alone(view: &NetworkView<'_>, flow: usize, receives: bool) -> bool {
    let end = u32::try_from(view.vertices.end(flow, receives)).expect("fewer than 2^32 vertices");
    let alone = |port: &usize| view.feeders.by_port[*port] == Feeder::One(end);
    view.first_label(flow, receives).is_some_and(|label| {
        view.forwarding.at(label).is_port() && view.next_ports(label).0.iter().all(alone)
    })
}
