-- A data folder of the release with schema 1, before write-only values and `fd_index`, as that release wrote it: two
-- boats in the north with a claim and an event, one in the south, and a client. The master key is 32 bytes of 7.
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE boat (tenant TEXT NOT NULL, id TEXT NOT NULL, version BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, body TEXT NOT NULL, masked TEXT, sealed BLOB, words TEXT, hull TEXT, length BIGINT NOT NULL DEFAULT 0, berths BIGINT, harbour TEXT, owner TEXT, PRIMARY KEY (tenant, id));
INSERT INTO "boat" VALUES('north','b1',1,1000,1000,'{"id":"b1","length":7}','{"owner":"A***"}',X'204391A6FD59956F31EACBA834B1110A61BB4F19CA24F009CCBB5CF739BFA6675DF50864FD135A0CD31E0A29F9F48AF2E9CDEECA','["1c579f535e59cdcc8ce8951256c80a3b","sail"]','H-b1',7,4,'kiel','904f3608f4fbc174cddeed68cadf7001');
INSERT INTO "boat" VALUES('north','b2',1,1000,1000,'{"id":"b2","length":8}','{"owner":"A***"}',X'DD1573F64CBD37A8F108B76A024035F3E1F0207698F2641B9203F16569F7B9C288C62FC678E0B62016929B45A999C49ECD3A0819','["1c579f535e59cdcc8ce8951256c80a3b","sail"]','H-b2',8,4,'kiel','904f3608f4fbc174cddeed68cadf7001');
INSERT INTO "boat" VALUES('south','b1',1,1000,1000,'{"id":"b1","length":9}','{"owner":"A***"}',X'38821E9616C6ABEAC76B3C56C2951FC3F5BAAAA4FCC6CF98D5B2ADACA29A305E6D0DB328A404D9D12869D4D0C0C10AC4F710B3E8','["47228bc5dfc12f254f996bef3926361a","sail"]','H-b1',9,4,'kiel','5198cc231331ce488880e1507b6dfbd6');
CREATE TABLE boat_word (tenant TEXT NOT NULL, word TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (tenant, word, id)) WITHOUT ROWID;
INSERT INTO "boat_word" VALUES('north','1c579f535e59cdcc8ce8951256c80a3b','b1');
INSERT INTO "boat_word" VALUES('north','1c579f535e59cdcc8ce8951256c80a3b','b2');
INSERT INTO "boat_word" VALUES('north','sail','b1');
INSERT INTO "boat_word" VALUES('north','sail','b2');
INSERT INTO "boat_word" VALUES('south','47228bc5dfc12f254f996bef3926361a','b1');
INSERT INTO "boat_word" VALUES('south','sail','b1');
CREATE TABLE dispatch_task (tenant TEXT NOT NULL, id TEXT NOT NULL, version BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, body TEXT NOT NULL, masked TEXT, sealed BLOB, words TEXT, slot TEXT, owner TEXT, open_for TEXT, due_at BIGINT, expires_at BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (tenant, id));
CREATE TABLE dispatch_task_word (tenant TEXT NOT NULL, word TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (tenant, word, id)) WITHOUT ROWID;
CREATE TABLE fd_audit (
    chain TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    records TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (chain, seq)
);
INSERT INTO "fd_audit" VALUES('tenant:north',1,5000,'{"plan":"b1"}',X'56B3BB73D009D48D766A59C35B8F5DBAE195F1AC73B215CAA51F3E01A624D237');
INSERT INTO "fd_audit" VALUES('tenant:south',1,5000,'{"plan":"seed"}',X'BA0A90DDF99F1799068A907EDB58DF0220E9AA40697559C5AE474F7A84FAF0FA');
INSERT INTO "fd_audit" VALUES('node:embedded',1,5000,'{"add":"agent"}',X'32789E4ED52EDE96AAD1ADFA6D4348213F2EEDE0B882ACB9C89A851CDEC32A52');
CREATE TABLE fd_audit_head (
    chain TEXT NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash BLOB NOT NULL,
    kept_after_seq BIGINT NOT NULL,
    kept_after_hash BLOB NOT NULL,
    -- A keyed hash over the row, so that neither end of a chain can be cut and the head set to match.
    seal BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO "fd_audit_head" VALUES('node:embedded',1,X'32789E4ED52EDE96AAD1ADFA6D4348213F2EEDE0B882ACB9C89A851CDEC32A52',0,X'0000000000000000000000000000000000000000000000000000000000000000',X'E9161F0C316ECD308A56C8D0A7822E97F0F2C104CAE949AFE2FC77FCB486141A');
INSERT INTO "fd_audit_head" VALUES('tenant:north',1,X'56B3BB73D009D48D766A59C35B8F5DBAE195F1AC73B215CAA51F3E01A624D237',0,X'0000000000000000000000000000000000000000000000000000000000000000',X'EF74E2D8EC4AAAC2A6E65472C862F398152D1E66EEE6DD9C040D9124D8F454E6');
INSERT INTO "fd_audit_head" VALUES('tenant:south',1,X'BA0A90DDF99F1799068A907EDB58DF0220E9AA40697559C5AE474F7A84FAF0FA',0,X'0000000000000000000000000000000000000000000000000000000000000000',X'DC2A92FDE64EE7B6BFE2A28A8E7F4AA117C580018960CA8CB038E894C6756856');
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
INSERT INTO "fd_claim" VALUES('north','agent','boats.create','4b2f9c115814bfb0e27238c9508789f8',X'F4DB60FECBC62505F771AA4F6D2326C79680EBF1F179A769171E588E669C69B75A48F0270BD0CB2F2E7E4948B41EFBEA7F6C5C7988832ED5EC9DBF44',X'A906CB94E06052B2337E0CA5A3D6B5FE9018C5B62EF0493787D5307D91820DBFBB924D4306EF0748F9A343A4CE51C57D775C5C56EC7133CDDB8F9C4DB435',5000);
CREATE TABLE fd_client (
    client TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    secret_hash BLOB NOT NULL,
    tenants TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
INSERT INTO "fd_client" VALUES('agent','An agent',X'0101010101010101010101010101010101010101010101010101010101010101','north','boats:read',40,NULL);
CREATE TABLE fd_counter (
    tenant TEXT NOT NULL PRIMARY KEY,
    event_seq BIGINT NOT NULL
) WITHOUT ROWID;
INSERT INTO "fd_counter" VALUES('north',1);
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
INSERT INTO "fd_outbox" VALUES('north',1,'e1','boat','b1','created',5000);
CREATE TABLE fd_tenant (
    tenant TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    -- The tenant's data key, sealed by the master key.
    sealed_key BLOB NOT NULL
);
INSERT INTO "fd_tenant" VALUES('north','North Harbour',X'71BB54D8D101B5B9C34D0BFF1DFC82963A9D92BF86F5B1CE3012DCC41594C5D4AFB2548932B1231AB1D02439E0E19BD61634D3EA8A27D46453CDAD7F');
INSERT INTO "fd_tenant" VALUES('south','South Harbour',X'6775DC7701564F619AFCD44D43502B0F872620FC04BDAC9280FE69D7C5AE9F8D1F21107497C863BBA830B38D5DA3499C594B8BA4583E1098997BCCEE');
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
CREATE INDEX fd_claim_at ON fd_claim (at);
CREATE INDEX boat_by_created_at ON boat (tenant, created_at, id);
CREATE UNIQUE INDEX boat_one_hull ON boat (tenant, hull);
CREATE INDEX boat_by_length ON boat (tenant, length, id);
CREATE INDEX boat_with_harbour ON boat (tenant, harbour, created_at, id) WHERE harbour IS NOT NULL;
CREATE INDEX dispatch_task_by_created_at ON dispatch_task (tenant, created_at, id);
CREATE UNIQUE INDEX dispatch_task_one_slot ON dispatch_task (tenant, slot);
CREATE INDEX dispatch_task_by_expires_at ON dispatch_task (tenant, expires_at, id);
CREATE INDEX dispatch_task_with_open_for ON dispatch_task (tenant, open_for, created_at, id) WHERE open_for IS NOT NULL;
CREATE INDEX dispatch_task_with_owner ON dispatch_task (tenant, owner, created_at, id) WHERE owner IS NOT NULL;
COMMIT;
