//! Mutation of inputs by words, lines and sections.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Target, seeds};

/// Numbers and signs that often break readers.
const EDGES: &[&str] = &[
    "0",
    "-1",
    "1",
    "65535",
    "65536",
    "200000",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e-308",
    "0.0000000000001",
    "nan",
    "inf",
    "\"",
    "\"\"\"",
    "'",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "(",
    ")",
    "=",
    ",",
    "$",
    "*",
    "\\",
    "\u{0}",
    "\u{e9}",
    "\u{1f980}",
    "true",
    "null",
];

/// Generator of inputs for a target.
pub struct Mutator {
    texts: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// Creates a generator with the words of a target's files and, for scenarios, all valid names.
    #[must_use]
    pub fn new(target: Target) -> Self {
        let texts = seeds::of(target);
        let mut words: Vec<Vec<u8>> = Vec::new();
        if let Target::Scenario | Target::Overrides = target {
            let known = optcp_scenario::catalogue().into_iter().map(|entry| entry.name);
            words.extend(known.map(String::into_bytes));
            words.extend(spans(optcp_scenario::json_schema().as_bytes()));
        }
        words.extend(texts.iter().flat_map(|text| spans(text)));
        words.sort();
        words.dedup();
        words.extend(EDGES.iter().map(|edge| edge.as_bytes().to_vec()));
        Mutator { texts, words }
    }

    /// Returns the initial inputs.
    #[must_use]
    pub fn texts(&self) -> &[Vec<u8>] {
        &self.texts
    }

    /// Returns a mutation of the given input; equal seeds give equal mutations.
    #[must_use]
    pub fn change(&self, input: &[u8], seed: u64) -> Vec<u8> {
        let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
        let mut out = input.to_vec();
        for _ in 0..=random.below(4) {
            self.step(&mut out, &mut random);
        }
        out
    }

    fn step(&self, out: &mut Vec<u8>, random: &mut Random) {
        let other = random.of(&self.texts).cloned().unwrap_or_default();
        match random.below(10) {
            // Replace a word.
            0..=2 => {
                let range = random.place(&words(out));
                let word = match random.below(4) {
                    0 => random.of(EDGES).map_or(&b""[..], |edge| edge.as_bytes()).to_vec(),
                    _ => random.of(&self.words).cloned().unwrap_or_default(),
                };
                out.splice(range, word);
            }
            // Replace a line by one of another text, or insert it.
            3 | 4 => {
                let line = other[random.place(&lines(&other))].to_vec();
                let mut range = random.place(&lines(out));
                if random.below(2) == 0 {
                    range.end = range.start;
                }
                out.splice(range, line);
            }
            // Insert a section of another text.
            5 => {
                let section = other[random.place(&sections(&other))].to_vec();
                let at = random.place(&sections(out)).end;
                out.splice(at..at, section);
            }
            // Remove or repeat a line or section.
            6 | 7 => {
                let parts = if random.below(3) == 0 { sections(out) } else { lines(out) };
                let range = random.place(&parts);
                let part = out[range.clone()].to_vec();
                let times = [0, 0, 2, 3][random.below(4)];
                out.splice(range, part.repeat(times));
            }
            // Remove or replace a few bytes.
            8 => {
                let from = random.below(out.len() + 1);
                let to = (from + random.below(8)).min(out.len());
                let more = random.below(4);
                let bytes: Vec<u8> = (0..more).map(|_| random.byte()).collect();
                out.splice(from..to, bytes);
            }
            _ => {
                if let Some(last) = out.len().checked_sub(1) {
                    let at = random.below(last + 1);
                    out[at] ^= 1 << random.below(8);
                }
            }
        }
    }
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Draws a number below `bound`, or 0 if that is 0.
    fn below(&mut self, bound: usize) -> usize {
        let drawn = usize::try_from(self.0.next_u64() >> 33).unwrap_or(0);
        drawn.checked_rem(bound).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.0.next_u64().to_le_bytes()[7]
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    fn place(&mut self, places: &[std::ops::Range<usize>]) -> std::ops::Range<usize> {
        self.of(places).cloned().unwrap_or(0..0)
    }
}

fn words(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.$".contains(&byte) || byte >= 128;
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, &byte) in text.iter().enumerate() {
        match found.last_mut().filter(|last| last.end == at) {
            Some(last) if belongs(byte) => last.end = at + 1,
            _ if belongs(byte) => found.push(at..at + 1),
            _ => {}
        }
    }
    found
}

/// Returns words, and texts between quotes.
fn spans(text: &[u8]) -> Vec<Vec<u8>> {
    let quoted = text.split(|&byte| byte == b'"').skip(1).step_by(2);
    let short = quoted.filter(|span| span.len() < 60).map(<[u8]>::to_vec);
    short.chain(words(text).into_iter().map(|range| text[range].to_vec())).collect()
}

/// Returns lines with their line ends.
fn lines(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    pieces(text, |at| text[at] == b'\n')
}

/// Returns the blocks between empty lines.
fn sections(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    pieces(text, |at| text[..=at].ends_with(b"\n\n"))
}

fn pieces(text: &[u8], ends: impl Fn(usize) -> bool) -> Vec<std::ops::Range<usize>> {
    let cuts: Vec<usize> = (0..text.len()).filter(|&at| ends(at)).map(|at| at + 1).collect();
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([text.len()]);
    starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| start..end).collect()
}
