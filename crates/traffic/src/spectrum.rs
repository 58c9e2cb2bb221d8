//! Discrete Fourier transform.
//!
//! # Model
//! X(k) = sum over j of x(j) exp(-2 pi i j k / n) for n a power of two.
//!
//! # References
//! Cooley and Tukey 1965, radix 2, in place.
//!
//! # Limitations
//! Libraries are not used, because they choose instructions and sine functions by machine. Traffic made from their
//! results would differ between machines.

use std::f64::consts::PI;

/// Transforms `re` + i `im` in place.
///
/// # Panics
/// Panics unless both have the same length, a power of two.
pub(crate) fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    assert!(n.is_power_of_two() && im.len() == n, "a power of two of numbers");
    let mut reversed = 0;
    for index in 1..n {
        let mut bit = n >> 1;
        while reversed & bit != 0 {
            reversed ^= bit;
            bit >>= 1;
        }
        reversed |= bit;
        if index < reversed {
            re.swap(index, reversed);
            im.swap(index, reversed);
        }
    }
    // A single table of all roots of unity avoids the rounding errors of their products.
    let roots: Vec<[f64; 2]> = (0..n / 2)
        .map(|k| {
            let angle = -2.0 * PI * k as f64 / n as f64;
            [libm::cos(angle), libm::sin(angle)]
        })
        .collect();
    let mut half = 1;
    while half < n {
        let stride = n / (2 * half);
        for block in (0..n).step_by(2 * half) {
            for k in 0..half {
                let [c, s] = roots[k * stride];
                let (a, b) = (block + k, block + k + half);
                let (x, y) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                (re[a], im[a]) = (re[a] + x, im[a] + y);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transform_matches_definition() {
        let n = 16_u32;
        let x: Vec<f64> = (0..n).map(|j| f64::from(j * j % 7)).collect();
        let y: Vec<f64> = (0..n).map(|j| f64::from(j * 5 % 3)).collect();
        let (mut re, mut im) = (x.clone(), y.clone());
        transform(&mut re, &mut im);
        for k in 0..n {
            let (mut a, mut b) = (0.0, 0.0);
            for j in 0..n {
                let angle = -2.0 * PI * f64::from(j * k) / f64::from(n);
                let (c, s) = (angle.cos(), angle.sin());
                a += x[j as usize] * c - y[j as usize] * s;
                b += x[j as usize] * s + y[j as usize] * c;
            }
            assert!((a - re[k as usize]).abs() < 1e-9 && (b - im[k as usize]).abs() < 1e-9);
        }
    }
}
