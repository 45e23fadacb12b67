// What operators see of the sandbox. Where its answer is alike, the record is also the form of the answer (`requests.ts`).
import Type from 'typebox'
import { nullable, oneOf, record } from '../../wire/common.ts'

const text = Type.String()
const count = (description: string) => Type.Integer({ minimum: 0, description })
const incomplete = nullable(Type.String(), 'What is missing from the list, and why; null: nothing.')
const amount = nullable(Type.String(), 'Null: there is none.')

export const faultRecord = record('SandboxFault', 'What the sandbox does to requests.', {
  fault_id: text,
  on: Type.String({ description: 'Of which operations.' }),
  do: text,
  times: nullable(Type.Integer(), 'Null: until it is cleared.'),
  left: nullable(Type.Integer(), 'How many requests it still hits; null: until it is cleared.'),
  hits: count('How many requests it has hit.'),
  skip: count('How many matching requests pass before.'),
  login: nullable(text, 'Null: of everybody.'),
  symbol: nullable(text, 'Null: of any symbol.'),
  client_order_id: nullable(text, 'Null: of any order.'),
  after: Type.Boolean({ description: 'Whether it takes effect after the operation was carried out.' }),
  ms: count('Milliseconds, where its effect has them.'),
  status: nullable(Type.Integer(), 'Null: that of the effect.'),
  retry_after: nullable(Type.Integer(), 'Seconds; null: none.'),
  code: nullable(text, 'Null: that of the effect.'),
  message: nullable(text, 'Null: that of the effect.')
})
export const faultList = record('SandboxFaultList', 'All faults, in the order in which they were set.', {
  data: Type.Array(faultRecord),
  incomplete
})
export const clearedRecord = record('SandboxCleared', 'What was cleared.', { cleared: oneOf(['faults', 'fault', 'counters']) })

const phase = Type.String({ description: 'Of its market.' })
export const clockRecord = record('SandboxClock', 'The sandbox’s time and its markets.', {
  sandbox_time: Type.String({ description: 'UTC with microseconds. It may be far from the machine’s.' }),
  frozen: Type.Boolean({ description: 'Whether time stands still.' }),
  paused: Type.Boolean({ description: 'Whether no prices come.' }),
  prices: Type.String({ description: '`synthetic`, or those of a recorded day.' }),
  phases: record('SandboxPhases', 'Which phase each class is in.', { share: phase, crypto: phase, option: phase, future: phase })
})

export const priceRecord = record('SandboxPrice', 'A symbol’s best prices.', {
  symbol: text,
  bid: amount,
  bid_size: amount,
  ask: amount,
  ask_size: amount,
  last: amount,
  previous_close: amount,
  halted: Type.Boolean(),
  phase
})
export const dividendRecord = record('SandboxDividend', 'A dividend that was paid.', {
  symbol: text,
  per_share: text,
  paid: count('How many accounts received it.')
})

export const loginRecord = record('SandboxLogin', 'A practice user of the sandbox.', {
  username: text,
  password: Type.String({ description: 'In plain text: it opens practice accounts only.' }),
  name: text,
  accounts: Type.Array(record('SandboxAccount', 'A practice account.', { number: text, name: text, kind: text }))
})
export const loginList = record('SandboxLoginList', 'The practice users.', { data: Type.Array(loginRecord), incomplete })
export const grantsRecord = record('SandboxGrantsEnded', 'The grants that have ended.', { username: text, grants: count('How many.') })
export const tokensRecord = record('SandboxTokens', 'What holds for tokens from now on; null: that was not changed.', {
  access_seconds: nullable(Type.Integer()),
  refresh_grace_ms: nullable(Type.Integer())
})

export const streamList = record('SandboxStreamList', 'The streams that are open.', {
  data: Type.Array(
    record('SandboxStream', 'The open streams of one kind and login.', {
      on: Type.String({ description: '`account` or `market`.' }),
      broker: nullable(text, 'The broker whose streams they are; null: the sandbox’s own.'),
      login_id: nullable(text, 'The sandbox’s id of the login; null: it is not named.'),
      open: nullable(Type.Integer(), 'How many; null: not counted.')
    })
  ),
  incomplete
})
export const disturbedRecord = record('SandboxStreamsDisturbed', 'The streams that it was done to.', { streams: count('How many.') })

export const sandboxOrder = record('SandboxOrder', 'An order as the sandbox has it.', {
  id: text,
  client_order_id: text,
  symbol: nullable(text, 'Null: it has several legs.'),
  direction: text,
  state: text,
  quantity: amount,
  filled: text,
  remaining: text
})
export const sandboxOrders = record('SandboxOrderList', 'What the sandbox has of an order.', {
  received: count('How many requests with this id were processed since its start.'),
  accepted: count('How many orders it recorded, refused ones included.'),
  data: Type.Array(sandboxOrder)
})
export const revealedRecord = record('SandboxOrderRevealed', 'The order that is shown now.', { id: text })

const tally = record('SandboxTally', 'Requests of one operation.', {
  requests: count('All of them.'),
  faults: count('Those that a fault hit.'),
  answers: Type.Record(Type.String(), count('How many.'), { description: 'By status or by what was done instead.' })
})
export const counterList = record('SandboxCounters', 'Requests since the start, or since the counters were cleared.', {
  operations: Type.Record(Type.String(), tally)
})
export const stateRecord = record('Sandbox', 'The sandbox that this service started.', {
  url: Type.String({ description: 'Where brokers’ requests go; on the machine of the service.' }),
  brokers: Type.Array(text, { description: 'Which brokers are there.' }),
  clock: clockRecord,
  faults: count('How many are set.'),
  logins: count('How many practice users there are.')
})
export const resetRecord = record('SandboxReset', 'The sandbox after it was reset.', { clock: clockRecord })
