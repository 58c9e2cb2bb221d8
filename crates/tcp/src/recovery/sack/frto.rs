//! F-RTO: detection of spurious RTOs.
//!
//! # Model
//! After an RTO, only the oldest segment is retransmitted. If its ACK advances, two new segments are sent
//! instead of more retransmissions. If the next ACK then covers data that were not retransmitted, the
//! originals were only delayed, and the RTO is undone.
//!
//! # References
//! RFC 5682 section 3.1 (the SACK-enhanced algorithm).
//!
//! # Parameters
//! `frto`.
//!
//! # Limitations
//! Not used if the RTO interrupts a recovery or is repeated (RFC 5682 section 3.1 step 1).

/// Properties of an ACK after the RTO.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// `true`: the cumulative ACK advanced.
    pub(super) advanced: bool,
    /// `true`: everything outstanding at the RTO is acknowledged.
    pub(super) complete: bool,
    /// `true`: it delivers data that were outstanding at the RTO and never retransmitted.
    pub(super) original: bool,
    /// `true`: new segments can be sent.
    pub(super) new_data: bool,
}

/// Conclusion from an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conclusion {
    /// No change.
    Wait,
    /// Send two new segments now.
    SendNew,
    /// The RTO was spurious.
    Spurious,
}

/// Step of the algorithm, by RFC 5682's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ForwardRto {
    /// Not in progress.
    #[default]
    Off,
    /// Step 2: the oldest segment was retransmitted.
    Step2,
    /// Step 3: new segments were sent.
    Step3,
}

impl ForwardRto {
    pub(super) fn on_ack(&mut self, ack: Evidence) -> Conclusion {
        match self {
            ForwardRto::Off => Conclusion::Wait,
            // Step 2: a duplicate ACK changes nothing, because SACK reports the arrivals.
            ForwardRto::Step2 if !ack.advanced => Conclusion::Wait,
            ForwardRto::Step2 if ack.complete || !ack.new_data => {
                *self = ForwardRto::Off;
                Conclusion::Wait
            }
            ForwardRto::Step2 => {
                *self = ForwardRto::Step3;
                Conclusion::SendNew
            }
            ForwardRto::Step3 => {
                *self = ForwardRto::Off;
                if ack.original { Conclusion::Spurious } else { Conclusion::Wait }
            }
        }
    }
}
