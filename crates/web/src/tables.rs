//! Result as bytes: the length of the header in 8 bytes, the header as JSON, and the columns, each aligned to
//! 8 bytes. Numbers are little-endian.

use optcp_runs::{Run, Series, Values};
use serde_json::{Map, Value, json};

/// Encodes a run. The header's `series` contain type, offset after the header and number of values of every
/// column.
pub(crate) fn written(run: &Run) -> Vec<u8> {
    let mut data = Vec::new();
    let series: Vec<Value> = run.series.iter().map(|one| table(one, &mut data)).collect();
    let numbers = |of: &[(&'static str, u64)]| -> Map<String, Value> {
        of.iter().map(|&(name, count)| (name.to_owned(), count.into())).collect()
    };
    let switches = run.switches.iter().map(|one| {
        json!({"at_ps": one.at.as_ps(), "node": one.node, "acks": one.acks, "to_backup": one.to_backup})
    });
    let header = json!({
        "seed": run.seed,
        "scenario_sha256": run.scenario_sha256,
        "records_sha256": run.records_sha256,
        "metrics_sha256": run.metrics_sha256,
        "counts": numbers(&run.counts),
        "drops": numbers(&run.drops),
        "forked_at_ps": run.forked_at.map(|at| at.as_ps()),
        "switches": switches.collect::<Vec<_>>(),
        "series": series,
    });
    let mut header = header.to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], &header, &data].concat()
}

fn table(series: &Series, data: &mut Vec<u8>) -> Value {
    let columns = series.columns.iter().map(|column| {
        data.resize(data.len().next_multiple_of(8), 0);
        let from = data.len();
        let (kind, length) = match &column.values {
            Values::U64(values) => ("u64", put(data, values, |x| x.to_le_bytes())),
            Values::U32(values) => ("u32", put(data, values, |x| x.to_le_bytes())),
            Values::U8(values) => ("u8", put(data, values, |x| [x])),
            Values::Bool(values) => ("u8", put(data, values, |x| [u8::from(x)])),
            Values::F64(values) => ("f64", put(data, values, |x| x.to_le_bytes())),
        };
        json!({"name": column.name, "type": kind, "from": from, "length": length})
    });
    let columns: Vec<Value> = columns.collect();
    json!({
        "name": series.name,
        "kind": series.kind,
        "after_ps": series.after.as_ps(),
        "interval_ps": series.interval.map(|interval| interval.as_ps()),
        "names": series.names,
        "columns": columns,
    })
}

/// Appends values to the data, and returns their number.
fn put<T: Copy, const N: usize>(
    data: &mut Vec<u8>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> usize {
    data.extend(values.iter().flat_map(|&value| bytes(value)));
    values.len()
}
