-- What the rows of each declared table are indexed for, so that a declaration that gains a column or a searched field
-- is noticed and existing rows are indexed again.
CREATE TABLE fd_index (
    table_name TEXT NOT NULL PRIMARY KEY,
    -- The indexed columns with their types and the searched fields, as JSON.
    indexed TEXT NOT NULL,
    -- What a run that has not finished indexes the rows for, NULL if there is none.
    target TEXT,
    -- How far that run is: every tenant up to this one, or this one up to `at_id` if that is not NULL.
    at_tenant TEXT NOT NULL,
    at_id TEXT
);
