-- compatible
-- Logins of operators by a provider (decision 46) that were completed lately: each state is used once, at whatever node.
create table operator_logins (
  state_hash text collate "C" primary key,
  expires_at timestamptz not null
);
create index operator_logins_by_end on operator_logins (expires_at);
