-- breaking
-- Where each login was made: which environment of its broker, and which host. Null until the next start, which takes them from its settings
-- and seals them with the credentials. Breaking, because a program that does not know them would use a login wherever it goes itself.
alter table connections add column environment text;
alter table connections add column host text;
alter table connections add column broken_code text collate "C";
update connections set broken_code = 'credentials_rejected' where status = 'BROKEN';
alter table revocations add column environment text;
alter table revocations add column host text;
-- When the login at the broker was begun for which the browser carries the state: it is good for a shorter time than the link.
alter table connection_attempts add column state_made_at timestamptz;
-- Whether the platform confirms each new connection with its user's own credentials before it can be used.
alter table platforms add column claims boolean not null default false;
