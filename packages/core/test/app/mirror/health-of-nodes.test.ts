import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { HealthRegistry } from '@trunkline/core/app/mirror/health-registry'
import type { Connection } from '@trunkline/core/domain/account'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { BusMessage } from '@trunkline/core/ports/bus'
import type { Owner } from '@trunkline/core/ports/ownership'
import { connectionId, userKey } from '@trunkline/testkit/bus-contract/messages'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const of = { userKey: userKey(1), connectionId }
const health = { state: 'broken', since: '2026-01-05T15:00:00.000000Z' as Timestamp, reason: 'rejected' } as const

test('of the nodes that learn of a renewed login, all forget that it was broken, and only the owner publishes its health', () => {
  const owners: readonly (readonly [Owner, number])[] = [
    [{ kind: 'this' }, 1],
    [{ kind: 'none' }, 0]
  ]
  for (const [owner, published] of owners) {
    const bus = new LocalBus(quiet)
    const registry = new HealthRegistry({ bus, clock: new VirtualClock(), ownership: Object({ ownerOf: () => owner }) })
    bus.publish({ type: 'connection_health', ...of, health })
    const messages: BusMessage[] = []
    bus.subscribe(message => void messages.push(message), ['connection_health'])
    bus.publish({ type: 'connection_renewed', ...of, wasBroken: true })
    assert.equal(messages.length, published)
    const connection: Connection = Object({ ...of, status: 'ACTIVE', createdAt: health.since, updatedAt: health.since })
    assert.equal(registry.of(connection).state, 'polling')
    registry.stop()
  }
})

test('a mirror that ends after its user has moved to another node publishes nothing', () => {
  const bus = new LocalBus(quiet)
  let owner: Owner = { kind: 'this' }
  const registry = new HealthRegistry({ bus, clock: new VirtualClock(), ownership: Object({ ownerOf: () => owner }) })
  const states: string[] = []
  bus.subscribe(message => void (message.type === 'connection_health' && states.push(message.health.state)), ['connection_health'])
  const connection: Connection = Object({ ...of, status: 'ACTIVE', createdAt: health.since, updatedAt: health.since })
  registry.followed(connection, 'live', null)
  owner = { kind: 'other', node: Object({}) }
  registry.unfollowed(connection)
  assert.deepEqual(states, ['live'])
  assert.deepEqual([registry.changes, [...registry.known()].map(known => [known.change, known.health.state])], [2, [[2, 'polling']]])
  registry.stop()
})
