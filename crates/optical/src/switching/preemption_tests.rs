//! Preemption on one fibre, with times worked out by hand. A byte takes 1 us.

use optcp_net::PortId;

use super::*;

struct Case {
    core: BurstCore,
    /// Bursts preempted by the last request.
    preempted: Vec<u32>,
}

impl Case {
    fn new(wavelengths: u32, scheduling: Scheduling) -> Self {
        let rate = optcp_units::Rate::from_bps(8_000_000).expect("a rate above zero");
        let fibres = vec![Fibre::new(wavelengths, rate, Duration::from_us(100))];
        let core = BurstCore::new(fibres, scheduling, Conversion::Full, Duration::ZERO);
        Case { core: core.with_preemption(), preempted: Vec::new() }
    }

    /// Requests a wavelength at 0 for burst `number` of `class` from `start` to `end`, in us.
    fn request(&mut self, number: u32, class: u8, start: u64, end: u64) -> Option<u32> {
        let id = BurstId { port: PortId::new(0), number, class };
        let burst = Crossing::new(id, Time::ZERO, us(start), end - start);
        let mut preempted = Vec::new();
        let crossed = self.core.cross(&[0], burst, &mut preempted);
        self.preempted = preempted.iter().map(|one| one.number).collect();
        match crossed {
            Crossed::Through(burst, _) => burst.wavelength,
            Crossed::Blocked => None,
            Crossed::Onward(_) => panic!("the route has one fibre"),
        }
    }

    /// Returns the reserved time until `at`, in us, summed over wavelengths.
    fn busy(&self, at: u64) -> u128 {
        self.core.tally(0, us(at)).busy_ps / 1_000_000
    }
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// One wavelength. Burst 0 of class 1 is reserved from 100 to 200.
#[test]
fn only_higher_classes_preempt() {
    for &scheduling in Scheduling::ALL {
        let mut case = Case::new(1, scheduling);
        assert_eq!(case.request(0, 1, 100, 200), Some(0));
        assert_eq!((case.request(1, 0, 150, 160), &*case.preempted), (None, &[][..]));
        assert_eq!((case.request(2, 1, 150, 160), &*case.preempted), (None, &[][..]));
        assert_eq!((case.request(3, 2, 150, 160), &*case.preempted), (Some(0), &[0][..]));
        // Burst 0 keeps 100 to 150; its rest is free.
        assert_eq!(case.busy(1000), 60);
        assert_eq!((case.request(4, 0, 160, 200), &*case.preempted), (Some(0), &[][..]));
        assert_eq!((case.busy(1000), case.busy(155)), (100, 55));
        let tally = case.core.tally(0, us(1000));
        assert_eq!((tally.bursts, tally.lost), (5, 2));
    }
}

/// With a free wavelength nothing is preempted, even if the burst would fit better elsewhere.
#[test]
fn free_wavelength_comes_before_preemption() {
    let mut case = Case::new(2, Scheduling::LaucVf);
    assert_eq!(case.request(0, 0, 100, 200), Some(0));
    assert_eq!((case.request(1, 7, 100, 200), &*case.preempted), (Some(1), &[][..]));
    assert_eq!((case.request(2, 7, 100, 200), &*case.preempted), (Some(0), &[0][..]));
    assert_eq!((case.request(3, 7, 100, 200), &*case.preempted), (None, &[][..]));
}

/// From 100 to 200, wavelength 0 has class 2, and wavelength 1 two bursts of class 1. Wavelength 2 has one burst of class 1,
/// and wavelength 3 one of class 0. A burst of class 3 that overlaps with all of them takes the last one; the next takes wavelength 2,
/// then 1, then 0.
#[test]
fn lowest_class_then_fewest_bursts_are_preempted() {
    let mut case = Case::new(4, Scheduling::LaucVf);
    assert_eq!(case.request(0, 2, 100, 200), Some(0));
    assert_eq!(case.request(1, 1, 100, 150), Some(1));
    assert_eq!(case.request(2, 1, 150, 200), Some(1));
    assert_eq!(case.request(3, 1, 100, 200), Some(2));
    assert_eq!(case.request(4, 0, 100, 200), Some(3));
    let order = [(3, vec![4]), (2, vec![3]), (1, vec![1, 2]), (0, vec![0])];
    for (number, (wavelength, preempted)) in (5..).zip(order) {
        assert_eq!(case.request(number, 3, 120, 180), Some(wavelength));
        assert_eq!(case.preempted, preempted);
    }
    assert_eq!(case.request(9, 3, 120, 180), None);
    // Each wavelength keeps 100 to 120 of the lower class, and 120 to 180.
    assert_eq!(case.busy(1000), 4 * 80);
}

/// A reservation that begins after the first bit of the higher class is removed. The time behind it is free.
#[test]
fn later_reservation_is_removed() {
    let mut case = Case::new(1, Scheduling::LaucVf);
    assert_eq!(case.request(0, 0, 150, 250), Some(0));
    assert_eq!((case.request(1, 1, 100, 200), &*case.preempted), (Some(0), &[0][..]));
    assert_eq!(case.busy(1000), 100);
    assert_eq!(case.request(2, 0, 200, 250), Some(0));
}

/// Behind a reservation of class 0 from 300 to 400 the horizon is 400. Class 1 ignores it: it fits before it, and preempts
/// nothing.
#[test]
fn horizon_of_lower_classes_does_not_count() {
    let mut case = Case::new(1, Scheduling::Horizon);
    assert_eq!(case.request(0, 0, 300, 400), Some(0));
    assert_eq!(case.request(1, 0, 100, 200), None);
    assert_eq!((case.request(2, 1, 100, 200), &*case.preempted), (Some(0), &[][..]));
    assert_eq!((case.request(3, 1, 250, 350), &*case.preempted), (Some(0), &[0][..]));
}

/// Without conversion, a burst preempts on its own wavelength only.
#[test]
fn burst_without_conversion_preempts_on_its_wavelength() {
    let rate = optcp_units::Rate::from_bps(8_000_000).expect("a rate above zero");
    let fibre = || Fibre::new(2, rate, Duration::ZERO);
    let core = BurstCore::new(
        vec![fibre(), fibre()],
        Scheduling::LaucVf,
        Conversion::None,
        Duration::ZERO,
    );
    let mut core = core.with_preemption();
    let mut cross = |route: &[FibreId], number, class, reserved: Option<Crossing>| {
        let id = BurstId { port: PortId::new(0), number, class };
        let burst = reserved.unwrap_or(Crossing::new(id, us(0), us(0), 100));
        let mut preempted = Vec::new();
        let crossed = core.cross(route, burst, &mut preempted);
        (crossed, preempted.iter().map(|one| one.number).collect::<Vec<_>>())
    };
    // The second fibre: wavelength 0 has class 1, wavelength 1 class 0.
    cross(&[1], 0, 1, None);
    cross(&[1], 1, 0, None);
    let (Crossed::Onward(onward), _) = cross(&[0, 1], 2, 2, None) else {
        panic!("the first fibre is free")
    };
    assert_eq!(onward.wavelength, Some(0));
    let (crossed, preempted) = cross(&[0, 1], 2, 2, Some(onward));
    assert!(matches!(crossed, Crossed::Through(..)));
    assert_eq!(preempted, [0]);
}
