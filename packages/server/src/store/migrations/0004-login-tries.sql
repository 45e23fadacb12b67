-- compatible
-- How often keys of the user's own were tried for an attempt: a few times, and not until some fit.
alter table connection_attempts add column login_tries int not null default 0;
