// All that is ever asked of the sandbox: each request is built here, from values of our own forms. No path of a client is passed on, and no
// member of a body that its form does not name.
import Type, { type TSchema } from 'typebox'
import { nullable } from '../../wire/common.ts'
import { type ControlRequest, SandboxRefusal } from './control.ts'
import * as records from './records.ts'

const text = Type.String()
const items = <Item extends TSchema>(item: Item) => Type.Object({ items: Type.Array(item) })
const ANY = Type.Object({})

const { fault_id: id, left, hits, ...ofFault } = records.faultRecord.properties
const clock = Type.Object({
  clock: Type.Object({
    sandbox_time: text,
    frozen: Type.Boolean(),
    paused: Type.Boolean(),
    market: text,
    share: text,
    coin: text,
    option: text,
    future: text
  })
})
const quote = Type.Object({ quote: records.priceRecord })
const oneLogin = Type.Object({ login: records.loginRecord })
const stream = Type.Object({
  on: text,
  login: Type.Optional(nullable(text)),
  dialect: Type.Optional(text),
  waiting: Type.Optional(Type.Array(Type.Unknown()))
})
const oneOrder = Type.Object({ order: records.sandboxOrder })

/** Days of synthetic prices are made one after the other. */
const JUMP_MS = 60_000
type Values = Readonly<Record<string, unknown>>

function read<Answer extends TSchema>(path: string, answer: Answer): ControlRequest<Answer> {
  return { method: 'GET', path, answer }
}

function change<Answer extends TSchema>(method: 'POST' | 'PUT', path: string, body: Values, answer: Answer): ControlRequest<Answer> {
  return { method, path, body, answer }
}

/** One part of a path. @throws SandboxRefusal for `.` and `..`, which a URL takes for steps between its parts */
function part(value: string): string {
  if (value === '.' || value === '..') throw new SandboxRefusal('not_a_name', `${value} is no name of anything.`)
  return encodeURIComponent(value)
}

/**
 * Which request each operation makes. Bodies have only members that the operation's own form has, and of an answer only what is named here
 * is read.
 */
export const SANDBOX = {
  faults: () => read('/faults', items(Type.Object({ id, left, hits, ...ofFault }))),
  addFault: (body: Values) => change('POST', '/faults', body, Type.Object({ fault: Type.Object({ id, ...ofFault }) })),
  clearFaults: () => ({ method: 'DELETE', path: '/faults', answer: ANY }) as const,
  clearFault: (id: string) => ({ method: 'DELETE', path: `/faults/${part(id)}`, answer: ANY }) as const,
  clock: () => read('/clock', clock),
  setClock: (body: Values) => ({ ...change('PUT', '/clock', body, clock), limitMs: JUMP_MS }),
  setMarket: (body: Values) => change('PUT', '/market', body, clock),
  price: (symbol: string) => read(`/market/${part(symbol)}`, quote),
  setPrice: (symbol: string, body: Values) => change('PUT', `/market/${part(symbol)}`, body, quote),
  payDividend: (body: Values) => change('POST', '/dividends', body, Type.Object({ paid: Type.Integer() })),
  logins: () => read('/logins', items(records.loginRecord)),
  addLogin: (body: Values) => change('POST', '/logins', body, oneLogin),
  addAccount: (username: string, body: Values) => change('POST', `/logins/${part(username)}/accounts`, body, oneLogin),
  endGrants: (username: string, body: Values) =>
    change('POST', `/logins/${part(username)}/revoke`, body, Type.Object({ grants: Type.Integer() })),
  setTokens: (body: Values) => change('PUT', '/oauth', body, ANY),
  streams: () => read('/streams', items(stream)),
  disturbStreams: (body: Values) => change('POST', '/streams', body, Type.Object({ streams: Type.Integer() })),
  orders: (clientOrderId: string) =>
    read(
      `/orders?client_order_id=${part(clientOrderId)}`,
      Type.Object({ received: Type.Integer(), accepted: Type.Integer(), orders: Type.Array(records.sandboxOrder) })
    ),
  fillOrder: (id: string, body: Values) => change('POST', `/orders/${part(id)}/fill`, body, oneOrder),
  cancelOrder: (id: string) => change('POST', `/orders/${part(id)}/cancel`, {}, oneOrder),
  revealOrder: (id: string) => change('POST', `/orders/${part(id)}/reveal`, {}, ANY),
  counters: () => read('/counters', records.counterList),
  clearCounters: () => ({ method: 'DELETE', path: '/counters', answer: ANY }) as const,
  reset: () => ({ ...change('POST', '/reset', {}, clock), limitMs: JUMP_MS })
}
