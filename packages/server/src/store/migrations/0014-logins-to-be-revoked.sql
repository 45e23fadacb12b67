-- compatible
-- The accounts that a login to be revoked reached, by the broker's ids: at some brokers its end is that of every other login of the same person. Null: of before, not known.
alter table revocations add column broker_account_ids text;
