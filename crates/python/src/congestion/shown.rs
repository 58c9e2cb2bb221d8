//! Values for hooks in Python: state of the connection, ACKs and deliveries.

use optcp_scenario::external::{self, Connection, OWN_VALUES, UNKNOWN_PS};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Base class of congestion controls: the state of the connection.
#[pyclass(subclass, module = "optcp._core")]
#[derive(Debug)]
pub(crate) struct CongestionControl(pub(super) Connection);

/// Returns a time, or `None` if it is unknown.
fn known(time_ps: i64) -> Option<i64> {
    Some(time_ps).filter(|&time_ps| time_ps != UNKNOWN_PS)
}

/// Returns a window in bytes if it is one.
pub(super) fn window(name: &str, bytes: f64) -> PyResult<f64> {
    if bytes >= 0.0 {
        return Ok(bytes);
    }
    Err(PyValueError::new_err(format!("{name} is {bytes}: expected a number of bytes")))
}

#[pymethods]
impl CongestionControl {
    /// The subclass uses the arguments.
    #[new]
    #[pyo3(signature = (*_arguments, **_named))]
    fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        CongestionControl(Connection::default())
    }

    #[getter]
    fn now_ps(&self) -> i64 {
        self.0.now_ps
    }

    #[getter]
    fn srtt_ps(&self) -> Option<i64> {
        known(self.0.srtt_ps)
    }

    #[getter]
    fn mss(&self) -> f64 {
        self.0.mss
    }

    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, bytes: f64) -> PyResult<()> {
        self.0.cwnd = window("cwnd", bytes)?;
        Ok(())
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, bytes: f64) -> PyResult<()> {
        self.0.ssthresh = window("ssthresh", bytes)?;
        Ok(())
    }

    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        Some(self.0.pacing_rate).filter(|&rate| rate > 0.0)
    }

    #[setter]
    fn set_pacing_rate(&mut self, rate: Option<f64>) -> PyResult<()> {
        self.0.pacing_rate = match rate {
            None => 0.0,
            Some(rate) if rate > 0.0 && rate.is_finite() => rate,
            Some(rate) => {
                let message = format!("pacing_rate is {rate}: expected a positive number, or None");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(())
    }

    #[getter]
    fn own(&self) -> [f64; OWN_VALUES] {
        self.0.own
    }

    #[setter]
    fn set_own(&mut self, values: [f64; OWN_VALUES]) {
        self.0.own = values;
    }
}

/// Argument of a hook. The next call changes it.
#[pyclass(module = "optcp._core")]
#[derive(Debug)]
pub(crate) struct Ack(pub(super) external::Ack);

#[pymethods]
impl Ack {
    #[getter]
    fn acked(&self) -> i64 {
        self.0.acked
    }

    #[getter]
    fn delivered(&self) -> i64 {
        self.0.delivered
    }

    #[getter]
    fn marked(&self) -> i64 {
        self.0.marked
    }

    #[getter]
    fn counted(&self) -> f64 {
        self.0.counted
    }

    #[getter]
    fn rtt_ps(&self) -> Option<i64> {
        known(self.0.rtt_ps)
    }

    #[getter]
    fn una(&self) -> i64 {
        self.0.una
    }

    #[getter]
    fn next(&self) -> i64 {
        self.0.next
    }

    #[getter]
    fn limited(&self) -> bool {
        self.0.limited != 0
    }
}

/// Argument of a hook. The next call changes it.
#[pyclass(module = "optcp._core")]
#[derive(Debug)]
pub(crate) struct Delivery(pub(super) external::Delivery);

#[pymethods]
impl Delivery {
    #[getter]
    fn delivered(&self) -> i64 {
        self.0.delivered
    }

    #[getter]
    fn lost(&self) -> i64 {
        self.0.lost
    }

    #[getter]
    fn prior_in_flight(&self) -> i64 {
        self.0.prior_in_flight
    }

    #[getter]
    fn in_flight(&self) -> i64 {
        self.0.in_flight
    }

    #[getter]
    fn rtt_ps(&self) -> Option<i64> {
        known(self.0.rtt_ps)
    }

    #[getter]
    fn rate(&self) -> Option<f64> {
        Some(self.0.rate).filter(|rate| !rate.is_nan())
    }

    #[getter]
    fn prior_delivered(&self) -> i64 {
        self.0.prior_delivered
    }

    #[getter]
    fn total_delivered(&self) -> i64 {
        self.0.total_delivered
    }

    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited != 0
    }

    #[getter]
    fn recovery(&self) -> i64 {
        self.0.recovery
    }
}
