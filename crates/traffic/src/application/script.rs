//! Steps of applications.

use optcp_units::Duration;

/// Data that a step writes to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Connection, by number.
    pub connection: u32,
    /// Size in bytes.
    pub bytes: u64,
}

/// Step of an application. It happens a fixed time after the last of the steps that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of steps that it needs. A step that needs none happens after the start of the application.
    pub needs: u32,
    /// Time after the last of these steps.
    pub delay: Duration,
    /// Data to write. The step is complete when they have arrived; without data, at once.
    pub message: Option<Message>,
    /// Operation that begins when the step happens.
    pub opens: Option<u32>,
    /// Operation that ends when this step and all others that close it are complete.
    pub closes: Option<u32>,
}

/// Unit of work whose duration matters to a user: a request, a round, a page, the playback of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Session, by number.
    pub session: u32,
    /// Number of the operation in its session.
    pub number: u32,
    /// Data that it waits for, in bytes.
    pub bytes: u64,
}

/// Steps of applications. Each step follows the steps that it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Steps.
    pub steps: Vec<Step>,
    /// Needed step and needing step, in ascending order of the needing steps.
    pub edges: Vec<[u32; 2]>,
    /// Operations.
    pub operations: Vec<Operation>,
}

impl Script {
    /// Adds a step `delay` after the last of `needs`. Returns its number.
    pub fn step(&mut self, needs: &[u32], delay: Duration) -> u32 {
        let number = count(self.steps.len());
        self.edges.extend(needs.iter().map(|&need| [need, number]));
        let needs = count(needs.len());
        self.steps.push(Step { needs, delay, message: None, opens: None, closes: None });
        number
    }

    /// Adds a step that writes a message.
    pub fn message(&mut self, needs: &[u32], delay: Duration, message: Message) -> u32 {
        let number = self.step(needs, delay);
        self.steps[number as usize].message = Some(message);
        number
    }

    /// Adds an operation. Returns its number.
    pub fn operation(&mut self, session: u32, number: u32, bytes: u64) -> u32 {
        self.operations.push(Operation { session, number, bytes });
        count(self.operations.len() - 1)
    }

    /// Lets a step begin an operation.
    pub fn opens(&mut self, step: u32, operation: u32) {
        self.steps[step as usize].opens = Some(operation);
    }

    /// Lets a step end an operation.
    pub fn closes(&mut self, step: u32, operation: u32) {
        self.steps[step as usize].closes = Some(operation);
    }

    /// Appends another script, whose connections and sessions follow `connections` and `sessions` others, and whose
    /// first steps happen `start` later.
    pub fn append(&mut self, other: Script, connections: u32, sessions: u32, start: Duration) {
        let (steps, operations) = (count(self.steps.len()), count(self.operations.len()));
        self.steps.extend(other.steps.into_iter().map(|step| {
            let message = step
                .message
                .map(|message| Message { connection: message.connection + connections, ..message });
            let delay = if step.needs == 0 { step.delay + start } else { step.delay };
            let [opens, closes] =
                [step.opens, step.closes].map(|operation| Some(operation? + operations));
            Step { message, delay, opens, closes, ..step }
        }));
        self.edges.extend(other.edges.into_iter().map(|edge| edge.map(|step| step + steps)));
        self.operations.extend(
            other
                .operations
                .into_iter()
                .map(|operation| Operation { session: operation.session + sessions, ..operation }),
        );
    }
}

/// Converts a number of steps, which the check of a scenario bounds.
fn count(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 steps")
}
