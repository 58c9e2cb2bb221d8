//! Speed of the kernel: the dumbbell workload, and what a fork costs.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use optcp_harness::workload::{Dumbbell, Tcp};
use optcp_runs::Kernel;
use optcp_units::{Duration, Time};

fn kernel(criterion: &mut Criterion) {
    for kernel in Kernel::ALL {
        let mut group = criterion.benchmark_group(format!("{} kernel", kernel.name()));
        group.sample_size(10);
        for (flows, seconds) in [(10, 10), (100, 2), (1000, 1)] {
            let set_up = || Dumbbell::new(Tcp::NewReno, flows, seconds, kernel);
            group.throughput(Throughput::Elements(set_up().run().packet_hops));
            group.bench_function(format!("dumbbell of {flows} flows"), |bencher| {
                bencher.iter_batched_ref(set_up, Dumbbell::run, BatchSize::LargeInput);
            });
        }
        group.finish();
    }

    let mut dumbbell = Dumbbell::new(Tcp::NewReno, 100, 10, Kernel::Fast);
    dumbbell.run_before(Time::ZERO + Duration::from_secs(5));
    criterion.bench_function("fork of a world of 100 flows", |bencher| {
        bencher.iter_with_large_drop(|| dumbbell.clone());
    });
}

criterion_group!(benches, kernel);
criterion_main!(benches);
