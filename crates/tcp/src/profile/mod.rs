//! Named bundles of TCP choices, each choice with the reason for it.

mod bundle;
mod inet;
mod linux;
mod ns2;
mod opnet;
mod rfc;

use bundle::Bundle;

use optcp_units::registry;

use crate::config::Config;

registry! {
    /// A named bundle of TCP choices; a scenario may then change single ones.
    pub enum Profile ("profiles") {
        "rfc" => Rfc: "NewReno as the RFCs of 2012 have it", "RFC 5681, 6582, 6298, 3042";
        "ns2-2001" => Ns2Of2001: "NewReno of ns-2 in 2001: tick 100 ms, no partial window deflation, patient timer", "shared experiments of the gmpls paper";
        "ns2-2.35" => Ns2Release235: "NewReno of ns-2.35: tick 10 ms, deflation, impatient timer, limited transmit", "ns-2.35 defaults";
        "inet-2011" => Inet2011: "NewReno of OMNeT++/INET in 2011: whole bytes, ssthresh from the inflated window at a timeout, gain 1/8", "behaviour of INET 1.99; sizes of the lbas paper";
        "opnet-11" => Opnet11: "Reno of OPNET Modeler 11, reconstructed: 44 segments of window, timers on a tick of 500 ms", "table I of the obs paper, RFC 2581, public descriptions of OPNET";
        "linux-6" => Linux6: "Linux 6 with its defaults: CUBIC, HyStart, SACK with RACK and PRR, timeouts from SRTT + 200 ms", "behaviour of Linux 6";
    }
}

impl Profile {
    /// Every choice as this profile makes it.
    #[must_use]
    pub fn config(self) -> Config {
        (self.bundle().config)()
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
        }
    }

    /// The fields of [`Config`] that this profile sets itself, in the order of its file.
    pub fn changed(self) -> impl Iterator<Item = &'static str> {
        self.bundle().groups.iter().flat_map(|group| group.fields).copied()
    }

    /// Why a field of [`Config`] has the value that it has here, in this profile's words or in those of
    /// the profile that it starts from.
    #[must_use]
    pub fn reason(self, field: &str) -> Option<&'static str> {
        let own = self.bundle().groups.iter().find(|group| group.fields.contains(&field));
        own.map(|group| group.why).or_else(|| self.base()?.reason(field))
    }

    fn bundle(self) -> &'static Bundle {
        match self {
            Profile::Rfc => &rfc::RFC,
            Profile::Ns2Of2001 => &ns2::IN_2001,
            Profile::Ns2Release235 => &ns2::RELEASE_2_35,
            Profile::Inet2011 => &inet::IN_2011,
            Profile::Opnet11 => &opnet::MODELER_11,
            Profile::Linux6 => &linux::VERSION_6,
        }
    }
}
