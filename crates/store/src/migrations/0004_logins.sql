-- When a person logged in for a token, in seconds since 1970; NULL if nobody did.
ALTER TABLE fd_token ADD COLUMN authenticated_at BIGINT;
