//! Hooks that are compiled functions: calls by address.
//!
//! Rust cannot check the signature of such a function. `optcp.congestion.compiled`, through which each address comes,
//! states them.

#![expect(unsafe_code, reason = "the user vouches for address and signature")]

use std::mem::transmute;

use optcp_scenario::external::Connection;

/// Address of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compiled(pub(super) usize);

impl Compiled {
    /// Calls `void f(connection *)`.
    pub(super) fn tell(self, connection: &mut Connection) {
        // SAFETY: see the module.
        let function: extern "C" fn(*mut Connection) = unsafe { transmute(self.0) };
        function(connection);
    }

    /// Calls `void f(connection *, const event *)`.
    pub(super) fn tell_event<E>(self, connection: &mut Connection, event: &E) {
        // SAFETY: see the module.
        let function: extern "C" fn(*mut Connection, *const E) = unsafe { transmute(self.0) };
        function(connection, event);
    }

    /// Calls `void f(connection *, int64_t)`.
    pub(super) fn tell_time(self, connection: &mut Connection, time_ps: i64) {
        // SAFETY: see the module.
        let function: extern "C" fn(*mut Connection, i64) = unsafe { transmute(self.0) };
        function(connection, time_ps);
    }

    /// Calls `double f(connection *, double)`, and returns the result unless it is NaN.
    pub(super) fn reduce(self, connection: &mut Connection, basis: f64) -> Option<f64> {
        // SAFETY: see the module.
        let function: extern "C" fn(*mut Connection, f64) -> f64 = unsafe { transmute(self.0) };
        Some(function(connection, basis)).filter(|bytes| !bytes.is_nan())
    }
}
