//! `Dumbbell`: the benchmark workload, with separate set-up and run.

use optcp_harness::workload::{self, Tcp};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::run::named_engine;

/// Run of the workload.
#[pyclass(module = "optcp._core")]
pub(crate) struct Dumbbell(workload::Dumbbell);

#[pymethods]
impl Dumbbell {
    #[new]
    #[pyo3(signature = (tcp, flows, seconds, engine = "fast", threads = 1))]
    fn new(tcp: &str, flows: u32, seconds: u64, engine: &str, threads: usize) -> PyResult<Self> {
        let Some(tcp) = Tcp::ALL.into_iter().find(|known| known.name() == tcp) else {
            return Err(PyValueError::new_err(format!("unknown TCP `{tcp}`")));
        };
        if flows == 0 || seconds == 0 {
            return Err(PyValueError::new_err("the workload needs flows and seconds above zero"));
        }
        let dumbbell = workload::Dumbbell::new(tcp, flows, seconds, named_engine(engine)?);
        Ok(Dumbbell(dumbbell.on_threads(threads)))
    }

    /// Runs the workload; returns packet-hops, utilisation of the second half, and events.
    fn run(&mut self, py: Python<'_>) -> (u64, f64, u64) {
        let outcome = py.detach(|| self.0.run());
        (outcome.packet_hops, outcome.utilisation, outcome.events)
    }
}
