import type { CounterName, Meter, TimerName } from '@trunkline/core/ports/meter'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

const COUNTERS: { readonly [name in CounterName]: { readonly help: string; readonly labels: readonly string[] } } = {
  orders_total: { help: 'Orders stored and sent to brokers', labels: ['broker'] },
  order_outcomes_total: { help: 'Outcomes of commands to brokers', labels: ['broker', 'command', 'outcome'] },
  order_previews_total: {
    help: 'Order previews, by outcome; the outcome placed means that the broker placed an order instead',
    labels: ['broker', 'outcome']
  },
  order_alarms_total: {
    help: 'Unexpected fills and order reports, and orders whose connection was removed before their outcome was known',
    labels: ['broker', 'alarm']
  },
  order_reports_ignored_total: { help: 'Order reports that were not applied, or not in full, by reason', labels: ['broker', 'reason'] },
  orders_resolved_total: { help: 'Orders whose unknown outcome was resolved', labels: ['broker'] },
  requests_passed_on_total: { help: 'Attempts to have another node execute a request of its user, by result', labels: ['result'] },
  market_gaps_total: { help: 'Interruptions of brokers’ market data streams, by cause', labels: ['broker', 'cause'] },
  market_late_trades_total: { help: 'Trades received after their bar had closed', labels: [] },
  market_authentications_failed_total: { help: 'Failed authentications on the market data stream', labels: [] },
  stream_gaps_total: { help: 'Interruptions of brokers’ account streams, by cause', labels: ['broker', 'cause'] },
  broker_faults_total: { help: 'Failed reads from brokers, by kind', labels: ['broker', 'kind'] },
  broker_unknown_values_total: { help: 'Unknown enum values in brokers’ messages, by field', labels: ['broker', 'field'] },
  broker_records_refused_total: { help: 'Broker records of other accounts, or invalid ones, by reason', labels: ['broker', 'reason'] },
  broker_records_left_out_total: {
    help: 'Broker records left out of lists because they could not be read, by kind; a record counts each time it is listed',
    labels: ['broker', 'kind']
  },
  connections_broken_total: { help: 'Connections whose credentials were rejected by the broker or altered here', labels: ['broker'] },
  seals_broken_total: { help: 'Stored credentials found altered, moved or rolled back', labels: ['broker'] },
  stream_foreign_events_total: { help: 'Events on brokers’ account streams for accounts that the login does not have', labels: ['broker'] },
  revocations_total: { help: 'Revocations of broker logins, by result', labels: ['broker', 'result'] },
  stream_closed_total: { help: 'Stream sockets closed, by close code', labels: ['code'] },
  stream_authentications_failed_total: { help: 'Failed authentications on the streams', labels: [] }
}

const TIMERS: { readonly [name in TimerName]: string } = {
  order_submit_seconds: 'Time from the first byte of an order to the broker’s answer',
  order_resolve_seconds: 'Time from an unknown outcome to its resolution',
  broker_read_seconds: 'Duration of reads from brokers'
}

/** The service's metrics, in a separate registry. */
export class PromMeter implements Meter {
  readonly registry = new Registry()
  readonly #counters = new Map<string, Counter>()
  readonly #timers = new Map<string, Histogram>()
  readonly #requests: Histogram

  constructor() {
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry, prefix: 'trunkline_' })
    for (const [name, { help, labels }] of Object.entries(COUNTERS)) {
      this.#counters.set(name, new Counter({ name: `trunkline_${name}`, help, labelNames: [...labels], registers }))
    }
    const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 120]
    for (const [name, help] of Object.entries(TIMERS))
      this.#timers.set(name, new Histogram({ name: `trunkline_${name}`, help, buckets, registers }))
    this.#requests = new Histogram({
      name: 'trunkline_http_request_seconds',
      help: 'Duration of HTTP requests',
      labelNames: ['method', 'route', 'status'],
      buckets,
      registers
    })
  }

  count(name: CounterName, labels: Readonly<Record<string, string>> = {}): void {
    this.#counters.get(name)?.inc(labels)
  }

  observe(name: TimerName, seconds: number): void {
    this.#timers.get(name)?.observe(seconds)
  }

  request(method: string, route: string, status: number, seconds: number): void {
    this.#requests.observe({ method, route, status }, seconds)
  }

  /** A total that is counted elsewhere and read at each scrape. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      name: `trunkline_${name}`,
      help,
      registers: [this.registry],
      collect() {
        this.reset()
        this.inc(read())
      }
    })
  }

  /** Totals of one kind, one per label value, counted elsewhere and read at each scrape. */
  totals<Value extends string>(name: string, help: string, label: string, values: readonly Value[], read: (value: Value) => number): void {
    new Counter({
      name: `trunkline_${name}`,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect() {
        this.reset()
        for (const value of values) this.inc({ [label]: value }, read(value))
      }
    })
  }

  /** Values of one kind, one per label value, read at each scrape. */
  gauges<Value extends string>(name: string, help: string, label: string, values: readonly Value[], read: (value: Value) => number): void {
    new Gauge({
      name: `trunkline_${name}`,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect() {
        for (const value of values) this.set({ [label]: value }, read(value))
      }
    })
  }

  /** A value that is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `trunkline_${name}`,
      help,
      registers: [this.registry],
      collect() {
        this.set(read())
      }
    })
  }
}
