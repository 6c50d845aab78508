//! Writing what belongs to no tenant: this node's audit chain, and tenants, clients and tokens, each
//! change together with its record. What waits is committed together.

use std::time::Duration;

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Client, Tenant, Token};
use frontdesk_engine::{ClientId, TenantId};
use tokio::sync::mpsc::Receiver;
use tokio::time::{timeout, timeout_at};

use super::Shared;
use super::chains::{HEAD, KEEP_HEAD, append, head, kept};
use super::lanes::Lane;
use super::live::{Live, Values};
use super::texts::{ADD_LINKS, BEGIN};
use super::writers::{Answer, ended};
use crate::StoreError;
use crate::audit::node_chain;
use crate::load::Counters;
use crate::notes::{Notes, Tray, add_line};

const GROUP: usize = 256;
const LONGEST: Duration = Duration::from_secs(15);

pub(crate) enum Job {
    /// There is something in the tray.
    Notes,
    /// A record for this node's chain, with somebody waiting.
    Record(String, Answer<()>),
    /// A change, and the record it leaves if it finds something to change.
    Change(Change, String, Answer<Changed>),
}

pub(crate) enum Change {
    AddTenant {
        tenant: Tenant,
        sealed_key: Vec<u8>,
    },
    AddClient(Client),
    RotateClient {
        id: ClientId,
        secret: [u8; 32],
    },
    RevokeClient {
        id: ClientId,
        at: Millis,
    },
    AddToken {
        token: Token,
        now: Millis,
    },
    RevokeToken {
        hash: [u8; 32],
        client: ClientId,
    },
    /// Changes nothing, but on the disk: whether that is possible at all.
    Pulse,
}

/// Works until nobody can hand over anything any more.
pub(crate) async fn write(lane: Lane, mut queue: Receiver<Job>, tray: &Tray, shared: &Shared, counters: &Counters) {
    let mut notes = Notes::default();
    let mut ending = false;
    while !ending {
        let first = match notes.due() {
            None => Some(queue.recv().await),
            Some(due) => timeout_at(due.into(), queue.recv()).await.ok(),
        };
        let mut next = match first {
            Some(Some(job)) => Some(job),
            Some(None) => {
                ending = true;
                None
            }
            None => None,
        };
        let mut group = Group::default();
        while let Some(job) = next {
            counters.left();
            match job {
                Job::Notes => notes.expect(),
                Job::Record(line, answer) => group.records.push((line, answer)),
                Job::Change(change, record, answer) => group.changes.push((change, record, answer)),
            }
            next = match group.len() < GROUP {
                true => queue.try_recv().ok(),
                false => None,
            };
        }
        if group.len() > 0 || notes.are_due() || ending {
            notes.collect(tray);
            counters.group(group.len());
            flush(&lane, shared, group, &mut notes, counters).await;
        }
    }
}

#[derive(Default)]
struct Group {
    records: Vec<(String, Answer<()>)>,
    changes: Vec<(Change, String, Answer<Changed>)>,
}

impl Group {
    fn len(&self) -> usize {
        self.records.len() + self.changes.len()
    }
}

async fn flush(lane: &Lane, shared: &Shared, group: Group, notes: &mut Notes, counters: &Counters) {
    let awaited = group.records.iter().map(|(record, _)| record.as_str());
    let records = notes.records(shared.clock.now(), awaited).into_owned();
    if records.is_empty() && group.changes.is_empty() {
        return;
    }
    let outcomes = match timeout(LONGEST, transact(lane, shared, &group, records)).await {
        Ok(outcomes) => outcomes,
        Err(_) => {
            lane.drop_live();
            Err(StoreError::Unfinished)
        }
    };
    // A caller who has gone does not mind not being told.
    match outcomes {
        Ok(outcomes) => {
            notes.written();
            for ((_, _, answer), outcome) in group.changes.into_iter().zip(outcomes) {
                let _ = answer.send(outcome);
            }
            for (_, answer) in group.records {
                let _ = answer.send(Ok(()));
            }
        }
        Err(error) => {
            counters.failed();
            notes.keep();
            for (_, _, answer) in group.changes {
                let _ = answer.send(Err(error.for_the_group()));
            }
            for (_, answer) in group.records {
                let _ = answer.send(Err(error.for_the_group()));
            }
        }
    }
}

type Outcomes = Vec<Result<Changed, StoreError>>;

async fn transact(lane: &Lane, shared: &Shared, group: &Group, records: String) -> Result<Outcomes, StoreError> {
    let live = lane.live().await?;
    let outcomes = work(&live, shared, group, records).await;
    if outcomes.is_err() && live.batch("ROLLBACK").await.is_err() {
        lane.drop_live();
    }
    outcomes
}

async fn work(live: &Live, shared: &Shared, group: &Group, mut records: String) -> Result<Outcomes, StoreError> {
    live.batch(BEGIN).await?;
    let mut outcomes = Vec::new();
    for (change, record, _) in &group.changes {
        live.batch("SAVEPOINT piece").await?;
        let outcome = change.make(live).await;
        match &outcome {
            Ok(changed) => {
                live.batch("RELEASE piece").await?;
                if *changed == Changed::Done && !record.is_empty() {
                    add_line(&mut records, record);
                }
            }
            Err(_) => live.batch("ROLLBACK TO piece; RELEASE piece").await?,
        }
        outcomes.push(outcome.map_err(StoreError::from));
    }
    if !records.is_empty() {
        let chain = node_chain(&shared.node);
        // Locked against another node's upkeep, which trims every chain.
        let rows = live.query(&format!("{HEAD} FOR UPDATE"), &[&chain]).await?;
        let mut head = head(live, &shared.audit_key, &chain, &rows).await?;
        let at = shared.clock.now().0;
        let link = append(&shared.audit_key, &chain, &mut head, at, &records);
        let kept = kept(&shared.audit_key, &chain, &head);
        for answer in live.change_all(None, &[(ADD_LINKS, &link), (KEEP_HEAD, &kept)]).await? {
            answer?;
        }
    }
    ended(live).await?;
    Ok(outcomes)
}

impl Change {
    async fn make(&self, live: &Live) -> Result<Changed, tokio_postgres::Error> {
        match self {
            Change::AddTenant { tenant, sealed_key } => {
                let text =
                    "INSERT INTO fd_tenant (tenant, name, sealed_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
                change(live, text, &[&tenant.id.as_str(), &tenant.name, sealed_key]).await
            }
            Change::AddClient(client) => add_client(live, client).await,
            Change::RotateClient { id, secret } => {
                let text = "UPDATE fd_client SET secret_hash = $2 WHERE client = $1 AND revoked_at IS NULL";
                end_tokens(live, change(live, text, &[&id.as_str(), &secret.as_slice()]).await?, id).await
            }
            Change::RevokeClient { id, at } => {
                let text = "UPDATE fd_client SET revoked_at = $2 WHERE client = $1 AND revoked_at IS NULL";
                end_tokens(live, change(live, text, &[&id.as_str(), &at.0]).await?, id).await
            }
            Change::AddToken { token, now } => add_token(live, token, *now).await,
            Change::RevokeToken { hash, client } => {
                let text = "DELETE FROM fd_token WHERE token_hash = $1 AND client = $2";
                change(live, text, &[&hash.as_slice(), &client.as_str()]).await
            }
            Change::Pulse => change(live, "UPDATE fd_schema SET version = version", &[]).await,
        }
    }
}

async fn change(live: &Live, text: &str, values: Values<'_>) -> Result<Changed, tokio_postgres::Error> {
    Ok(match live.execute(text, values).await? {
        0 => Changed::Nothing,
        _ => Changed::Done,
    })
}

async fn add_client(live: &Live, client: &Client) -> Result<Changed, tokio_postgres::Error> {
    let text = "INSERT INTO fd_client (client, name, secret_hash, tenants, scopes, created_at, revoked_at) \
                VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    let values: Values<'_> = &[
        &client.id.as_str(),
        &client.name,
        &client.secret.as_slice(),
        &join(&client.tenants),
        &client.scopes.to_string(),
        &client.created_at.0,
        &client.revoked_at.map(|at| at.0),
    ];
    change(live, text, values).await
}

async fn add_token(live: &Live, token: &Token, now: Millis) -> Result<Changed, tokio_postgres::Error> {
    // Another node may sweep at the same time: what it holds is not waited for.
    let sweep = "DELETE FROM fd_token WHERE token_hash IN \
                 (SELECT token_hash FROM fd_token WHERE expires_at <= $1 FOR UPDATE SKIP LOCKED)";
    live.execute(sweep, &[&now.0]).await?;
    // Against a revocation on another node: either it waits and then ends this token too, or this waits and
    // whoever asked for the token finds the client revoked.
    live.query("SELECT 1 FROM fd_client WHERE client = $1 FOR SHARE", &[&token.client.as_str()]).await?;
    let text = "INSERT INTO fd_token (token_hash, client, tenants, scopes, resource, expires_at) \
                VALUES ($1, $2, $3, $4, $5, $6)";
    let values: Values<'_> = &[
        &token.hash.as_slice(),
        &token.client.as_str(),
        &join(&token.tenants),
        &token.scopes.to_string(),
        &token.resource,
        &token.expires_at.0,
    ];
    change(live, text, values).await
}

async fn end_tokens(live: &Live, changed: Changed, client: &ClientId) -> Result<Changed, tokio_postgres::Error> {
    if changed == Changed::Done {
        live.execute("DELETE FROM fd_token WHERE client = $1", &[&client.as_str()]).await?;
    }
    Ok(changed)
}

fn join(tenants: &[TenantId]) -> String {
    let ids: Vec<&str> = tenants.iter().map(TenantId::as_str).collect();
    ids.join(" ")
}
