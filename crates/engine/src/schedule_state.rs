//! State of schedules: which transmitter serves which queue, and the progress of each schedule.
//!
//! # Model
//! - A [`QueueSpec`] queue has no separate transmitter. The first port of each of its paths is a
//!   transmitter. An idle transmitter takes a packet from the queue while the schedule connects it.
//! - A transmitter of several queues serves them round-robin, packet by packet, in the order of the scenario file. A
//!   queue that returns keeps its position.
//! - Each change of the serving path, and every other scheduled change, is an event.
//! - A queue may notify senders of the serving path after a delay. Disconnection is not notified.
//!
//! # References
//! - Virtual output queues of a network that changes: M. K. Mukerjee and others, NSDI 2020 (Click switch).
//! - Switches that notify senders of the network in use: S. Chen and others, SIGCOMM 2022.
//!
//! # Limitations
//! - A transmitter that is out of service takes no packets and detects its failure immediately.
//! - Notifications use no capacity, are never lost and reach all senders after the same delay.

use std::collections::VecDeque;

use optcp_des::{Class, EventQueue, Key};
use optcp_net::schedule::{Change, Progress, Schedule};
use optcp_net::{FlowId, PortId};
use optcp_units::Time;

use crate::blueprint::{Blueprint, QueueSpec};

/// Role of a port for queues with several paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    None,
    Queue(u32),
    Server(u32),
}

/// Transmitter that takes packets out of queues.
#[derive(Clone, Debug, Default)]
struct Server {
    /// Queues that it serves at present, in ascending order.
    queues: Vec<u32>,
    /// Queue that was served last, even if it is disconnected now.
    last: u32,
}

/// Notifications of the path that serves a queue.
#[derive(Clone, Debug, Default)]
struct PathNotices {
    flows: Vec<FlowId>,
    /// Path of which the senders were last notified.
    known: u8,
    /// Notifications to come: time and path.
    pending: VecDeque<(Time, u8)>,
}

/// Queues, their transmitters and the progress of schedules.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleState {
    /// Role by port; empty if there are no such queues.
    roles: Vec<Role>,
    queues: Vec<QueueSpec>,
    servers: Vec<Server>,
    /// Notices by queue.
    notices: Vec<PathNotices>,
    schedules: Vec<Progress>,
    ports: u32,
}

impl PathNotices {
    fn new(queue: &QueueSpec, blueprint: &Blueprint) -> Self {
        let flows = FlowId::all().zip(&blueprint.flows);
        let notified = flows.filter(|(_, flow)| flow.notified_by == Some(queue.port));
        PathNotices {
            flows: notified.map(|(id, _)| id).collect(),
            known: queue.served.unwrap_or(0),
            pending: VecDeque::new(),
        }
    }
}

impl ScheduleState {
    pub(crate) fn new(blueprint: &Blueprint) -> Self {
        let mut state = ScheduleState {
            roles: Vec::new(),
            queues: blueprint.queues.clone(),
            servers: Vec::new(),
            notices: blueprint
                .queues
                .iter()
                .map(|queue| PathNotices::new(queue, blueprint))
                .collect(),
            schedules: blueprint.schedules.iter().cloned().map(Progress::new).collect(),
            ports: u32::try_from(blueprint.ports.len()).expect("fewer than 2^30 ports"),
        };
        if !state.queues.is_empty() {
            state.roles = vec![Role::None; blueprint.ports.len()];
        }
        for (number, queue) in (0..).zip(&blueprint.queues) {
            state.roles[queue.port.index()] = Role::Queue(number);
            for way in queue.transmitters() {
                if state.roles[way.index()] == Role::None {
                    let server = u32::try_from(state.servers.len()).expect("as many as ports");
                    state.roles[way.index()] = Role::Server(server);
                    state.servers.push(Server::default());
                }
            }
        }
        for number in 0..state.queues.len() {
            let served = state.queues[number].served.take();
            state.serve(number, served);
        }
        for server in &mut state.servers {
            server.last = server.queues.first().copied().unwrap_or(0);
        }
        state
    }

    fn role(&self, port: PortId) -> Role {
        self.roles.get(port.index()).copied().unwrap_or(Role::None)
    }

    /// Returns whether there are any queues or schedules.
    pub(crate) fn is_active(&self) -> bool {
        !self.queues.is_empty() || !self.schedules.is_empty()
    }

    /// Returns whether a port is a queue with several paths.
    #[inline]
    pub(crate) fn is_queue(&self, port: PortId) -> bool {
        matches!(self.role(port), Role::Queue(_))
    }

    /// Returns the transmitter that serves a queue at present; `None` for any other port.
    #[inline]
    pub(crate) fn transmitter_of(&self, port: PortId) -> Option<PortId> {
        match self.role(port) {
            Role::Queue(number) => self.server_of(number as usize),
            Role::None | Role::Server(_) => None,
        }
    }

    /// Returns the number of the path that serves a queue at present.
    pub(crate) fn served(&self, port: PortId) -> Option<u8> {
        let Role::Queue(queue) = self.role(port) else { return None };
        self.queues[queue as usize].served
    }

    /// Returns the number of queues that a port serves at present.
    #[inline]
    pub(crate) fn serves(&self, port: PortId) -> usize {
        match self.role(port) {
            Role::Server(number) => self.servers[number as usize].queues.len(),
            Role::None | Role::Queue(_) => 0,
        }
    }

    /// Returns the queue that a transmitter serves next, and the number of the path that starts there.
    pub(crate) fn next_turn(&mut self, port: PortId) -> Option<(PortId, u8)> {
        let server = self.server(port)?;
        let after = server.queues.partition_point(|&number| number <= server.last);
        let number = *server.queues.get(after).or_else(|| server.queues.first())?;
        server.last = number;
        let queue = &self.queues[number as usize];
        Some((queue.port, queue.served?))
    }

    /// Connects a queue to one of its paths. Returns the transmitter.
    pub(crate) fn serve_port(&mut self, port: PortId, way: Option<u8>) -> Option<PortId> {
        let Role::Queue(queue) = self.role(port) else {
            unreachable!("only a queue with several paths is connected to transmitters")
        };
        self.serve(queue as usize, way)
    }

    /// Schedules the notification of a path change. Returns its time and the senders.
    pub(crate) fn notify(
        &mut self,
        port: PortId,
        way: Option<u8>,
        now: Time,
    ) -> Option<(Time, &[FlowId])> {
        let Role::Queue(queue) = self.role(port) else { return None };
        let due = now + self.queues[queue as usize].notify?;
        let notices = &mut self.notices[queue as usize];
        match notices.pending.back_mut().filter(|(at, _)| *at == due) {
            // Changes at the same time cause one notification, of the last change.
            Some((_, last)) => *last = way?,
            None => notices.pending.push_back((due, way?)),
        }
        Some((due, &notices.flows))
    }

    /// Returns the path of a queue as a notified sender knows it now.
    pub(crate) fn known(&mut self, port: PortId, now: Time) -> u8 {
        let Role::Queue(queue) = self.role(port) else {
            unreachable!("only a queue with several paths notifies senders")
        };
        let notices = &mut self.notices[queue as usize];
        while let Some(&(due, way)) = notices.pending.front()
            && due <= now
        {
            notices.known = way;
            notices.pending.pop_front();
        }
        notices.known
    }

    /// Advances a schedule. Returns the number of changes and the step for [`change`](Self::change).
    pub(crate) fn advance(&mut self, schedule: usize) -> (usize, usize) {
        let step = self.schedules[schedule].advance();
        (self.schedules[schedule].changes(step), step)
    }

    /// Returns one change of a step.
    pub(crate) fn change(&self, schedule: usize, step: usize, number: usize) -> Change {
        self.schedules[schedule].change(step, number)
    }

    /// Returns the transmitter of the path that serves a queue.
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

    /// Connects a queue to one of its paths. Returns the transmitter.
    fn serve(&mut self, queue: usize, way: Option<u8>) -> Option<PortId> {
        if self.queues[queue].served == way {
            return self.server_of(queue);
        }
        let number = u32::try_from(queue).expect("fewer than 2^30 queues");
        if let Some(port) = self.server_of(queue)
            && let Some(server) = self.server(port)
        {
            server.queues.retain(|&queue| queue != number);
        }
        self.queues[queue].served = way;
        let port = self.server_of(queue)?;
        let queues = &mut self.server(port)?.queues;
        queues.insert(queues.partition_point(|&queue| queue < number), number);
        Some(port)
    }

    /// Returns the event of the next step of a schedule.
    pub(crate) fn key(&self, number: usize) -> Option<Key> {
        let (at, step) = self.schedules[number].due()?;
        // Schedules follow all ports, so a step follows the ends of transmissions at the same time.
        let entity = self.ports + u32::try_from(number).expect("fewer than 2^30 schedules");
        Some(Key::new(at, Class::TransmissionEnd, entity, step))
    }

    /// Adds the first steps to the event queue.
    pub(crate) fn begin(&self, event_queue: &mut EventQueue) {
        self.begin_from(0, event_queue);
    }

    /// Appends the schedules that `all` has in addition, and adds their first steps to the event queue.
    pub(crate) fn extend(&mut self, all: &[Schedule], event_queue: &mut EventQueue) {
        let known = self.schedules.len();
        self.schedules.extend(all[known..].iter().cloned().map(Progress::new));
        self.begin_from(known, event_queue);
    }

    fn begin_from(&self, first: usize, event_queue: &mut EventQueue) {
        (first..self.schedules.len())
            .filter_map(|number| self.key(number))
            .for_each(|key| event_queue.push(key));
    }

    /// Returns the schedule of an event, if the event is a step of one.
    #[inline]
    pub(crate) fn schedule_of(&self, event: Key) -> Option<usize> {
        event.entity().checked_sub(self.ports).map(|number| number as usize)
    }
}
