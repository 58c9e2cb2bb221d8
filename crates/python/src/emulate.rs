//! `Emulation`: a run in real time with real packets.

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{FromRawFd as _, RawFd};
use std::path::PathBuf;
use std::sync::Mutex;

use optcp_emulate::{Ended, Failed, Host, Passing, Tap};
use optcp_runs::{Engine, ExternalFlow, LiveRun, NotExternal, RunOptions};
use optcp_units::{Bytes, Time};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::Cancel;
use crate::congestion::caught;
use crate::live::input_error;
use crate::run::Run;
use crate::scenario::Scenario;

/// Run in real time, before its start.
#[pyclass(frozen, module = "optcp._core")]
pub(crate) struct Emulation {
    ready: Mutex<Option<LiveRun>>,
    passing: Passing,
    scenario: Py<Scenario>,
    flows: Vec<ExternalFlow>,
}

fn reason(reason: NotExternal) -> &'static str {
    match reason {
        NotExternal::Application => "it belongs to an application: remove `[[applications]]`",
        NotExternal::Multipath => "the scenario has flows with `multipath`",
        NotExternal::Arrivals => "the scenario has flows with `arrivals`",
    }
}

#[pymethods]
impl Emulation {
    /// With `waiting`, time passes only while all programs of the machine wait.
    #[new]
    #[pyo3(signature = (scenario, seed, nodes, *, waiting = false))]
    fn new(
        py: Python<'_>,
        scenario: Py<Scenario>,
        seed: u64,
        nodes: Vec<String>,
        waiting: bool,
    ) -> PyResult<Self> {
        let world = &scenario.get().0;
        let place = |name: &String| {
            let all = &world.plan().nodes;
            all.iter().position(|node| node == name).ok_or_else(|| input_error(name))
        };
        let nodes: Vec<usize> = nodes.iter().map(place).collect::<PyResult<_>>()?;
        let (passing, engine) = match waiting {
            true => (Passing::WhileWaiting, Engine::Reference),
            false => (Passing::Always, Engine::default()),
        };
        let options = RunOptions { engine, ..RunOptions::default() };
        let made = py.detach(|| caught(|| LiveRun::with_external(world, seed, options, &nodes)))?;
        let (run, flows) = made.map_err(|(flow, why)| {
            input_error(&format!("flow `{flow}` cannot carry real packets: {}", reason(why)))
        })?;
        Ok(Emulation { ready: Mutex::new(Some(run)), passing, scenario, flows })
    }

    /// Flows whose packets are real, in the order of the scenario.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let nodes = &self.scenario.get().0.plan().nodes;
        let described = |flow: &ExternalFlow| {
            let dict = PyDict::new(py);
            let [from, to] = flow.nodes.map(|node| nodes[node].as_str());
            dict.set_item("name", &flow.name)?;
            dict.set_item("group", &flow.group)?;
            dict.set_item("tcp", &flow.tcp)?;
            dict.set_item("from", from)?;
            dict.set_item("to", to)?;
            dict.set_item("start_ps", flow.start.as_ps())?;
            dict.set_item("bytes", flow.size.map(Bytes::count))?;
            dict.set_item("mtu", flow.mtu.count())?;
            Ok(dict)
        };
        self.flows.iter().map(described).collect()
    }

    /// Executes the run. Each tap is a node, its addresses, and the descriptor of an attached TUN device, which is closed
    /// afterwards.
    #[pyo3(signature = (taps, cancel, *, capture = None))]
    fn run(
        &self,
        py: Python<'_>,
        taps: Vec<(String, Vec<IpAddr>, RawFd)>,
        cancel: &Cancel,
        capture: Option<PathBuf>,
    ) -> PyResult<(Run, Py<PyDict>)> {
        let ready = self.ready.lock().ok().and_then(|mut ready| ready.take());
        let mut live = ready.ok_or_else(|| input_error("the run has ended"))?;
        let taps = self.attached(taps)?;
        let mut emulation = optcp_emulate::Emulation::new(taps, &self.flows, capture.as_deref())?;
        // Waiting for the interpreter would delay packets, so that nothing of it is called.
        let mut go_on = |_: Time| !cancel.0.is_set();
        let ended = py.detach(|| caught(|| emulation.run(&mut live, self.passing, &mut go_on)))?;
        let ended = ended.map_err(|failed| match failed {
            Failed::Io(error) => error.into(),
            Failed::NoFlow([from, to]) => input_error(&format!(
                "a packet from {from} to {to} cannot be carried: the scenario has no flow between them"
            )),
        })?;
        emulation.finish()?;
        if ended == Ended::Called {
            live.stop_now();
        }
        let report = PyDict::new(py);
        let lateness = emulation.lateness();
        report.set_item("ended_s", live.now().as_secs_f64())?;
        report.set_item("packets", lateness.packets())?;
        report.set_item("refused", emulation.refused())?;
        for (name, share) in [("median_s", 0.5), ("p999_s", 0.999), ("max_s", 1.0)] {
            report.set_item(name, lateness.quantile(share).as_secs_f64())?;
        }
        let made = py.detach(|| caught(|| live.finish()))?;
        let run = Run { run: made, scenario: self.scenario.clone_ref(py) };
        Ok((run, report.unbind()))
    }
}

impl Emulation {
    fn attached(&self, taps: Vec<(String, Vec<IpAddr>, RawFd)>) -> PyResult<Vec<Tap>> {
        let nodes = &self.scenario.get().0.plan().nodes;
        let attached = |(name, addresses, descriptor): (String, _, _)| {
            let node = nodes.iter().position(|node| *node == name);
            let node = node.ok_or_else(|| input_error(&name))?;
            #[expect(unsafe_code, reason = "the caller gives the descriptor away")]
            // SAFETY: `optcp.emulate` opens the descriptor for this call only, and never uses it again.
            let device = unsafe { File::from_raw_fd(descriptor) };
            Ok(Tap { name, host: Host { node, addresses }, device })
        };
        taps.into_iter().map(attached).collect()
    }
}
