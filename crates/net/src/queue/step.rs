//! Step marking: ECN marks above a queue length.

use super::parameters::parameters;
use super::{Backlog, Link, OnArrival, Verdict};
use crate::{DropReason, Packet, QueueLimit};

/// Step marking: marks packets that find more than a threshold in the queue.
///
/// # Model
/// The threshold applies to the instantaneous queue length when a packet arrives, without averages.
///
/// # References
/// M. Alizadeh and others: Data center TCP (DCTCP), SIGCOMM 2010, section 3.1; RFC 8257 section 3.1.
///
/// # Limitations
/// The queue length includes the packet in transmission, but not the arriving packet.
#[derive(Clone, Debug)]
pub struct Step {
    parameters: StepParameters,
}

parameters! {
    /// Parameters of [`Step`].
    pub struct StepParameters {
        /// Queue length above which packets are marked.
        threshold: QueueLimit = QueueLimit::Packets(65), "SIGCOMM 2010, section 3.4: 65 packets at 10 Gb/s";
        /// Whether packets that are not ECN-capable are dropped there.
        drops_others: bool = false, "RFC 8257 section 3.1 says nothing of them";
    }
    wrong |it| {
        "threshold" if it.threshold == QueueLimit::Unlimited => "packets or bytes: without a threshold nothing is marked";
    }
}

impl OnArrival for Step {
    type Parameters = StepParameters;

    fn new(parameters: &StepParameters, _: &Link) -> Self {
        Step { parameters: parameters.clone() }
    }

    fn decide(&mut self, backlog: &Backlog, packet: Packet) -> Verdict {
        let beyond = match self.parameters.threshold {
            QueueLimit::Unlimited => false,
            QueueLimit::Packets(most) => backlog.packets > most as usize,
            QueueLimit::Bytes(most) => backlog.bytes > most,
        };
        match (beyond, packet.marking().takes_marks()) {
            (false, _) => Verdict::Take,
            (true, true) => Verdict::Mark,
            (true, false) if self.parameters.drops_others => Verdict::Drop(DropReason::Aqm),
            (true, false) => Verdict::Take,
        }
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::{Codepoint, Marking};

    use super::*;
    use crate::queue::tests::{backlog, link, packet};

    /// SIGCOMM 2010, section 3.1: an arriving packet is marked if the queue exceeds K.
    #[test]
    fn packet_above_threshold_is_marked() {
        let ect = packet(0, 1500).saying(Marking::new(Codepoint::Ect0, 0));
        for (threshold, at, beyond) in [
            (QueueLimit::Packets(20), backlog(20, 9999), backlog(21, 0)),
            (QueueLimit::Bytes(30_000), backlog(99, 30_000), backlog(1, 30_001)),
        ] {
            let mut parameters = StepParameters { threshold, drops_others: false };
            let mut step = Step::new(&parameters, &link(QueueLimit::Unlimited));
            assert_eq!(step.decide(&at, ect), Verdict::Take);
            assert_eq!(step.decide(&beyond, ect), Verdict::Mark);
            assert_eq!(step.decide(&beyond, packet(0, 1500)), Verdict::Take);
            parameters.drops_others = true;
            step = Step::new(&parameters, &link(QueueLimit::Unlimited));
            assert_eq!(step.decide(&beyond, packet(0, 1500)), Verdict::Drop(DropReason::Aqm));
        }
    }
}
