//! Parameters of each TCP profile, with reasons: `optcp list profiles`.

use optcp_tcp::profile::Profile;

use crate::schema::written_tcp as written;

/// TCP profile with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileEntry {
    /// Name in scenario files.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// RFCs, paper or program that it follows.
    pub source: &'static str,
    /// All parameters for `rfc`; for other profiles, those that differ from `rfc`.
    pub choices: Vec<ProfileChoice>,
}

/// Parameter of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChoice {
    /// Key in scenario files.
    pub key: &'static str,
    /// Value in scenario notation.
    pub value: String,
    /// Reason for the value.
    pub why: &'static str,
}

/// Returns all profiles, `rfc` first.
#[must_use]
pub fn profiles() -> Vec<ProfileEntry> {
    let rfc = written(&Profile::Rfc.config());
    Profile::ALL
        .iter()
        .zip(Profile::FAMILY.members)
        .map(|(&profile, entry)| ProfileEntry {
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            choices: written(&profile.config())
                .into_iter()
                .filter(|choice| profile == Profile::Rfc || !rfc.contains(choice))
                .map(|(key, value)| ProfileChoice {
                    key,
                    value,
                    why: profile.reason(key).unwrap_or_default(),
                })
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_listed_parameter_has_a_reason() {
        for profile in profiles() {
            for choice in profile.choices {
                assert!(!choice.why.is_empty(), "{}: {}", profile.name, choice.key);
            }
        }
    }

    #[test]
    fn profile_reasons_match_its_changes() {
        for &profile in Profile::ALL {
            let before = profile.base().map(|base| written(&base.config())).unwrap_or_default();
            let differs: BTreeSet<_> = written(&profile.config())
                .into_iter()
                .filter(|choice| !before.contains(choice))
                .map(|(key, _)| key)
                .collect();
            let reasoned: Vec<_> = profile.changed().collect();
            assert_eq!(reasoned.iter().copied().collect::<BTreeSet<_>>(), differs, "{profile:?}");
            assert_eq!(reasoned.len(), differs.len(), "{profile:?} names a choice twice");
        }
    }

    #[test]
    fn values_are_written_as_in_a_scenario() {
        let value = |profile: &str, key: &str| {
            let all = profiles();
            let of = all.iter().find(|entry| entry.name == profile).unwrap();
            of.choices.iter().find(|choice| choice.key == key).map(|choice| choice.value.clone())
        };
        assert_eq!(value("rfc", "mss").unwrap(), "1460 B");
        assert_eq!(value("rfc", "ack_delay").unwrap(), "200 ms");
        assert_eq!(value("rfc", "window_limit").unwrap(), "unlimited");
        assert_eq!(value("inet-2011", "max_rto").unwrap(), "240 s");
        assert_eq!(value("opnet-11", "window_limit").unwrap(), "44");
        assert_eq!(value("opnet-11", "mss"), None);
    }
}
