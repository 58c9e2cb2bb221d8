//! iSLIP: arbitration of a crossbar by rotating priorities.
//!
//! # Model
//! Each output grants the first requesting input from its pointer on. Each input accepts the first granting output from
//! its pointer on. Further iterations match the inputs and outputs that are left. Only
//! matches of the first iteration move pointers, each to one behind the match. This spreads the pointers of busy
//! outputs, and no input starves.
//!
//! # References
//! N. McKeown, "The iSLIP scheduling algorithm for input-queued switches", IEEE/ACM Trans. Networking 7(2), 1999,
//! section III.

/// Set of inputs or outputs by number.
pub(super) type Set = u128;

/// Maximum number of inputs, and of outputs.
pub const MOST_PORTS: usize = Set::BITS as usize;

/// Pointers of all inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Islip {
    iterations: u32,
    /// Input with the highest priority, by output.
    grants: Vec<u32>,
    /// Output with the highest priority, by input.
    accepts: Vec<u32>,
    /// Outputs that grant an input in the present iteration, by input.
    granted: Vec<Set>,
}

impl Islip {
    pub(super) fn new(inputs: usize, outputs: usize, iterations: u32) -> Self {
        Islip {
            iterations,
            grants: vec![0; outputs],
            accepts: vec![0; inputs],
            granted: vec![0; inputs],
        }
    }

    /// Matches inputs and outputs. `requests` has the requesting inputs by output. Appends (input, output) to `matches`.
    pub(super) fn arbitrate(&mut self, requests: &[Set], matches: &mut Vec<(usize, usize)>) {
        let (mut free_inputs, mut free_outputs) = (Set::MAX, Set::MAX);
        for iteration in 0..self.iterations {
            self.granted.fill(0);
            for (output, &requests) in requests.iter().enumerate() {
                let candidates = requests & free_inputs;
                if candidates != 0 && free_outputs & bit(output) != 0 {
                    self.granted[first_from(candidates, self.grants[output])] |= bit(output);
                }
            }
            let before = matches.len();
            for input in 0..self.granted.len() {
                let granted = self.granted[input];
                if granted == 0 {
                    continue;
                }
                let output = first_from(granted, self.accepts[input]);
                free_inputs &= !bit(input);
                free_outputs &= !bit(output);
                if iteration == 0 {
                    self.grants[output] = behind(input, self.accepts.len());
                    self.accepts[input] = behind(output, requests.len());
                }
                matches.push((input, output));
            }
            if matches.len() == before {
                return;
            }
        }
    }
}

/// Returns the set that contains only `number`.
pub(super) const fn bit(number: usize) -> Set {
    1 << number
}

/// Returns the first member of a set from `start` on, cyclically.
fn first_from(set: Set, start: u32) -> usize {
    let later = set & (Set::MAX << start);
    (if later == 0 { set } else { later }).trailing_zeros() as usize
}

/// Returns the number behind `number`, cyclically.
fn behind(number: usize, count: usize) -> u32 {
    u32::try_from((number + 1) % count).expect("at most MOST_PORTS")
}
