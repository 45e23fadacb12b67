-- compatible
-- Disabling, revoking or rotating a key ends its links: found by the key, and not by reading all there are.
create index connection_attempts_by_key on connection_attempts (key_id) where key_id is not null;
