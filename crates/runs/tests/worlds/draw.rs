//! Random choices of a scenario: each question has a separate random stream.
//!
//! An answer in a scope made by [`Draw::about`] depends only on the scenario's number, the
//! enclosing scopes, and earlier questions in the same scope. A choice among names gives each name
//! a separate score. A new member of a registry therefore changes only the scenarios that use it.

use std::collections::BTreeMap;
use std::fmt::Debug;

use optcp_des::{Stream, Streams};

/// Choices that make one scenario, or a part of it: a function of the scenario's number and of the
/// question.
pub(crate) struct Draw {
    seed: u64,
    stream: Stream,
    /// How often something was asked about.
    asked: BTreeMap<String, u64>,
}

impl Draw {
    pub(crate) fn new(number: u64) -> Self {
        Draw { seed: number, stream: Streams::new(number).stream("world"), asked: BTreeMap::new() }
    }

    /// Returns the choices about one question, without changing any others. A repeated question is
    /// another question.
    pub(crate) fn about(&mut self, question: &str) -> Draw {
        let times = self.asked.entry(question.to_owned()).or_default();
        *times += 1;
        Draw::new(Streams::new(self.seed).stream(&format!("{question} {times}")).next_u64())
    }

    /// A whole number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.stream.below(bound)
    }

    /// A whole number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Whether something happens that happens in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A place in a list of so many, which is not empty.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("below a usize")
    }

    /// Picks the element of a list with the lowest score; elements are identified by their debug
    /// text. An element listed twice is twice as likely. The order is irrelevant, and a new element
    /// takes an equal share from all others.
    pub(crate) fn pick<T: Clone + Debug>(&mut self, list: &[T]) -> T {
        let scores = self.scores(list);
        let lowest = (0..list.len()).min_by_key(|&place| scores[place]);
        list[lowest.expect("a list that is not empty")].clone()
    }

    /// Picks about half of a list, in its order, and at least one element unless the list is empty.
    pub(crate) fn some<T: Clone + Debug>(&mut self, list: &[T]) -> Vec<T> {
        let scores = self.scores(list);
        let lowest = scores.iter().min().copied().unwrap_or_default();
        let chosen = |score: u64| score == lowest || score < 1 << 63;
        list.iter()
            .zip(scores)
            .filter(|(_, score)| chosen(*score))
            .map(|(one, _)| one.clone())
            .collect()
    }

    /// By member of a list: a score that knows nothing of the others.
    fn scores<T: Debug>(&mut self, list: &[T]) -> Vec<u64> {
        let question = Streams::new(self.stream.next_u64());
        let mut before: BTreeMap<String, u64> = BTreeMap::new();
        let score = |member: &T| {
            let name = format!("{member:?}");
            let copy = before.entry(name.clone()).or_default();
            *copy += 1;
            question.stream(&format!("{name} {copy}")).next_u64()
        };
        list.iter().map(score).collect()
    }
}

/// 3000 questions about a list of three. A fourth member takes a quarter, and all other answers
/// stay the same; the reversed list gives the same. Standard deviation of the quarter: 24; of a
/// third: 26; five of each.
#[test]
fn new_member_changes_only_its_users() {
    let ask = |list: &[&str]| -> Vec<String> {
        (0..3000).map(|number| Draw::new(number).pick(list).to_owned()).collect()
    };
    let [three, four] = [ask(&["a", "b", "c"]), ask(&["a", "new", "b", "c"])];
    let taken = four.iter().filter(|member| *member == "new").count();
    assert!((630..870).contains(&taken), "{taken}");
    assert!(three.iter().zip(&four).all(|(old, new)| old == new || new == "new"));
    assert_eq!(ask(&["c", "b", "a"]), three);
    let first = three.iter().filter(|member| *member == "a").count();
    assert!((870..1130).contains(&first), "{first}");
    let twice = ask(&["a", "b", "a"]).iter().filter(|member| *member == "a").count();
    assert!((1870..2130).contains(&twice), "{twice}");
}

/// Questions about one subject do not change the answers about another. A repeated subject is
/// another subject.
#[test]
fn questions_are_independent() {
    let answers = |more: bool| {
        let mut draw = Draw::new(7);
        let mut first = draw.about("queue");
        if more {
            first.below(10);
        }
        [
            draw.about("queue").below(u64::MAX),
            draw.about("rate").below(u64::MAX),
            draw.below(u64::MAX),
        ]
    };
    assert_eq!(answers(false), answers(true));
    let [queue, rate, own] = answers(false);
    assert!(queue != rate && rate != own);
    let mut draw = Draw::new(7);
    assert_ne!(draw.about("queue").below(u64::MAX), draw.about("queue").below(u64::MAX));
}
