//! Transfers over one bottleneck.

use optcp_scenario::Scenario;

/// Congestion control of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// RFC 9002, section 7.
    NewReno,
    /// RFC 9438.
    Cubic,
    /// BBR as the stack has it.
    Bbr,
}

impl Control {
    /// All of them.
    pub const ALL: [Control; 3] = [Control::NewReno, Control::Cubic, Control::Bbr];

    /// Returns its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Control::NewReno => "newreno",
            Control::Cubic => "cubic",
            Control::Bbr => "bbr",
        }
    }
}

/// When the receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// Every second packet, or 25 ms after the first one (RFC 9000, section 13.2).
    EverySecond,
    /// Every tenth packet, or 25 ms after the first one: the client requests it (draft-ietf-quic-ack-frequency).
    EveryTenth,
}

/// Transfer from a client to a server over one link.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Name.
    pub name: &'static str,
    /// Rate in both directions in Mb/s.
    pub mbps: u64,
    /// Propagation delay of both directions together in ms.
    pub rtt_ms: u64,
    /// Capacity of the queue of each direction in packets, without the packet in transmission.
    pub queue: u64,
    /// Number of queued packets above which the queue sets CE marks.
    pub marks: Option<u64>,
    /// Probability that a packet of the client is lost, in units of 0.1 %.
    pub loss_permille: u64,
    /// Outages of both directions: start and duration in ms.
    pub outages: &'static [(u64, u64)],
    /// Amount of data in bytes.
    pub size: u64,
    /// Acknowledgments.
    pub acks: Acks,
    /// UDP payload of a full packet in bytes.
    pub payload: u16,
}

/// End of a run whose transfer has not finished, in seconds.
pub const STOP_S: u64 = 300;

impl Case {
    /// Returns the case as a scenario file.
    #[must_use]
    pub fn scenario_text(&self) -> String {
        let Case { name, mbps, rtt_ms, queue, marks, loss_permille, outages, size, .. } = self;
        let delay_us = rtt_ms * 500;
        let queue = match marks {
            None => format!("\"{queue} packets\""),
            Some(marks) => format!(
                "{{ kind = \"step\", limit = \"{queue} packets\", threshold = \"{marks} packets\" }}"
            ),
        };
        let mut text = format!(
            r#"title = "{name}"
stop = "{STOP_S} s"
nodes = [{{ names = ["client", "server"] }}]
links = [{{ chain = ["client", "server"], rate = "{mbps} Mbps", delay = "{delay_us} us", queue = {queue} }}]
flows = [{{ group = "transfer", path = ["client", "server"], tcp = "rfc", size = "{size} B" }}]
"#
        );
        if *loss_permille > 0 {
            text += &format!(
                "losses = [{{ link = [\"client\", \"server\"], kind = \"independent\", probability = 0.{loss_permille:03} }}]\n"
            );
        }
        for (start, duration) in *outages {
            text += &format!(
                "[[failures]]\nlink = [\"client\", \"server\"]\nat = \"{start} ms\"\nrepair = \"{} ms\"\n",
                start + duration
            );
        }
        text
    }

    /// Returns the case as a scenario.
    ///
    /// # Panics
    /// If the scenario is invalid.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        Scenario::parse(&self.scenario_text(), "case.toml", &[])
            .unwrap_or_else(|problem| panic!("{}: {problem}", self.name))
    }
}
