-- compatible
-- Orders whose connection was removed before their broker said what became of them, and late answers: found without reading the whole log. The queries repeat the condition.
create index audit_log_abandoned on audit_log (position) where entry like '%"order.abandoned"%' or entry like '%"order.answered_late"%';
