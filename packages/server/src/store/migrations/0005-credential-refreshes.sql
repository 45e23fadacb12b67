-- compatible
-- Who is refreshing a connection's credentials, or began to and never learned what the broker answered. Gone as soon as there are new ones.
create table credential_refreshes (
  connection_id uuid primary key references connection_credentials on delete cascade,
  -- Of the credentials that are used up by it; a row about others means nothing.
  revision int not null,
  holder text collate "C" not null,
  -- Null: nobody is at it now, and nobody knows whether an earlier one used them up.
  held_until timestamptz
) with (fillfactor = 50);
