//! Capture of real packets.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use optcp_units::Time;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};

const NANOSECONDS: u8 = 9;
const PS_PER_NS: u64 = 1000;
/// Packets that are passed to the other thread at once: each time, it must be woken.
const BATCH: usize = 256;

struct Frame {
    interface: u32,
    at: Time,
    bytes: Arc<[u8]>,
}

/// File in pcapng format, with an interface for each node. Another thread writes it.
pub(crate) struct Capture {
    batch: Vec<Frame>,
    batches: Sender<Vec<Frame>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Capture {
    /// Creates the file. Timestamps count from the start of the run.
    pub(crate) fn create<'a>(
        path: &Path,
        interfaces: impl Iterator<Item = &'a str>,
    ) -> io::Result<Self> {
        let mut file =
            PcapNgWriter::new(BufWriter::new(File::create(path)?)).map_err(io::Error::other)?;
        for name in interfaces {
            let block = InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen: 0,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            };
            file.write_pcapng_block(block).map_err(io::Error::other)?;
        }
        let (batches, received) = channel::<Vec<Frame>>();
        let writer = spawn(move || {
            for frame in received.into_iter().flatten() {
                let block = EnhancedPacketBlock {
                    interface_id: frame.interface,
                    timestamp: Duration::from_nanos(frame.at.as_ps() / PS_PER_NS),
                    original_len: u32::try_from(frame.bytes.len()).unwrap_or(u32::MAX),
                    data: Cow::Borrowed(&frame.bytes),
                    options: Vec::new(),
                };
                file.write_pcapng_block(block).map_err(io::Error::other)?;
            }
            file.into_inner().flush()
        });
        Ok(Capture { batch: Vec::new(), batches, writer })
    }

    /// Adds a packet that an interface sent or received.
    pub(crate) fn add(&mut self, interface: usize, at: Time, bytes: Arc<[u8]>) {
        let interface = u32::try_from(interface).unwrap_or(u32::MAX);
        self.batch.push(Frame { interface, at, bytes });
        if self.batch.len() == BATCH {
            self.pass();
        }
    }

    fn pass(&mut self) {
        // A writer that has failed takes no more; `finish` reports why.
        let _ = self.batches.send(mem::take(&mut self.batch));
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.pass();
        drop(self.batches);
        let failed = |_| Err(io::Error::other("the writer of the capture failed"));
        self.writer.join().unwrap_or_else(failed)
    }
}
