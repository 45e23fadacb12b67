-- compatible
-- How a platform looks in the portal, and where its users find it: both null until an operator says so.
alter table platforms add column color text;
alter table platforms add column app_url text;
