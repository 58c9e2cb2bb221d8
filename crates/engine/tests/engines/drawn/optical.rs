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
        let adaptive = self.about("adaptive", |draw| {
            let least = Duration::from_us(draw.below(500));
            let adaptive = Adaptive { least, most: timer, factor: 1 + draw.below(200) };
            draw.one_in(5).then_some(Assembly::Adaptive(adaptive))
        });
        let assembly = match self.below(5) {
            0 => Assembly::Size(size),
            1 | 2 => Assembly::Hybrid(Hybrid { timer, size }),
            _ => Assembly::Timer(timer),
        };
        let assembly = adaptive.unwrap_or(assembly);
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
        let carrier = Carrier::Wavelength { delay: config.delay, loss };
        let path = BurstPath { port, rate: config.rate, offset, carrier };
        let assembler = Assembler::new(path, assembly);
        let assembler = self.about("classes", |draw| draw.classed(assembler, assembly));
        self.world.assemblers.push(assembler);
    }

    /// Routes the bursts of a port's assembler over some fibres of the core.
    pub(super) fn cross_the_core(&mut self, port: PortId, assembly: Assembly, more: Duration) {
        let (config, losses) = &mut self.world.ports[port.index()];
        config.jitter = None;
        let rate = config.rate;
        losses.clear();
        let mut route: Vec<FibreId> = Vec::new();
        for _ in 0..=self.below(3) {
            let fibre = self.number(self.fibres);
            if !route.contains(&fibre) {
                route.push(fibre);
            }
        }
        let offset = BurstCore::least_offset(self.processing, route.len()) + more;
        let routes = self.about("protected", |draw| draw.protected(route));
        let path = BurstPath { port, rate, offset, carrier: Carrier::Fibres(routes) };
        let assembler = Assembler::new(path, assembly);
        let assembler = self.about("classes", |draw| draw.classed(assembler, assembly));
        self.world.assemblers.push(assembler);
    }

    /// Gives half of the assemblers a burst per class, with timers and extra offsets that grow with the class.
    fn classed(&mut self, assembler: Assembler, assembly: Assembly) -> Assembler {
        if self.one_in(2) {
            return assembler;
        }
        let extra = self.below(200);
        let classes = std::array::from_fn(|class| BurstClass {
            assembly: match assembly {
                Assembly::Timer(timer) => {
                    Assembly::Timer(Timer { period: timer.period * (class as u64 + 1) })
                }
                other => other,
            },
            extra_offset: Duration::from_us(extra) * class as u64,
        });
        let of_flows = (0..64).map(|_| u8::try_from(self.below(8)).expect("a class"));
        assembler.with_classes(&classes, FlowClasses(of_flows.collect()))
    }

    /// Adds other routes, which begin like the route where they have to.
    fn protected(&mut self, route: Vec<FibreId>) -> BurstRoutes {
        let protection = self.member(BurstProtection::ALL);
        let mut all = vec![route.clone()];
        match protection {
            BurstProtection::None => {}
            BurstProtection::Deflection => {
                for place in 0..route.len() {
                    let mut detour = route[..place].to_vec();
                    detour.extend((0..self.below(3)).map(|_| self.number(self.fibres)));
                    all.push(if detour.len() > place { detour } else { Vec::new() });
                }
            }
            BurstProtection::OneToOne | BurstProtection::OnePlusOne => {
                all.push((0..=self.below(3)).map(|_| self.number(self.fibres)).collect());
            }
        }
        BurstRoutes { protection, all }
    }

    /// Adds failures of fibres to half of the cores, each repaired before the next.
    fn failing(&mut self) {
        if self.one_in(2) {
            return;
        }
        let detection = Duration::from_us(self.below(20_000));
        let delay_line = Duration::from_us(self.below(500));
        let core = std::mem::take(&mut self.world.core);
        self.world.core = core.with_failures(Failing { detection, delay_line });
        for fibre in 0..self.fibres {
            let mut at = Time::ZERO;
            for _ in 0..self.below(3) {
                at = at + Duration::from_us(self.below(300_000));
                let kept = self.one_in(4);
                self.world.controls.push(Control { at, action: Action::FibreDown(fibre, kept) });
                at = at + Duration::from_us(self.below(60_000));
                self.world.controls.push(Control { at, action: Action::FibreUp(fibre) });
            }
        }
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
        if self.about("preemption", |draw| draw.one_in(2)) {
            let core = std::mem::take(&mut self.world.core);
            self.world.core = core.with_preemption();
        }
        self.about("failing", Self::failing);
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
