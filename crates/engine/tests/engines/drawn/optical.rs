//! Optical parts of a scenario: bundles, burst assemblers and cores of burst switches.

use super::*;

impl Draw {
    /// Adds a port of a path, which may be replaced by an assembler.
    pub(super) fn port_of_way(&mut self) -> PortId {
        let port = self.port();
        if self.one_in(6) && self.all {
            self.assemble(port);
        }
        port
    }

    pub(super) fn assemble(&mut self, port: PortId) {
        let timer = Timer { period: Duration::from_us(500 * (1 + self.below(20))) };
        let size = Size { threshold: Bytes::new(1 + self.below(9000)) };
        let assembly = match self.below(5) {
            0 => Assembly::Size(size),
            1 | 2 => Assembly::Hybrid(Hybrid { timer, size }),
            _ => Assembly::Timer(timer),
        };
        let offset = Duration::from_us(100 * self.below(4));
        if self.one_in(2) {
            return self.cross_the_core(port, assembly, offset);
        }
        let probability = [0.0, 0.01, 0.1][self.place(&[(); 3])];
        let stream = Streams::new(u64::from(port.number())).stream("bursts");
        let loss = IndependentLoss::new(Lossy::Both, probability, stream);
        let (config, losses) = &mut self.world.ports[port.index()];
        config.jitter = None;
        losses.clear();
        let carrier = Carrier::Wavelength { rate: config.rate, delay: config.delay, loss };
        let path = BurstPath { port, offset, carrier };
        self.world.assemblers.push(Assembler::new(path, assembly));
    }

    /// Routes the bursts of a port's assembler over some fibres of the core.
    pub(super) fn cross_the_core(&mut self, port: PortId, assembly: Assembly, more: Duration) {
        let (config, losses) = &mut self.world.ports[port.index()];
        config.jitter = None;
        losses.clear();
        let mut route: Vec<FibreId> = Vec::new();
        for _ in 0..=self.below(3) {
            let fibre = self.number(self.fibres);
            if !route.contains(&fibre) {
                route.push(fibre);
            }
        }
        let offset = BurstCore::least_offset(self.processing, route.len()) + more;
        let path = BurstPath { port, offset, carrier: Carrier::Fibres(route) };
        self.world.assemblers.push(Assembler::new(path, assembly));
    }

    /// Adds the core, most of whose fibres several assemblers share.
    pub(super) fn core(&mut self) {
        let rate = Rate::from_bps(1_000_000 * [4, 8, 20][self.place(&[(); 3])]);
        let rate = rate.expect("a rate above zero");
        let count = 1 + self.number(4);
        self.fibres = count;
        self.processing = Duration::from_us(250 * self.below(3));
        let fibre = |_| {
            let delay = Duration::from_us(500 * self.below(20));
            Fibre::new(1 + self.number(3), rate, delay)
        };
        let fibres = (0..count).map(fibre).collect();
        let scheduling = self.member(Scheduling::ALL);
        let conversion = self.member(Conversion::ALL);
        self.world.core = BurstCore::new(fibres, scheduling, conversion, self.processing);
    }

    pub(super) fn assembles(&self, port: PortId) -> bool {
        self.world.assemblers.iter().any(|assembler| assembler.port() == port)
    }

    /// Returns the bundle of a first port.
    pub(super) fn bundle(&mut self, first: PortId) -> BundleId {
        if let Some(&(_, known)) = self.bundles.iter().find(|&&(port, _)| port == first) {
            return known;
        }
        let mut members = vec![first];
        for _ in 0..1 + self.below(3) {
            let other = self.port();
            if self.one_in(2) {
                let (config, _) = self.world.ports[first.index()].clone();
                self.world.ports[other.index()].0 = config;
            }
            members.push(other);
        }
        let id = u32::try_from(self.world.bundles.len()).expect("few bundles");
        for _ in 0..self.below(3) {
            let member = members[self.place(&members)];
            let act = if self.one_in(2) { Action::TakeOut } else { Action::PutBack };
            self.control(act(id, member));
        }
        let selection = self.member(Selection::ALL);
        self.world.bundles.push(Bundle::new(members, selection));
        self.bundles.push((first, id));
        id
    }
}
