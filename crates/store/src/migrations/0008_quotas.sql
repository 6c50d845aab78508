-- What each tenant has stored, for quotas. NULL until it was counted, which an upgrade does at its first start.
ALTER TABLE fd_counter ADD COLUMN stored_rows BIGINT;
ALTER TABLE fd_counter ADD COLUMN stored_bytes BIGINT;
-- Of it, what each client has added, as JSON: {"client": [rows, bytes]}. It is read and written whole.
ALTER TABLE fd_counter ADD COLUMN client_usage TEXT;
