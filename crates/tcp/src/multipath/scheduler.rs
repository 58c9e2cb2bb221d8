//! Choice of the subflow that sends next.

use optcp_units::{Duration, registry};

registry! {
    /// Packet scheduler of a multipath connection.
    pub enum SchedulerKind ("schedulers") {
        "min-rtt" => MinRtt: "new data go to the subflow of smallest SRTT whose window is open", "Raiciu et al., NSDI 2012; default of multipath-tcp.org";
        "round-robin" => RoundRobin: "new data go to subflows with open windows in turn, segment by segment", "Paasch et al., CSWS 2014";
        "redundant" => Redundant: "each subflow sends all data that the data ACK does not cover", "Froemmgen et al., ICC 2016";
    }
}

impl SchedulerKind {
    /// Returns the subflows in order of preference. `last` sent the latest data; a subflow without RTT sample follows those
    /// with one.
    pub(super) fn order(self, srtt: &[Option<Duration>], last: usize) -> Vec<usize> {
        let count = srtt.len();
        let mut order: Vec<usize> = (0..count).collect();
        match self {
            SchedulerKind::MinRtt => {
                order.sort_by_key(|&number| (srtt[number].unwrap_or(Duration::LONGEST), number));
            }
            SchedulerKind::RoundRobin => order.rotate_left((last + 1) % count),
            SchedulerKind::Redundant => {}
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_follows_srtt_or_turn() {
        let ms = |ms| Some(Duration::from_ms(ms));
        let srtt = [ms(30), None, ms(10), ms(10)];
        assert_eq!(SchedulerKind::MinRtt.order(&srtt, 0), [2, 3, 0, 1]);
        assert_eq!(SchedulerKind::RoundRobin.order(&srtt, 2), [3, 0, 1, 2]);
        assert_eq!(SchedulerKind::RoundRobin.order(&srtt, 3), [0, 1, 2, 3]);
        assert_eq!(SchedulerKind::Redundant.order(&srtt, 2), [0, 1, 2, 3]);
    }
}
