// The health of connections whose users other nodes own: what their owners say, within two seconds, and nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KnownHealth } from '@trunkline/core/app/mirror/health-registry'
import type { ConnectionHealth } from '@trunkline/core/domain/account'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Owner, OwnerNode } from '@trunkline/core/ports/ownership'
import { connectionId, userKey } from '@trunkline/testkit/bus-contract/messages'
import * as make from '@trunkline/testkit/store-contract/records'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { answerOf } from '../../src/cluster/following/health-answers.ts'
import { HealthElsewhere } from '../../src/cluster/following/health-elsewhere.ts'
import { ASKED_USERS_MAX, type HealthQuestion, readAnswer, readQuestion } from '../../src/cluster/following/health-message.ts'

const HERE = make.uuid<NodeId>()
const USER = userKey(1)
const CONNECTION = { userKey: USER, connectionId }

/** What an owner has found, and which users it was sent. */
class FoundAt implements OwnerNode {
  readonly nodeId = make.uuid<NodeId>()
  readonly url = 'http://owner'
  readonly users = new Set<UserKey>()
  readonly questions: HealthQuestion[] = []
  answers: (() => Promise<void>) | null = null
  #changes = 0
  readonly #known = new Map<string, KnownHealth>()

  find(state: ConnectionHealth['state'], of: UserKey = USER): void {
    this.#changes += 1
    const health = { state, since: make.at(this.#changes), reason: null }
    this.#known.set(of, { userKey: of, connectionId, health, change: this.#changes })
  }

  async ask(question: HealthQuestion) {
    this.questions.push(question)
    const followedAt = () => (this.users.size === 0 ? null : this.users)
    const found = () => ({ changes: this.#changes, known: this.#known.values() })
    const answer = answerOf({ found, followedAt }, readQuestion(JSON.parse(JSON.stringify(question))))
    await this.answers?.()
    return readAnswer(JSON.parse(JSON.stringify(answer)))
  }
}

function scene() {
  const clock = new VirtualClock()
  const nodes = [new FoundAt(), new FoundAt()] as const
  const users = new Set<UserKey>()
  let owner: Owner = { kind: 'other', node: nodes[0] }
  const reported: string[] = []
  const elsewhere = new HealthElsewhere({
    nodeId: HERE,
    following: {
      follows: key => users.has(key),
      get owners() {
        return nodes.filter(node => node.users.size > 0)
      }
    },
    ownership: { ownerOf: () => owner },
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ask: ({ nodeId }, question) => (nodes.find(node => node.nodeId === nodeId) ?? nodes[0]).ask(question),
    changed: ({ userKey: key, health }) => void reported.push(key === USER ? health.state : `${key} ${health.state}`)
  })
  elsewhere.start()
  const follow = (node: FoundAt, ...keys: readonly UserKey[]) => {
    for (const key of keys) {
      users.add(key)
      node.users.add(key)
    }
    elsewhere.followed(node, keys)
  }
  const own = (next: Owner) => {
    owner = next
  }
  return { clock, nodes, users, reported, elsewhere, follow, own }
}

test('the owner is asked at once for a user who is followed from now on, and at intervals for what has changed since', async () => {
  const { clock, nodes, reported, elsewhere, follow } = scene()
  const [owner] = nodes
  owner.find('live')
  owner.find('stale', userKey(2))
  follow(owner, USER)
  assert.equal(elsewhere.of(CONNECTION), null)
  await clock.advance(1)
  assert.deepEqual([reported.splice(0), elsewhere.of(CONNECTION)?.state], [['live'], 'live'], 'and of nobody else')
  owner.find('stale')
  await clock.advance(1_500)
  assert.deepEqual([reported.splice(0), elsewhere.of(CONNECTION)?.state], [['stale'], 'stale'], 'without any message')
  await clock.advance(15_000)
  assert.deepEqual(reported, [])
  await elsewhere.stop()
})

test('a message that says that something has changed only makes the owner be asked earlier, however often it is repeated', async () => {
  const { clock, nodes, reported, elsewhere, follow } = scene()
  const [owner] = nodes
  owner.find('live')
  follow(owner, USER)
  await clock.advance(1)
  owner.find('broken')
  elsewhere.suspect(USER)
  await clock.advance(1)
  for (let time = 0; time < 5; time += 1) {
    elsewhere.suspect(USER)
    elsewhere.suspect(userKey(9))
    await clock.advance(1)
  }
  assert.deepEqual(reported, ['live', 'broken'])
  assert.deepEqual(owner.questions.at(-1), { nodeId: HERE, after: 2, users: [] })
  await elsewhere.stop()
})

test('an owner that does not answer is asked for the same again', async () => {
  const { clock, nodes, reported, elsewhere, follow } = scene()
  const [owner] = nodes
  owner.find('live')
  owner.answers = () => Promise.reject(new Error('no answer'))
  follow(owner, USER)
  await clock.advance(4_000)
  owner.answers = null
  await clock.advance(1_500)
  assert.deepEqual(reported, ['live'])
  await elsewhere.stop()
})

test('what a node says of a user who is another’s by then does not count, and counts once it is the owner again', async () => {
  const { clock, nodes, reported, elsewhere, follow, own } = scene()
  const [former, next] = nodes
  former.find('live')
  follow(former, USER)
  await clock.advance(1)
  const answer = Promise.withResolvers<void>()
  former.answers = () => answer.promise
  former.find('polling')
  await clock.advance(1_500)
  own({ kind: 'other', node: next })
  next.find('stale')
  follow(next, USER)
  await clock.advance(1)
  former.answers = null
  answer.resolve()
  await clock.advance(1)
  assert.deepEqual([reported.splice(0), elsewhere.of(CONNECTION)?.state], [['live', 'stale'], 'stale'])
  next.users.clear()
  own({ kind: 'other', node: former })
  await clock.advance(1_500)
  assert.deepEqual([reported, elsewhere.of(CONNECTION)?.state], [['polling'], 'polling'])
  await elsewhere.stop()
})

test('many users are asked for in parts, and of many changes none is left out', async () => {
  const { clock, nodes, reported, elsewhere, follow } = scene()
  const [owner] = nodes
  const keys = Array.from({ length: 12_000 }, (_, index) => userKey(0x100 + index))
  for (const key of keys) owner.find('live', key)
  follow(owner, ...keys.slice(0, ASKED_USERS_MAX + 1))
  await clock.advance(1)
  assert.deepEqual([new Set(reported).size, reported.length], [ASKED_USERS_MAX + 1, ASKED_USERS_MAX + 1])
  follow(owner, ...keys.slice(ASKED_USERS_MAX + 1))
  await clock.advance(1)
  assert.deepEqual([new Set(reported.splice(0)).size], [keys.length])
  for (const key of keys) owner.find('stale', key)
  await clock.advance(1_500)
  assert.deepEqual(new Set(reported), new Set(keys.map(key => `${key} stale`)))
  await elsewhere.stop()
})

test('a user whom nobody follows any more is forgotten', async () => {
  const { clock, nodes, users, reported, elsewhere, follow } = scene()
  const [owner] = nodes
  owner.find('live')
  follow(owner, USER)
  await clock.advance(1)
  users.clear()
  owner.users.clear()
  await clock.advance(1_500)
  assert.equal(elsewhere.of(CONNECTION), null)
  follow(owner, USER)
  await clock.advance(1)
  assert.deepEqual(reported, ['live', 'live'])
  await elsewhere.stop()
})

test('questions and answers are read strictly, and a node that has not said whom it follows gets no answer', () => {
  for (const wrong of [null, {}, { nodeId: HERE, after: -1, users: [] }, { nodeId: 'a', after: 0, users: [] }]) {
    assert.throws(() => readQuestion(wrong), Malformed)
  }
  const known = [{ ...CONNECTION, health: { state: 'well', since: make.at(1), reason: null } }]
  for (const wrong of [null, { until: 0, known: [] }, { until: 0, isCut: false, known }]) assert.throws(() => readAnswer(wrong), Malformed)
  const found = () => ({ changes: 0, known: [] })
  assert.throws(() => answerOf({ found, followedAt: () => null }, { nodeId: HERE, after: 0, users: [] }), /has not sent/)
})

test('a user who is followed again while an owner answers that it was not is asked for once more', async () => {
  const { clock, nodes, users, reported, elsewhere, follow } = scene()
  const [owner] = nodes
  owner.find('live')
  const answering = Promise.withResolvers<void>()
  owner.answers = () => answering.promise
  users.add(USER)
  owner.users.add(userKey(2))
  elsewhere.followed(owner, [USER])
  await clock.advance(1)
  owner.answers = null
  follow(owner, USER)
  answering.resolve()
  await clock.advance(1)
  assert.deepEqual(reported, ['live'])
  await elsewhere.stop()
})
