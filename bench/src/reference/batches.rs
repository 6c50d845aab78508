//! The reference's way of writing on PostgreSQL: two connections on a thread of their own, and for each tenant of
//! whatever is waiting one transaction, sent in two pipelines. An answer is given after COMMIT.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::pin::Pin;
use std::task::Poll;

use frontdesk_contracts::automotive::lead::Lead as LeadResource;
use frontdesk_contracts::record::Stored;
use frontdesk_store::statements::postgres::{
    BEGIN, COMMIT, INSERT_CLAIMS, INSERT_EVENTS, LOCK_TENANT, SET_TENANT, insert_many, insert_terms,
};
use frontdesk_store::statements::{GET_EVENT_COUNTER, SET_EVENT_COUNTER};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};

use super::lead::{CLIENT, Lead, NewLead, TOOL};
use super::pipelined::connect;
use super::writer::NO_MAC;
use crate::BenchResult;

const GROUP: usize = 256;
const WRITERS: usize = 2;

type Job = (Lead, oneshot::Sender<Result<String, String>>);
type Values<'a> = Vec<&'a (dyn ToSql + Sync)>;

pub struct PostgresWriter {
    queues: Vec<Sender<Job>>,
}

impl PostgresWriter {
    pub fn start(url: &str) -> BenchResult<PostgresWriter> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut queues = Vec::new();
        let mut waiting = Vec::new();
        for _ in 0..WRITERS {
            let (sender, queue) = channel(8192);
            queues.push(sender);
            waiting.push(queue);
        }
        let url = url.to_owned();
        let work = async move {
            let writers: Vec<_> = waiting.into_iter().map(|queue| tokio::spawn(write(url.clone(), queue))).collect();
            for writer in writers {
                if let Ok(Err(problem)) = writer.await {
                    eprintln!("{problem}");
                }
            }
        };
        std::thread::Builder::new().name("writer".to_owned()).spawn(move || runtime.block_on(work))?;
        Ok(PostgresWriter { queues })
    }

    /// A tenant always has the same writer.
    pub async fn create(&self, lead: Lead) -> BenchResult<String> {
        let mut hasher = DefaultHasher::new();
        lead.tenant.hash(&mut hasher);
        let queue = self.queues.get(hasher.finish() as usize % WRITERS).ok_or("no writer")?;
        let (answer, waiting) = oneshot::channel();
        queue.try_send((lead, answer)).map_err(|_| "the writer's queue is full")?;
        Ok(waiting.await??)
    }
}

/// One connection and its statements.
struct Connection {
    client: Client,
    tenant: Statement,
    lock: Statement,
    last_event: Statement,
    add_claims: Statement,
    insert: Statement,
    add_words: Statement,
    add_events: Statement,
    count_events: Statement,
}

async fn write(url: String, mut queue: Receiver<Job>) -> BenchResult<()> {
    let client = connect(&url).await?;
    let connection = Connection {
        tenant: client.prepare(SET_TENANT).await?,
        lock: client.prepare(LOCK_TENANT).await?,
        last_event: client.prepare(GET_EVENT_COUNTER).await?,
        add_claims: client.prepare(INSERT_CLAIMS).await?,
        insert: client.prepare(&insert_many(LeadResource::table())).await?,
        add_words: client.prepare(&insert_terms(LeadResource::table())).await?,
        add_events: client.prepare(INSERT_EVENTS).await?,
        count_events: client.prepare(SET_EVENT_COUNTER).await?,
        client,
    };
    let mut number = 0;
    while let Some(first) = queue.recv().await {
        let mut tenants: BTreeMap<String, Vec<Job>> = BTreeMap::new();
        let mut next = Some(first);
        let mut taken = 0;
        while let Some((lead, answer)) = next {
            tenants.entry(lead.tenant.clone()).or_default().push((lead, answer));
            taken += 1;
            next = if taken < GROUP { queue.try_recv().ok() } else { None };
        }
        for (tenant, jobs) in tenants {
            let (leads, answers): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
            let rows: Vec<NewLead> = leads
                .iter()
                .map(|lead| {
                    number += 1;
                    lead.to_row(number)
                })
                .collect();
            let result = connection.transact(&tenant, &leads, &rows).await.map_err(|error| error.to_string());
            for (row, answer) in rows.into_iter().zip(answers) {
                let _ = answer.send(result.clone().map(|()| row.answer));
            }
        }
    }
    Ok(())
}

impl Connection {
    async fn transact(&self, tenant: &str, leads: &[Lead], rows: &[NewLead]) -> BenchResult<()> {
        let last = self.begin(tenant).await?;
        let all = |word: &'static str| vec![word; rows.len()];
        let nothing: Vec<Option<&str>> = vec![None; rows.len()];
        let no_minutes: Vec<Option<i64>> = vec![None; rows.len()];
        let no_secrets: Vec<Option<&[u8]>> = vec![None; rows.len()];
        let request_hashes = vec![vec![0u8; 32]; rows.len()];
        let versions = vec![1i64; rows.len()];
        let (clients, tools, statuses, channels) = (all(CLIENT), all(TOOL), all("new"), all("ai_agent"));
        let (kinds, changes) = (all("lead"), all("created"));
        let keys: Vec<&str> = leads.iter().map(|lead| lead.key.as_str()).collect();
        let emails: Vec<&str> = leads.iter().map(|lead| lead.email.as_str()).collect();
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let events: Vec<&str> = rows.iter().map(|row| row.event.as_str()).collect();
        let bodies: Vec<&str> = rows.iter().map(|row| row.body.as_str()).collect();
        let masked: Vec<&str> = rows.iter().map(|row| row.personal.as_str()).collect();
        let sealed: Vec<&[u8]> = rows.iter().map(|row| row.personal.as_bytes()).collect();
        let answers: Vec<&[u8]> = rows.iter().map(|row| row.answer.as_bytes()).collect();
        let no_macs = vec![NO_MAC.as_slice(); rows.len()];
        let instants: Vec<i64> = rows.iter().map(|row| row.at).collect();
        let count = last + i64::try_from(rows.len())?;
        let numbers: Vec<i64> = (last + 1..=count).collect();
        let words: Vec<&str> = rows.iter().flat_map(|row| &row.words).map(String::as_str).collect();
        let lead_ids: Vec<&str> = rows.iter().flat_map(|row| vec![row.id.as_str(); row.words.len()]).collect();
        let sent: [(&Statement, Values<'_>); 5] = [
            (&self.add_claims, vec![&tenant, &clients, &tools, &keys, &request_hashes, &answers, &instants]),
            (
                &self.insert,
                vec![
                    &tenant,
                    &ids,
                    &versions,
                    &instants,
                    &instants,
                    &bodies,
                    &masked,
                    &sealed,
                    &no_secrets,
                    &no_macs,
                    &statuses,
                    &channels,
                    &nothing,
                    &nothing,
                    &nothing,
                    &nothing,
                    &instants,
                    &no_minutes,
                    &emails,
                    &nothing,
                ],
            ),
            (&self.add_words, vec![&tenant, &words, &lead_ids]),
            (&self.add_events, vec![&tenant, &numbers, &events, &kinds, &ids, &changes, &instants]),
            (&self.count_events, vec![&tenant, &count]),
        ];
        let mut requests: Vec<Request<'_>> = Vec::new();
        for (statement, values) in &sent {
            requests.push(Box::pin(async move { self.client.execute(*statement, values).await.map(drop) }));
        }
        send_all(requests).await?;
        // As Frontdesk does: only what succeeded is committed.
        Ok(self.client.batch_execute(COMMIT).await?)
    }

    async fn begin(&self, tenant: &str) -> BenchResult<i64> {
        let values: Values<'_> = vec![&tenant];
        let values = values.as_slice();
        let mut found = Vec::new();
        let requests: Vec<Request<'_>> = vec![
            Box::pin(self.client.batch_execute(BEGIN)),
            Box::pin(async { self.client.query(&self.tenant, values).await.map(drop) }),
            Box::pin(async { self.client.query(&self.lock, values).await.map(drop) }),
            Box::pin(async {
                found = self.client.query(&self.last_event, values).await?;
                Ok(())
            }),
        ];
        send_all(requests).await?;
        Ok(found.first().map(|row| row.try_get(0)).transpose()?.unwrap_or(0))
    }
}

type Request<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;

/// Sends all before it waits for any.
async fn send_all(mut requests: Vec<Request<'_>>) -> Result<(), Error> {
    let mut answers: Vec<Option<Result<(), Error>>> = Vec::new();
    poll_fn(|context| {
        for request in &mut requests {
            answers.push(match request.as_mut().poll(context) {
                Poll::Ready(answer) => Some(answer),
                Poll::Pending => None,
            });
        }
        Poll::Ready(())
    })
    .await;
    for (answer, request) in answers.into_iter().zip(requests) {
        match answer {
            Some(answer) => answer?,
            None => request.await?,
        }
    }
    Ok(())
}
