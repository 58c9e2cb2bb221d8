//! Packet captures.

use numpy::{Element, PyArray1, PyArrayMethods};
use optcp_runs::pcapng::{Agreed, Capture, Connection, Frame};
use optcp_units::{Marking, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Placeholder for a missing value.
const NONE: u32 = u32::MAX;

/// Address and port of sender and receiver, and whether they use UDP.
type Ends = ([u8; 4], u16, [u8; 4], u16, bool);
/// MSS option, receive window in bytes, window scaling, SACK, and presence of SYNs.
type Agreement = (u16, u32, bool, bool, bool);

#[pyfunction]
pub(crate) fn write_pcapng<'py>(
    py: Python<'py>,
    interfaces: Vec<String>,
    hosts: Vec<([u8; 4], String)>,
    connections: Vec<(Ends, Agreement)>,
    sacks: Vec<Vec<(u32, u32)>>,
    comments: Vec<String>,
    frames: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    let connection = |(ends, (mss, window, scaling, sack, handshake)): (Ends, Agreement)| {
        let (source, from, destination, into, udp) = ends;
        let agreed = Agreed { mss, window, scaling, sack, handshake };
        Connection { source: (source, from), destination: (destination, into), udp, agreed }
    };
    let connections = connections.into_iter().map(connection);
    let capture = Capture {
        interfaces,
        hosts,
        connections: connections.collect(),
        sacks,
        comments,
        frames: rows(frames)?,
    };
    let bytes = py.detach(|| capture.to_pcapng()).map_err(PyValueError::new_err)?;
    Ok(PyBytes::new(py, &bytes))
}

fn rows(frames: &Bound<'_, PyDict>) -> PyResult<Vec<Frame>> {
    let times: Vec<i64> = column(frames, "time_ps")?;
    let interface: Vec<u32> = column(frames, "interface")?;
    let connection: Vec<u32> = column(frames, "connection")?;
    let backward: Vec<bool> = column(frames, "backward")?;
    let opens: Vec<bool> = column(frames, "opens")?;
    let number: Vec<u32> = column(frames, "number")?;
    let payload: Vec<u16> = column(frames, "payload_bytes")?;
    let stamp: Vec<u32> = column(frames, "stamp")?;
    let echo: Vec<u32> = column(frames, "echo")?;
    let stamped: Vec<bool> = column(frames, "stamped")?;
    let sack: Vec<u32> = column(frames, "sack")?;
    let comment: Vec<u32> = column(frames, "comment")?;
    let marking: Vec<u8> = column(frames, "marking")?;
    let length = times.len();
    let lengths = [
        interface.len(),
        connection.len(),
        backward.len(),
        opens.len(),
        number.len(),
        payload.len(),
        stamp.len(),
        echo.len(),
        stamped.len(),
        sack.len(),
        comment.len(),
        marking.len(),
    ];
    if lengths.iter().any(|&other| other != length) {
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    let frame = |row: usize| Frame {
        at: Time::from_ps(times[row].cast_unsigned()),
        interface: interface[row],
        connection: connection[row],
        backward: backward[row],
        opens: opens[row],
        number: number[row],
        payload: payload[row],
        stamps: stamped[row].then_some((stamp[row], echo[row])),
        sack: (sack[row] != NONE).then_some(sack[row]),
        comment: (comment[row] != NONE).then_some(comment[row]),
        marking: Marking::from_bits(marking[row]),
    };
    Ok((0..length).map(frame).collect())
}

fn column<T: Element>(frames: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    let values = frames.get_item(name)?;
    let values = values.ok_or_else(|| PyValueError::new_err(format!("no column `{name}`")))?;
    Ok(values.cast::<PyArray1<T>>()?.to_vec()?)
}
