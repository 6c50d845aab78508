//! Tables for people: columns as wide as their widest cell, two spaces apart.

pub(super) fn table<const N: usize>(head: [String; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(head).chain(rows).collect();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(column, cell)| {
                    let widest = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
                    format!("{cell:<width$}", width = widest.unwrap_or_default())
                })
                .collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect();
    lines.join("\n")
}
