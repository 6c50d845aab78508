-- The root key, from which every other key of this database is derived or with which it is sealed. It is stored wrapped
-- with the master key; twice while the master key is rotated. Made before all other tables, so it may exist already.
CREATE TABLE IF NOT EXISTS fd_root_key (
    -- Identifies the master key without revealing it.
    master_key BLOB NOT NULL PRIMARY KEY,
    sealed_root BLOB NOT NULL
);
