//! Dictionary-encoded columns with few distinct values, written without processing each value.
//!
//! The pages use Parquet's encoding `RLE_DICTIONARY`: runs of one index, or groups of eight bit-packed
//! indices.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask};
use parquet::column::page::{CompressedPage, Page, PageReader, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::Texts;

/// Size of a bit-packed group.
const GROUP: usize = 8;

/// Returns the pages of a column chunk, with its metadata for the file.
pub(super) fn pages(
    column: ColumnDescPtr,
    dictionary: Vec<u8>,
    distinct: usize,
    codes: &[u32],
) -> Result<(Bytes, ColumnCloseResult)> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut writer = SerializedPageWriter::new(&mut sink);
    let page = Page::DictionaryPage {
        buf: dictionary.into(),
        num_values: count(distinct)?,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    };
    let dictionary_page = writer.write_page(uncompressed(page))?;
    let page = Page::DataPage {
        buf: packed(codes, width(distinct)).into(),
        num_values: count(codes.len())?,
        encoding: Encoding::RLE_DICTIONARY,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    };
    let data_page = writer.write_page(uncompressed(page))?;
    writer.close()?;
    let bytes = Bytes::from(sink.into_inner()?);
    let size = i64::try_from(bytes.len())?;
    let values = i64::try_from(codes.len())?;
    let encodings = [Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY];
    let metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::UNCOMPRESSED)
        .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
        .set_num_values(values)
        .set_total_compressed_size(size)
        .set_total_uncompressed_size(size)
        .set_dictionary_page_offset(Some(i64::try_from(dictionary_page.offset)?))
        .set_data_page_offset(i64::try_from(data_page.offset)?)
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: codes.len() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((bytes, close))
}

/// Appends the texts of a column chunk that [`pages`] wrote.
pub(super) fn append(all: &mut Texts, pages: &mut dyn PageReader, rows: usize) -> Result<()> {
    let mut places: Vec<u32> = Vec::new();
    let end = all.codes.len() + rows;
    while let Some(page) = pages.get_next_page()? {
        match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                let texts = plain_texts(&buf, num_values).collect::<Result<Vec<_>>>()?;
                places = all.places(texts);
            }
            Page::DataPage { buf, num_values, encoding: Encoding::RLE_DICTIONARY, .. } => {
                unpack(&buf, num_values as usize, &places, &mut all.codes)?;
            }
            _ => return Err(damaged("pages of another form")),
        }
    }
    if all.codes.len() == end { Ok(()) } else { Err(damaged("a column ends too early")) }
}

fn uncompressed(page: Page) -> CompressedPage {
    let size = page.buffer().len();
    CompressedPage::new(page, size)
}

fn count(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| ParquetError::General("too many values".to_owned()))
}

fn damaged(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

/// Returns the number of bits of a dictionary index.
fn width(distinct: usize) -> u32 {
    usize::BITS - distinct.saturating_sub(1).leading_zeros()
}

fn packed(codes: &[u32], width: u32) -> Vec<u8> {
    let mut out = vec![u8::try_from(width).unwrap_or(u8::MAX)];
    // Indices that do not form a run yet.
    let mut single: Vec<u32> = Vec::new();
    let mut at = 0;
    while at < codes.len() {
        let run = codes[at..].iter().take_while(|&&code| code == codes[at]).count();
        let open = single.len() % GROUP;
        if open == 0 && run >= GROUP {
            pack(&mut out, &mut single, width);
            varint(&mut out, (run as u64) << 1);
            out.extend(&codes[at].to_le_bytes()[..width.div_ceil(8) as usize]);
            at += run;
        } else {
            let some = run.min(GROUP - open);
            single.extend(&codes[at..at + some]);
            at += some;
        }
    }
    pack(&mut out, &mut single, width);
    out
}

/// Writes indices in groups; the last one is padded with zeros.
fn pack(out: &mut Vec<u8>, single: &mut Vec<u32>, width: u32) {
    if single.is_empty() {
        return;
    }
    single.resize(single.len().next_multiple_of(GROUP), 0);
    varint(out, ((single.len() / GROUP) as u64) << 1 | 1);
    let (mut bits, mut held) = (0_u64, 0);
    for code in single.drain(..) {
        bits |= u64::from(code) << held;
        held += width;
        while held >= 8 {
            out.extend(bits.to_le_bytes().first());
            bits >>= 8;
            held -= 8;
        }
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.extend((value | 0x80).to_le_bytes().first());
        value >>= 7;
    }
    out.extend(value.to_le_bytes().first());
}

fn plain_texts(buf: &[u8], number: u32) -> impl Iterator<Item = Result<&str>> {
    let mut rest = buf;
    (0..number).map(move |_| {
        let (length, behind) =
            rest.split_first_chunk().ok_or_else(|| damaged("a text ends too early"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let (text, behind) =
            behind.split_at_checked(length).ok_or_else(|| damaged("a text ends too early"))?;
        rest = behind;
        std::str::from_utf8(text).map_err(|_| damaged("a text is not UTF-8"))
    })
}

/// Appends `number` indices, mapped by `names`.
fn unpack(buf: &[u8], number: usize, names: &[u32], out: &mut Vec<u32>) -> Result<()> {
    let early = || damaged("places in a dictionary end too early");
    let name = |place: u64| {
        let place = usize::try_from(place).ok();
        place
            .and_then(|place| names.get(place).copied())
            .ok_or_else(|| damaged("a place beyond the dictionary"))
    };
    let (&width, mut rest) = buf.split_first().ok_or_else(early)?;
    let width = u32::from(width);
    if width > 32 {
        return Err(damaged("places of more than 32 bits"));
    }
    let end = out.len() + number;
    while out.len() < end {
        let mut header = 0_u64;
        for shift in (0..63).step_by(7) {
            let (&byte, behind) = rest.split_first().ok_or_else(early)?;
            rest = behind;
            header |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        let many = usize::try_from(header >> 1).map_err(|_| early())?;
        let wanted = end - out.len();
        if header & 1 == 0 {
            let (value, behind) =
                rest.split_at_checked(width.div_ceil(8) as usize).ok_or_else(early)?;
            rest = behind;
            let place = value.iter().rev().fold(0, |place, &byte| place << 8 | u64::from(byte));
            if many == 0 || many > wanted {
                return Err(damaged("a run of another length"));
            }
            out.extend(std::iter::repeat_n(name(place)?, many));
        } else {
            let size = many.checked_mul(width as usize).ok_or_else(early)?;
            let (groups, behind) = rest.split_at_checked(size).ok_or_else(early)?;
            rest = behind;
            let all = many.checked_mul(GROUP).filter(|&all| all > 0).ok_or_else(early)?;
            let (mut bits, mut held, mut bytes) = (0_u64, 0, groups.iter());
            for _ in 0..all.min(wanted) {
                while held < width {
                    bits |= u64::from(*bytes.next().ok_or_else(early)?) << held;
                    held += 8;
                }
                out.push(name(bits & ((1 << width) - 1))?);
                bits >>= width;
                held -= width;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(codes: &[u32], distinct: usize) -> Vec<u32> {
        let names: Vec<u32> = (0..).take(distinct).collect();
        let mut out = Vec::new();
        unpack(&packed(codes, width(distinct)), codes.len(), &names, &mut out).unwrap();
        out
    }

    #[test]
    fn places_take_as_many_bits_as_the_dictionary_needs() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(width), [0, 0, 1, 2, 2, 3, 8, 9]);
    }

    #[test]
    fn examples_of_the_format_are_reproduced() {
        // Parquet's Encodings.md: 0 to 7 in three bits each are 0x88 0xC6 0xFA, and a header of one group.
        assert_eq!(packed(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 3, 0x88, 0xc6, 0xfa]);
        // A run of 100 fives: the header 200 takes two bytes.
        assert_eq!(packed(&[5; 100], 3), [3, 0xc8, 0x01, 5]);
    }

    #[test]
    fn runs_and_single_places_read_back_in_every_mixture() {
        let mut state = 1_u64;
        let mut next = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for distinct in [1, 2, 3, 9, 300, 70_000] {
            for _ in 0..50 {
                let mut codes = Vec::new();
                for _ in 0..next(12) {
                    let code = u32::try_from(next(distinct)).unwrap();
                    codes.extend(std::iter::repeat_n(code, usize::try_from(next(20)).unwrap()));
                }
                assert_eq!(back(&codes, usize::try_from(distinct).unwrap()), codes);
            }
        }
    }

    #[test]
    fn truncated_file_is_an_error() {
        let whole = packed(&[0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1], 2);
        for length in 0..whole.len() {
            assert!(unpack(&whole[..length], 16, &[0, 1, 2], &mut Vec::new()).is_err(), "{length}");
        }
        assert!(unpack(&whole, 16, &[0, 1], &mut Vec::new()).is_err());
    }
}
