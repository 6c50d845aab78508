-- Tenants have a profile and may be in a group; clients may be registered for groups; tenants can be erased.

-- As JSON: it is read and written whole.
ALTER TABLE fd_tenant ADD COLUMN profile TEXT NOT NULL DEFAULT '{}';
ALTER TABLE fd_tenant ADD COLUMN tenant_group TEXT;
-- When its erasure has begun, NULL if it is not being erased.
ALTER TABLE fd_tenant ADD COLUMN erasing_at BIGINT;
CREATE INDEX fd_tenant_in_group ON fd_tenant (tenant_group) WHERE tenant_group IS NOT NULL;

-- Separated by spaces, as `tenants` is.
ALTER TABLE fd_client ADD COLUMN tenant_groups TEXT NOT NULL DEFAULT '';

-- One row per erasure, also of those that have ended. By the highest number other nodes learn that a key they have in
-- memory may no longer be valid.
CREATE TABLE fd_erasure (
    number BIGINT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    begun_at BIGINT NOT NULL,
    ended_at BIGINT,
    -- What was removed so far, as JSON.
    report TEXT NOT NULL
);
