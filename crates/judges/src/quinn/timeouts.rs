//! Count of probe timeouts, which quinn tells only to its log.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Counter of probe timeouts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeouts(Arc<AtomicU64>);

impl Timeouts {
    /// Calls a function and counts the timeouts that it reports.
    pub(crate) fn observe<R>(&self, call: impl FnOnce() -> R) -> R {
        tracing::subscriber::with_default(self.clone(), call)
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Subscriber for Timeouts {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Of the events of this module, only the one of a probe timeout has these fields.
        let fields = metadata.fields();
        metadata.is_event()
            && fields.field("in_flight").is_some()
            && fields.field("count").is_some()
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        struct Message(bool);
        impl Visit for Message {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                self.0 |= field.name() == "message" && format!("{value:?}") == "PTO fired";
            }
        }
        let mut message = Message(false);
        event.record(&mut message);
        if message.0 {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
