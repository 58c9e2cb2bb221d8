use optcp_net::{FlowId, Label};

use super::*;

/// Lightpaths with given unfinished work in microseconds and numbers of packets.
struct GivenLoad(Vec<(u64, u64)>);

impl Lightpaths for GivenLoad {
    fn busy_until(&self, port: PortId) -> Time {
        Time::from_ps(self.0[port.index()].0 * 1_000_000)
    }

    fn packets(&mut self, port: PortId) -> u64 {
        self.0[port.index()].1
    }
}

fn packet(flow: u32) -> Packet {
    Packet::data(FlowId::new(flow), Label(0), 0, 1500, 0)
}

fn bundle_of<const N: usize>(members: [u32; N], selection: Selection) -> Bundle {
    Bundle::new(members.map(PortId::new).to_vec(), selection)
}

fn choices(selection: Selection, destinations: &[u32], loads: &[(u64, u64)]) -> Vec<u32> {
    let ports = (0..loads.len()).map(PortId::at).collect();
    let mut bundle = Bundle::new(ports, selection);
    let mut paths = GivenLoad(loads.to_vec());
    destinations.iter().map(|&to| bundle.choose(to, packet(0), &mut paths).number()).collect()
}

/// The paper's formula for K = 2, b_D = 3: subnetworks 1 to 6 use lightpaths 1, 2, 3, 1, 2, 3.
#[test]
fn destination_selection_follows_formula_of_paper() {
    let loads = [(0, 0); 3];
    let by_paper: Vec<u32> = (1..=6).map(|i| 1 + ((i - 1) % 3) - 1).collect();
    assert_eq!(choices(Selection::Destination, &[0, 1, 2, 3, 4, 5], &loads), by_paper);
}

#[test]
fn anycast_selects_least_work_then_longest_idle() {
    // Unfinished work is 30, 20 and 25 us; numbers of packets do not matter.
    assert_eq!(choices(Selection::Anycast, &[0], &[(30, 1), (20, 9), (25, 2)]), [1]);
    assert_eq!(choices(Selection::FewestPackets, &[0], &[(30, 1), (20, 9), (25, 2)]), [0]);
    // At 100 us all are idle; the last one has been idle longest.
    assert_eq!(choices(Selection::Anycast, &[0], &[(90, 0), (80, 0), (70, 0)]), [2]);
    assert_eq!(choices(Selection::Anycast, &[0], &[(50, 0), (20, 0), (20, 0)]), [1]);
}

#[test]
fn only_destination_selection_is_fixed() {
    for &selection in Selection::ALL {
        let fixed = bundle_of([0, 1], selection).fixed(3);
        assert_eq!(
            fixed,
            (selection == Selection::Destination).then_some(PortId::new(1)),
            "{selection:?}"
        );
    }
}

#[test]
fn round_robin_takes_turns() {
    assert_eq!(choices(Selection::RoundRobin, &[0; 5], &[(0, 0); 3]), [0, 1, 2, 0, 1]);
}

/// 3000 flows on 3 lightpaths: 1000 each, within four standard deviations (26 each) of an ideal hash.
#[test]
fn hash_keeps_flow_on_one_lightpath_and_balances_flows() {
    let mut bundle = bundle_of([0, 1, 2], Selection::FlowHash);
    let mut paths = GivenLoad(vec![(0, 0); 3]);
    let mut load = [0i64; 3];
    for flow in 0..3000 {
        let first = bundle.choose(0, packet(flow), &mut paths);
        assert_eq!(bundle.choose(7, packet(flow), &mut paths), first);
        load[first.index()] += 1;
    }
    assert!(load.iter().all(|&flows| (flows - 1000).abs() < 4 * 26), "{load:?}");
}

#[test]
fn failed_lightpath_is_excluded_until_repair() {
    let mut bundle = bundle_of([4, 5, 6], Selection::Destination);
    let mut paths = GivenLoad(Vec::new());
    let mut all = |bundle: &mut Bundle| {
        [0, 1, 2].map(|destination| bundle.choose(destination, packet(0), &mut paths).number())
    };
    bundle.take_out(PortId::new(5));
    assert_eq!(all(&mut bundle), [4, 6, 4]);
    // `fixed` returns the same lightpaths without packets.
    assert_eq!(
        [0, 1, 2].map(|destination| bundle.fixed(destination)),
        [4, 6, 4].map(|n| Some(PortId::new(n)))
    );
    bundle.take_out(PortId::new(4));
    bundle.put_back(PortId::new(5));
    assert_eq!(all(&mut bundle), [5, 6, 5]);
    bundle.put_back(PortId::new(4));
    assert_eq!(all(&mut bundle), [4, 5, 6]);
    for member in [4, 5, 6].map(PortId::new) {
        bundle.take_out(member);
    }
    assert_eq!(all(&mut bundle), [4, 5, 6]);
}

/// For every selection, a lightpath out of service is not selected and a single one always is. If all are out of
/// service, one of them is selected.
#[test]
fn every_selection_uses_lightpaths_in_service() {
    for &selection in Selection::ALL {
        let mut paths = GivenLoad(vec![(0, 0); 7]);
        let mut chosen = |bundle: &mut Bundle| -> Vec<u32> {
            (0..60).map(|n| bundle.choose(n, packet(n), &mut paths).number()).collect()
        };
        let mut bundle = bundle_of([4, 5, 6], selection);
        bundle.take_out(PortId::new(5));
        assert!(chosen(&mut bundle).iter().all(|port| [4, 6].contains(port)), "{selection:?}");
        bundle.take_out(PortId::new(4));
        assert_eq!(chosen(&mut bundle), [6; 60], "{selection:?}");
        bundle.take_out(PortId::new(6));
        assert!(chosen(&mut bundle).iter().all(|port| [4, 5, 6].contains(port)), "{selection:?}");
        let mut lone = bundle_of([3], selection);
        assert_eq!(chosen(&mut lone), [3; 60], "{selection:?}");
    }
}

/// Ties select the first lightpath in the bundle's order, regardless of the order of repairs.
#[test]
fn ties_select_first_lightpath_in_bundle_order() {
    for selection in [Selection::Anycast, Selection::FewestPackets] {
        let mut bundle = bundle_of([4, 5, 6], selection);
        let mut paths = GivenLoad(vec![(10, 1); 7]);
        [4, 5, 6].map(PortId::new).into_iter().for_each(|member| bundle.take_out(member));
        [6, 5].map(PortId::new).into_iter().for_each(|member| bundle.put_back(member));
        assert_eq!(bundle.choose(0, packet(0), &mut paths).number(), 5, "{selection:?}");
        bundle.put_back(PortId::new(4));
        assert_eq!(bundle.choose(0, packet(0), &mut paths).number(), 4, "{selection:?}");
    }
}
