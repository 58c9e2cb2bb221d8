//! F-RTO: was the timeout spurious?
//!
//! # Models
//! After a timeout only the oldest segment is sent again. If its ACK moves on, two new segments are sent
//! instead of more retransmissions; if the next ACK then covers data that was never sent again, the
//! originals were only late, and the timeout is taken back.
//! # Source
//! RFC 5682 section 3.1 (the SACK-enhanced algorithm).
//! # Parameters
//! `frto`.
//! # Limits
//! Not tried when the timeout interrupts a recovery, nor when it repeats (RFC 5682 section 3.1 step 1).

/// What an ACK after the timeout says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// Whether the cumulative ACK moved.
    pub(super) advanced: bool,
    /// Whether everything outstanding at the timeout is acknowledged.
    pub(super) complete: bool,
    /// Whether it delivers data that was outstanding at the timeout and never sent again.
    pub(super) original: bool,
    /// Whether new segments can be sent.
    pub(super) new_data: bool,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conclusion {
    /// Nothing changes.
    Wait,
    /// Two new segments are to be sent now.
    SendNew,
    /// The timeout was spurious.
    Spurious,
}

/// Where the algorithm stands, by RFC 5682's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ForwardRto {
    /// Not under way.
    #[default]
    Off,
    /// Step 2: the oldest segment was sent again.
    Step2,
    /// Step 3: new segments were sent.
    Step3,
}

impl ForwardRto {
    pub(super) fn on_ack(&mut self, ack: Evidence) -> Conclusion {
        match self {
            ForwardRto::Off => Conclusion::Wait,
            // Step 2: a duplicate ACK leaves it there, since SACK tells what arrived.
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
