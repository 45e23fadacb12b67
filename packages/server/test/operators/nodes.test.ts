// What an operator is shown of all nodes, whichever is asked: two nodes that ask each other, without a network.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection, ConnectionHealth } from '@trunkline/core/domain/account'
import type { ConnectionId, NodeId, UserKey } from '@trunkline/core/domain/ids'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { Owner } from '@trunkline/core/ports/ownership'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { OperatorNodes, type OtherNodes, type RequestFilter } from '../../src/operators/nodes/index.ts'
import { type AnsweredRequest, RequestLog } from '../../src/operators/request-log.ts'

const SINCE = parseTimestamp('2026-01-05T14:00:00Z', 'time')
const id = <Id extends string>(number: number) => `0190a0b0-c0d0-7000-8000-${String(number).padStart(12, '0')}` as Id
const ANY: RequestFilter = { isFailed: false, code: null, requestId: null, platformId: null, userKey: null }

function answered(requestId: string, at: string, more: Partial<AnsweredRequest> = {}): AnsweredRequest {
  const who = { platformId: null, userKey: null, address: '192.0.2.1' }
  return { ...{ at, requestId, method: 'GET', route: '/orders', status: 200, code: null, milliseconds: 2 }, ...who, ...more }
}

function connection(number: number, more: Partial<Connection> = {}): Connection {
  return {
    ...{ connectionId: id<ConnectionId>(number), userKey: id<UserKey>(number), platformId: id(900), userId: 'ada', broker: 'SANDBOX' },
    ...{
      connectionType: 'trade',
      status: 'ACTIVE',
      endpoint: null,
      brokenCode: null,
      brokenReason: null,
      createdAt: SINCE,
      updatedAt: SINCE
    },
    ...more
  } as Connection
}

/** A node whose mirrors say of every connection that they are `state`. */
function node(
  clock: VirtualClock,
  name: string,
  state: ConnectionHealth['state'],
  others: OtherNodes,
  ownerOf: (userKey: UserKey) => Owner
) {
  const requests = new RequestLog(() => 0)
  const asked: ConnectionId[] = []
  const mirrors = {
    health: ({ connectionId, status }: Pick<Connection, 'connectionId' | 'status'>): ConnectionHealth => {
      asked.push(connectionId)
      return { state: status === 'BROKEN' ? 'broken' : state, since: SINCE, reason: null }
    },
    leftOut: () => (state === 'stale' ? { records: 2, at: SINCE } : null)
  }
  const service = { startedAt: SINCE, name, version: '0.1.0', problem: async () => (state === 'stale' ? ('store' as const) : null) }
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  return { requests, asked, nodes: new OperatorNodes({ service, requests, mirrors, others, ownership: { ownerOf }, clock, log }) }
}

function pair() {
  const clock = new VirtualClock()
  const elsewhere: Owner = { kind: 'other', node: { nodeId: 'b' as NodeId, url: 'http://b' } }
  const other = node(clock, 'b', 'stale', { ids: () => [], ask: () => Promise.reject() }, () => ({ kind: 'this' }))
  let ask: OtherNodes['ask'] = async (_, question) =>
    JSON.parse(JSON.stringify(await other.nodes.answer(JSON.parse(JSON.stringify(question)))))
  const own = node(clock, 'a', 'live', { ids: () => ['b'], ask: (to, question) => ask(to, question) }, userKey =>
    userKey === id(1) ? { kind: 'this' } : userKey === id(3) ? { kind: 'none' } : elsewhere
  )
  const answerWith = (given: OtherNodes['ask']) => {
    ask = given
  }
  return { clock, other, own, answerWith }
}

const FAULTS: readonly (readonly [string, OtherNodes['ask']])[] = [
  ['is silent', () => new Promise(() => undefined)],
  ['refuses', () => Promise.reject(new Error('404'))],
  ['answers something else', async () => ({ version: 7 })]
]

test('requests of all nodes are one list, the newest first, with the filter applied at each', async () => {
  const { own, other } = pair()
  own.requests.add(answered('a-1', '2026-01-05T15:00:00.1Z'))
  own.requests.add(answered('a-2', '2026-01-05T15:00:00.3Z', { status: 429, code: 'rate_limited' }))
  other.requests.add(answered('b-1', '2026-01-05T15:00:00.2Z'))
  other.requests.add(answered('b-2', '2026-01-05T15:00:00.4Z', { status: 429, code: 'rate_limited', platformId: id(900) }))
  const listed = async (filter: Partial<RequestFilter>, limit = 10) => {
    const { requests, unanswered } = await own.nodes.requests({ ...ANY, ...filter }, limit)
    return [requests.map(({ requestId, node }) => `${requestId} at ${node}`), unanswered]
  }
  assert.deepEqual(await listed({}), [['b-2 at b', 'a-2 at a', 'b-1 at b', 'a-1 at a'], []])
  assert.deepEqual(await listed({}, 3), [['b-2 at b', 'a-2 at a', 'b-1 at b'], []])
  assert.deepEqual(await listed({ code: 'rate_limited' }), [['b-2 at b', 'a-2 at a'], []])
  assert.deepEqual(await listed({ platformId: id(900) }), [['b-2 at b'], []])
  assert.equal((await own.nodes.findRequest('b-1'))?.node, 'b')
  assert.equal(await own.nodes.findRequest('c-1'), null)
})

test('the overview has each node as it says it is', async () => {
  const { own, other } = pair()
  other.requests.add(answered('b-1', '2026-01-05T15:00:00Z', { status: 503 }))
  const overviews = await own.nodes.overviews()
  assert.deepEqual(
    overviews.map(({ node, overview }) => [node, overview?.problem, overview?.minutes]),
    [
      ['a', null, []],
      ['b', 'store', [{ atMs: 0, requests: 1, errors: { status_503: 1 } }]]
    ]
  )
})

test('a connection is as the node says that owns its user; of one without an owner nothing is known', async () => {
  const { own, other } = pair()
  const broken = connection(4, { status: 'BROKEN', brokenReason: 'refused' })
  const found = await own.nodes.followed([connection(1), connection(2), connection(3), broken])
  const shown = [1, 2, 3, 4].map(number => found.get(id<ConnectionId>(number)))
  assert.deepEqual(
    shown.map(followed => [followed?.health.state ?? null, followed?.leftOut?.records ?? null]),
    [
      ['live', null],
      ['stale', 2],
      [null, null],
      ['broken', null]
    ]
  )
  assert.deepEqual(other.asked, [id(2)])
  const many = Array.from({ length: 250 }, (_, index) => connection(1_000 + index))
  const all = await own.nodes.followed(many)
  assert.ok(many.every(({ connectionId }) => all.get(connectionId)?.health.state === 'stale'))
})

for (const [what, ask] of FAULTS)
  test(`a node that ${what} is named, and what it alone knows is unknown`, async () => {
    const { clock, own, answerWith } = pair()
    answerWith(ask)
    own.requests.add(answered('a-1', '2026-01-05T15:00:00Z'))
    const asked = Promise.all([own.nodes.overviews(), own.nodes.requests(ANY, 10), own.nodes.followed([connection(1), connection(2)])])
    await clock.advance(1_000)
    const [overviews, { requests, unanswered }, followed] = await asked
    assert.deepEqual(overviews[1], { node: 'b', overview: null })
    assert.deepEqual([requests.map(({ requestId }) => requestId), unanswered], [['a-1'], ['b']])
    assert.deepEqual([followed.get(id<ConnectionId>(1))?.health.state, followed.get(id<ConnectionId>(2))], ['live', null])
  })

test('a question of another form is refused', async () => {
  const { own } = pair()
  for (const question of [
    null,
    {},
    { kind: 'secrets' },
    { kind: 'requests', filter: ANY, limit: 1_000_000 },
    { kind: 'followed', connections: [7] }
  ])
    await assert.rejects(async () => own.nodes.answer(question), { name: 'Malformed' })
})
