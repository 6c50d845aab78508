-- What the audit record is compared with: the installation's signing key, the chains that must exist, and one summary.

-- One row. `sealed_seed` is the seed of the Ed25519 key, sealed with the master key. `state` says whether the row was made
-- with the table, and `seal` is a keyed hash over both.
CREATE TABLE fd_installation (
    one BIGINT NOT NULL PRIMARY KEY,
    sealed_seed BLOB NOT NULL,
    state TEXT NOT NULL,
    seal BLOB NOT NULL
);

-- Every audit chain that was ever begun. No column is named `tenant`: a row outlives the erasure of its tenant.
CREATE TABLE fd_audit_roster (
    chain TEXT NOT NULL PRIMARY KEY,
    -- How often a chain of this name was begun: a tenant may be erased and added again.
    begun BIGINT NOT NULL,
    -- 1 if it was ended by an erasure.
    ended BIGINT NOT NULL,
    -- From which link on every written row is named. 0: from the first.
    rows_since BIGINT NOT NULL,
    -- Its last link when it was last entered into the summary, and the count of that summary; 0 if it was not yet.
    sealed_seq BIGINT NOT NULL,
    sealed_hash BLOB NOT NULL,
    sealed_count BIGINT NOT NULL,
    -- A keyed hash over the row.
    seal BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX fd_audit_roster_by_count ON fd_audit_roster (sealed_count);

-- One row: how often chains were entered, how many there are, and the sum of their keyed hashes.
CREATE TABLE fd_audit_summary (
    one BIGINT NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL,
    -- How often a backup was restored.
    restores BIGINT NOT NULL,
    chains BIGINT NOT NULL,
    sum BLOB NOT NULL,
    at BIGINT NOT NULL,
    -- A keyed hash over the row.
    seal BLOB NOT NULL
);
