//! Congestion controls in Python: classes whose hooks are methods, or compiled functions by address.

mod compiled;
mod shown;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Arc;

use optcp_scenario::external::{self, Class, Connection, Hook, HookSet, Hooks};
use optcp_units::Time;
use pyo3::PyClass;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use compiled::Compiled;
use shown::window;

pub(crate) use shown::{Ack, CongestionControl, Delivery};

/// Implementation of a hook.
#[derive(Clone, Copy, Debug)]
enum Implementation {
    /// Method of the class.
    Method,
    /// Compiled function.
    Compiled(Compiled),
}

/// Implementations of the overridden hooks.
type Implementations = [Option<Implementation>; Hook::ALL.len()];

/// Class in Python.
#[derive(Debug)]
struct PythonClass {
    name: String,
    digest: String,
    class: Py<PyAny>,
    hooks: Implementations,
    slow_start: bool,
}

/// Returns the class with this name, which belongs to a scenario.
pub(crate) fn class(py: Python<'_>, name: &str, scenario: &Path) -> PyResult<Arc<dyn Class>> {
    let module = py.import("optcp.congestion")?;
    let (class, digest): (Py<PyAny>, String) =
        module.call_method1("find", (name, scenario))?.extract()?;
    let (base, compiled) = (module.getattr("CongestionControl")?, module.getattr("Compiled")?);
    let mut hooks: Implementations = [None; Hook::ALL.len()];
    for (hook, name) in Hook::ALL {
        let value = class.bind(py).getattr(name)?;
        hooks[hook as usize] = if value.is_instance(&compiled)? {
            let address = value.getattr("address")?.extract()?;
            Some(Implementation::Compiled(Compiled(address)))
        } else {
            (!value.is(&base.getattr(name)?)).then_some(Implementation::Method)
        };
    }
    let slow_start = class.bind(py).getattr("slow_start")?.is_truthy()?;
    Ok(Arc::new(PythonClass { name: name.to_owned(), digest, class, hooks, slow_start }))
}

impl PythonClass {
    /// Returns the methods of an object of this class.
    fn methods(&self, object: Bound<'_, PyAny>) -> PyResult<Methods> {
        let py = object.py();
        let mut methods = [const { None }; Hook::ALL.len()];
        for (hook, name) in Hook::ALL {
            if let Some(Implementation::Method) = self.hooks[hook as usize] {
                methods[hook as usize] = Some(object.getattr(name)?.unbind());
            }
        }
        Ok(Methods {
            object: object.extract()?,
            methods,
            ack: Argument::new(py, Ack(external::Ack::default()))?,
            delivery: Argument::new(py, Delivery(external::Delivery::default()))?,
        })
    }
}

impl Class for PythonClass {
    fn name(&self) -> &str {
        &self.name
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn overridden(&self) -> HookSet {
        let mut set = HookSet::default();
        for (hook, _) in Hook::ALL {
            if self.hooks[hook as usize].is_some() {
                set.insert(hook);
            }
        }
        set
    }

    fn has_slow_start(&self) -> bool {
        self.slow_start
    }

    fn connect(self: Arc<Self>) -> Box<dyn Hooks> {
        let has_methods =
            self.hooks.iter().flatten().any(|hook| matches!(hook, Implementation::Method));
        let methods = has_methods.then(|| {
            Python::attach(|py| {
                let object = self.class.bind(py).call0();
                let methods = object.and_then(|object| self.methods(object));
                methods.unwrap_or_else(|error| raise(py, error, None))
            })
        });
        Box::new(Controller { class: self, methods })
    }
}

/// Object that is the only argument of a hook.
#[derive(Debug)]
struct Argument<T: PyClass> {
    object: Py<T>,
    arguments: Py<PyTuple>,
}

impl<T: PyClass> Argument<T> {
    fn new(py: Python<'_>, value: impl Into<PyClassInitializer<T>>) -> PyResult<Self> {
        let object = Py::new(py, value)?;
        let arguments = PyTuple::new(py, [&object])?.unbind();
        Ok(Argument { object, arguments })
    }
}

/// Object of a class with methods.
#[derive(Debug)]
struct Methods {
    object: Py<CongestionControl>,
    methods: [Option<Py<PyAny>>; Hook::ALL.len()],
    ack: Argument<Ack>,
    delivery: Argument<Delivery>,
}

/// Congestion control of a connection.
#[derive(Debug)]
struct Controller {
    class: Arc<PythonClass>,
    /// `None` if all hooks are compiled.
    methods: Option<Methods>,
}

/// Exception of a hook, which ends the run.
struct Raised(PyErr);

/// Ends the run with an exception. [`caught`] returns it.
fn raise(py: Python<'_>, error: PyErr, note: Option<String>) -> ! {
    if let Some(note) = note {
        // Without the note, the exception is still complete.
        let _ = error.value(py).call_method1("add_note", (note,));
    }
    resume_unwind(Box::new(Raised(error)))
}

/// Returns the result of a run, or the exception of a hook.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| match payload.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(other) => resume_unwind(other),
    })
}

/// Returns an error if a hook changed a window that it cannot set.
fn hook_keeps(hook: Hook, before: &Connection, after: &Connection) -> PyResult<()> {
    let expected = match hook {
        Hook::OnLoss | Hook::OnEcn => "return the new ssthresh instead",
        Hook::OnRestart | Hook::OnSave => "it cannot change the window",
        Hook::OnAck | Hook::OnDelivery | Hook::OnRto | Hook::OnRecovered | Hook::OnUndo => {
            return Ok(());
        }
    };
    let windows = |one: &Connection| (one.cwnd.to_bits(), one.ssthresh.to_bits());
    if windows(before) == windows(after) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("sets cwnd or ssthresh: {expected}")))
}

impl Controller {
    /// Returns the compiled function of a hook, if it is one.
    fn compiled(&self, hook: Hook) -> Option<Compiled> {
        match self.class.hooks[hook as usize] {
            Some(Implementation::Compiled(compiled)) => Some(compiled),
            _ => None,
        }
    }

    /// Returns class and hook, for messages.
    fn title(&self, hook: Hook) -> String {
        let name = Hook::ALL.iter().find(|(one, _)| *one == hook).map_or("", |(_, name)| name);
        format!("{}.{name}", self.class.name)
    }

    /// Calls the method of a hook.
    fn call<T>(
        &self,
        hook: Hook,
        connection: &mut Connection,
        arguments: impl FnOnce(Python<'_>, &Methods) -> PyResult<Py<PyTuple>>,
        result: impl FnOnce(Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        Python::attach(|py| {
            let methods = self.methods.as_ref().expect("a class with methods has an object");
            let method = methods.methods[hook as usize].as_ref().expect("it is overridden");
            let object = methods.object.bind(py);
            object.borrow_mut().0 = *connection;
            let called = arguments(py, methods)
                .and_then(|arguments| result(method.bind(py).call1(arguments.bind(py))?));
            let before = std::mem::replace(connection, object.borrow().0);
            let checked =
                called.and_then(|value| hook_keeps(hook, &before, connection).map(|()| value));
            checked.unwrap_or_else(|error| {
                let at_s = Time::from_ps(connection.now_ps.cast_unsigned()).as_secs_f64();
                let note = format!("raised by {} at {at_s} s of simulated time", self.title(hook));
                raise(py, error, Some(note))
            })
        })
    }

    /// Calls a hook without arguments.
    fn tell(&self, hook: Hook, connection: &mut Connection) {
        match self.compiled(hook) {
            Some(compiled) => compiled.tell(connection),
            None => {
                self.call(hook, connection, |py, _| Ok(PyTuple::empty(py).unbind()), |_| Ok(()));
            }
        }
    }

    /// Calls a hook with the reduction basis. Returns the new ssthresh.
    fn reduce(&self, hook: Hook, connection: &mut Connection, basis: f64) -> Option<f64> {
        if let Some(compiled) = self.compiled(hook) {
            return compiled.reduce(connection, basis);
        }
        let arguments = |py: Python<'_>, _: &Methods| Ok(PyTuple::new(py, [basis])?.unbind());
        self.call(hook, connection, arguments, |result| {
            let bytes: Option<f64> = match result.is_instance_of::<PyBool>() {
                true => Err(PyTypeError::new_err(())),
                false => result.extract(),
            }
            .map_err(|_| {
                let got = result.get_type();
                PyTypeError::new_err(format!("returned {got}: expected ssthresh in bytes, or None"))
            })?;
            bytes.map(|bytes| window("ssthresh", bytes)).transpose()
        })
    }
}

impl Hooks for Controller {
    fn fork(&self) -> Box<dyn Hooks> {
        let methods = self.methods.as_ref().map(|methods| {
            Python::attach(|py| {
                let copied = py
                    .import("copy")
                    .and_then(|copy| copy.call_method1("deepcopy", (&methods.object,)));
                let methods = copied.and_then(|object| self.class.methods(object));
                methods.unwrap_or_else(|error| raise(py, error, None))
            })
        });
        Box::new(Controller { class: self.class.clone(), methods })
    }

    fn on_ack(&mut self, connection: &mut Connection, ack: &external::Ack) {
        if let Some(compiled) = self.compiled(Hook::OnAck) {
            return compiled.tell_event(connection, ack);
        }
        let arguments = |py: Python<'_>, methods: &Methods| {
            methods.ack.object.bind(py).borrow_mut().0 = *ack;
            Ok(methods.ack.arguments.clone_ref(py))
        };
        self.call(Hook::OnAck, connection, arguments, |_| Ok(()));
    }

    fn on_delivery(&mut self, connection: &mut Connection, delivery: &external::Delivery) {
        if let Some(compiled) = self.compiled(Hook::OnDelivery) {
            return compiled.tell_event(connection, delivery);
        }
        let arguments = |py: Python<'_>, methods: &Methods| {
            methods.delivery.object.bind(py).borrow_mut().0 = *delivery;
            Ok(methods.delivery.arguments.clone_ref(py))
        };
        self.call(Hook::OnDelivery, connection, arguments, |_| Ok(()));
    }

    fn on_loss(&mut self, connection: &mut Connection, basis: f64) -> Option<f64> {
        self.reduce(Hook::OnLoss, connection, basis)
    }

    fn on_ecn(&mut self, connection: &mut Connection, basis: f64) -> Option<f64> {
        self.reduce(Hook::OnEcn, connection, basis)
    }

    fn on_rto(&mut self, connection: &mut Connection) {
        self.tell(Hook::OnRto, connection);
    }

    fn on_recovered(&mut self, connection: &mut Connection) {
        self.tell(Hook::OnRecovered, connection);
    }

    fn on_restart(&mut self, connection: &mut Connection, idle_ps: i64) {
        if let Some(compiled) = self.compiled(Hook::OnRestart) {
            return compiled.tell_time(connection, idle_ps);
        }
        let arguments = |py: Python<'_>, _: &Methods| Ok(PyTuple::new(py, [idle_ps])?.unbind());
        self.call(Hook::OnRestart, connection, arguments, |_| Ok(()));
    }

    fn on_save(&mut self, connection: &mut Connection) {
        self.tell(Hook::OnSave, connection);
    }

    fn on_undo(&mut self, connection: &mut Connection) {
        self.tell(Hook::OnUndo, connection);
    }
}
