//! Queue limits in bytes that are smaller than a packet.

use optcp_tcp::config::Config;
use optcp_units::Bytes;
use optcp_units::nearest::list;

use crate::plan::{DirectedLink, QueueLimit};
use crate::problem::Problems;
use crate::tree::{Step, place};

use super::network::Network;

/// Reports queues in bytes that are smaller than a packet of a flow over `hops`.
pub(super) fn check_queues(
    group: &str,
    config: &Config,
    hops: &[DirectedLink],
    network: &Network,
    problems: &mut Problems<'_>,
) {
    let data = config.mss.count().saturating_add(config.header.count());
    let packets = [(0, data, "data packet"), (1, config.ack_size.count(), "ACK")];
    check_room(group, &packets, hops, network, problems);
}

/// Reports queues in bytes that are smaller than one of `packets`: direction (0 for `hops`, 1 for the
/// reverse), size and name.
pub(super) fn check_room(
    group: &str,
    packets: &[(usize, u64, &str)],
    hops: &[DirectedLink],
    network: &Network,
    problems: &mut Problems<'_>,
) {
    for &(link, way) in hops {
        for &(back, size, what) in packets {
            let direction = way ^ back;
            let QueueLimit::Bytes(room) = network.links[link].directions[direction].queue else {
                continue;
            };
            // A queue limit of zero has been reported already.
            if room == Bytes::ZERO || room.count() >= size {
                continue;
            }
            let entry = problems.tree.get("links");
            let own = |i: usize| {
                let reverse = entry.map(|links| links.deepest(place![i, "reverse"]));
                direction == 1 && reverse.is_some_and(|reverse| reverse.get("queue").is_some())
            };
            let place = match network.links[link].entry {
                None => vec![Step::from("topology"), "queue".into()],
                Some(i) if own(i) => place!["links", i, "reverse", "queue"].to_vec(),
                Some(i) => place!["links", i, "queue"].to_vec(),
            };
            let place = place.as_slice();
            let name = list(&[group]);
            let message = format!("the queue limit is below one {what} of {name}");
            let origin = problems.tree.deepest(place).origin;
            if problems.found.iter().any(|p| p.origin == origin && p.message == message) {
                continue;
            }
            problems.at(place, message).label(format!("needs at least {size} B"));
        }
    }
}
