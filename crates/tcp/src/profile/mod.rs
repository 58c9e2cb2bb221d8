//! Named bundles of TCP choices, each choice with the reason for it.

mod bundle;
mod inet;
mod linux;
mod ns2;
mod opnet;
mod rfc;

use bundle::Bundle;

use optcp_units::registry;

use crate::config::{Config, CongestionKind, ControllerKeys};

registry! {
    /// A named bundle of TCP choices; a scenario may then change single ones.
    pub enum Profile ("profiles") {
        "rfc" => Rfc: "NewReno as the RFCs of 2012 have it", "RFC 5681, 6582, 6298, 3042";
        "ns2-2001" => Ns2Of2001: "NewReno of ns-2 in 2001: tick 100 ms, no partial window deflation, patient timer", "shared experiments of the gmpls paper";
        "ns2-2.35" => Ns2Release235: "NewReno of ns-2.35: tick 10 ms, deflation, impatient timer, limited transmit", "ns-2.35 defaults";
        "inet-2011" => Inet2011: "NewReno of OMNeT++/INET in 2011: whole bytes, ssthresh from the inflated window at a timeout, gain 1/8", "behaviour of INET 1.99; sizes of the lbas paper";
        "opnet-11" => Opnet11: "Reno of OPNET Modeler 11, reconstructed: 44 segments of window, timers on a tick of 500 ms", "table I of the obs paper, RFC 2581, public descriptions of OPNET";
        "linux-6" => Linux6: "Linux 6 with its defaults: CUBIC, HyStart, SACK with RACK and PRR, timeouts from SRTT + 200 ms; flows open without a SYN, so that completion times are one RTT short: set `handshake = true`", "behaviour of Linux 6";
        "linux-6-bbr" => Linux6Bbr: "Linux 6 with BBR in the place of CUBIC, paced; flows open without a SYN, as with `linux-6`", "behaviour of Linux 6 with net.ipv4.tcp_congestion_control = bbr";
    }
}

impl Profile {
    /// Every choice as this profile makes it.
    #[must_use]
    pub fn config(self) -> Config {
        (self.bundle().config)()
    }

    /// Every choice as this profile makes it beside another congestion control.
    #[must_use]
    pub fn config_with(self, congestion: CongestionKind) -> Config {
        let mut config = self.config();
        self.adopt(congestion, &mut config);
        config
    }

    /// Takes another congestion control, and with it the choices that the profile makes for that one alone.
    pub fn adopt(self, congestion: CongestionKind, config: &mut Config) {
        config.congestion = congestion;
        match self {
            Profile::Linux6 | Profile::Linux6Bbr => linux::adopt(congestion, config),
            Profile::Rfc
            | Profile::Ns2Of2001
            | Profile::Ns2Release235
            | Profile::Inet2011
            | Profile::Opnet11 => {}
        }
    }

    /// The profile that this one starts from and differs from in what [`Profile::changed`] names.
    #[must_use]
    pub fn base(self) -> Option<Profile> {
        match self {
            Profile::Rfc => None,
            Profile::Ns2Of2001 => Some(Profile::Ns2Release235),
            Profile::Ns2Release235 | Profile::Inet2011 | Profile::Opnet11 | Profile::Linux6 => {
                Some(Profile::Rfc)
            }
            Profile::Linux6Bbr => Some(Profile::Linux6),
        }
    }

    /// The choices that this profile makes itself, in the order of its file; of one that starts from no
    /// other, also those that controllers have for themselves.
    pub fn changed(self) -> impl Iterator<Item = &'static str> {
        let own = controllers().filter(move |_| self.base().is_none()).map(|(key, _)| key);
        self.bundle().groups.iter().flat_map(|group| group.fields).copied().chain(own)
    }

    /// Why a choice is what it is here, in the words of this profile, of the one that it starts from, or of
    /// the controller that it belongs to.
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
        }
    }
}

/// The choices that controllers have for themselves, with the reasons for their defaults.
fn controllers() -> impl Iterator<Item = (&'static str, &'static str)> {
    ControllerKeys::ALL.iter().copied().flatten().copied()
}
