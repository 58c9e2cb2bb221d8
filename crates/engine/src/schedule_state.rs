//! What happens by plan: which transmitters serve which queues, and how far schedules have come.
//!
//! # Models
//! A queue without a transmitter of its own; the first ports of its ways are transmitters that take packets out of it, one
//! whenever they have nothing to send, while the schedule says so. One that serves several queues takes them in turn, packet
//! by packet, in the order of the file; a queue that it serves again later keeps its place in that order. Which of the ways
//! serves a queue, and what else schedules change, is an event. A queue may tell senders over which way it is served, which
//! they know a time later; that none serves it is not told.
//! # Source
//! Virtual output queues behind which the network changes: M. K. Mukerjee and others, NSDI 2020; their switch in Click. Switches
//! that tell senders which network is in use: S. Chen and others, SIGCOMM 2022.
//! # Parameters
//! Those of a [`QueueSpec`], and [`optcp_net::schedule::Schedule`].
//! # Limits
//! A transmitter that is out of service takes nothing, and knows at once that it is. What queues tell takes no room in the network,
//! is not lost, and takes as long to all senders.

use std::collections::VecDeque;

use optcp_des::{Calendar, Class, Key};
use optcp_net::schedule::{Change, Progress};
use optcp_net::{FlowId, PortId};
use optcp_units::Time;

use crate::blueprint::{Blueprint, QueueSpec};

/// What a port is to queues that are served over several ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    None,
    Queue(u32),
    Server(u32),
}

/// A transmitter that takes packets out of queues.
#[derive(Clone, Debug, Default)]
struct Server {
    /// The queues that it serves at present, in ascending order.
    queues: Vec<u32>,
    /// The queue that had its turn last, even if this transmitter serves it no longer.
    last: u32,
}

/// What senders know of a queue.
#[derive(Clone, Debug, Default)]
struct PathNotices {
    flows: Vec<FlowId>,
    /// Over which way it is served, as far as they know.
    known: u8,
    /// What they have yet to hear, and when.
    pending: VecDeque<(Time, u8)>,
}

/// Queues, their transmitters, and how far schedules have come.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleState {
    /// By port; empty where there is no such queue.
    roles: Vec<Role>,
    queues: Vec<QueueSpec>,
    servers: Vec<Server>,
    /// By queue.
    told: Vec<PathNotices>,
    schedules: Vec<Progress>,
    ports: u32,
}

impl PathNotices {
    fn new(queue: &QueueSpec, blueprint: &Blueprint) -> Self {
        let flows = FlowId::all().zip(&blueprint.flows);
        let hears = flows.filter(|(_, flow)| flow.notified_by == Some(queue.port));
        PathNotices {
            flows: hears.map(|(id, _)| id).collect(),
            known: queue.served.unwrap_or(0),
            pending: VecDeque::new(),
        }
    }
}

impl ScheduleState {
    pub(crate) fn new(blueprint: &Blueprint) -> Self {
        let mut planned = ScheduleState {
            roles: Vec::new(),
            queues: blueprint.queues.clone(),
            servers: Vec::new(),
            told: blueprint.queues.iter().map(|queue| PathNotices::new(queue, blueprint)).collect(),
            schedules: blueprint.schedules.iter().cloned().map(Progress::new).collect(),
            ports: u32::try_from(blueprint.ports.len()).expect("fewer than 2^30 ports"),
        };
        if !planned.queues.is_empty() {
            planned.roles = vec![Role::None; blueprint.ports.len()];
        }
        for (number, queue) in (0..).zip(&blueprint.queues) {
            planned.roles[queue.port.index()] = Role::Queue(number);
            for way in queue.transmitters() {
                if planned.roles[way.index()] == Role::None {
                    let server = u32::try_from(planned.servers.len()).expect("as many as ports");
                    planned.roles[way.index()] = Role::Server(server);
                    planned.servers.push(Server::default());
                }
            }
        }
        for number in 0..planned.queues.len() {
            let served = planned.queues[number].served.take();
            planned.serve(number, served);
        }
        for server in &mut planned.servers {
            server.last = server.queues.first().copied().unwrap_or(0);
        }
        planned
    }

    fn role(&self, port: PortId) -> Role {
        self.roles.get(port.index()).copied().unwrap_or(Role::None)
    }

    /// Whether anything happens by plan.
    pub(crate) fn is_any(&self) -> bool {
        !self.queues.is_empty() || !self.schedules.is_empty()
    }

    /// Whether a port is a queue of several ways.
    #[inline]
    pub(crate) fn is_queue(&self, port: PortId) -> bool {
        matches!(self.role(port), Role::Queue(_))
    }

    /// The transmitter that serves a queue at present; `None` of another port.
    #[inline]
    pub(crate) fn transmitter_of(&self, port: PortId) -> Option<PortId> {
        match self.role(port) {
            Role::Queue(number) => self.server_of(number as usize),
            Role::None | Role::Server(_) => None,
        }
    }

    /// How many queues a port serves at present.
    #[inline]
    pub(crate) fn serves(&self, port: PortId) -> usize {
        match self.role(port) {
            Role::Server(number) => self.servers[number as usize].queues.len(),
            Role::None | Role::Queue(_) => 0,
        }
    }

    /// The queue whose turn it is with a transmitter, and the way that begins there.
    pub(crate) fn next_turn(&mut self, port: PortId) -> Option<(PortId, u8)> {
        let server = self.server(port)?;
        let after = server.queues.partition_point(|&number| number <= server.last);
        let number = *server.queues.get(after).or_else(|| server.queues.first())?;
        server.last = number;
        let queue = &self.queues[number as usize];
        Some((queue.port, queue.served?))
    }

    /// A queue is served over this of its ways from now on: by which transmitter.
    pub(crate) fn serve_port(&mut self, port: PortId, way: Option<u8>) -> Option<PortId> {
        let Role::Queue(queue) = self.role(port) else {
            unreachable!("what is served is a queue of several ways")
        };
        self.serve(queue as usize, way)
    }

    /// A queue is served over this of its ways from now on: which senders hear of it, and when.
    pub(crate) fn notify(
        &mut self,
        port: PortId,
        way: Option<u8>,
        now: Time,
    ) -> Option<(Time, &[FlowId])> {
        let Role::Queue(queue) = self.role(port) else { return None };
        let due = now + self.queues[queue as usize].notify?;
        let told = &mut self.told[queue as usize];
        match told.pending.back_mut().filter(|(at, _)| *at == due) {
            // They hear of the last change of an instant.
            Some((_, last)) => *last = way?,
            None => told.pending.push_back((due, way?)),
        }
        Some((due, &told.flows))
    }

    /// Over which way the queue is served of which a sender hears, as far as it knows now.
    pub(crate) fn known(&mut self, port: PortId, now: Time) -> u8 {
        let Role::Queue(queue) = self.role(port) else {
            unreachable!("what tells senders is a queue of several ways")
        };
        let told = &mut self.told[queue as usize];
        while let Some(&(due, way)) = told.pending.front()
            && due <= now
        {
            told.known = way;
            told.pending.pop_front();
        }
        told.known
    }

    /// The next step of a schedule: how many changes it has, and its number for [`change`](Self::change).
    pub(crate) fn advance(&mut self, schedule: usize) -> (usize, usize) {
        let step = self.schedules[schedule].advance();
        (self.schedules[schedule].changes(step), step)
    }

    /// One of the changes of a step.
    pub(crate) fn change(&self, schedule: usize, step: usize, number: usize) -> Change {
        self.schedules[schedule].change(step, number)
    }

    /// The port of the way over which a queue is served.
    fn server_of(&self, queue: usize) -> Option<PortId> {
        let QueueSpec { ref ways, served, .. } = self.queues[queue];
        served.map(|way| ways[usize::from(way)][0])
    }

    fn server(&mut self, port: PortId) -> Option<&mut Server> {
        match self.role(port) {
            Role::Server(number) => Some(&mut self.servers[number as usize]),
            Role::None | Role::Queue(_) => None,
        }
    }

    /// A queue is served over this of its ways from now on: its port.
    fn serve(&mut self, queue: usize, way: Option<u8>) -> Option<PortId> {
        if self.queues[queue].served == way {
            return self.server_of(queue);
        }
        let number = u32::try_from(queue).expect("fewer than 2^30 queues");
        if let Some(port) = self.server_of(queue)
            && let Some(server) = self.server(port)
        {
            server.queues.retain(|&one| one != number);
        }
        self.queues[queue].served = way;
        let port = self.server_of(queue)?;
        let queues = &mut self.server(port)?.queues;
        queues.insert(queues.partition_point(|&one| one < number), number);
        Some(port)
    }

    /// The event of the next step of a schedule.
    pub(crate) fn key(&self, number: usize) -> Option<Key> {
        let (at, step) = self.schedules[number].due()?;
        // Behind the ends of transmissions of all ports.
        let entity = self.ports + u32::try_from(number).expect("fewer than 2^30 schedules");
        Some(Key::new(at, Class::TransmissionEnd, entity, step))
    }

    /// Puts the first steps into a calendar.
    pub(crate) fn begin(&self, calendar: &mut Calendar) {
        (0..self.schedules.len())
            .filter_map(|number| self.key(number))
            .for_each(|key| calendar.push(key));
    }

    /// The schedule of which an event is a step, if it is one.
    #[inline]
    pub(crate) fn schedule_of(&self, event: Key) -> Option<usize> {
        event.entity().checked_sub(self.ports).map(|number| number as usize)
    }
}
