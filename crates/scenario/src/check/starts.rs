//! Start times of flows and applications.

use optcp_units::Time;

use crate::plan::Spread;
use crate::problem::Problems;
use crate::schema::Delay;
use crate::tree::Step;

use super::network::checked;

/// Returns a start time, and reports one that the run may not reach. `begins` is the beginning of the message, such as
/// "flows start".
pub(super) fn start(
    written: Option<&Delay>,
    begins: &str,
    stop: Time,
    place: &[Step<'_>],
    problems: &mut Problems<'_>,
) -> Spread {
    let start = checked(written, true, place, problems);
    if let Some(latest) = start.latest().filter(|&latest| latest >= stop)
        && stop > Time::ZERO
    {
        let message = format!("{begins} at {latest}, but the run stops at {stop}");
        problems.at(place, message).label("must be before `stop`");
    }
    start
}
