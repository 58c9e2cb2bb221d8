//! The network in real time.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use optcp_runs::{Delivery, External, ExternalFlow, FlowId, LiveRun};
use optcp_units::Time;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::addresses::Host;
use crate::capture::Capture;
use crate::connections::{Connections, Stray};
use crate::lateness::Lateness;
use crate::mark;

/// Largest IP packet.
const MAX_PACKET: usize = 65_535;
/// Packets read from an interface before others have their turn.
const MAX_READS: usize = 64;
/// The same for [`Passing::WhileWaiting`], where a system call that fails takes 1 us: no interface is read in vain.
const CERTAIN_READS: usize = 1;
/// Operating systems wake sleepers this late; shorter waits keep the processor.
const WAKING: Duration = Duration::from_micros(10);
/// Rest after each period without one. Linux halts threads with real-time priority for 50 ms if they take more than 95 % of
/// a second (`sched_rt_runtime_us`).
const REST: Duration = Duration::from_micros(70);
const REST_EVERY: optcp_units::Duration = optcp_units::Duration::from_ms(1);
/// Interval of calls of the continuation callback.
const CHECK_INTERVAL: optcp_units::Duration = optcp_units::Duration::from_ms(20);
/// Longest wait for packets.
const MAX_WAIT: Duration = Duration::from_millis(20);
const PS_PER_NS: u64 = 1000;

/// How time passes on the machine that executes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Always, as in reality.
    Always,
    /// Only while all programs wait, as in a user-mode kernel with `time-travel=inf-cpu`. Without a busy wait, the run must
    /// know exactly when its next event is: it needs [`Engine::Reference`](optcp_runs::Engine::Reference).
    WhileWaiting,
}

/// Time since the start of the run, according to the operating system.
struct Clock {
    start: Instant,
    passing: Passing,
    /// Time at the end of the last wait.
    read: Cell<Time>,
}

#[expect(clippy::disallowed_methods, reason = "simulated time follows real time here")]
impl Clock {
    fn start(passing: Passing) -> Self {
        Clock { start: Instant::now(), passing, read: Cell::new(Time::ZERO) }
    }

    /// Takes note that time has passed.
    fn waited(&self) {
        let ns = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX / PS_PER_NS);
        self.read.set(Time::from_ps(ns.saturating_mul(PS_PER_NS)));
    }

    fn now(&self) -> Time {
        // Reading a clock is a system call in a user-mode kernel.
        if self.passing == Passing::Always {
            self.waited();
        }
        self.read.get()
    }
}

/// TUN interface at a node. Its file is non-blocking.
#[derive(Debug)]
pub struct Tap {
    /// Name of the node.
    pub name: String,
    /// Node and addresses.
    pub host: Host,
    /// Attached device, one IP packet per read or write.
    pub device: File,
}

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The scenario has ended.
    Stop,
    /// The callback returned `false`.
    Called,
}

/// Reason why a run failed.
#[derive(Debug)]
pub enum Failed {
    /// Packets went from one node to another, between which the scenario has no flow: names of the nodes.
    NoFlow([String; 2]),
    /// An interface or the capture could not be read or written.
    Io(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Failed::Io(error)
    }
}

/// Run in real time.
pub struct Emulation {
    taps: Vec<Tap>,
    connections: Connections,
    /// Interface that receives the packets of each source.
    receivers: HashMap<FlowId, usize>,
    capture: Option<Capture>,
    /// Packets that are due at an interface, by time, then in the order in which the simulation delivered them.
    due: BTreeMap<(Time, u64), Delivery>,
    arrived: u64,
    lateness: Lateness,
    refused: u64,
    /// Start of the last rest.
    rested: Time,
}

impl Emulation {
    /// Prepares a run with these interfaces, with the flows of [`LiveRun::with_external`].
    ///
    /// # Errors
    /// If the capture cannot be created.
    pub fn new(taps: Vec<Tap>, flows: &[ExternalFlow], capture: Option<&Path>) -> io::Result<Self> {
        let hosts: Vec<Host> = taps.iter().map(|tap| tap.host.clone()).collect();
        let tap_of = |node| taps.iter().position(|tap| tap.host.node == node);
        let mut receivers = HashMap::new();
        for flow in flows {
            let [from, to] = flow.nodes.map(|node| tap_of(node).expect("its node has a tap"));
            receivers.extend(flow.sources.into_iter().zip([to, from]));
        }
        let names = taps.iter().map(|tap| tap.name.as_str());
        let capture = capture.map(|path| Capture::create(path, names)).transpose()?;
        Ok(Emulation {
            connections: Connections::new(&hosts, flows),
            receivers,
            capture,
            taps,
            due: BTreeMap::new(),
            arrived: 0,
            lateness: Lateness::default(),
            refused: 0,
            rested: Time::ZERO,
        })
    }

    /// Executes a run at time zero in the operating system's time, and calls `go_on` at intervals.
    ///
    /// # Errors
    /// [`Failed`]; the run cannot be used any more.
    pub fn run(
        &mut self,
        run: &mut LiveRun,
        passing: Passing,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> Result<Ended, Failed> {
        let clock = Clock::start(passing);
        let now = || clock.now();
        let stop = run.stop();
        let reads = match passing {
            Passing::Always => MAX_READS,
            Passing::WhileWaiting => CERTAIN_READS,
        };
        let mut checked = now();
        let mut buffer = vec![0; MAX_PACKET];
        let mut readable: Vec<usize> = (0..self.taps.len()).collect();
        loop {
            for &tap in &readable {
                self.read(tap, run, reads, &now, &mut buffer)?;
            }
            run.advance(now());
            self.collect(run);
            self.write(&now)?;
            if now() >= stop {
                return Ok(Ended::Stop);
            }
            if now() >= checked + CHECK_INTERVAL {
                checked = now();
                if !go_on(run.now()) {
                    return Ok(Ended::Called);
                }
            }
            let first = self.due.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
            self.wait(first.min(run.next_arrival_at()).min(stop), now(), passing, &mut readable)?;
            clock.waited();
        }
    }

    /// Writes what is left of the capture.
    ///
    /// # Errors
    /// If the capture could not be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.capture.take().map_or(Ok(()), Capture::finish)
    }

    /// Returns how late packets left the simulation.
    #[must_use]
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Returns the number of packets that left the simulation and that an interface did not take.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Passes packets from an interface into the simulation.
    fn read(
        &mut self,
        tap: usize,
        run: &mut LiveRun,
        reads: usize,
        now: &impl Fn() -> Time,
        buffer: &mut [u8],
    ) -> Result<(), Failed> {
        for _ in 0..reads {
            let length = match self.taps[tap].device.read(buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let at = now();
            let packet = &buffer[..length];
            let entrance = match self.connections.entrance(self.taps[tap].host.node, packet) {
                Ok(entrance) => entrance,
                Err(Stray::Elsewhere) => continue,
                Err(Stray::NoFlow(nodes)) => return Err(self.no_flow(nodes)),
            };
            let bytes: Arc<[u8]> = packet.into();
            if let Some(capture) = &mut self.capture {
                capture.add(tap, at, Arc::clone(&bytes));
            }
            let marking = mark::read(packet);
            let flow_label = entrance.flow_label;
            run.inject(entrance.source, at, External { bytes, marking, flow_label });
        }
        Ok(())
    }

    fn no_flow(&self, nodes: [usize; 2]) -> Failed {
        let name = |node| {
            let tap = self.taps.iter().find(|tap| tap.host.node == node);
            tap.map_or_else(String::new, |tap| tap.name.clone())
        };
        Failed::NoFlow(nodes.map(name))
    }

    /// Takes arrivals out of the simulation, where some are known ahead of their time.
    fn collect(&mut self, run: &mut LiveRun) {
        for delivery in run.take_deliveries() {
            self.due.insert((delivery.at, self.arrived), delivery);
            self.arrived += 1;
        }
    }

    /// Writes the packets that have arrived until now to their interfaces.
    fn write(&mut self, now: &impl Fn() -> Time) -> io::Result<()> {
        while let Some(first) = self.due.first_entry()
            && first.key().0 <= now()
        {
            let Delivery { source, at, marking, bytes } = first.remove();
            let tap = self.receivers[&source];
            let marked = if marking.is_ce() && !mark::read(&bytes).is_ce() {
                let mut marked = bytes.to_vec();
                mark::set_ce(&mut marked);
                marked.into()
            } else {
                bytes
            };
            match self.taps[tap].device.write(&marked) {
                Ok(_) => {}
                Err(error) if is_refusal(&error) => self.refused += 1,
                Err(error) => return Err(error),
            }
            let late = (now() - at).as_ps() / PS_PER_NS;
            self.lateness.add(Duration::from_nanos(late));
            if let Some(capture) = &mut self.capture {
                capture.add(tap, at, marked);
            }
        }
        Ok(())
    }

    /// Waits until `next`, in real time until shortly before, or until a packet is there. Finds the interfaces that may have one.
    fn wait(
        &mut self,
        next: Time,
        now: Time,
        passing: Passing,
        readable: &mut Vec<usize>,
    ) -> io::Result<()> {
        readable.clear();
        let ahead = if next > now { (next - now).as_ps() / PS_PER_NS } else { 0 };
        let ahead = match passing {
            Passing::Always => Duration::from_nanos(ahead).saturating_sub(WAKING),
            // The next event is executed after its time.
            Passing::WhileWaiting => Duration::from_nanos(ahead.saturating_add(1)),
        };
        let ahead = ahead.min(MAX_WAIT);
        let rests = passing == Passing::Always && now > self.rested + REST_EVERY;
        if rests {
            self.rested = now;
            poll(&mut [], Some(&timespec(REST)))?;
        }
        if rests || ahead.is_zero() {
            readable.extend(0..self.taps.len());
            return Ok(());
        }
        let mut ready: Vec<PollFd<'_>> =
            self.taps.iter().map(|tap| PollFd::new(&tap.device, PollFlags::IN)).collect();
        match poll(&mut ready, Some(&timespec(ahead))) {
            Ok(0) if ahead >= REST => self.rested = now,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let with_packet = |(_, one): &(usize, &PollFd<'_>)| !one.revents().is_empty();
        readable.extend(ready.iter().enumerate().filter(with_packet).map(|(tap, _)| tap));
        Ok(())
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Returns whether an interface did not take a packet: it is down, or out of memory.
fn is_refusal(error: &io::Error) -> bool {
    let refusals = [Errno::IO, Errno::NOBUFS, Errno::NOMEM, Errno::AGAIN];
    error
        .raw_os_error()
        .is_some_and(|number| refusals.iter().any(|one| one.raw_os_error() == number))
}
