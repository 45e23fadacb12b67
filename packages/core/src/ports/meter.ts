/** Metrics for operators. Names are those of the metrics page; labels have few, bounded values (codes, brokers), never ids. */
export interface Meter {
  count(name: CounterName, labels?: Readonly<Record<string, string>>): void
  /** Records a duration. */
  observe(name: TimerName, seconds: number): void
}

export type CounterName =
  | 'orders_total'
  | 'order_outcomes_total'
  | 'order_previews_total'
  | 'order_alarms_total'
  | 'order_reports_ignored_total'
  | 'orders_resolved_total'
  | 'requests_passed_on_total'
  | 'stream_gaps_total'
  | 'market_gaps_total'
  | 'market_late_trades_total'
  | 'market_authentications_failed_total'
  | 'broker_faults_total'
  | 'broker_unknown_values_total'
  | 'broker_records_refused_total'
  | 'broker_records_left_out_total'
  | 'connections_broken_total'
  | 'seals_broken_total'
  | 'stream_foreign_events_total'
  | 'revocations_total'
  | 'stream_closed_total'
  | 'stream_authentications_failed_total'
  | 'webhook_attempts_total'
  | 'webhook_endpoints_disabled_total'

export type TimerName = 'order_submit_seconds' | 'order_resolve_seconds' | 'broker_read_seconds'
