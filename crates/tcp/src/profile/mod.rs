//! Profiles: named sets of TCP parameters, each with its reason.

mod bundle;
mod inet;
mod linux;
mod ns2;
mod opnet;
mod quic;
mod rfc;

use bundle::Bundle;

use optcp_units::registry;

use crate::config::{Config, CongestionKind, ControllerKeys};

registry! {
    /// Profile: a named set of TCP parameters, of which scenarios may change individual ones.
    pub enum Profile ("profiles") {
        "rfc" => Rfc: "NewReno according to the RFCs of 2012", "RFC 5681, 6582, 6298, 3042";
        "ns2-2001" => Ns2Of2001: "NewReno of ns-2 in 2001: tick 100 ms, no partial window deflation, slow-but-steady timer", "shared experiments of the gmpls paper";
        "ns2-2.35" => Ns2Release235: "NewReno of ns-2.35: tick 10 ms, deflation, impatient timer, limited transmit", "ns-2.35 defaults";
        "inet-2011" => Inet2011: "NewReno of OMNeT++/INET in 2011: whole bytes, ssthresh from the inflated window at an RTO, gain 1/8", "behaviour of INET 1.99; sizes of the lbas paper";
        "opnet-11" => Opnet11: "Reno of OPNET Modeler 11, reconstructed: window of 44 segments, timers with ticks of 500 ms", "table I of the obs paper, RFC 2581, public descriptions of OPNET";
        "linux-6" => Linux6: "Linux 6 with its defaults: CUBIC, HyStart, SACK with RACK and PRR, RTO from SRTT + 200 ms; without a SYN, completion times are one RTT short: set `handshake = true`", "behaviour of Linux 6";
        "linux-6-bbr" => Linux6Bbr: "Linux 6 with BBR instead of CUBIC, paced; without a SYN, as `linux-6`", "behaviour of Linux 6 with net.ipv4.tcp_congestion_control = bbr";
        "quic" => Quic: "QUIC version 1 with CUBIC: packet numbers, packet and time thresholds, probe timeouts, delayed ACKs; the handshake is one exchange: set `handshake = true`", "RFC 9000, 9002, 9438";
    }
}

impl Profile {
    /// Returns all parameters of this profile.
    #[must_use]
    pub fn config(self) -> Config {
        (self.bundle().config)()
    }

    /// Returns all parameters of this profile with another congestion control.
    #[must_use]
    pub fn config_with(self, congestion: CongestionKind) -> Config {
        let mut config = self.config();
        self.adopt(congestion, &mut config);
        config
    }

    /// Changes the congestion control and the parameters that the profile sets for it.
    pub fn adopt(self, congestion: CongestionKind, config: &mut Config) {
        config.congestion = congestion;
        match self {
            Profile::Linux6 | Profile::Linux6Bbr => linux::adopt(congestion, config),
            Profile::Quic => quic::adopt(congestion, config),
            Profile::Rfc
            | Profile::Ns2Of2001
            | Profile::Ns2Release235
            | Profile::Inet2011
            | Profile::Opnet11 => {}
        }
    }

    /// Returns the base profile, from which this one differs by [`Profile::changed`].
    #[must_use]
    pub fn base(self) -> Option<Profile> {
        match self {
            Profile::Rfc => None,
            Profile::Ns2Of2001 => Some(Profile::Ns2Release235),
            Profile::Ns2Release235
            | Profile::Inet2011
            | Profile::Opnet11
            | Profile::Linux6
            | Profile::Quic => Some(Profile::Rfc),
            Profile::Linux6Bbr => Some(Profile::Linux6),
        }
    }

    /// Returns the parameters that this profile defines itself, in the order of its file. Without a base
    /// profile, these include parameters of individual controllers.
    pub fn changed(self) -> impl Iterator<Item = &'static str> {
        let own = controllers().filter(move |_| self.base().is_none()).map(|(key, _)| key);
        self.bundle().groups.iter().flat_map(|group| group.fields).copied().chain(own)
    }

    /// Returns the reason for a parameter's value: of this profile, of its base profile, or of the
    /// controller.
    #[must_use]
    pub fn reason(self, key: &str) -> Option<&'static str> {
        let own = self.bundle().groups.iter().find(|group| group.fields.contains(&key));
        own.map(|group| group.why).or_else(|| match self.base() {
            Some(base) => base.reason(key),
            None => controllers().find(|&(own, _)| own == key).map(|(_, why)| why),
        })
    }

    fn bundle(self) -> &'static Bundle {
        match self {
            Profile::Rfc => &rfc::RFC,
            Profile::Ns2Of2001 => &ns2::IN_2001,
            Profile::Ns2Release235 => &ns2::RELEASE_2_35,
            Profile::Inet2011 => &inet::IN_2011,
            Profile::Opnet11 => &opnet::MODELER_11,
            Profile::Linux6 => &linux::VERSION_6,
            Profile::Linux6Bbr => &linux::VERSION_6_BBR,
            Profile::Quic => &quic::VERSION_1,
        }
    }
}

/// Returns the parameters of individual controllers with the reasons for their defaults.
fn controllers() -> impl Iterator<Item = (&'static str, &'static str)> {
    ControllerKeys::ALL.iter().copied().flatten().copied()
}
