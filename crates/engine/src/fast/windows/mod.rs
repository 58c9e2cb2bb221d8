//! Windows of time: where a world has delay, its parts have their turns one after the other, each for a whole
//! window.
//!
//! What happens within a delay on one side cannot reach the other. So the calendar of all waiting packets, which puts
//! what happens anywhere in one order, is more than needed: each shard has one of its own, and within a window only its
//! packets, ports and endpoints are touched, which then lie in nearer memory. Which shards there are, and how long a
//! window is, depends on the world alone ([`lookahead`]); a world without delay, or in which little happens, keeps the
//! calendar.
//!
//! An endpoint that takes packets ahead of time knows of them before they come, and nobody else uses the port by which
//! it sends. So its alarms go off earlier than they are due, by its shard's lead, and what it sends then does not come
//! too late for a shard whose window is over.

mod choice;
mod crew;
mod lookahead;
mod threads;

use optcp_des::{Buckets, Calendar, Class, Due, Key, Wheel};
use optcp_net::{FlowId, Hop, Label, Packet, PortId};
use optcp_units::{Duration, Time};

use super::Fast;
use super::eager::Ways;
use super::forwarding::{Entry, Forwarding, Home};
use crate::model::Model;
use crate::observe::Observer;
use crate::timers::Alarm;

use lookahead::{Search, Shards, end};

pub(crate) use choice::{Choice, NoWindows};

/// Windows are not looked for where the world stands still sooner than so long.
const BRIEF: Duration = Duration::from_ms(10);

/// A part of the world that has its turns for a window at a time.
#[derive(Clone, Debug)]
struct Shard {
    waiting: Wheel<Packet>,
    calendar: Calendar,
    /// So much earlier than they are due its alarms may go off.
    lead: Duration,
    /// Everything before has happened here.
    until: Time,
}

/// The shards of a world, and where what waits belongs.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    /// A window is 2^length ps long.
    length: u32,
    shards: Vec<Shard>,
    /// The shard of each port and endpoint.
    of: Vec<u16>,
    /// By label: the shard in which a packet under it waits for its turn; [`NOWHERE`] where it is lost there.
    homes: Vec<Home>,
    /// By shard: packets that pass its ports in a second, and its phase.
    loads: Vec<u64>,
    phases: Vec<u16>,
    /// How many windows the kernel has opened before.
    number: u64,
}

impl Shard {
    /// Stands for one that another thread has.
    fn elsewhere(length: u32) -> Self {
        let waiting = Wheel::of_width(length);
        Shard { waiting, calendar: Calendar::default(), lead: Duration::ZERO, until: Time::ZERO }
    }
}

/// Whoever brings a packet under this label loses it.
const NOWHERE: Home = Home::NONE;

impl Windows {
    fn new<O>(number: u64, shards: Shards, model: &Model<O>, forwarding: &Forwarding) -> Self {
        let labels = u32::try_from(model.labels.len()).expect("fewer than 2^32 labels");
        let home = |label| home_of(Label(label), &shards.of, model, forwarding);
        let shard = |&lead: &Duration| Shard { lead, ..Shard::elsewhere(shards.length) };
        Windows {
            length: shards.length,
            shards: shards.leads.iter().map(shard).collect(),
            homes: (0..labels).map(home).collect(),
            of: shards.of,
            loads: shards.loads,
            phases: shards.phases,
            number,
        }
    }
}

/// Where packets wait for their turn under a label.
fn home_of<O>(label: Label, of: &[u16], model: &Model<O>, forwarding: &Forwarding) -> Home {
    let entry = forwarding.at(label);
    let home = |port: PortId| Home::of(usize::from(of[port.index()]));
    match entry.port() {
        Entry::DELIVER => Home::ENDPOINT,
        Entry::BUNDLE => {
            let bundle = model.labels.entrance(entry.next()).bundle;
            home(model.bundles[bundle as usize].members()[0])
        }
        // Whichever it is, they are in one shard.
        Entry::SPREAD => {
            let next_hops = model.labels.leads_to(Hop::Spread(entry.next()));
            home_of(next_hops[0].1, of, model, forwarding)
        }
        port if entry.is_port() => home(port),
        _ => NOWHERE,
    }
}

impl Fast {
    /// How packets wait: in so many shards with windows of so many picoseconds, or in the calendar and why.
    pub(crate) fn windows(&self) -> Result<(usize, u64), NoWindows> {
        match &self.windows {
            Some(windows) => Ok((windows.shards.len(), 1 << windows.length)),
            None => Err(self.no_windows),
        }
    }

    /// Opens windows for the stretch from `began` to `until`, if the world has any.
    pub(super) fn open_windows<O>(
        &mut self,
        model: &Model<O>,
        threads: usize,
        began: Time,
        until: Time,
    ) {
        let Some(ways) = &self.ways else { return };
        if self.choice == Choice::Never {
            self.no_windows = NoWindows::Unwanted;
            self.ways = None;
            return;
        }
        // A world that had none when it was first looked at is not looked at again, whatever control actions change.
        if self.opened == 0 && self.no_windows != NoWindows::Brief && self.choice == Choice::Chosen
        {
            self.ways = None;
            return;
        }
        if self.choice == Choice::Chosen && until.saturating_since(began) < BRIEF {
            self.no_windows = NoWindows::Brief;
            return;
        }
        let found = self.find_windows(model, threads, ways);
        self.ways = None;
        match found {
            Ok(shards) => self.scatter(model, shards),
            Err(why) => self.no_windows = why,
        }
    }

    fn find_windows<O>(
        &self,
        model: &Model<O>,
        threads: usize,
        ways: &Ways,
    ) -> Result<Shards, NoWindows> {
        let mut pending = Vec::new();
        self.waiting.for_each(|due| pending.push(due));
        Search::new(model, &self.forwarding, ways, &self.ports, &pending)?
            .shards(self.choice, threads)
    }

    /// Gives what waits to the shards.
    fn scatter<O>(&mut self, model: &Model<O>, shards: Shards) {
        let windows = Windows::new(self.opened, shards, model, &self.forwarding);
        self.forwarding.set_homes(&model.labels, |label| windows.homes[label.0 as usize]);
        self.inboxes = vec![Vec::new(); windows.shards.len()];
        self.opened += 1;
        self.running = Home::NONE;
        let pending = self.waiting.drain();
        let alarms = std::mem::take(&mut self.calendar);
        self.emptied =
            Some(std::mem::replace(&mut self.waiting, Buckets::of_width(windows.length)));
        self.windows = Some(Box::new(windows));
        for due in pending {
            let home = self.home(&due);
            self.wait(due, home);
        }
        for key in alarms.into_events() {
            let home = self.home_of_alarm(key);
            let Some(windows) = &mut self.windows else { break };
            windows.shards[home].calendar.push(key);
        }
    }

    /// Takes back what waits in the shards: there are no windows any more.
    pub(super) fn close_windows(&mut self) {
        let Some(windows) = self.windows.take() else { return };
        let Some(emptied) = self.emptied.take() else { return };
        let mut before = std::mem::replace(&mut self.waiting, emptied);
        self.forwarding.forget_homes();
        self.running = Home::ALL;
        std::mem::take(&mut self.inboxes)
            .into_iter()
            .flatten()
            .for_each(|due| self.waiting.push(due));
        for mut shard in windows.shards {
            before.exchange(&mut shard.waiting);
            before.drain().into_iter().for_each(|due| self.waiting.push(due));
            shard.calendar.into_events().for_each(|key| self.calendar.push(key));
        }
    }

    /// The shard in which a packet waits for its turn.
    pub(super) fn home(&self, due: &Due<Packet>) -> Home {
        let Some(windows) = &self.windows else { return Home::ALL };
        match windows.homes[due.item.label.0 as usize] {
            NOWHERE => Home::of(usize::from(windows.of[due.entity as usize])),
            home => home,
        }
    }

    /// The shard in which an alarm goes off.
    fn home_of_alarm(&self, key: Key) -> usize {
        let Some(windows) = &self.windows else { return 0 };
        let entity = FlowId::new(key.entity()).index();
        usize::from(match key.class() {
            Class::TransmissionEnd => windows.of[entity],
            _ => windows.of[end(self.ports.len(), entity, Alarm::of(key) == Alarm::Receiver)],
        })
    }

    /// A packet waits for its turn at its endpoint.
    #[inline(never)]
    pub(super) fn wait_at_endpoint(&mut self, due: Due<Packet>) {
        let Some(windows) = &self.windows else { return };
        let packet = due.item;
        let node = end(self.ports.len(), packet.flow().index(), !packet.is_ack());
        self.wait(due, Home::of(usize::from(windows.of[node])));
    }

    /// How many shards there are; without windows all is one.
    pub(super) fn shards(&self) -> usize {
        self.windows.as_ref().map_or(1, |windows| windows.shards.len())
    }

    /// The turns of a shard begin: it takes what has come to it.
    pub(super) fn enter(&mut self, number: usize) {
        let Some(windows) = &mut self.windows else { return };
        let shard = &mut windows.shards[number];
        self.waiting.exchange(&mut shard.waiting);
        std::mem::swap(&mut self.calendar, &mut shard.calendar);
        self.running = Home::of(number);
        for due in self.inboxes[number].drain(..) {
            assert!(due.at >= shard.until, "a packet comes to a shard whose window is over");
            self.waiting.push(due);
        }
    }

    /// The turns of a shard are over.
    pub(super) fn leave(&mut self, number: usize) {
        let Some(windows) = &mut self.windows else { return };
        let shard = &mut windows.shards[number];
        self.waiting.exchange(&mut shard.waiting);
        std::mem::swap(&mut self.calendar, &mut shard.calendar);
        self.running = Home::NONE;
    }

    /// How many packets wait.
    pub(super) fn waiting_in_all(&self) -> usize {
        let shards = self.windows.iter().flat_map(|windows| &windows.shards);
        let come: usize = self.inboxes.iter().map(Vec::len).sum();
        self.waiting.len() + shards.map(|shard| shard.waiting.len()).sum::<usize>() + come
    }

    /// Calls `look` for every packet that waits, in no particular order.
    pub(super) fn for_each_waiting(&self, mut look: impl FnMut(Due<Packet>)) {
        self.waiting.for_each(&mut look);
        let shards = self.windows.iter().flat_map(|windows| &windows.shards);
        shards.for_each(|shard| shard.waiting.for_each(&mut look));
        self.inboxes.iter().flatten().for_each(|&due| look(due));
    }

    /// Executes everything before the cut, window by window.
    fn run_windows_alone<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        began: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        let mut end = began;
        // What an alarm sends must not come too late in the first window: those that are due within a lead go off before.
        let mut before = 0;
        while self.run_window(model, end, go_on) {
            if end == self.cut {
                return true;
            }
            // Where nothing has happened, nothing may for long.
            let idle = model.counts.events == before;
            before = model.counts.events;
            end = self.window_from(if idle { self.next_at().clamp(end, self.cut) } else { end });
        }
        false
    }

    /// The end of the window in which an instant is, or the cut.
    fn window_from(&self, begin: Time) -> Time {
        let Some(windows) = &self.windows else { return self.cut };
        let beyond = ((begin.as_ps() >> windows.length) + 1) << windows.length;
        self.cut.min(Time::from_ps(beyond))
    }

    /// Each shard has its turns before `end`.
    fn run_window<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        end: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        for shard in 0..self.shards() {
            self.enter(shard);
            let goes_on = self.run_shard(model, shard, end, go_on);
            self.leave(shard);
            if !goes_on {
                return false;
            }
        }
        true
    }

    fn run_shard<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        shard: usize,
        end: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        let Some(windows) = &mut self.windows else { return true };
        let lead = windows.shards[shard].lead;
        windows.shards[shard].until = end;
        let alarms_end = self.cut.min(end + lead);
        loop {
            let alarm_at = self.calendar.next_at();
            let turns_end =
                if alarm_at < alarms_end { end.min(earlier(alarm_at, lead)) } else { end };
            if let Some(due) = self.waiting.pop_before(turns_end) {
                if !model.goes_on(go_on) {
                    return false;
                }
                self.step(model, due);
            } else if let Some(key) = self.calendar.pop_before(alarms_end) {
                if !model.goes_on(go_on) {
                    return false;
                }
                self.happen(model, key);
            } else {
                return true;
            }
        }
    }

    /// An instant before which no shard has anything to do.
    fn next_at(&self) -> Time {
        let shards = self.windows.iter().flat_map(|windows| &windows.shards);
        let next = |shard: &Shard| {
            shard.waiting.not_before().min(earlier(shard.calendar.next_at(), shard.lead))
        };
        let come = self.inboxes.iter().flatten().map(|due| due.at);
        shards.map(next).chain(come).min().unwrap_or(Time::MAX)
    }
}

fn earlier(at: Time, lead: Duration) -> Time {
    Time::from_ps(at.as_ps().saturating_sub(lead.as_ps()))
}
