//! Windows as the state of a run: its logical processes, while there are any, and what has been sent to them.

use std::fmt;

use optcp_des::{Buckets, Calendar, Class, Due, Key, Wheel};
use optcp_net::{FlowId, Hop, Label, Packet, PortId};
use optcp_units::{Duration, Time};

use super::partition::Partition;
use super::policy::{NoWindowsReason, WindowPolicy};
use super::vertices::Vertices;
use crate::engine::Engine;
use crate::fast::forwarding::{Entry, Forwarding, LpId};
use crate::model::Model;
use crate::timers::TimerEvent;

/// The windows of a run. Displayed, it says how packets wait.
#[derive(Clone, Debug)]
pub(in crate::fast) struct Windows {
    pub(super) policy: WindowPolicy,
    /// The logical processes, from the opening of windows until they are closed.
    pub(super) processes: Option<Box<Processes>>,
    /// Why there were none when they were last looked for.
    pub(super) reason: NoWindowsReason,
    /// How often windows have been opened.
    pub(super) opened: u64,
    /// The logical process that is being executed, whose events are those at hand in the engine.
    pub(super) running: LpId,
    /// By logical process: packets that others have sent to it since it was last executed.
    pub(super) inboxes: Vec<Vec<Due<Packet>>>,
    /// The event queue of the whole run, empty, while windows are open.
    pub(super) undivided: Option<Buckets<Packet>>,
}

impl Windows {
    /// No windows yet, for a run on this engine.
    pub(in crate::fast) fn new(engine: Engine) -> Self {
        Windows {
            policy: engine.into(),
            processes: None,
            reason: NoWindowsReason::Brief,
            opened: 0,
            running: LpId::ALL,
            inboxes: Vec::new(),
            undivided: None,
        }
    }

    /// The same for a further thread, which has no logical processes yet.
    pub(super) fn for_thread(&self) -> Self {
        Windows {
            processes: None,
            opened: 0,
            running: LpId::NONE,
            inboxes: Vec::new(),
            undivided: None,
            ..*self
        }
    }

    /// How many logical processes there are; without windows all is one.
    pub(super) fn process_count(&self) -> usize {
        self.processes.as_ref().map_or(1, |processes| processes.each.len())
    }

    /// The logical process in which a packet waits.
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

    /// The packets of logical processes that are not being executed, sent to them or waiting there.
    pub(super) fn for_each_waiting(&self, look: &mut impl FnMut(Due<Packet>)) {
        let processes = self.processes.iter().flat_map(|processes| &processes.each);
        processes.for_each(|process| process.waiting.for_each(&mut *look));
        self.inboxes.iter().flatten().for_each(|&due| look(due));
    }

    /// A time before which no logical process has anything to do.
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
            None => write!(f, "one calendar: {}", self.reason),
        }
    }
}

/// The logical processes of a run.
#[derive(Clone, Debug)]
pub(super) struct Processes {
    pub(super) partition: Partition,
    pub(super) each: Vec<LogicalProcess>,
    /// By label: where a packet under it waits; [`LpId::NONE`] where it is lost.
    pub(super) lp_of_label: Vec<LpId>,
    /// How many times windows had been opened before these.
    pub(super) number: u64,
}

impl Processes {
    /// The logical processes of a partition, without packets and timers.
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

    /// The same for a further thread: logical processes without packets and timers.
    pub(super) fn for_thread(&self) -> Self {
        Processes {
            each: LogicalProcess::all(&self.partition),
            partition: self.partition.clone(),
            lp_of_label: self.lp_of_label.clone(),
            number: self.number,
        }
    }

    /// The logical process in which an event of the calendar is executed.
    pub(super) fn lp_of_event(&self, vertices: Vertices, key: Key) -> usize {
        let entity = FlowId::new(key.entity()).index();
        let vertex = match key.class() {
            Class::TransmissionEnd => entity,
            _ => vertices.end(entity, TimerEvent::of(key) == TimerEvent::Receiver),
        };
        usize::from(self.partition.lp_of_vertex[vertex])
    }

    /// The first end of a window after `begin`, or `limit` if that is earlier.
    pub(super) fn window_end(&self, begin: Time, limit: Time) -> Time {
        let log2 = self.partition.window_log2;
        let end = ((begin.as_ps() >> log2) + 1) << log2;
        limit.min(Time::from_ps(end))
    }
}

/// The logical process in which packets under a label wait.
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
            let bundle = model.labels.entrance(entry.next()).bundle;
            lp_of(model.bundles[bundle as usize].members()[0])
        }
        // Whichever next hop it is, all are in one logical process.
        Entry::SPREAD => {
            let next_hops = model.labels.leads_to(Hop::Ecmp(entry.next()));
            lp_of_label(next_hops[0].1, lp_of_vertex, model, forwarding)
        }
        port if entry.is_port() => lp_of(port),
        _ => LpId::NONE,
    }
}

/// A part of the run with an event queue of its own.
#[derive(Clone, Debug)]
pub(super) struct LogicalProcess {
    pub(super) waiting: Wheel<Packet>,
    pub(super) calendar: Calendar,
    /// By how much its timers may fire before they are due.
    pub(super) timer_advance: Duration,
    /// Everything before has been executed.
    pub(super) executed_until: Time,
}

impl LogicalProcess {
    /// The logical processes of a partition, without packets and timers.
    fn all(partition: &Partition) -> Vec<Self> {
        let process = |&timer_advance: &Duration| LogicalProcess {
            waiting: Wheel::of_width(partition.window_log2),
            calendar: Calendar::default(),
            timer_advance,
            executed_until: Time::ZERO,
        };
        partition.timer_advances.iter().map(process).collect()
    }

    /// A time before which it has nothing to do.
    fn next_at(&self) -> Time {
        let timer_at = earlier(self.calendar.next_at(), self.timer_advance);
        self.waiting.not_before().min(timer_at)
    }
}

/// A time less an advance.
pub(super) fn earlier(at: Time, advance: Duration) -> Time {
    Time::from_ps(at.as_ps().saturating_sub(advance.as_ps()))
}
