//! What a backup protects: the part of a flow's way, in one direction, that the backup goes around.

use optcp_optical::protection::{Point, Route, Scheme, Segment, Turn};
use optcp_units::Duration;

use crate::plan::{FlowPlan, Hop};

/// One direction of a flow, and the backup of a part of it.
pub(crate) struct Protected {
    /// The ports that packets pass, from their source to their destination.
    pub(crate) route: Vec<Hop>,
    /// The node of the route, by number, where packets can be switched.
    pub(crate) from: usize,
    /// The node of the route, by number, where the backup joins it again.
    pub(crate) to: usize,
    /// The ports of the backup.
    pub(crate) backup: Vec<Hop>,
    /// Which of the links between `from` and `to` are protected, counted from `from`.
    pub(crate) covered: Vec<usize>,
}

/// The port in the other direction of the same link.
pub(crate) fn reverse((link, direction): Hop) -> Hop {
    (link, 1 - direction)
}

/// Ports in the other direction, last first.
pub(crate) fn reversed(hops: &[Hop]) -> Vec<Hop> {
    hops.iter().rev().map(|&hop| reverse(hop)).collect()
}

impl Protected {
    /// Data (0) or ACKs (1) of a flow; `None` if the backup does not leave its way and join it again.
    /// `links` are the protected ones; none means every link that the backup goes around.
    pub(crate) fn new(
        flow: &FlowPlan,
        direction: usize,
        backup: (&[usize], &[Hop]),
        links: &[usize],
    ) -> Option<Self> {
        let (nodes, hops) = backup;
        let position = |node: Option<&usize>| flow.path.iter().position(|n| Some(n) == node);
        let (first, last) = (position(nodes.first())?, position(nodes.last())?);
        if first >= last {
            return None;
        }
        let end = flow.hops.len();
        let (route, from, to, backup) = match direction {
            0 => (flow.hops.clone(), first, last, hops.to_vec()),
            _ => (reversed(&flow.hops), end - last, end - first, reversed(hops)),
        };
        let is_covered = |&(link, _): &Hop| links.is_empty() || links.contains(&link);
        let between = route[from..to].iter().enumerate();
        let covered = between.filter(|(_, hop)| is_covered(hop)).map(|(index, _)| index).collect();
        Some(Protected { route, from, to, backup, covered })
    }

    /// The ports of the working path that the backup goes around.
    pub(crate) fn working(&self) -> &[Hop] {
        &self.route[self.from..self.to]
    }

    /// The same for the schemes, with what propagation takes.
    pub(crate) fn segment(&self, delay: impl Fn(Hop) -> Duration, processing: Duration) -> Segment {
        let both = |hops: &[Hop]| -> [Vec<Duration>; 2] {
            let upstream = hops.iter().map(|&hop| delay(reverse(hop)));
            [hops.iter().map(|&hop| delay(hop)).collect(), upstream.collect()]
        };
        let [working, working_upstream] = both(self.working());
        let [backup, backup_upstream] = both(&self.backup);
        Segment {
            working,
            working_upstream,
            backup,
            backup_upstream,
            covered: self.covered.clone(),
            processing,
        }
    }

    /// The way around from a point, in pieces that other packets may join between.
    pub(crate) fn pieces(&self, scheme: Scheme, point: &Point) -> Vec<Vec<Hop>> {
        let backup = self.backup.clone();
        match point.turn {
            Turn::Select | Turn::Forward(Route::Backup) => vec![backup],
            Turn::Forward(Route::LoopBack) => {
                let mut back = reversed(&self.working()[..point.node]);
                if scheme == Scheme::LoopBackVariant {
                    return vec![back, backup];
                }
                back.extend(backup);
                vec![back]
            }
        }
    }
}
