//! Suggestions for misspelt names.

/// Returns the candidate closest to `name`, if it is close enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let same = candidate.to_lowercase() == name.to_lowercase();
            let edits = if same { 0 } else { strsim::damerau_levenshtein(name, candidate) };
            // One error per four letters is allowed, and at least one letter must match.
            let allowed = (1 + length / 4).min(length.saturating_sub(1));
            (same || edits <= allowed).then_some((edits, candidate))
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// Returns the help line for an unknown name: the closest candidate, or all of them if they are few.
pub fn suggestion<'a>(
    name: &str,
    what: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    const FEW: usize = 24;
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(candidate) = nearest(name, candidates.iter().copied()) {
        return Some(format!("did you mean `{candidate}`?"));
    }
    match candidates.len() {
        0 => Some(format!("there are no {what}")),
        1..=FEW => Some(format!("the {what} are {}", list(&candidates))),
        _ => None,
    }
}

/// Formats names as "`a`, `b`, `c`".
pub fn list(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found_and_others_ignored() {
        let names = ["switched", "fixed", "L0", "L1"];
        for (name, found) in [
            ("swiched", Some("switched")),
            ("Switched", Some("switched")),
            ("fxied", Some("fixed")),
            ("l1", Some("L1")),
            ("A", None),
            ("backup", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names), found, "{name}");
        }
    }
}
