//! State of windows: the logical processes while windows are open, and the packets sent to them.

use std::fmt;

use optcp_des::{Buckets, Class, Due, EventQueue, Key, Wheel};
use optcp_net::{FlowId, Hop, Label, Packet, PortId};
use optcp_units::{Duration, Time};

use super::partition::Partition;
use super::policy::{NoWindowsReason, WindowPolicy};
use super::vertices::Vertices;
use crate::engine::Engine;
use crate::fast::forwarding::{Entry, Forwarding, LpId};
use crate::model::Model;
use crate::timers::TimerEvent;

/// State of windows. [`fmt::Display`] describes how packets are stored.
#[derive(Clone, Debug)]
pub(in crate::fast) struct Windows {
    pub(super) policy: WindowPolicy,
    /// Logical processes while windows are open.
    pub(super) processes: Option<Box<Processes>>,
    /// Reason for having no windows, from the last attempt.
    pub(super) reason: NoWindowsReason,
    /// Number of times that windows have been opened.
    pub(super) opened: u64,
    /// Current logical process, whose event queues the engine holds.
    pub(super) running: LpId,
    /// Packets sent to each logical process since its last execution.
    pub(super) inboxes: Vec<Vec<Due<Packet>>>,
    /// Empty event queue of the whole run while windows are open.
    pub(super) whole_run: Option<Buckets<Packet>>,
}

impl Windows {
    /// Creates closed windows for a run on this engine.
    pub(in crate::fast) fn new(engine: Engine) -> Self {
        Windows {
            policy: engine.into(),
            processes: None,
            reason: NoWindowsReason::Brief,
            opened: 0,
            running: LpId::ALL,
            inboxes: Vec::new(),
            whole_run: None,
        }
    }

    /// Returns the state for another thread, without logical processes.
    pub(super) fn for_thread(&self) -> Self {
        Windows {
            processes: None,
            opened: 0,
            running: LpId::NONE,
            inboxes: Vec::new(),
            whole_run: None,
            ..*self
        }
    }

    /// Returns the number of logical processes; 1 without windows.
    pub(super) fn process_count(&self) -> usize {
        self.processes.as_ref().map_or(1, |processes| processes.each.len())
    }

    /// Returns the logical process in which a packet waits.
    pub(super) fn process_of(&self, vertices: Vertices, due: &Due<Packet>) -> LpId {
        let Some(processes) = &self.processes else { return LpId::ALL };
        let lp_of = &processes.partition.lp_of_vertex;
        let packet = due.item;
        match processes.lp_of_label[packet.label.0 as usize] {
            LpId::NONE => LpId::of(usize::from(lp_of[due.entity as usize])),
            LpId::LOOK_UP => {
                let end = vertices.end(packet.flow().index(), !packet.is_ack());
                LpId::of(usize::from(lp_of[end]))
            }
            lp => lp,
        }
    }

    /// Calls `visit` for the packets of all suspended logical processes, in their queues and inboxes.
    pub(super) fn for_each_waiting(&self, visit: &mut impl FnMut(Due<Packet>)) {
        let processes = self.processes.iter().flat_map(|processes| &processes.each);
        processes.for_each(|process| process.waiting.for_each(&mut *visit));
        self.inboxes.iter().flatten().for_each(|&due| visit(due));
    }

    /// Returns a time before which no logical process has an event.
    pub(in crate::fast) fn next_at(&self) -> Time {
        let processes = self.processes.iter().flat_map(|processes| &processes.each);
        let sent = self.inboxes.iter().flatten().map(|due| due.at);
        processes.map(LogicalProcess::next_at).chain(sent).min().unwrap_or(Time::MAX)
    }
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.processes {
            Some(processes) => {
                let (count, width) = (processes.each.len(), processes.partition.window());
                write!(f, "{count} logical processes, windows of {} ps", width.as_ps())
            }
            None => write!(f, "one event queue: {}", self.reason),
        }
    }
}

/// Logical processes of a run.
#[derive(Clone, Debug)]
pub(super) struct Processes {
    pub(super) partition: Partition,
    pub(super) each: Vec<LogicalProcess>,
    /// Logical process in which packets of a label wait; [`LpId::NONE`] if they are lost.
    pub(super) lp_of_label: Vec<LpId>,
    /// Number of times that windows had been opened before.
    pub(super) number: u64,
}

impl Processes {
    /// Creates the logical processes of a partition without packets and timers.
    pub(super) fn new<O>(
        number: u64,
        partition: Partition,
        model: &Model<O>,
        forwarding: &Forwarding,
    ) -> Self {
        let labels = u32::try_from(model.labels.len()).expect("fewer than 2^32 labels");
        let lp_of = |label| lp_of_label(Label(label), &partition.lp_of_vertex, model, forwarding);
        Processes {
            each: LogicalProcess::all(&partition),
            lp_of_label: (0..labels).map(lp_of).collect(),
            partition,
            number,
        }
    }

    /// Returns equal logical processes for another thread, without packets and timers.
    pub(super) fn for_thread(&self) -> Self {
        Processes {
            each: LogicalProcess::all(&self.partition),
            partition: self.partition.clone(),
            lp_of_label: self.lp_of_label.clone(),
            number: self.number,
        }
    }

    /// Returns the logical process that executes an event of the event queue.
    pub(super) fn lp_of_event(&self, vertices: Vertices, key: Key) -> usize {
        let entity = FlowId::new(key.entity()).index();
        let vertex = match key.class() {
            Class::TransmissionEnd => entity,
            _ => vertices.end(entity, TimerEvent::of(key) == TimerEvent::Receiver),
        };
        usize::from(self.partition.lp_of_vertex[vertex])
    }

    /// Returns the first end of a window after `begin`, at most `limit`.
    pub(super) fn window_end(&self, begin: Time, limit: Time) -> Time {
        let log2 = self.partition.window_log2;
        let end = ((begin.as_ps() >> log2) + 1) << log2;
        limit.min(Time::from_ps(end))
    }
}

/// Returns the logical process in which packets of a label wait.
fn lp_of_label<O>(
    label: Label,
    lp_of_vertex: &[u16],
    model: &Model<O>,
    forwarding: &Forwarding,
) -> LpId {
    let entry = forwarding.at(label);
    let lp_of = |port: PortId| LpId::of(usize::from(lp_of_vertex[port.index()]));
    match entry.port() {
        Entry::DELIVER => LpId::LOOK_UP,
        Entry::BUNDLE => {
            let bundle = model.labels.bundle_hop(entry.next()).bundle;
            lp_of(model.bundles[bundle as usize].members()[0])
        }
        // All next hops are in one logical process.
        Entry::ECMP => {
            let next_hops = model.labels.leads_to(Hop::Ecmp(entry.next()));
            lp_of_label(next_hops[0].1, lp_of_vertex, model, forwarding)
        }
        port if entry.is_port() => lp_of(port),
        _ => LpId::NONE,
    }
}

/// Part of the run with its own event queue.
#[derive(Clone, Debug)]
pub(super) struct LogicalProcess {
    pub(super) waiting: Wheel<Packet>,
    pub(super) event_queue: EventQueue,
    /// Maximum time by which timers may fire before they are due.
    pub(super) timer_advance: Duration,
    /// Time before which all events have been executed.
    pub(super) executed_until: Time,
}

impl LogicalProcess {
    /// Creates the logical processes of a partition without packets and timers.
    fn all(partition: &Partition) -> Vec<Self> {
        let process = |&timer_advance: &Duration| LogicalProcess {
            waiting: Wheel::of_width(partition.window_log2),
            event_queue: EventQueue::default(),
            timer_advance,
            executed_until: Time::ZERO,
        };
        partition.timer_advances.iter().map(process).collect()
    }

    /// Returns a time before which the process has no event.
    fn next_at(&self) -> Time {
        let timer_at = earlier(self.event_queue.next_at(), self.timer_advance);
        self.waiting.not_before().min(timer_at)
    }
}

/// Returns a time minus an advance.
pub(super) fn earlier(at: Time, advance: Duration) -> Time {
    Time::from_ps(at.as_ps().saturating_sub(advance.as_ps()))
}
