//! Rows as bytes. Bytes that are not a row are read as `None`.

use frontdesk_store::transfer::StoredValue;

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const TEXT: u8 = 2;
const BYTES: u8 = 3;

/// Appends a row; `None` if it has too many fields or a field is too long.
pub(super) fn write_row(out: &mut Vec<u8>, table: usize, row: &[StoredValue]) -> Option<()> {
    out.push(u8::try_from(table).ok()?);
    out.push(u8::try_from(row.len()).ok()?);
    for field in row {
        match field {
            StoredValue::Null => out.push(NULL),
            StoredValue::Integer(number) => {
                out.push(INTEGER);
                out.extend(number.to_be_bytes());
            }
            StoredValue::Text(text) => write_bytes(out, TEXT, text.as_bytes())?,
            StoredValue::Bytes(bytes) => write_bytes(out, BYTES, bytes)?,
        }
    }
    Some(())
}

fn write_bytes(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) -> Option<()> {
    out.push(kind);
    out.extend(u32::try_from(bytes.len()).ok()?.to_be_bytes());
    out.extend(bytes);
    Some(())
}

/// Reads a row from the front.
pub(super) fn read_row(bytes: &mut &[u8]) -> Option<(usize, Vec<StoredValue>)> {
    let [table, count] = take(bytes)?;
    let row = (0..count).map(|_| read_field(bytes)).collect::<Option<_>>()?;
    Some((usize::from(table), row))
}

fn read_field(bytes: &mut &[u8]) -> Option<StoredValue> {
    let [kind] = take(bytes)?;
    match kind {
        NULL => Some(StoredValue::Null),
        INTEGER => Some(StoredValue::Integer(i64::from_be_bytes(take(bytes)?))),
        TEXT => Some(StoredValue::Text(String::from_utf8(read_bytes(bytes)?).ok()?)),
        BYTES => Some(StoredValue::Bytes(read_bytes(bytes)?)),
        _ => None,
    }
}

fn read_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(u32::from_be_bytes(take(bytes)?)).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken.to_vec())
}

fn take<const LENGTH: usize>(bytes: &mut &[u8]) -> Option<[u8; LENGTH]> {
    let (taken, rest) = bytes.split_first_chunk::<LENGTH>()?;
    *bytes = rest;
    Some(*taken)
}
