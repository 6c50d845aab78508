-- What the engine keeps beside the contracts' own tables. Tenant first in every key that has one.

CREATE TABLE fd_tenant (
    tenant TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    -- The tenant's data key, sealed by the master key.
    sealed_key BLOB NOT NULL
);

CREATE TABLE fd_client (
    client TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    secret_hash BLOB NOT NULL,
    tenants TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE TABLE fd_token (
    token_hash BLOB NOT NULL PRIMARY KEY,
    client TEXT NOT NULL,
    tenants TEXT NOT NULL,
    scopes TEXT NOT NULL,
    resource TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX fd_token_of ON fd_token (client);
CREATE INDEX fd_token_until ON fd_token (expires_at);

-- One row per idempotency key that has had its effect.
CREATE TABLE fd_claim (
    tenant TEXT NOT NULL,
    client TEXT NOT NULL,
    tool TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    meaning BLOB NOT NULL,
    sealed_answer BLOB NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant, client, tool, key_hash)
);
CREATE INDEX fd_claim_at ON fd_claim (at);

-- Events in the order they were committed, without a gap per tenant.
CREATE TABLE fd_outbox (
    tenant TEXT NOT NULL,
    seq BIGINT NOT NULL,
    event TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    change TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant, seq)
) WITHOUT ROWID;

CREATE TABLE fd_counter (
    tenant TEXT NOT NULL PRIMARY KEY,
    event_seq BIGINT NOT NULL
) WITHOUT ROWID;

-- Audit chains: one per tenant for writes, one per node for reads and refusals. A row holds one or
-- more records, a line each; its hash covers the hash before it.
CREATE TABLE fd_audit (
    chain TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    records TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (chain, seq)
);

-- The last link of each chain, and the last one that retention has removed.
CREATE TABLE fd_audit_head (
    chain TEXT NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash BLOB NOT NULL,
    kept_after_seq BIGINT NOT NULL,
    kept_after_hash BLOB NOT NULL,
    -- A keyed hash over the row, so that neither end of a chain can be cut and the head set to match.
    seal BLOB NOT NULL
) WITHOUT ROWID;
