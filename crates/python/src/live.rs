//! `LiveRun`: a run that Python advances, forks and changes.

use std::sync::{Mutex, MutexGuard};

use numpy::IntoPyArray;
use optcp_runs::{
    Cancelled as Stopped, Condition, LiveRun as Live, Phase, PortId, PortState, RunOptions,
};
use optcp_units::{Duration, Time};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::Cancelled;
use crate::congestion::caught;
use crate::run::{Run, named_engine};
use crate::scenario::Scenario;

/// Number of calls of the continuation callback between two checks for Ctrl-C.
const SIGNAL_INTERVAL: u32 = 1 << 8;

/// Name of a column, and its value in a state.
type Column<S, T> = (&'static str, fn(&S) -> T);

/// Run in progress with its scenario; `None` after its end.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct LiveRun(Mutex<Option<State>>);

struct State {
    run: Live,
    scenario: Py<Scenario>,
}

/// Returns a callback that stops a run when Python has a pending signal, and stores the exception.
fn until_signal(raised: &mut Option<PyErr>) -> impl FnMut(Time) -> bool {
    let mut calls = 0_u32;
    move |_| {
        calls = calls.wrapping_add(1);
        if calls.is_multiple_of(SIGNAL_INTERVAL) {
            *raised = Python::attach(|py| py.check_signals()).err();
        }
        raised.is_none()
    }
}

fn cancelled(raised: Option<PyErr>) -> PyErr {
    raised.unwrap_or_else(|| Cancelled::new_err("the run was cancelled"))
}

/// Returns an `optcp.InputError`.
pub(crate) fn input_error(message: &str) -> PyErr {
    Python::attach(|py| {
        let class = py.import("optcp.errors").and_then(|errors| errors.getattr("InputError"));
        class
            .and_then(|class| class.call1((message,)))
            .map_or_else(|error| error, PyErr::from_value)
    })
}

fn ended() -> PyErr {
    input_error("the run has ended: it was finished, closed or interrupted")
}

impl LiveRun {
    fn new(run: Live, scenario: Py<Scenario>) -> Self {
        LiveRun(Mutex::new(Some(State { run, scenario })))
    }

    /// Returns exclusive access to the state.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<State>>> {
        self.0.try_lock().map_err(|_| {
            input_error("another thread is advancing the run; give each thread a fork of its own")
        })
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> PyResult<T>) -> PyResult<T> {
        let mut state = self.lock()?;
        f(state.as_mut().ok_or_else(ended)?)
    }

    /// Advances the run without the GIL. It ends if a signal or a hook interrupts it.
    fn drive<T: Send>(
        &self,
        py: Python<'_>,
        advance: impl FnOnce(&mut Live, &mut dyn FnMut(Time) -> bool) -> Result<T, Stopped> + Send,
    ) -> PyResult<T> {
        let mut held = self.lock()?;
        let run = &mut held.as_mut().ok_or_else(ended)?.run;
        let mut raised = None;
        let reached = py.detach(|| caught(|| advance(run, &mut until_signal(&mut raised))));
        let reached = reached.and_then(|result| result.map_err(|_| cancelled(raised)));
        if reached.is_err() {
            *held = None;
        }
        reached
    }

    fn take(&self) -> PyResult<State> {
        self.lock()?.take().ok_or_else(ended)
    }
}

#[pymethods]
impl LiveRun {
    #[staticmethod]
    #[pyo3(signature = (scenario, seed, *, digest = false, engine = "fast"))]
    fn start(
        py: Python<'_>,
        scenario: Py<Scenario>,
        seed: u64,
        digest: bool,
        engine: &str,
    ) -> PyResult<Self> {
        let options = RunOptions { fork: false, digest, engine: named_engine(engine)?, threads: 1 };
        let world = &scenario.get().0;
        let run = py.detach(|| caught(|| Live::new(world, seed, options)))?;
        Ok(LiveRun::new(run, scenario))
    }

    #[getter]
    fn now_ps(&self) -> PyResult<u64> {
        self.with(|state| Ok(state.run.now().as_ps()))
    }

    #[getter]
    fn stop_ps(&self) -> PyResult<u64> {
        self.with(|state| Ok(state.run.stop().as_ps()))
    }

    /// Simulates everything before a time. The run ends if a signal interrupts it.
    fn advance(&self, py: Python<'_>, until_ps: u64) -> PyResult<()> {
        self.drive(py, |run, go_on| run.advance_while(Time::from_ps(until_ps), go_on))
    }

    /// Advances until a condition holds, or to a time. Returns the name of the condition and the time of its
    /// event.
    #[pyo3(signature = (until_ps, *, completed = None, dropped = None, rto = None, queue = None))]
    fn advance_until(
        &self,
        py: Python<'_>,
        until_ps: u64,
        completed: Option<usize>,
        dropped: Option<u64>,
        rto: Option<u64>,
        queue: Option<(usize, u64)>,
    ) -> PyResult<Option<(&'static str, u64)>> {
        let all = self.with(|State { run, .. }| {
            let dropped = dropped.map(|more| run.counts().dropped_in_all() + more);
            let timeouts = rto.map(|more| run.timeouts() + more);
            Ok([
                completed.map(|flow| ("completed", Condition::Completed(flow))),
                dropped.map(|count| ("dropped", Condition::Dropped(count))),
                timeouts.map(|count| ("rto", Condition::Timeouts(count))),
                queue.map(|(port, packets)| ("queue", Condition::Queue(PortId::at(port), packets))),
            ])
        })?;
        let (names, conditions): (Vec<_>, Vec<_>) = all.into_iter().flatten().unzip();
        let until = Time::from_ps(until_ps);
        let found = self.drive(py, |run, go_on| run.advance_until(until, &conditions, go_on))?;
        Ok(found.map(|(index, at)| (names[index], at.as_ps())))
    }

    /// Returns names and groups of the TCP connections.
    fn flow_names(&self) -> PyResult<(Vec<String>, Vec<String>)> {
        self.with(|state| {
            let named = state.run.flows();
            Ok(named.map(|(name, group)| (name.to_owned(), group.to_owned())).unzip())
        })
    }

    fn flow(&self, number: usize) -> PyResult<FlowState> {
        self.with(|state| Ok(FlowState(state.run.flow(number))))
    }

    /// Returns the numbers of the ports that data or ACKs of a flow would visit now.
    fn path(&self, number: usize, acks: bool) -> PyResult<Vec<usize>> {
        self.with(|state| Ok(state.run.path(number, acks).collect()))
    }

    /// Sets cwnd and ssthresh of a TCP connection.
    fn set_cwnd(&self, number: usize, cwnd_bytes: f64) -> PyResult<()> {
        self.with(|state| {
            state.run.set_cwnd(number, cwnd_bytes);
            Ok(())
        })
    }

    /// Returns one column per variable of the TCP connections.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.with(|state| {
            let count = state.run.flows().count();
            let flows: Vec<FlowState> =
                (0..count).map(|at| FlowState(state.run.flow(at))).collect();
            let columns = PyDict::new(py);
            let states: Vec<u32> = flows.iter().map(FlowState::stage).collect();
            let phases: Vec<u32> = flows.iter().map(|flow| flow.0.snapshot.phase as u32).collect();
            columns.set_item("state", (states.into_pyarray(py), STAGES))?;
            columns.set_item("phase", (phases.into_pyarray(py), Phase::NAMES))?;
            let reals: [Column<FlowState, f64>; 4] = [
                ("cwnd_bytes", FlowState::cwnd_bytes),
                ("ssthresh_bytes", FlowState::ssthresh_bytes),
                ("srtt_s", FlowState::srtt_s),
                ("rto_s", FlowState::rto_s),
            ];
            for (name, value) in reals {
                columns
                    .set_item(name, flows.iter().map(value).collect::<Vec<_>>().into_pyarray(py))?;
            }
            let counts: [Column<FlowState, u64>; 5] = [
                ("flight", FlowState::flight),
                ("delivered_bytes", FlowState::delivered_bytes),
                ("sent", FlowState::sent),
                ("retransmissions", FlowState::retransmissions),
                ("rtos", FlowState::rtos),
            ];
            for (name, value) in counts {
                columns
                    .set_item(name, flows.iter().map(value).collect::<Vec<_>>().into_pyarray(py))?;
            }
            Ok(columns)
        })
    }

    /// Returns the names of the ports.
    fn port_names(&self) -> PyResult<Vec<String>> {
        self.with(|state| Ok(state.run.ports().collect()))
    }

    /// Returns port, time and repair of each failure of the run, in order of time.
    fn failed(&self) -> PyResult<Vec<(String, u64, Option<u64>)>> {
        self.with(|state| {
            let failures = state.run.failed().iter();
            let times = |one: &optcp_runs::Failed| {
                (one.port.clone(), one.at.as_ps(), one.repair.map(Time::as_ps))
            };
            Ok(failures.map(times).collect())
        })
    }

    /// Returns one column per variable of the ports, in the given order.
    fn ports<'py>(&self, py: Python<'py>, ports: Vec<usize>) -> PyResult<Bound<'py, PyDict>> {
        self.with(|state| {
            let ids: Vec<PortId> = ports.into_iter().map(PortId::at).collect();
            let ports = state.run.port_states(&ids);
            let columns = PyDict::new(py);
            let up: Vec<bool> = ports.iter().map(|port| port.is_up).collect();
            columns.set_item("up", up.into_pyarray(py))?;
            let counts: [Column<PortState, u64>; 8] = [
                ("rate_bps", |port| port.rate.bps()),
                ("queue_packets", |port| port.queue_packets),
                ("queue_bytes", |port| port.queue_bytes),
                ("accepted", |port| port.tally.packets),
                ("accepted_bytes", |port| port.tally.bytes),
                ("dropped", |port| port.tally.dropped),
                ("dropped_bytes", |port| port.tally.dropped_bytes),
                ("marked", |port| port.tally.marked),
            ];
            for (name, value) in counts {
                columns
                    .set_item(name, ports.iter().map(value).collect::<Vec<_>>().into_pyarray(py))?;
            }
            Ok(columns)
        })
    }

    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(|state| {
            let fork = py.detach(|| caught(|| state.run.clone()))?;
            Ok(LiveRun::new(fork, state.scenario.clone_ref(py)))
        })
    }

    /// Continues as a run of another scenario. Returns the time up to which both are equal if the run is past
    /// it.
    fn change(&self, py: Python<'_>, scenario: Py<Scenario>) -> PyResult<Option<u64>> {
        self.with(|state| {
            let world = &scenario.get().0;
            match py.detach(|| caught(|| state.run.change(world)))? {
                Ok(()) => {
                    state.scenario = scenario;
                    Ok(None)
                }
                Err(shared) => Ok(Some(shared.as_ps())),
            }
        })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<Run> {
        let State { run, scenario } = self.take()?;
        let mut raised = None;
        let made = py.detach(|| caught(|| run.finish_while(&mut until_signal(&mut raised))))?;
        Ok(Run { run: made.map_err(|_| cancelled(raised))?, scenario })
    }

    /// Drops the simulated network. A second call has no effect.
    fn close(&self) -> PyResult<()> {
        self.lock()?.take();
        Ok(())
    }
}

/// Stages of a connection.
const STAGES: [&str; 4] = ["waiting", "active", "finished", "aborted"];

/// State of a TCP connection at one time.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct FlowState(optcp_runs::FlowState);

impl FlowState {
    /// Returns the index in [`STAGES`].
    fn stage(&self) -> u32 {
        match self.0 {
            state if state.is_finished => 2,
            state if state.is_aborted => 3,
            state if state.counts.sent > 0 => 1,
            _ => 0,
        }
    }
}

#[pymethods]
impl FlowState {
    #[getter]
    fn state(&self) -> &'static str {
        STAGES[self.stage() as usize]
    }

    #[getter]
    fn phase(&self) -> &'static str {
        Phase::NAMES[self.0.snapshot.phase as usize]
    }

    #[getter]
    fn cwnd_bytes(&self) -> f64 {
        self.0.snapshot.cwnd
    }

    #[getter]
    fn ssthresh_bytes(&self) -> f64 {
        self.0.snapshot.ssthresh
    }

    #[getter]
    fn srtt_s(&self) -> f64 {
        self.0.srtt.map_or(f64::NAN, Duration::as_secs_f64)
    }

    #[getter]
    fn rto_s(&self) -> f64 {
        self.0.rto.as_secs_f64()
    }

    #[getter]
    fn flight(&self) -> u64 {
        self.0.snapshot.flight.into()
    }

    #[getter]
    fn delivered_bytes(&self) -> u64 {
        self.0.delivered_bytes
    }

    #[getter]
    fn sent(&self) -> u64 {
        self.0.counts.sent
    }

    #[getter]
    fn retransmissions(&self) -> u64 {
        self.0.counts.retransmissions
    }

    #[getter]
    fn rtos(&self) -> u64 {
        self.0.counts.timeouts
    }
}
