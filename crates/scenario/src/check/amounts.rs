//! Amounts of data of flows, in full segments.

use optcp_tcp::config::Config;
use optcp_units::Duration;

use crate::problem::Problems;
use crate::schema::{FlowsEntry, Volume};
use crate::tree::{Step, place};
use crate::warnings::{WarningKind, text};

/// Returns the number of full segments of a flow, and its later writes: delay after the start, and number of
/// segments.
pub(super) fn amounts(
    i: usize,
    entry: &FlowsEntry,
    config: &Config,
    problems: &mut Problems<'_>,
) -> (Option<u32>, Vec<(Duration, u32)>) {
    let Some(writes) = &entry.writes else {
        let place = place!["flows", i, "size"];
        let size = entry.size.and_then(|size| segments(place, size, config, problems));
        return (size, Vec::new());
    };
    let place = place!["flows", i, "writes"];
    if entry.size.is_some() {
        problems.at(place, "both `size` and `writes`").label("omit one of them");
    }
    if writes.is_empty() {
        problems.at(place, "flow without data");
    }
    let mut all = 0_u32;
    let mut later: Vec<(Duration, u32)> = Vec::new();
    for (j, write) in writes.iter().enumerate() {
        if j > 0 && write.after.0 <= writes[j - 1].after.0 {
            problems
                .at(place!["flows", i, "writes", j, "after"], "not later than the previous write")
                .label("sort writes by time");
        }
        let place = place!["flows", i, "writes", j, "size"];
        if write.size == Volume::Greedy {
            problems.at(place, "unlimited write").label("needs a size, such as `100 segments`");
        }
        let Some(segments) = segments(place, write.size, config, problems) else { continue };
        all = all.checked_add(segments).filter(|all| *all <= MOST_WRITTEN).unwrap_or_else(|| {
            problems.at(place, format!("writes of more than {MOST_WRITTEN} segments"));
            0
        });
        if write.after.0 > Duration::ZERO {
            later.push((write.after.0, segments));
        }
    }
    (Some(all), later)
}

/// Maximum number of segments of all writes together.
const MOST_WRITTEN: u32 = (1 << 30) - 1;

/// Returns the number of full segments needed for the data.
fn segments(
    place: &[Step],
    size: Volume,
    config: &Config,
    problems: &mut Problems<'_>,
) -> Option<u32> {
    let segments = match size {
        Volume::Greedy => return None,
        Volume::Segments(segments) => u64::from(segments),
        Volume::Data(bytes) => {
            let mss = config.mss.count().max(1);
            let segments = bytes.count().div_ceil(mss);
            warn_of_rounding(place, bytes.count(), [segments, mss], problems);
            segments
        }
    };
    if segments == 0 {
        problems.at(place, "flow without data");
    }
    match u32::try_from(segments) {
        Ok(segments) => Some(segments),
        Err(_) => {
            let message = format!("{segments} segments exceed the maximum of a flow");
            problems.at(place, message).label(format!("at most {} segments", u32::MAX));
            None
        }
    }
}

/// Warns if rounding up to whole segments increases a size by a tenth or more.
pub(super) fn warn_of_rounding(
    place: &[Step],
    bytes: u64,
    [segments, mss]: [u64; 2],
    problems: &mut Problems<'_>,
) {
    let sent = segments.saturating_mul(mss);
    if bytes == 0 || sent.saturating_sub(bytes) < bytes.div_ceil(10) {
        return;
    }
    let message = format!(
        "{} are sent as {} of {}, so that completion times are those of {}: give `size` in segments, or set a smaller `mss`",
        text::bytes(bytes as f64),
        text::count_noun(segments, "whole segment"),
        text::bytes(mss as f64),
        text::bytes(sent as f64),
    );
    problems.warn(WarningKind::WholeSegments, place, message);
}
