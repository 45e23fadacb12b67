/** The counters of the metrics page, and the values that their labels can have. */
import type { BrokerFaultKind } from '@trunkline/core/ports/broker'
import { GAP_CAUSES } from '@trunkline/core/ports/gap'
import type { CounterName } from '@trunkline/core/ports/meter'
import { WEBHOOK_FAILURES } from '@trunkline/core/ports/webhook-store'

interface CounterForm {
  readonly help: string
  /** The values of each label. They are shown with 0 from the start, as alerts cannot see the first of a series that begins with 1. */
  readonly labels: { readonly [label: string]: Values }
}

/** `brokers`: the offered ones. `unlisted`: they are not known before they are counted. */
type Values = readonly string[] | 'brokers' | 'unlisted'

/** Close codes with a meaning here; clients may send any, and those are counted as `other`. */
export const CLOSE_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005, 1006, 1009, 1011, 1013, 4001, 4003, 4008, 4029])

const broker = 'brokers'
const FAULTS = Object.keys({
  unreachable: true,
  rate_limited: true,
  malformed: true,
  credentials_rejected: true,
  refused: true
} satisfies { readonly [kind in BrokerFaultKind]: true })

export const COUNTERS: { readonly [name in CounterName]: CounterForm } = {
  orders_total: { help: 'Orders stored and sent to brokers', labels: { broker } },
  order_outcomes_total: {
    help: 'Outcomes of commands to brokers',
    labels: { broker, command: ['submit', 'cancel', 'replace'], outcome: ['accepted', 'refused', 'not_sent', 'unknown'] }
  },
  order_previews_total: {
    help: 'Order previews, by outcome; the outcome placed means that the broker placed an order instead',
    labels: { broker, outcome: ['estimated', 'refused', 'failed', 'placed'] }
  },
  order_alarms_total: {
    help: 'Unexpected fills and order reports, and orders whose connection was removed before their outcome was known',
    labels: { broker, alarm: ['late_fill', 'overfill', 'impossible_fill', 'too_many_fills', 'late_sighting', 'ambiguous', 'abandoned'] }
  },
  order_reports_ignored_total: {
    help: 'Order reports that were not applied, or not in full, by reason',
    labels: { broker, reason: ['illegal_transition', 'older_snapshot', 'unknown_leg', 'impossible_fill', 'too_many_fills'] }
  },
  orders_resolved_total: { help: 'Orders whose unknown outcome was resolved', labels: { broker } },
  requests_passed_on_total: {
    help: 'Attempts to have another node execute a request of its user, by result',
    labels: { result: ['answered', 'not_executed', 'not_sent', 'no_answer'] }
  },
  market_gaps_total: { help: 'Interruptions of brokers’ market data streams, by cause', labels: { broker, cause: GAP_CAUSES } },
  market_late_trades_total: { help: 'Trades received after their bar had closed', labels: {} },
  market_authentications_failed_total: { help: 'Failed authentications on the market data stream', labels: {} },
  stream_gaps_total: { help: 'Interruptions of brokers’ account streams, by cause', labels: { broker, cause: GAP_CAUSES } },
  broker_faults_total: { help: 'Failed reads from brokers, by kind', labels: { broker, kind: FAULTS } },
  broker_unknown_values_total: { help: 'Unknown enum values in brokers’ messages, by field', labels: { broker, field: 'unlisted' } },
  broker_records_refused_total: {
    help: 'Broker records of other accounts, or invalid ones, by reason',
    labels: { broker, reason: ['foreign', 'malformed', 'repeated', 'impossible_fill', 'too_many_fills'] }
  },
  broker_records_left_out_total: {
    help: 'Broker records left out of lists because they could not be read, by kind; a record counts each time it is listed',
    labels: { broker, kind: ['accounts', 'balances', 'positions', 'orders', 'transactions', 'instruments', 'chains', 'bars'] }
  },
  connections_broken_total: { help: 'Connections whose credentials were rejected by the broker or altered here', labels: { broker } },
  seals_broken_total: { help: 'Stored credentials found altered, moved or rolled back', labels: { broker } },
  stream_foreign_events_total: {
    help: 'Events on brokers’ account streams for accounts that the login does not have',
    labels: { broker }
  },
  revocations_total: {
    help: 'Revocations of broker logins, by result',
    labels: { broker, result: ['done', 'shared', 'postponed', 'given_up'] }
  },
  stream_closed_total: { help: 'Stream sockets closed, by close code', labels: { code: [...[...CLOSE_CODES].map(String), 'other'] } },
  stream_authentications_failed_total: { help: 'Failed authentications on the streams', labels: {} },
  webhook_attempts_total: { help: 'Attempts to deliver webhooks, by outcome', labels: { outcome: ['succeeded', ...WEBHOOK_FAILURES] } },
  webhook_endpoints_disabled_total: {
    help: 'Endpoints of webhooks that the service disabled: they answered 410, or failed for five days',
    labels: { reason: ['gone', 'failing'] }
  }
}

/** Every combination of the known values of a counter's labels; none if a label has values that are not known. */
export function knownSeries({ labels }: CounterForm, brokers: readonly string[]): readonly Readonly<Record<string, string>>[] {
  let series: readonly Readonly<Record<string, string>>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    const known = values === 'brokers' ? brokers : values === 'unlisted' ? [] : values
    series = series.flatMap(so => known.map(value => ({ ...so, [label]: value })))
  }
  return series
}
