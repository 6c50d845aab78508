//! Runs an import: reads the file once to check every row, and once more to apply them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use frontdesk_engine::import::{DuplicateRows, ImportCounts, ImportRow, RowResult, RowVerdict, too_many};
use futures_util::future::join_all;

use super::ImportArgs;
use super::problems::ProblemFile;
use super::source::{ImportSource, RowChunk};
use crate::admin::{AdminRequest, AdminResponse, ImportReply, ImportStep, ImportTask};
use crate::cli::admin_client::{AdminClient, NeededData};
use crate::cli::progress::ProgressBar;
use crate::cli::{CliError, StoreGuard};

/// How many requests are under way at once, and the fewest rows of one, so that a short feed is not divided.
const PARALLEL_REQUESTS: usize = 4;
const MIN_ROWS: usize = 64;

/// How an import ended.
pub(super) enum Ending {
    /// It was a dry run.
    Checked(ImportCounts),
    /// Rows without a key of their own were applied by an earlier run.
    Earlier {
        at: String,
    },
    Applied {
        import: String,
        counts: ImportCounts,
        problems: Option<PathBuf>,
        notes: Vec<String>,
    },
    /// Rows are wrong, and nothing was applied.
    Rejected {
        counts: ImportCounts,
        problems: PathBuf,
    },
}

pub(super) struct ImportRun {
    args: ImportArgs,
    source: ImportSource,
    client: AdminClient,
    task: ImportTask,
    problems: ProblemFile,
    /// Lines that are wrong or change nothing, and need not be applied.
    skipped: HashSet<u64>,
    /// Lines that change a record.
    changed: HashSet<u64>,
    /// Records that rows are about, if the others are to be withdrawn.
    matched: HashSet<String>,
    /// Whether rows are matched with records by values of their own.
    has_keys: bool,
}

impl ImportRun {
    /// Finds the tenant, and reads the file as far as its columns.
    pub(super) async fn open(args: ImportArgs, guard: &StoreGuard) -> Result<ImportRun, CliError> {
        let client = AdminClient::open(args.data.clone(), NeededData::Existing, guard).await?;
        let tenant = args.tenant.clone().unwrap_or_default();
        let task = ImportTask { resource: args.resource.clone(), tenant, id: String::new() };
        let ImportReply::Tenant { id, currency } = send(&client, &task, ImportStep::Tenant).await? else {
            return Err(unexpected());
        };
        let source = ImportSource::open(&args, currency)?;
        let task = ImportTask { tenant: id, id: source.import_id.clone(), ..task };
        let problems = ProblemFile::new(&args.file, args.errors.clone())?;
        let (skipped, changed, matched) = (HashSet::new(), HashSet::new(), HashSet::new());
        Ok(ImportRun { args, source, client, task, problems, skipped, changed, matched, has_keys: false })
    }

    /// Which column becomes what.
    pub(super) fn describe(&self) -> String {
        self.source.describe()
    }

    pub(super) async fn run(mut self) -> Result<Ending, CliError> {
        let ImportReply::Earlier(earlier) = self.send(ImportStep::Earlier).await? else {
            return Err(unexpected());
        };
        let checked = match self.check().await {
            Ok(checked) => checked,
            Err(error) => {
                self.problems.discard();
                return Err(error);
            }
        };
        // Matched rows say themselves whether they change anything; the others were applied under keys that expire.
        if let (Some((at, _)), false) = (earlier, self.has_keys) {
            return Ok(Ending::Earlier { at });
        }
        let problems = self.problems.finish()?;
        if let (Some(problems), false) = (problems, self.args.skip_bad_rows) {
            return Ok(Ending::Rejected { counts: checked, problems });
        }
        let missing = self.missing().await?;
        if self.args.dry_run {
            let withdrawn = u64::try_from(missing.len()).unwrap_or_default();
            return Ok(Ending::Checked(ImportCounts { withdrawn, ..checked }));
        }
        self.source.require_unchanged()?;
        let mut counts = self.apply(&checked).await?;
        let chunks = missing.chunks(frontdesk_engine::import::CHUNK_ROWS);
        for chunk in chunks {
            self.send(ImportStep::Withdraw(chunk.to_vec())).await?;
            counts.withdrawn += u64::try_from(chunk.len()).unwrap_or_default();
        }
        self.send(ImportStep::Finish(counts)).await?;
        // Rows can come to be wrong between the check and their turn.
        let problems = self.problems.finish()?;
        Ok(Ending::Applied { import: self.task.id.clone(), counts, problems, notes: self.source.notes() })
    }

    /// Every row, before the first is applied.
    async fn check(&mut self) -> Result<ImportCounts, CliError> {
        let mut counts = ImportCounts::default();
        let mut duplicates = DuplicateRows::default();
        let mut progress = ProgressBar::of_file("checking", self.source.size);
        let mut chunks = self.source.chunks();
        while let Some(chunk) = chunks.recv().await {
            let RowChunk { rows, keys, position } = chunk?;
            let keys: HashMap<u64, String> = keys.into_iter().collect();
            let mut good = Vec::with_capacity(rows.len());
            for row in rows {
                let rules = self.source.spec.rules.as_ref();
                let checked = row.arguments.and_then(|arguments| {
                    let noted = duplicates.add(rules, row.line, &arguments);
                    noted.map(|()| arguments).map_err(|problem| vec![problem])
                });
                match checked {
                    Ok(arguments) => {
                        self.has_keys |= !rules.keys(&arguments).is_empty();
                        let key = keys.get(&row.line).cloned();
                        good.push(ImportRow { line: row.line, arguments, key, is_new: false });
                    }
                    Err(problems) => {
                        let verdict = RowVerdict::Rejected(problems);
                        self.note(&RowResult { line: row.line, verdict, id: None }, &mut counts)?;
                    }
                }
            }
            for result in self.rows(good, ImportStep::Check).await? {
                self.note(&result, &mut counts)?;
            }
            progress.set(position.div_ceil(1024));
        }
        progress.end();
        if counts.rows == 0 {
            return Err(format!("{}: It has no rows.", self.args.file.display()).into());
        }
        Ok(counts)
    }

    async fn apply(&mut self, checked: &ImportCounts) -> Result<ImportCounts, CliError> {
        let ImportCounts { rejected, unchanged, .. } = *checked;
        let mut counts = ImportCounts { rows: rejected + unchanged, rejected, unchanged, ..ImportCounts::default() };
        if counts.rows == checked.rows {
            return Ok(counts);
        }
        let mut progress = ProgressBar::new("applying", checked.rows);
        let mut chunks = self.source.chunks();
        while let Some(chunk) = chunks.recv().await {
            let RowChunk { rows, keys, .. } = chunk?;
            let keys: HashMap<u64, String> = keys.into_iter().collect();
            let rows: Vec<ImportRow> = rows
                .into_iter()
                .filter(|row| !self.skipped.contains(&row.line))
                .filter_map(|row| {
                    let key = keys.get(&row.line).cloned();
                    let is_new = !self.changed.contains(&row.line);
                    Some(ImportRow { line: row.line, arguments: row.arguments.ok()?, key, is_new })
                })
                .collect();
            for result in self.rows(rows, ImportStep::Apply).await? {
                self.note(&result, &mut counts)?;
            }
            progress.set(counts.rows);
        }
        progress.end();
        Ok(counts)
    }

    /// The records to be withdrawn, because no row is about them. It is decided before anything is applied.
    async fn missing(&self) -> Result<Vec<String>, CliError> {
        if !self.args.withdraw_missing {
            return Ok(Vec::new());
        }
        let (mut missing, mut all, mut after) = (Vec::new(), 0, None);
        loop {
            let (ids, next) = match self.send(ImportStep::Listed(after)).await? {
                ImportReply::Listed(Some(page)) => page,
                ImportReply::Listed(None) => {
                    return Err(
                        format!("{} cannot be withdrawn; leave out --withdraw-missing", self.args.resource).into()
                    );
                }
                ImportReply::Tenant { .. } | ImportReply::Earlier(_) | ImportReply::Rows(_) | ImportReply::Done => {
                    return Err(unexpected());
                }
            };
            all += ids.len();
            missing.extend(ids.into_iter().filter(|id| !self.matched.contains(id)));
            match next {
                Some(key) => after = Some(key),
                None => break,
            }
        }
        match too_many(missing.len(), all, self.args.withdraw_limit) {
            Some(reason) => Err(format!("{reason} (--withdraw-limit)").into()),
            None => Ok(missing),
        }
    }

    fn note(&mut self, result: &RowResult, counts: &mut ImportCounts) -> Result<(), CliError> {
        counts.add(result);
        if self.args.withdraw_missing {
            self.matched.extend(result.id.clone());
        }
        match &result.verdict {
            RowVerdict::Rejected(problems) => {
                self.skipped.insert(result.line);
                self.problems.add(result.line, problems)?;
            }
            RowVerdict::Unchanged => {
                self.skipped.insert(result.line);
            }
            RowVerdict::Updated => {
                self.changed.insert(result.line);
            }
            RowVerdict::Created => {}
        }
        Ok(())
    }

    /// Sends rows in several requests at once, which the server handles on all its processors.
    async fn rows(
        &self,
        rows: Vec<ImportRow>,
        step: fn(Vec<ImportRow>) -> ImportStep,
    ) -> Result<Vec<RowResult>, CliError> {
        let part_size = rows.len().div_ceil(PARALLEL_REQUESTS).max(MIN_ROWS);
        let (mut rows, mut requests) = (rows.into_iter(), Vec::new());
        while rows.len() > 0 {
            let part: Vec<ImportRow> = rows.by_ref().take(part_size).collect();
            requests.push(self.send(step(part)));
        }
        let mut results = Vec::new();
        for reply in join_all(requests).await {
            match reply? {
                ImportReply::Rows(part) => results.extend(part),
                ImportReply::Tenant { .. } | ImportReply::Earlier(_) | ImportReply::Listed(_) | ImportReply::Done => {
                    return Err(unexpected());
                }
            }
        }
        Ok(results)
    }

    async fn send(&self, step: ImportStep) -> Result<ImportReply, CliError> {
        let interrupted = |error| {
            format!("{error}\nNothing that was applied is lost: run the same command again to complete it").into()
        };
        send(&self.client, &self.task, step).await.map_err(interrupted)
    }
}

async fn send(client: &AdminClient, task: &ImportTask, step: ImportStep) -> Result<ImportReply, CliError> {
    match client.send(AdminRequest::Import { task: task.clone(), step }).await? {
        AdminResponse::Import(reply) => Ok(reply),
        AdminResponse::Secret { .. }
        | AdminResponse::Clients(_)
        | AdminResponse::Revoked { .. }
        | AdminResponse::Key(_)
        | AdminResponse::Recorded
        | AdminResponse::Token(_)
        | AdminResponse::Export(_)
        | AdminResponse::Maintenance(_)
        | AdminResponse::Advanced(_)
        | AdminResponse::Deliveries(_)
        | AdminResponse::ServiceLevels(_)
        | AdminResponse::Description(_)
        | AdminResponse::ErasePerson(_)
        | AdminResponse::Tenant(_) => Err(unexpected()),
    }
}

fn unexpected() -> CliError {
    "the running server is another version of Frontdesk".into()
}
