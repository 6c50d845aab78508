-- People and what they have allowed: users, sessions, codes, grants and the like, one row each. All that is read of a row
-- is authenticated, and its content is sealed, because it names people.
CREATE TABLE fd_login_record (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    -- A user, a grant or a client, or empty.
    owner TEXT NOT NULL,
    -- The row ends with this tenant. Not called `tenant`: no row here is only a tenant's.
    ends_with TEXT,
    expires_at BIGINT,
    version BIGINT NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX fd_login_record_of ON fd_login_record (owner, kind);
CREATE INDEX fd_login_record_until ON fd_login_record (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX fd_login_record_with ON fd_login_record (ends_with) WHERE ends_with IS NOT NULL;
