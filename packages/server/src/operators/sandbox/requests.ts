// All that is ever asked of the sandbox: each request is built here, from values of our own forms. No path and no body of a client is
// passed on.
import Type, { type TSchema } from 'typebox'
import { type ControlRequest, SandboxRefusal } from './control.ts'

const text = Type.String()
const maybeText = Type.Union([text, Type.Null()])
const maybeCount = Type.Union([Type.Integer(), Type.Null()])
/** Every answer has more members than these: only what is read is checked. */
const items = <Item extends TSchema>(item: Item) => Type.Object({ items: Type.Array(item) })
const ANY = Type.Object({})

const fault = Type.Object({
  id: text,
  on: text,
  do: text,
  times: maybeCount,
  skip: Type.Integer(),
  login: maybeText,
  symbol: maybeText,
  client_order_id: maybeText,
  after: Type.Boolean(),
  ms: Type.Integer(),
  status: maybeCount,
  retry_after: maybeCount,
  code: maybeText,
  message: maybeText
})
const listedFault = Type.Object({ ...fault.properties, left: maybeCount, hits: Type.Integer() })
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
const quote = Type.Object({
  quote: Type.Object({
    symbol: text,
    bid: maybeText,
    bid_size: maybeText,
    ask: maybeText,
    ask_size: maybeText,
    last: maybeText,
    previous_close: maybeText,
    halted: Type.Boolean(),
    phase: text
  })
})
const account = Type.Object({ id: text, number: text, name: text, kind: text })
const login = Type.Object({ id: text, username: text, password: text, name: text, accounts: Type.Array(account) })
const oneLogin = Type.Object({ login })
const stream = Type.Object({
  on: text,
  login: Type.Optional(maybeText),
  dialect: Type.Optional(text),
  waiting: Type.Optional(Type.Array(Type.Unknown())),
  peers: Type.Optional(Type.Array(Type.Unknown()))
})
const order = Type.Object({
  id: text,
  client_order_id: text,
  symbol: maybeText,
  direction: text,
  state: text,
  quantity: maybeText,
  filled: text,
  remaining: text
})
const oneOrder = Type.Object({ order })
const tally = Type.Object({ requests: Type.Integer(), faults: Type.Integer(), answers: Type.Record(text, Type.Integer()) })

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

/** Which request each operation makes. Bodies have only members that the operation's own form has. */
export const SANDBOX = {
  faults: () => read('/faults', items(listedFault)),
  addFault: (body: Values) => change('POST', '/faults', body, Type.Object({ fault })),
  clearFaults: () => ({ method: 'DELETE', path: '/faults', answer: ANY }) as const,
  clearFault: (id: string) => ({ method: 'DELETE', path: `/faults/${part(id)}`, answer: ANY }) as const,
  clock: () => read('/clock', clock),
  setClock: (body: Values) => ({ ...change('PUT', '/clock', body, clock), limitMs: JUMP_MS }),
  setMarket: (body: Values) => change('PUT', '/market', body, clock),
  price: (symbol: string) => read(`/market/${part(symbol)}`, quote),
  setPrice: (symbol: string, body: Values) => change('PUT', `/market/${part(symbol)}`, body, quote),
  payDividend: (body: Values) => change('POST', '/dividends', body, Type.Object({ paid: Type.Integer() })),
  logins: () => read('/logins', items(login)),
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
      Type.Object({ received: Type.Integer(), accepted: Type.Integer(), orders: Type.Array(order) })
    ),
  fillOrder: (id: string, body: Values) => change('POST', `/orders/${part(id)}/fill`, body, oneOrder),
  cancelOrder: (id: string) => change('POST', `/orders/${part(id)}/cancel`, {}, oneOrder),
  revealOrder: (id: string) => change('POST', `/orders/${part(id)}/reveal`, {}, ANY),
  counters: () => read('/counters', Type.Object({ operations: Type.Record(text, tally) })),
  clearCounters: () => ({ method: 'DELETE', path: '/counters', answer: ANY }) as const,
  reset: () => ({ ...change('POST', '/reset', {}, ANY), limitMs: JUMP_MS })
}
