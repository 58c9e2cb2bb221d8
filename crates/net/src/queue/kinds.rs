//! Registration of queue disciplines.

/// Declares the disciplines that decide on arrival and those that decide on departure: names
/// ([`QueueKind`](super::QueueKind)), parameters ([`Discipline`](super::Discipline)) and states. Each is a module with
/// a type of the same name.
macro_rules! disciplines {
    (
        on arrival { $( $a_name:literal => $A:ident in $a:ident: $a_summary:literal, $a_source:literal; )+ }
        on departure { $( $d_name:literal => $D:ident in $d:ident: $d_summary:literal, $d_source:literal; )+ }
    ) => {
        optcp_units::registry! {
            /// Queue discipline: which packets a port accepts, marks and drops, and which it sends next.
            pub enum QueueKind ("queues") {
                $( $a_name => $A: $a_summary, $a_source; )+
                $( $d_name => $D: $d_summary, $d_source; )+
            }
        }

        impl QueueKind {
            /// Returns the parameters in scenario files.
            #[must_use]
            pub const fn parameters(self) -> &'static [Parameter] {
                match self {
                    $( Self::$A => <<$a::$A as OnArrival>::Parameters as Parameters>::ALL, )+
                    $( Self::$D => <<$d::$D as OnDeparture>::Parameters as Parameters>::ALL, )+
                }
            }
        }

        impl QueueKind {
            /// Returns whether the discipline stores the packets itself and also decides when the transmitter is free.
            #[must_use]
            pub const fn decides_on_departure(self) -> bool {
                match self {
                    $( Self::$A )|+ => false,
                    $( Self::$D )|+ => true,
                }
            }
        }

        /// Queue discipline with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Discipline {
            $( #[doc = concat!("Parameters of `", stringify!($A), "`.")]
               $A(<$a::$A as OnArrival>::Parameters), )+
            $( #[doc = concat!("Parameters of `", stringify!($D), "`.")]
               $D(<$d::$D as OnDeparture>::Parameters), )+
        }

        impl Discipline {
            /// Creates a discipline with its default parameters.
            #[must_use]
            pub fn of(kind: QueueKind) -> Self {
                match kind {
                    $( QueueKind::$A => Self::$A(Default::default()), )+
                    $( QueueKind::$D => Self::$D(Default::default()), )+
                }
            }

            /// Returns the kind of the discipline.
            #[must_use]
            pub const fn kind(&self) -> QueueKind {
                match self {
                    $( Self::$A(_) => QueueKind::$A, )+
                    $( Self::$D(_) => QueueKind::$D, )+
                }
            }

            /// Returns the value of a parameter; `None` if it is unset or unknown.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<Setting> {
                match self {
                    $( Self::$A(parameters) => parameters.get(name), )+
                    $( Self::$D(parameters) => parameters.get(name), )+
                }
            }

            /// Sets a parameter. Returns whether it exists and has this type.
            pub fn set(&mut self, name: &str, setting: Setting) -> bool {
                match self {
                    $( Self::$A(parameters) => parameters.set(name, setting), )+
                    $( Self::$D(parameters) => parameters.set(name, setting), )+
                }
            }

            /// Returns the first invalid parameter and its valid range, if any.
            #[must_use]
            pub fn fault(&self) -> Option<(&'static str, &'static str)> {
                match self {
                    $( Self::$A(parameters) => parameters.fault(), )+
                    $( Self::$D(parameters) => parameters.fault(), )+
                }
            }

            /// Creates an empty queue.
            pub(super) fn queue(&self, link: &Link) -> Queue {
                match self {
                    $( Self::$A(parameters) => {
                        let state = <$a::$A as OnArrival>::new(parameters, link);
                        Queue::InOrder(ArrivalState::$A(state), Fifo::default(), link.limit)
                    } )+
                    $( Self::$D(parameters) => {
                        let state = <$d::$D as OnDeparture>::new(parameters, link);
                        Queue::Kept(DepartureState::$D(state))
                    } )+
                }
            }
        }

        /// State of a discipline that decides on arrival.
        #[derive(Clone, Debug)]
        pub enum ArrivalState {
            $( #[doc = concat!("State of `", stringify!($A), "`.")]
               $A($a::$A), )+
        }

        impl ArrivalState {
            /// Resets the discipline after a link failure, which empties the queue.
            pub fn restart(&mut self) {
                match self { $( Self::$A(state) => state.restart(), )+ }
            }

            /// Decides about an arriving packet. Returns the packet to be queued, possibly marked.
            ///
            /// # Errors
            /// Returns the reason for which the packet is dropped.
            #[inline]
            pub fn judge(&mut self, backlog: &Backlog, packet: Packet) -> Result<Packet, DropReason> {
                let verdict = match self {
                    $( Self::$A(state) => state.decide(backlog, packet), )+
                };
                match verdict {
                    Verdict::Drop(reason) => Err(reason),
                    _ if !backlog.fits => Err(DropReason::QueueFull),
                    Verdict::Take => Ok(packet),
                    Verdict::Mark => Ok(packet.saying(packet.marking().with_ce())),
                }
            }
        }

        /// State of a discipline that decides on departure, with the queued packets.
        #[derive(Clone, Debug)]
        pub(crate) enum DepartureState {
            $( $D($d::$D), )+
        }

        impl DepartureState {
            fn enqueue(
                &mut self,
                now: Time,
                packet: Packet,
                sending: Option<Packet>,
                fates: &mut Fates,
            ) -> Result<(), DropReason> {
                match self { $( Self::$D(state) => state.enqueue(now, packet, sending, fates), )+ }
            }

            fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<(Packet, Time)> {
                match self { $( Self::$D(state) => state.dequeue(now, fates), )+ }
            }

            fn len(&self) -> usize {
                match self { $( Self::$D(state) => state.len(), )+ }
            }

            fn bytes(&self) -> u64 {
                match self { $( Self::$D(state) => state.bytes(), )+ }
            }

            fn list(&self, packets: &mut Vec<Packet>) {
                match self { $( Self::$D(state) => state.list(packets), )+ }
            }
        }
    };
}
