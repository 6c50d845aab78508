-- People and what they have allowed: users, sessions, codes, grants and the like, one row each. See `registry_rows`.
CREATE TABLE fd_login_record (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    -- A user, a grant or a client, or empty.
    owner TEXT NOT NULL,
    -- The row ends with this tenant. Not called `tenant`: no row here is only a tenant's.
    ends_with TEXT,
    expires_at BIGINT,
    -- As JSON: it is read and written whole.
    content TEXT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    mac BLOB,
    PRIMARY KEY (kind, id)
);
CREATE INDEX fd_login_record_of ON fd_login_record (owner, kind);
CREATE INDEX fd_login_record_until ON fd_login_record (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX fd_login_record_with ON fd_login_record (ends_with) WHERE ends_with IS NOT NULL;
