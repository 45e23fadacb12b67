-- compatible
-- Who is behind at a webhook endpoint is read page by page, in the order of its platform's users (decision 41).
create index users_by_platform on users (platform_id, user_key);
