-- compatible
-- Logins of platforms that claim: put aside with everything that makes a connection, until the platform confirms them with its user's own
-- credentials. Those that nobody confirms in time are revoked.
create table pending_claims (
  connection_id uuid primary key,
  user_key uuid not null references users on delete cascade,
  code_hash text collate "C" not null,
  document text not null,
  broker text not null,
  environment text,
  host text,
  sealed bytea not null,
  revision int not null,
  key_id text,
  expires_at timestamptz not null
);
create index pending_claims_by_user on pending_claims (user_key);
create index pending_claims_by_expiry on pending_claims (expires_at);
