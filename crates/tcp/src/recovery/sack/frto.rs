//! F-RTO: detection of spurious RTOs.
//!
//! # Model
//! After an RTO, only the oldest segment is retransmitted. If its ACK advances, two new segments are sent
//! instead of more retransmissions. If an ACK covers data that were outstanding and not retransmitted, the
//! originals were only delayed, and the RTO is undone.
//!
//! # References
//! RFC 5682 section 3.1 (the SACK-enhanced algorithm) and section 3.2 (repeated timeouts). As in Linux, originals
//! are looked for from the first ACK on, not only after new segments.
//!
//! # Parameters
//! `frto`.
//!
//! # Limitations
//! Not used if the RTO interrupts a recovery (RFC 5682 section 3.1 step 1), until it is repeated for the same segment.

/// Properties of an ACK after the RTO.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// `true`: the cumulative ACK advanced.
    pub(super) advanced: bool,
    /// `true`: everything outstanding at the RTO is acknowledged.
    pub(super) complete: bool,
    /// `true`: it delivers data that were outstanding at the RTO and never retransmitted.
    pub(super) original: bool,
    /// `true`: it reports segments by SACK, or nothing new.
    pub(super) no_progress: bool,
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
            ForwardRto::Step2 | ForwardRto::Step3 if ack.original => {
                *self = ForwardRto::Off;
                Conclusion::Spurious
            }
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
                if ack.no_progress || ack.complete {
                    *self = ForwardRto::Off;
                }
                Conclusion::Wait
            }
        }
    }
}
