//! "Did you mean ...?"

/// The candidate that `name` was probably meant to be, if one is near enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let same = candidate.to_lowercase() == name.to_lowercase();
            let edits = if same { 0 } else { strsim::damerau_levenshtein(name, candidate) };
            // One slip in four letters; and something of the name must remain.
            let allowed = (1 + length / 4).min(length.saturating_sub(1));
            (same || edits <= allowed).then_some((edits, candidate))
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// The help line for an unknown name: the nearest candidate, or all of them if they are few.
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

/// "`a`, `b`, `c`".
pub fn list(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_leaves_strangers_alone() {
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
