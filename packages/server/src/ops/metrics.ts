import type { CounterName, Meter, TimerName } from '@trunkline/core/ports/meter'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { COUNTERS, knownSeries } from './counters.ts'

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

  /** @param brokers those that are offered: their counters are shown with 0 from the start */
  constructor(brokers: readonly string[] = []) {
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry, prefix: 'trunkline_' })
    for (const [name, form] of Object.entries(COUNTERS)) {
      const counter = new Counter({ name: `trunkline_${name}`, help: form.help, labelNames: Object.keys(form.labels), registers })
      for (const series of knownSeries(form, brokers)) counter.inc(series, 0)
      this.#counters.set(name, counter)
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
