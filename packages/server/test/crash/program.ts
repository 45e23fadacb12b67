// The service as it is, composed with a hand that kills its own process at a named point of an order's way.
import { subscribe } from 'node:diagnostics_channel'
import { ServerResponse } from 'node:http'
import type { BrokerId, OrderId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { Broker, BrokerDefinition } from '@trunkline/core/ports/broker'
import { CommitUnknown, type OrderChange, type OrderStore, type Store, StoreUnavailable } from '@trunkline/core/ports/store'
import type { CrashPoint, LogEntry, Question, RecordKind, StoredOrder } from '@trunkline/testkit/crash/index'
import { compose } from '../../src/compose.ts'
import { settingsOf } from '../../src/config/settings.ts'
import { PinoLog } from '../../src/ops/log.ts'

const LOG_PAGE = 1_000
const STOP_MS = 25_000

let armed: CrashPoint | null = null
let commandDone = false
/** Whether the next read of an order fails. */
let unreadable = false
let opened: Store | null = null

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}

/** A timer is too coarse for the time that a commit takes. */
function dieIn(ms: number): void {
  const start = performance.now()
  const check = () => (performance.now() - start >= ms ? die() : void setImmediate(check))
  check()
}

/** The target with some methods replaced. */
function withMethods<T extends object>(target: T, methods: Partial<T>): T {
  const replaced: ReadonlyMap<string | symbol, unknown> = new Map(Object.entries(methods))
  return new Proxy(target, {
    get(real, name) {
      if (replaced.has(name)) return replaced.get(name)
      const value = Reflect.get(real, name, real)
      return typeof value === 'function' ? value.bind(real) : value
    }
  })
}

function isKind(changes: readonly OrderChange[], what: RecordKind): boolean {
  const [first] = changes
  if (first === undefined) return false
  switch (what) {
    case 'place':
      return first.overRevision === null && changes.length === 1 && first.order.submission.state === 'submitting'
    case 'replace':
      return changes.length === 2
    case 'cancel':
      return first.order.status === 'pending_cancel'
    case 'reply':
      return commandDone && first.overRevision !== null
    case 'report':
      return first.overRevision !== null
  }
}

function orderStore(orders: OrderStore): OrderStore {
  return withMethods(orders, {
    async record(changes) {
      const point = armed
      if (point === null || !isRecordPoint(point) || !isKind(changes, point.what)) return await orders.record(changes)
      switch (point.at) {
        case 'before_record':
          return die()
        case 'after_record':
          await orders.record(changes)
          return die()
        case 'during_record':
          dieIn(point.ms)
          await orders.record(changes)
          return die()
        case 'doubtful_record':
          armed = null
          if (point.written) await orders.record(changes)
          unreadable = !point.readable
          throw new CommitUnknown('the connection was lost at the commit')
        case 'refused_record':
          armed = point.times > 1 ? { ...point, times: point.times - 1 } : null
          throw new StoreUnavailable('the store refuses, as planned')
      }
    },
    async find(orderId) {
      if (!unreadable) return await orders.find(orderId)
      unreadable = false
      throw new StoreUnavailable('the store does not read, as planned')
    }
  })
}

function isRecordPoint(point: CrashPoint): point is Extract<CrashPoint, { readonly what: RecordKind; readonly at: `${string}_record` }> {
  return point.at.endsWith('_record')
}

async function aroundCommand<T>(what: 'submit' | 'cancel' | 'replace', send: () => Promise<T>): Promise<T> {
  if (armed?.at === 'before_command' && armed.what === what) die()
  const outcome = await send()
  if (armed?.at === 'after_command' && armed.what === what) die()
  commandDone = true
  return outcome
}

function broker(session: Broker): Broker {
  return withMethods(session, {
    submit: (order, signal) => aroundCommand('submit', () => session.submit(order, signal)),
    cancel: (request, signal) => aroundCommand('cancel', () => session.cancel(request, signal)),
    replace: (request, signal) => aroundCommand('replace', () => session.replace(request, signal))
  })
}

function definitions(real: ReadonlyMap<BrokerId, BrokerDefinition>): ReadonlyMap<BrokerId, BrokerDefinition> {
  return new Map(
    [...real].map(([id, definition]) => [id, withMethods(definition, { open: credentials => broker(definition.open(credentials)) })])
  )
}

/** The broker's HTTP client publishes on this channel, before it writes a request's head. */
function dieBeforeFirstByte(): void {
  subscribe('undici:client:sendHeaders', message => {
    if (armed?.at !== 'before_first_byte' || typeof message !== 'object' || message === null || !('request' in message)) return
    const { request } = message
    if (typeof request !== 'object' || request === null || !('method' in request) || !('path' in request)) return
    if (request.method === 'POST' && request.path === '/api/v1/orders') die()
  })
}

function dieBeforeAnswer(): void {
  const { writeHead } = ServerResponse.prototype
  Object.defineProperty(ServerResponse.prototype, 'writeHead', {
    configurable: true,
    writable: true,
    value(this: ServerResponse, ...parameters: Parameters<typeof writeHead>) {
      const { method, url } = this.req
      if (armed?.at === 'before_answer' && method === 'POST' && /^(\/v1)?\/orders$/.test(url ?? '')) die()
      return Reflect.apply(writeHead, this, parameters)
    }
  })
}

async function answer(question: Question): Promise<unknown> {
  switch (question.ask) {
    case 'arm':
      armed = question.point
      commandDone = false
      return null
    case 'order': {
      const order = await opened?.orders.find(orderIdOf(question.orderId))
      return order === undefined || order === null ? null : inside(order)
    }
    case 'log':
      return await logOf(orderIdOf(question.orderId))
  }
}

async function logOf(orderId: OrderId): Promise<readonly LogEntry[]> {
  const order = await opened?.orders.find(orderId)
  if (opened === null || order === undefined || order === null) throw new Error(`no order ${orderId}`)
  const entries: LogEntry[] = []
  for (;;) {
    const page = await opened.events.read(order.userKey, entries.at(-1)?.seq ?? 0, LOG_PAGE)
    for (const event of page) {
      const { seq, eventId, topic } = event
      entries.push({ seq, eventId, topic, order: event.topic === 'orders' ? inside(event.data) : null })
    }
    if (page.length < LOG_PAGE) return entries
  }
}

function inside({ orderId, brokerClOrdId, brokerOrderId, revision, status }: Order): StoredOrder {
  return { orderId, brokerClOrdId, brokerOrderId, revision, status }
}

function orderIdOf(text: string): OrderId {
  return text as OrderId
}

async function main(): Promise<void> {
  dieBeforeFirstByte()
  dieBeforeAnswer()
  const settings = settingsOf(process.env)
  const service = await compose(settings, new PinoLog(settings.logLevel), process.env, {
    store: store => {
      opened = store
      return { ...store, orders: orderStore(store.orders) }
    },
    brokers: definitions
  })
  process.on('message', (question: Question) => {
    answer(question).then(
      given => process.send?.({ id: question.id, answer: given }),
      cause => process.send?.({ id: question.id, failed: String(cause) })
    )
  })
  process.once('SIGTERM', () => {
    setTimeout(() => process.exit(70), STOP_MS).unref()
    void service.stop().then(() => process.disconnect?.())
  })
  process.send?.({ ready: service.demo?.demo })
}

await main()
