//! Video with a buffer at the player.
//!
//! # Model
//! A video consists of chunks of equal playing time, at a constant bit rate. The player requests one chunk after the
//! other, and waits while its buffer is full. It starts to play when a given number of chunks has arrived. A chunk that
//! has not arrived when it is due stalls the player until it has arrived. The operation of the first chunk lasts from the
//! start to the beginning of the playback (start-up delay). The operation of every other chunk lasts from its due time
//! to its playback: zero, or the stall.
//!
//! # References
//! T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M. Watson, "A buffer-based approach to rate adaptation", SIGCOMM
//! 2014, section 2. A player stalls when the mean throughput is below the bit rate for longer than the buffer lasts.
//!
//! # Limitations
//! The bit rate does not adapt. The player resumes with one chunk after a stall. Playing does not stop early.

use optcp_units::Duration;

use super::exchange::Exchange;
use super::parameters::{Application, Draws};
use super::script::Script;

pub(super) fn write(of: &Application, script: &mut Script, draws: &mut Draws) {
    let [full, first] = of.buffer.map(|chunks| chunks as usize);
    for (session, _) in (0..).zip(of.parties.pairs()) {
        let begin = script.step(&[], of.think.draw(&mut draws.think));
        let (mut arrived, mut played): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let rounds = of.rounds as usize;
        for number in 0..rounds {
            // The chunk fits after the playback of the chunk `full` before it has ended, when the next one is due.
            let fits = number.checked_sub(full).map(|ended| played[ended]);
            let mut needs = vec![arrived.last().copied().unwrap_or(begin)];
            if let Some(ended) = fits {
                let due = script.step(&[ended], of.chunk);
                needs.push(due);
            }
            let response = of.size.draw(&mut draws.sizes);
            let service = of.service.draw(&mut draws.service);
            let exchange =
                Exchange { connection: 2 * session, request: of.request, response, service };
            arrived.push(exchange.write(script, &needs, Duration::ZERO)[1]);
            // Chunks that are played once the newest one has arrived.
            let playable = match arrived.len() {
                chunks if chunks < first.min(rounds) => 0,
                chunks => chunks,
            };
            for chunk in played.len()..playable {
                let shown = u32::try_from(chunk).expect("few chunks");
                let operation = script.operation(session, shown, response);
                let (opens, needs) = match played.last() {
                    None => (begin, vec![arrived[number]]),
                    Some(&before) => {
                        let due = script.step(&[before], of.chunk);
                        (due, vec![due, arrived[chunk]])
                    }
                };
                let plays = script.step(&needs, Duration::ZERO);
                script.opens(opens, operation);
                script.closes(plays, operation);
                played.push(plays);
            }
        }
    }
}
