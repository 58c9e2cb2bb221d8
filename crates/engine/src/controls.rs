//! Control actions of a run in order of time, with the position of the next one.

use std::sync::Arc;

use optcp_des::{Class, Key};
use optcp_net::{Action, Control};
use optcp_units::Time;

/// List of control actions and the index of the next one.
#[derive(Clone, Debug)]
pub(crate) struct Controls {
    list: Arc<[Control]>,
    next: usize,
}

impl Controls {
    pub(crate) fn new(list: &[Control]) -> Self {
        Controls { list: list.into(), next: 0 }
    }

    /// Returns the time of the next action, or [`Time::MAX`].
    pub(crate) fn next_at(&self) -> Time {
        self.list.get(self.next).map_or(Time::MAX, |control| control.at)
    }

    /// Returns the next action and its event key if it is due at `at`.
    pub(crate) fn take(&mut self, at: Time) -> Option<(Key, Action)> {
        let control = self.list.get(self.next).filter(|control| control.at == at)?;
        let number = u32::try_from(self.next).expect("fewer than 2^32 control actions");
        self.next += 1;
        Some((Key::new(at, Class::Control, 0, number), control.action))
    }

    /// Returns the actions already carried out.
    pub(crate) fn past(&self) -> &[Control] {
        &self.list[..self.next]
    }

    /// Replaces the list by one with the same past.
    pub(crate) fn replace(&mut self, list: &[Control]) {
        debug_assert_eq!(self.past(), &list[..self.next], "branches share their past");
        self.list = list.into();
    }
}
