//! What a caller is told when the store fails.

use frontdesk_engine::{Fault, FaultKind};
use rusqlite::ErrorCode;

use super::{StoreError, postgres};

/// A statement that fails changes nothing. Whether a retry can help depends on the cause.
impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        let cause = error.to_string();
        match error {
            StoreError::Busy | StoreError::NotCommitted(_) | StoreError::Closed => Fault::unavailable(cause),
            StoreError::Database(error) if is_transient(&error) => Fault::unavailable(cause),
            StoreError::Postgres(error) if postgres::is_transient(&error) => Fault::unavailable(cause),
            StoreError::Unreachable(_) | StoreError::Untrusted(_) | StoreError::DiskFull { .. } => {
                Fault::unavailable(cause)
            }
            // As its tokens are answered from now on.
            StoreError::TenantErased => {
                let message = "This token does not belong to the tenant that was named.";
                Fault::new(FaultKind::TenantForbidden, message).caused_by(cause)
            }
            StoreError::OutcomeUnknown => {
                let message = "It is not known yet whether this was done. Look before you repeat it.";
                Fault::new(FaultKind::Unavailable, message).retry_after(1).caused_by(cause)
            }
            StoreError::Database(_)
            | StoreError::Postgres(_)
            | StoreError::Role { .. }
            | StoreError::RlsMissing { .. }
            | StoreError::RecordConflict
            | StoreError::UnknownTenant
            | StoreError::UnknownRows { .. }
            | StoreError::UnexpectedValue { .. }
            | StoreError::TenantExists(_)
            | StoreError::DuplicateRow { .. }
            | StoreError::InvalidRow { .. }
            | StoreError::SchemaMismatch { .. }
            | StoreError::Incomplete { .. }
            | StoreError::BrokenChain { .. }
            | StoreError::UnknownTable(_)
            | StoreError::NoIndexFunction { .. }
            | StoreError::NotUnique { .. }
            | StoreError::RowNotIndexed { .. }
            | StoreError::NotOurs { .. }
            | StoreError::Damaged { .. }
            | StoreError::FileExists { .. }
            | StoreError::NoData
            | StoreError::NotInitialized
            | StoreError::WrongKey
            | StoreError::MacsRemoved
            | StoreError::UnexpectedSchema { .. }
            | StoreError::BackupAltered { .. }
            | StoreError::BackupWithoutMac { .. }
            | StoreError::RowRefused { .. }
            | StoreError::OldLibrary { .. }
            | StoreError::NewerSchema { .. }
            | StoreError::UnknownColumn { .. }
            | StoreError::NoInstallation
            | StoreError::NoSummary
            | StoreError::NotAnAnchor
            | StoreError::Io { .. } => Fault::internal(cause),
        }
    }
}

/// Locks and full disks are transient; violated constraints and unreadable values are not.
fn is_transient(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::OperationInterrupted
                | ErrorCode::OperationAborted
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::SchemaChanged
        )
    )
}
