//! What endpoints keep of packets that are under way, and find again by a number in the packet.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optcp_net::Packet;
use optcp_tcp::{Ack, Seq};
use optcp_units::Time;
use slab::Slab;

use crate::copies::{Copied, Loss};

/// A number is a place in a stripe, and the stripe above it.
const PLACE_BITS: u32 = 28;
/// So many stripes can be told.
pub(crate) const STRIPES: usize = 1 << (32 - PLACE_BITS);

/// ACKs that say more than a number and a timestamp, when datagrams were sent, and packets that bridges have copied.
///
/// Each thread of a run puts what is new into a stripe of its own; whoever has the packet takes it out of whichever it
/// is in.
#[derive(Debug, Default)]
pub(crate) struct InFlightStore {
    /// Where what is new goes.
    mine: usize,
    stripes: Vec<Stripe>,
    /// The stripes, while several threads have them.
    shared: Option<Arc<[Mutex<Stripe>]>>,
}

// In one place: what is free again is used first, so that little memory is touched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stripe {
    acks: Slab<Ack>,
    sent: Slab<Time>,
    copied: Slab<Copied>,
}

impl Clone for InFlightStore {
    fn clone(&self) -> Self {
        debug_assert!(self.shared.is_none(), "a run is cloned between its stretches");
        InFlightStore { mine: self.mine, stripes: self.stripes.clone(), shared: None }
    }
}

impl InFlightStore {
    /// The number under which an ACK is found.
    pub(crate) fn store_ack(&mut self, ack: Ack) -> u32 {
        let mine = self.mine;
        number(mine, self.with(mine, |stripe| stripe.acks.insert(ack)))
    }

    /// The number under which is found when a datagram was sent.
    pub(crate) fn keep_sent(&mut self, at: Time) -> u32 {
        let mine = self.mine;
        number(mine, self.with(mine, |stripe| stripe.sent.insert(at)))
    }

    /// The ACK that a packet carries, which is no longer under way.
    #[inline]
    pub(crate) fn open(&mut self, packet: Packet) -> Ack {
        let Some(number) = packet.kept() else {
            return Ack {
                echo: packet.options,
                marking: packet.marking(),
                ..Ack::cumulative(Seq::new(packet.seq))
            };
        };
        let (stripe, place) = place(number);
        let ack = self.with(stripe, |stripe| stripe.acks.remove(place));
        // A queue may have marked it.
        Ack { marking: packet.marking(), ..ack }
    }

    /// A datagram is at its sink: when it was sent.
    pub(crate) fn take_sent(&mut self, packet: Packet) -> Option<Time> {
        let (stripe, place) = place(packet.kept()?);
        self.with(stripe, |stripe| stripe.sent.try_remove(place))
    }

    /// A packet is lost.
    pub(crate) fn forget(&mut self, packet: Packet) {
        let Some(number) = packet.kept() else { return };
        let (stripe, place) = place(number);
        self.with(stripe, |stripe| {
            if packet.is_ack() {
                stripe.acks.remove(place);
            } else {
                stripe.sent.remove(place);
            }
        });
    }

    /// A second packet that says the same, and goes its own way.
    pub(crate) fn copy(&mut self, packet: Packet) -> Packet {
        let Some(number) = packet.kept() else { return packet };
        let (stripe, place) = place(number);
        let options = if packet.is_ack() {
            let ack = self.with(stripe, |stripe| stripe.acks[place]);
            self.store_ack(ack)
        } else {
            let sent = self.with(stripe, |stripe| stripe.sent[place]);
            self.keep_sent(sent)
        };
        let mut copy = packet;
        copy.options = options;
        copy
    }

    /// A packet goes two ways: either of its copies.
    pub(crate) fn bridge(&mut self, packet: Packet) -> Packet {
        let (packet, number) = match packet.copy_of() {
            Some(number) => (packet, number),
            None => {
                let (mine, entry) = (self.mine, Copied::new(packet.options));
                let number = number(mine, self.with(mine, |stripe| stripe.copied.insert(entry)));
                (packet.as_copy_of(number), number)
            }
        };
        let (stripe, place) = place(number);
        self.with(stripe, |stripe| stripe.copied[place].add());
        packet
    }

    /// A copy of the packet `number` arrives at its endpoint: the packet, and whether no other copy has arrived before.
    pub(crate) fn copy_arrives(&mut self, packet: Packet, number: u32) -> (Packet, bool) {
        let (first, left) = self.end(number, Copied::arrive);
        match left {
            Ok(options) => (packet.without_copies(options), first),
            // Others need what is kept.
            Err(options) => (self.copy(packet.without_copies(options)), first),
        }
    }

    /// A copy of the packet `number` is dropped: how the packet is lost, if it is now.
    pub(crate) fn copy_is_lost(&mut self, packet: Packet, number: u32, loss: Loss) -> Option<Loss> {
        let (lost, left) = self.end(number, |entry| entry.lose(loss));
        if let Ok(options) = left {
            self.forget(packet.without_copies(options));
        }
        lost
    }

    /// A copy ends: what `of` says of it, and the packet's own options, as an error while other copies are in flight.
    fn end<T>(&mut self, number: u32, of: impl FnOnce(&mut Copied) -> T) -> (T, Result<u32, u32>) {
        let (stripe, place) = place(number);
        self.with(stripe, |stripe| {
            let entry = &mut stripe.copied[place];
            let (found, options) = (of(entry), entry.options);
            if !entry.is_over() {
                return (found, Err(options));
            }
            stripe.copied.remove(place);
            (found, Ok(options))
        })
    }

    fn with<T>(&mut self, number: usize, of: impl FnOnce(&mut Stripe) -> T) -> T {
        if let Some(shared) = &self.shared {
            return of(&mut locked(&shared[number]));
        }
        if number >= self.stripes.len() {
            self.stripes.resize_with(number + 1, Stripe::default);
        }
        of(&mut self.stripes[number])
    }

    /// Shares the stripes with so many threads: what each of these has, the first one's first.
    pub(crate) fn share(&mut self, threads: usize) -> Vec<InFlightStore> {
        let mut stripes = std::mem::take(&mut self.stripes);
        stripes.resize_with(stripes.len().max(threads), Stripe::default);
        let shared: Arc<[Mutex<Stripe>]> = stripes.into_iter().map(Mutex::new).collect();
        let of_thread =
            |mine| InFlightStore { mine, stripes: Vec::new(), shared: Some(Arc::clone(&shared)) };
        (0..threads).map(of_thread).collect()
    }

    /// Takes the stripes back from the first thread, the others being gone.
    pub(crate) fn join(first: &mut InFlightStore) -> InFlightStore {
        let shared = first.shared.take();
        let stripes = shared.iter().flat_map(|shared| shared.iter());
        let stripes = stripes.map(|stripe| std::mem::take(&mut *locked(stripe))).collect();
        InFlightStore { mine: 0, stripes, shared: None }
    }
}

// Whoever panicked with it ends the run.
fn locked(stripe: &Mutex<Stripe>) -> MutexGuard<'_, Stripe> {
    stripe.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number(stripe: usize, place: usize) -> u32 {
    assert!(place >> PLACE_BITS == 0, "fewer than 2^28 packets of which something is kept");
    u32::try_from(stripe << PLACE_BITS | place).expect("fewer stripes than can be told")
}

fn place(number: u32) -> (usize, usize) {
    let number = number as usize;
    (number >> PLACE_BITS, number & ((1 << PLACE_BITS) - 1))
}
