//! Scheduled changes: schedules, the queues and limits that they change, and notified senders.

use super::*;

impl Draw {
    /// Makes some senders listen to a queue, whether or not it is on their path.
    pub(super) fn listeners(&mut self) {
        let queues: Vec<PortId> = self.world.queues.iter().map(|queue| queue.port).collect();
        let mut own = Streams::new(self.world.ports.len() as u64).stream("listeners");
        for flow in 0..self.world.flows.len() {
            let config = Arc::clone(&self.world.flows[flow].config);
            let possible = config.recovery == RecoveryKind::Sack
                && config.ecn == Ecn::Off
                && !config.congestion.wants_rates();
            if possible && !queues.is_empty() && own.below(3) > 0 {
                let config = Config { path_state: PathState::PerNetwork, ..(*config).clone() };
                let place = own.below(queues.len() as u64);
                let queue = queues[usize::try_from(place).expect("a place")];
                let flow = &mut self.world.flows[flow];
                (flow.config, flow.notified_by) = (Arc::new(config), Some(queue));
            }
        }
    }

    /// Draws one of the paths of a queue, or none.
    pub(super) fn way_of(&mut self, ways: &[Vec<PortId>]) -> Option<u8> {
        (!self.one_in(4)).then(|| u8::try_from(self.place(ways)).expect("few ways"))
    }

    /// Adds scheduled changes of queues and other ports.
    pub(super) fn schedule(&mut self, plain: &[PortId]) {
        let mut steps: Vec<Step> = Vec::new();
        let queues = self.world.queues.clone();
        let period = Duration::from_ms(1 + self.below(200));
        for _ in 0..1 + self.below(6) {
            let after = Duration::from_us(self.below(period.as_ps() / 1_000_000));
            let mut changes = Vec::new();
            for _ in 0..1 + self.below(3) {
                changes.push(self.about("change", |draw| draw.change(&queues, plain)));
            }
            steps.push(Step { after, changes });
        }
        // A reduced limit is often increased again, so that packets are lost in each period.
        let limits =
            steps.iter().flat_map(|step| &step.changes).filter_map(|change| match change {
                Change::Limit(port, _) => Some(*port),
                _ => None,
            });
        for port in limits.collect::<Vec<PortId>>() {
            let after = Duration::from_us(self.below(period.as_ps() / 1_000_000));
            let changes = vec![Change::Limit(port, QueueLimit::Unlimited)];
            if !self.one_in(3) {
                steps.push(Step { after, changes });
            }
        }
        steps.sort_by_key(|step| step.after);
        let first = Time::ZERO + Duration::from_ms(self.below(400));
        let period = (!self.one_in(4)).then_some(period);
        self.world.schedules.push(Schedule { first, period, steps: steps.into() });
    }

    pub(super) fn change(&mut self, queues: &[QueueSpec], plain: &[PortId]) -> Change {
        if !queues.is_empty() && !self.one_in(3) {
            let queue = &queues[self.place(queues)];
            return match self.below(4) {
                0 => self.limit(queue.port),
                _ => Change::Serve(queue.port, self.way_of(&queue.ways)),
            };
        }
        let port = plain[self.place(plain)];
        match self.below(6) {
            0 => {
                let mbps = 1 + self.below(30);
                Change::Rate(port, Rate::from_bps(mbps * 1_000_000).expect("above zero"))
            }
            1 => Change::Delay(port, Duration::from_ms(self.below(20))),
            2 => self.limit(port),
            3 => Change::Ece(port, !self.one_in(3)),
            4 => {
                let [from, to] = [20; 2].map(|most| Duration::from_ms(self.below(most)));
                let over = Duration::from_ms(1 + self.below(300));
                Change::Drift(port, Drift { from, to, over })
            }
            _ => Change::Open(port, !self.one_in(3)),
        }
    }

    pub(super) fn limit(&mut self, port: PortId) -> Change {
        // Such a discipline stores its packets itself.
        if self.world.ports[port.index()].0.decides_on_departure() {
            return Change::Delay(port, Duration::from_ms(self.below(20)));
        }
        let limit = match self.below(3) {
            0 => QueueLimit::Bytes(1500 * (1 + self.below(10))),
            // The limit is often below the current queue length.
            1 => QueueLimit::Packets(1 + self.number(20)),
            _ => QueueLimit::Packets(1 + self.number(2)),
        };
        Change::Limit(port, limit)
    }
}
