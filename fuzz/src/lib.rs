//! Fuzz targets: readers of foreign text or bytes, conditions that must always hold, and generation of inputs.

mod mutate;
mod seeds;
mod targets;

pub use libfuzzer_sys;
pub use mutate::Mutator;
pub use targets::Target;

/// Main loop that libFuzzer drives for a target, alternating between its mutations and ours.
#[macro_export]
macro_rules! fuzz {
    ($target:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::Target::$target.check(bytes));
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8],
                                              size: usize,
                                              most: usize,
                                              seed: u32| {
            static MUTATOR: std::sync::LazyLock<$crate::Mutator> =
                std::sync::LazyLock::new(|| $crate::Mutator::new($crate::Target::$target));
            if seed % 2 == 0 {
                return $crate::libfuzzer_sys::fuzzer_mutate(data, size, most);
            }
            let mutant = MUTATOR.change(&data[..size], u64::from(seed));
            let length = mutant.len().min(most);
            data[..length].copy_from_slice(&mutant[..length]);
            length
        });
    };
}
