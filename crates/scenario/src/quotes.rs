//! Repair of `--set` values that lack quotes.

use toml::de::DeValue;

/// Returns a list or table with the missing quotes added to its strings. Returns `None` for valid TOML, and
/// if quotes do not make it valid.
pub(crate) fn with_quotes(text: &str) -> Option<String> {
    if !text.trim_start().starts_with(['[', '{']) || DeValue::parse(text).is_ok() {
        return None;
    }
    let (mut found, mut word) = (String::new(), String::new());
    for c in text.chars() {
        if !"[]{},=".contains(c) {
            word.push(c);
            continue;
        }
        let bare = word.trim();
        match bare.is_empty() || c == '=' || DeValue::parse(bare).is_ok() {
            true => found.push_str(bare),
            false => found.push_str(&format!("\"{bare}\"")),
        }
        word.clear();
        match c {
            ',' => found.push_str(", "),
            '=' => found.push_str(" = "),
            c => found.push(c),
        }
    }
    found.push_str(&word);
    DeValue::parse(&found).is_ok().then_some(found)
}
