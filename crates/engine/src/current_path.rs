//! Path that packets of a flow would take if the network did not change.

use optcp_net::{FlowId, Hop, INITIAL_TTL, PortId, multipath};

use crate::model::Model;

impl<O> Model<O> {
    /// Returns the ports of the path of data or ACKs, in service or not. The path ends early at a node without a route
    /// and at a queue that no path serves. A bundle stands for the first link that it may choose. Of two copies, the one
    /// that the selector accepts counts.
    pub(crate) fn current_path(&self, flow: FlowId, acks: bool) -> Vec<PortId> {
        let (sending, receiving) = (&self.senders[flow.index()], &self.receivers[flow.index()]);
        let (entry, label) = match acks {
            false => (sending.data, sending.sender.flow_label()),
            true => (receiving.acks, receiving.receiver.flow_label()),
        };
        let key = multipath::labelled(self.labels.key(flow, acks), label);
        let mut longest = Vec::new();
        // Copies are alternatives, of which the first is visited first.
        let mut pending = vec![(entry, Vec::new())];
        while let Some((mut label, mut ports)) = pending.pop() {
            while ports.len() <= usize::from(INITIAL_TTL) {
                let (port, next) = match self.labels.hop(label) {
                    Hop::Deliver => return ports,
                    Hop::Discard(_) => break,
                    Hop::Forward { port, next } | Hop::Tunnel { port, next } => (Some(port), next),
                    Hop::Goto(next) => (None, next),
                    Hop::Ecmp(set) => (None, self.labels.ecmp_by_key(set, key)),
                    Hop::SelectorInput(input) => {
                        let Some(next) = self.labels.may_pass(input) else { break };
                        (None, next)
                    }
                    Hop::Bridge(bridge) => {
                        let [first, (port, next)] = self.labels.bridge(bridge);
                        let mut copy = ports.clone();
                        copy.push(port);
                        pending.push((next, copy));
                        (Some(first.0), first.1)
                    }
                    Hop::Bundle(number) => {
                        let hop = self.labels.bundle_hop(number);
                        let bundle = &self.bundles[hop.bundle as usize];
                        let port = bundle.fixed(hop.destination).unwrap_or(bundle.candidates()[0]);
                        (Some(port), hop.next)
                    }
                    behind @ Hop::Ways(_) => {
                        let served =
                            ports.last().and_then(|&queue| self.schedule_state.served(queue));
                        let Some(way) = served else { break };
                        self.labels.leads_to(behind)[usize::from(way)]
                    }
                };
                ports.extend(port);
                label = next;
            }
            if ports.len() > longest.len() {
                longest = ports;
            }
        }
        longest
    }
}
