-- compatible
-- The connection whose login a link of the portal renews; null: the link makes a new one.
alter table connection_attempts add column renew_connection_id uuid;
