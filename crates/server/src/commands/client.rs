//! `frontdesk client`: who may come. Orders go to the server that holds the data folder, or are carried
//! out here when none does.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::{Failure, runtime, where_it_is};
use crate::cli::{ClientCommand, Place};
use crate::config::Database;
use crate::folder::{self, Folder};
use crate::house::Vaults;
use crate::operator::{Answer, ClientView, Order, Registrar, UnknownTenants, ask};

pub(super) fn client(command: ClientCommand) -> Result<ExitCode, Failure> {
    let (order, place, json) = match command {
        ClientCommand::Add(add) => {
            let unknown_tenants = match add.new_tenant {
                true => UnknownTenants::Made,
                false => UnknownTenants::Refused,
            };
            let order = Order::AddClient { name: add.name, tenants: add.tenants, scopes: add.scopes, unknown_tenants };
            (order, add.place, add.json)
        }
        ClientCommand::List(list) => (Order::ListClients, list.place, list.json),
        ClientCommand::Rotate(client) => (Order::RotateClient { id: client.id }, client.place, client.json),
        ClientCommand::Revoke(client) => (Order::RevokeClient { id: client.id }, client.place, client.json),
    };
    let answer = give(order, place)?;
    let mut out = io::stdout().lock();
    match json {
        true => {
            for line in lines_of_json(&answer)? {
                writeln!(out, "{line}")?;
            }
        }
        false => writeln!(out, "{}", describe(&answer))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn give(order: Order, place: Place) -> Result<Answer, Failure> {
    let (data, database) = where_it_is(place)?;
    runtime()?.block_on(async {
        if let Some(answer) = ask(&folder::operator_socket(&data), &order).await {
            return Ok(answer?);
        }
        // Held until the order is carried out, so that no server starts on the folder meanwhile.
        let vaults = vaults(&data, &database, &order).await?;
        Ok(Registrar::new(&vaults).carry_out(order).await?)
    })
}

/// A first client may be added before the first start; everything else needs data to be there.
async fn vaults(data: &Path, database: &Database, order: &Order) -> Result<Vaults, Failure> {
    let folder = match order {
        Order::AddClient { .. } => Folder::take(data)?,
        Order::ListClients | Order::RotateClient { .. } | Order::RevokeClient { .. } | Order::NoteExport { .. } => {
            Folder::take_existing(data, database)?
        }
    };
    Ok(Vaults::open(folder, database).await?)
}

/// One client a line, flat, so that a script needs no knowledge of how orders are answered.
fn lines_of_json(answer: &Answer) -> serde_json::Result<Vec<String>> {
    match answer {
        Answer::Secret { client, secret, new_tenants } => {
            let mut shown = serde_json::to_value(client)?;
            if let Some(shown) = shown.as_object_mut() {
                shown.insert("secret".to_owned(), json!(secret));
                shown.insert("new_tenants".to_owned(), json!(new_tenants));
            }
            Ok(vec![shown.to_string()])
        }
        Answer::Clients(clients) => clients.iter().map(serde_json::to_string).collect(),
        Answer::Revoked { id } => Ok(vec![json!({"id": id, "revoked": true}).to_string()]),
        Answer::Noted => Ok(Vec::new()),
    }
}

fn describe(answer: &Answer) -> String {
    match answer {
        Answer::Secret { client, secret, new_tenants } => {
            let mut lines = vec![
                format!("client   {}", client.id),
                format!("secret   {secret}   (shown once, kept only hashed)"),
                format!("name     {}", client.name),
                format!("tenants  {}", client.tenants.join(" ")),
                format!("scopes   {}", client.scopes.join(" ")),
            ];
            if !new_tenants.is_empty() {
                lines.push(format!("New and empty: {}", new_tenants.join(" ")));
                lines.push("A dealership that has data comes whole, by `frontdesk dealership import`.".to_owned());
            }
            lines.join("\n")
        }
        Answer::Clients(clients) if clients.is_empty() => {
            "There are no clients yet; `frontdesk client add --help` says how to add one.".to_owned()
        }
        Answer::Clients(clients) => table(clients),
        Answer::Noted => String::new(),
        Answer::Revoked { id } => format!("Client {id} is revoked; its tokens end within a second."),
    }
}

fn table(clients: &[ClientView]) -> String {
    let head = ["CLIENT", "NAME", "TENANTS", "SCOPES", "STATE"].map(str::to_owned);
    let rows = clients.iter().map(|client| {
        [
            client.id.clone(),
            client.name.clone(),
            client.tenants.join(" "),
            client.scopes.join(" "),
            client.revoked_at.as_ref().map_or("active".to_owned(), |at| format!("revoked {at}")),
        ]
    });
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
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
