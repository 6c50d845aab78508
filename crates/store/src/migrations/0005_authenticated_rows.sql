-- Rows that decide access carry a version and a MAC, see `sql::registry_rows`. The MAC is NULL only until the upgrade that
-- applies this has computed it.
ALTER TABLE fd_tenant ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE fd_tenant ADD COLUMN mac BLOB;
ALTER TABLE fd_client ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE fd_client ADD COLUMN mac BLOB;
ALTER TABLE fd_token ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE fd_token ADD COLUMN mac BLOB;
