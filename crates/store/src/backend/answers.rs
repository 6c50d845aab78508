//! Erasure in stored answers: those about certain records lose their personal part, in chunks, so that a write never waits
//! longer than for one chunk. Answers are sealed, so each of the tenant has to be opened to know what it is about.

use std::collections::HashSet;
use std::sync::Arc;

use super::{RetentionSession as _, StoreDriver};
use crate::StoreError;
use crate::backend::usage::{SUBTRACT_BYTES, length};
use crate::idempotency::{answer_place, without_personal_part};
use crate::keyring::Keyring;
use crate::sql::session::SqlSession;

/// How many answers one transaction opens.
const CHUNK_ANSWERS: i64 = 500;

const NEXT_ANSWERS: &str = "SELECT client, tool, key_hash, sealed_answer FROM fd_claim \
    WHERE tenant = $1 AND (client, tool, key_hash) > ($2, $3, $4) ORDER BY client, tool, key_hash LIMIT $5";
const REPLACE_ANSWER: &str = "UPDATE fd_claim SET sealed_answer = $5 \
    WHERE tenant = $1 AND client = $2 AND tool = $3 AND key_hash = $4";

/// A claim of a tenant by its key; the default is before all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClaimPosition {
    client: String,
    tool: String,
    key_hash: String,
}

/// Work for one transaction.
#[derive(Debug, Clone)]
pub(crate) struct AnswersChunk {
    pub(crate) tenant: String,
    ids: Arc<HashSet<String>>,
    after: ClaimPosition,
}

pub(super) async fn erase_answers<D: StoreDriver>(driver: &D, tenant: &str, ids: &[String]) -> Result<u64, StoreError> {
    let session = driver.retention().await?;
    let ids: Arc<HashSet<String>> = Arc::new(ids.iter().cloned().collect());
    let mut next = Some(ClaimPosition::default());
    let mut total = 0;
    while let Some(after) = next {
        let chunk = AnswersChunk { tenant: tenant.to_owned(), ids: Arc::clone(&ids), after };
        let (following, erased) = session.erase(chunk).await?;
        next = following;
        total += erased;
    }
    Ok(total)
}

impl AnswersChunk {
    /// Erases within the open transaction.
    pub(crate) async fn erase<S: SqlSession>(
        &self,
        session: &S,
        keyring: &Keyring,
    ) -> Result<(Option<ClaimPosition>, u64), StoreError> {
        let keys = keyring.keys(&self.tenant).ok_or(StoreError::UnknownTenant)?;
        let ClaimPosition { client, tool, key_hash } = &self.after;
        let tenant = self.tenant.as_str();
        let params = [
            tenant.into(),
            client.as_str().into(),
            tool.as_str().into(),
            key_hash.as_str().into(),
            CHUNK_ANSWERS.into(),
        ];
        let rows = session.query(NEXT_ANSWERS, &params).await?;
        let (mut last, mut erased, mut freed) = (None, 0, 0);
        for row in &rows {
            let (client, tool, key_hash) = (row.text(0)?, row.text(1)?, row.text(2)?);
            let place = answer_place(tenant, client, tool, key_hash);
            if let Some(sealed) = without_personal_part(keyring, &keys, place, row.bytes(3)?, &self.ids)? {
                let params = [tenant.into(), client.into(), tool.into(), key_hash.into(), sealed.as_slice().into()];
                erased += session.execute(REPLACE_ANSWER, &params).await?;
                freed += length(row.bytes(3)?.len()) - length(sealed.len());
            }
            last =
                Some(ClaimPosition { client: client.to_owned(), tool: tool.to_owned(), key_hash: key_hash.to_owned() });
        }
        if freed != 0 {
            session.execute(SUBTRACT_BYTES, &[tenant.into(), freed.into()]).await?;
        }
        let is_full = i64::try_from(rows.len()).is_ok_and(|rows| rows >= CHUNK_ANSWERS);
        Ok((last.filter(|_| is_full), erased))
    }
}
