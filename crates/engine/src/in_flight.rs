//! Data of packets in flight that does not fit into the packet, found by a number in the packet.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optcp_net::Packet;
use optcp_tcp::{Ack, Seq};
use optcp_units::Time;
use slab::Slab;

use crate::copies::{Copied, Loss};

/// A number consists of a stripe (high bits) and an index in the stripe (low bits).
const PLACE_BITS: u32 = 28;
/// Number of stripes that a number can address.
pub(crate) const STRIPES: usize = 1 << (32 - PLACE_BITS);

/// Content of a datagram.
#[derive(Clone, Debug)]
pub(crate) struct Datagram {
    /// Send time.
    pub(crate) at: Time,
    /// Bytes of an external packet.
    pub(crate) bytes: Option<Arc<[u8]>>,
}

/// Store of ACK contents (beyond number and timestamp), datagrams, and packets copied by bridges.
///
/// Each thread of a run writes to its own stripe. Any thread may remove an entry from any stripe.
#[derive(Debug, Default)]
pub(crate) struct InFlightStore {
    /// Stripe for new entries.
    own: usize,
    stripes: Vec<Stripe>,
    /// Stripes while several threads share them.
    shared: Option<Arc<[Mutex<Stripe>]>>,
}

// Slabs reuse freed places first, which keeps the touched memory small.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stripe {
    acks: Slab<Ack>,
    sent: Slab<Datagram>,
    copied: Slab<Copied>,
}

impl Clone for InFlightStore {
    fn clone(&self) -> Self {
        debug_assert!(self.shared.is_none(), "a run is cloned only between stretches");
        InFlightStore { own: self.own, stripes: self.stripes.clone(), shared: None }
    }
}

impl InFlightStore {
    /// Stores an ACK and returns its number.
    pub(crate) fn store_ack(&mut self, ack: Ack) -> u32 {
        let own = self.own;
        number(own, self.with(own, |stripe| stripe.acks.insert(ack)))
    }

    /// Stores a datagram and returns its number.
    pub(crate) fn store_datagram(&mut self, datagram: Datagram) -> u32 {
        let own = self.own;
        number(own, self.with(own, |stripe| stripe.sent.insert(datagram)))
    }

    /// Removes and returns the ACK that a packet carries.
    #[inline]
    pub(crate) fn open(&mut self, packet: Packet) -> Ack {
        let Some(number) = packet.stored_number() else {
            return Ack {
                echo: packet.options,
                marking: packet.marking(),
                ..Ack::cumulative(Seq::new(packet.seq))
            };
        };
        let (stripe, place) = place(number);
        let ack = self.with(stripe, |stripe| stripe.acks.remove(place));
        // Queues may have marked the packet since it was sent.
        Ack { marking: packet.marking(), ..ack }
    }

    /// Removes and returns a datagram at its sink.
    pub(crate) fn take_datagram(&mut self, packet: Packet) -> Option<Datagram> {
        let (stripe, place) = place(packet.stored_number()?);
        self.with(stripe, |stripe| stripe.sent.try_remove(place))
    }

    /// Removes the data of a lost packet.
    pub(crate) fn remove(&mut self, packet: Packet) {
        let Some(number) = packet.stored_number() else { return };
        let (stripe, place) = place(number);
        self.with(stripe, |stripe| {
            if packet.is_ack() {
                stripe.acks.remove(place);
            } else {
                stripe.sent.remove(place);
            }
        });
    }

    /// Returns an independent packet with equal content.
    pub(crate) fn copy(&mut self, packet: Packet) -> Packet {
        let Some(number) = packet.stored_number() else { return packet };
        let (stripe, place) = place(number);
        let options = if packet.is_ack() {
            let ack = self.with(stripe, |stripe| stripe.acks[place]);
            self.store_ack(ack)
        } else {
            let sent = self.with(stripe, |stripe| stripe.sent[place].clone());
            self.store_datagram(sent)
        };
        let mut copy = packet;
        copy.options = options;
        copy
    }

    /// Registers one more copy of a packet and returns the packet as a copy.
    pub(crate) fn bridge(&mut self, packet: Packet) -> Packet {
        let (packet, number) = match packet.copy_of() {
            Some(number) => (packet, number),
            None => {
                let (own, entry) = (self.own, Copied::new(packet.options));
                let number = number(own, self.with(own, |stripe| stripe.copied.insert(entry)));
                (packet.as_copy_of(number), number)
            }
        };
        let (stripe, place) = place(number);
        self.with(stripe, |stripe| stripe.copied[place].add());
        packet
    }

    /// Numbers a packet for a resequencer.
    pub(crate) fn set_sequence(&mut self, copy: Packet, sequence: (u32, u64)) {
        if let Some((stripe, place)) = copy.copy_of().map(place) {
            self.with(stripe, |stripe| stripe.copied[place].sequence = Some(sequence));
        }
    }

    /// Returns the resequencer and the number of a packet.
    pub(crate) fn sequence(&mut self, copy: Packet) -> Option<(u32, u64)> {
        let (stripe, place) = place(copy.copy_of()?);
        self.with(stripe, |stripe| stripe.copied[place].sequence)
    }

    /// Handles the arrival of a copy of packet `number`. Returns the packet and whether it is the first copy to arrive.
    pub(crate) fn copy_arrives(&mut self, packet: Packet, number: u32) -> (Packet, bool) {
        let (first, options) = self.end(number, Copied::arrive);
        match options {
            Ok(options) => (packet.without_copies(options), first),
            // Other copies still need the stored data.
            Err(options) => (self.copy(packet.without_copies(options)), first),
        }
    }

    /// Handles the drop of a copy of packet `number`. Returns the cause of loss if the packet is now lost.
    pub(crate) fn copy_is_lost(&mut self, packet: Packet, number: u32, loss: Loss) -> Option<Loss> {
        let (lost, options) = self.end(number, |entry| entry.lose(loss));
        if let Ok(options) = options {
            self.remove(packet.without_copies(options));
        }
        lost
    }

    /// Ends a copy with `action`. Returns its result and the packet's original options: `Ok` for the last copy, `Err`
    /// while others are in flight.
    fn end<T>(
        &mut self,
        number: u32,
        action: impl FnOnce(&mut Copied) -> T,
    ) -> (T, Result<u32, u32>) {
        let (stripe, place) = place(number);
        self.with(stripe, |stripe| {
            let entry = &mut stripe.copied[place];
            let (result, options) = (action(entry), entry.options);
            if !entry.is_over() {
                return (result, Err(options));
            }
            stripe.copied.remove(place);
            (result, Ok(options))
        })
    }

    fn with<T>(&mut self, number: usize, action: impl FnOnce(&mut Stripe) -> T) -> T {
        if let Some(shared) = &self.shared {
            return action(&mut locked(&shared[number]));
        }
        if number >= self.stripes.len() {
            self.stripes.resize_with(number + 1, Stripe::default);
        }
        action(&mut self.stripes[number])
    }

    /// Shares the stripes between `threads` threads. Returns one store per thread.
    pub(crate) fn share(&mut self, threads: usize) -> Vec<InFlightStore> {
        let mut stripes = std::mem::take(&mut self.stripes);
        stripes.resize_with(stripes.len().max(threads), Stripe::default);
        let shared: Arc<[Mutex<Stripe>]> = stripes.into_iter().map(Mutex::new).collect();
        let store =
            |own| InFlightStore { own, stripes: Vec::new(), shared: Some(Arc::clone(&shared)) };
        (0..threads).map(store).collect()
    }

    /// Takes the stripes back from the first thread after the others have ended.
    pub(crate) fn join(first: &mut InFlightStore) -> InFlightStore {
        let shared = first.shared.take();
        let stripes = shared.iter().flat_map(|shared| shared.iter());
        let stripes = stripes.map(|stripe| std::mem::take(&mut *locked(stripe))).collect();
        InFlightStore { own: 0, stripes, shared: None }
    }
}

// Poisoning is ignored: a panic in another thread ends the run anyway.
fn locked(stripe: &Mutex<Stripe>) -> MutexGuard<'_, Stripe> {
    stripe.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number(stripe: usize, place: usize) -> u32 {
    assert!(place >> PLACE_BITS == 0, "fewer than 2^28 packets with stored data per stripe");
    u32::try_from(stripe << PLACE_BITS | place).expect("at most `STRIPES` stripes")
}

fn place(number: u32) -> (usize, usize) {
    let number = number as usize;
    (number >> PLACE_BITS, number & ((1 << PLACE_BITS) - 1))
}
