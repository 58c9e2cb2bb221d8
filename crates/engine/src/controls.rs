//! The control actions of a run, in order, and how far it has come.

use std::sync::Arc;

use optcp_des::{Class, Key};
use optcp_net::{Action, Control};
use optcp_units::Time;

/// The list and the place of the next action.
#[derive(Clone, Debug)]
pub(crate) struct Controls {
    list: Arc<[Control]>,
    next: usize,
}

impl Controls {
    pub(crate) fn new(list: &[Control]) -> Self {
        Controls { list: list.into(), next: 0 }
    }

    /// When the next action happens.
    pub(crate) fn next_at(&self) -> Time {
        self.list.get(self.next).map_or(Time::MAX, |control| control.at)
    }

    /// The next action if it happens at `at`, and the event that it is.
    pub(crate) fn take(&mut self, at: Time) -> Option<(Key, Action)> {
        let control = self.list.get(self.next).filter(|control| control.at == at)?;
        let number = u32::try_from(self.next).expect("fewer than 2^32 control actions");
        self.next += 1;
        Some((Key::new(at, Class::Control, 0, number), control.action))
    }

    /// Those that have happened.
    pub(crate) fn past(&self) -> &[Control] {
        &self.list[..self.next]
    }

    /// Goes on with another list that agrees up to now.
    pub(crate) fn replace(&mut self, list: &[Control]) {
        debug_assert_eq!(self.past(), &list[..self.next], "branches share their past");
        self.list = list.into();
    }
}
