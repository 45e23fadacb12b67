// Compares all sources: the reads, the log from its beginning, the updates of each follower, and the sandbox.

import assert from 'node:assert/strict'
import { PATIENCE_MS } from '../patience.ts'
import { until } from '../until.ts'
import { readOn } from './event-log.ts'
import type { Follower } from './follower.ts'
import type { Ledger } from './load.ts'
import type { CrashUser, OrderRecord } from './platform.ts'
import { Replay } from './replay.ts'
import { type AccountSnapshot, differences, recordDifferences, sandboxSnapshotOf, snapshotOf } from './snapshot.ts'
import type { World } from './world.ts'

const SHOWN_MAX = 12
const OUTPUT_SHOWN = 2_000
const UNSETTLED = ['submitting', 'unknown']

export class ConsistencyCheck {
  readonly #world: World
  readonly #nameOf: (orderId: string) => string
  readonly #logs = new Map<string, Replay>()
  /** The number of times the sandbox received each order that was looked up. */
  readonly #counted = new Set<string>()

  /** @param nameOf an order's client order id at the sandbox. */
  constructor(world: World, nameOf: (orderId: string) => string) {
    this.#world = world
    this.#nameOf = nameOf
  }

  /**
   * Waits until all sources agree. The stream is compared with the sandbox first, before anything is read: the service must reach that
   * state by itself.
   * @throws AssertionError with the differences, after `limitMs`
   */
  async reached(limitMs = PATIENCE_MS): Promise<void> {
    await this.streamMatchesSandbox(limitMs)
    await this.#within(limitMs, 'all sources agree', () => this.#everybody())
    await this.#onceEach()
  }

  /** Waits until every follower has received what the sandbox has, without reading anything of the service. @throws AssertionError */
  async streamMatchesSandbox(limitMs = PATIENCE_MS): Promise<void> {
    await this.#within(limitMs, 'what the stream sent is what the sandbox has', () => this.#streamVsSandbox())
  }

  /** Reads every log again from its beginning: earlier entries are unchanged. */
  async logsAreWhole(): Promise<void> {
    for (const { userId, platform } of this.#world.users) {
      const [known, again] = [this.#logs.get(userId) ?? new Replay(userId), new Replay(userId)]
      const isSameLength = async () => {
        await readOn(platform, again)
        await readOn(platform, known)
        return again.seq === known.seq
      }
      // An event may be published between the two reads.
      await until(isSameLength, 'both readings are of the same length')
      assert.deepEqual([again.faults, again.digest], [[], known.digest], `the log of ${userId}`)
    }
  }

  async #within(limitMs: number, what: string, look: () => Promise<readonly string[]>): Promise<void> {
    let last: readonly string[] = []
    try {
      await until(
        async () => {
          last = []
          this.#mustBeSound()
          last = await look().catch(cause => [String(cause)])
          return last.length === 0
        },
        what,
        limitMs
      )
    } catch (cause) {
      if (last.length === 0) throw cause
      const report = last.slice(0, SHOWN_MAX).join('\n  ')
      assert.fail(
        `${cause instanceof Error ? cause.message : cause}:\n  ${report}\n  (${last.length} in all)\n${this.#world.service.output.slice(-OUTPUT_SHOWN)}`
      )
    }
  }

  /** Differences that do not disappear by waiting. */
  #mustBeSound(): void {
    const { service, followers } = this.#world
    const faults = [...followers.values(), ...this.#logs.values()].flatMap(({ faults }) => faults)
    assert.ok(faults.length === 0, `${faults.slice(0, SHOWN_MAX).join('\n  ')}\n${service.output.slice(-OUTPUT_SHOWN)}`)
    assert.ok(service.isRunning, `the service ended:\n${service.output.slice(-OUTPUT_SHOWN)}`)
  }

  async #streamVsSandbox(): Promise<readonly string[]> {
    const found: string[] = []
    for (const { name, follower, user } of this.#followings()) {
      if (!follower.isLive) found.push(`${name} has not caught up; last refusal: ${follower.lastRefusal}`)
      else found.push(...differences(name, this.#followerSnapshot(follower, user), 'the sandbox', await this.#sandboxSnapshot(user)))
      if (found.length > SHOWN_MAX) break
    }
    return found
  }

  async #everybody(): Promise<readonly string[]> {
    const found = await Promise.all(this.#world.users.map(user => this.#user(user)))
    return found.flat()
  }

  async #user(user: CrashUser): Promise<readonly string[]> {
    const { userId } = user
    const records = await user.records()
    const log = this.#logs.get(userId) ?? new Replay(userId)
    this.#logs.set(userId, log)
    await readOn(user.platform, log)
    const read = snapshotOf(records, this.#nameOf)
    const replayed = snapshotOf(valuesOf(log), this.#nameOf)
    const connections = await user.call('GET', '/connections')
    return [
      ...recordDifferences('a read', records.orders, 'the log', log.orders.values()),
      ...differences('a read', read, 'the log', replayed),
      ...differences('the log', replayed, 'the sandbox', await this.#sandboxSnapshot(user)),
      ...[...this.#followings()]
        .filter(following => following.user === user)
        .flatMap(({ name, follower }) => apart(name, follower.of(userId), log)),
      ...unsettled(records.orders),
      ...missing(this.#world.ledger, userId, records.orders),
      ...connections.body
        .filter((connection: OrderRecord) => connection.health === 'stale')
        .map((connection: OrderRecord) => `${userId}’s connection is ${connection.health}: ${connection.health_reason}`)
    ].map(what => `${userId}: ${what}`)
  }

  /** The sandbox received each of our orders at most once. */
  async #onceEach(): Promise<void> {
    for (const log of this.#logs.values()) {
      const fresh = [...log.orders.values()].filter(order => order.submission.state !== 'external' && !this.#counted.has(order.order_id))
      for (const { order_id: orderId, cl_order_id: name } of fresh) {
        const { received, accepted } = await this.#world.sandbox.ordersOf(this.#nameOf(orderId))
        assert.ok(
          received <= 1 && accepted <= 1,
          `the sandbox received ${name} of ${log.userId} ${received} times, and took it ${accepted} times`
        )
        this.#counted.add(orderId)
      }
    }
  }

  *#followings(): Generator<{ readonly name: string; readonly follower: Follower; readonly user: CrashUser }> {
    for (const [name, follower] of this.#world.followers) {
      for (const user of this.#world.users) if (follower.follows(user.userId)) yield { name, follower, user }
    }
  }

  #followerSnapshot(follower: Follower, user: CrashUser): AccountSnapshot {
    return snapshotOf(valuesOf(follower.of(user.userId)), this.#nameOf)
  }

  async #sandboxSnapshot({ login }: CrashUser): Promise<AccountSnapshot> {
    const numbers = new Map(login.accounts.map(({ id, number }) => [id, number]))
    const records = await this.#world.sandbox.records(login)
    return sandboxSnapshotOf(records, account => numbers.get(account) ?? account, this.#world.ledger.elsewhere)
  }
}

function valuesOf({ orders, positions, balances }: Replay): Parameters<typeof snapshotOf>[0] {
  return { orders: orders.values(), positions: positions.values(), balances: balances.values() }
}

/** A follower that received exactly the log's events ends in the same state. */
function apart(name: string, follower: Replay, log: Replay): readonly string[] {
  if (follower.seq !== log.seq) return [`${name} received up to ${follower.seq}, the log goes up to ${log.seq}`]
  return follower.digest === log.digest ? [] : [`${name} received something else than the log has`]
}

function unsettled(orders: readonly OrderRecord[]): readonly string[] {
  return orders
    .filter(({ submission }) => UNSETTLED.includes(submission.state))
    .map(order => `order ${order.cl_order_id} is ${order.normalized_status}, its submission ${order.submission.state}`)
}

/** Answered orders that are missing, and orders that were never requested. */
function missing({ requested, elsewhere }: Ledger, userId: string, orders: readonly OrderRecord[]): readonly string[] {
  const there = new Map(orders.map(order => [`${userId} ${order.cl_order_id}`, order.order_id]))
  const own = [...requested].filter(([key]) => key.startsWith(`${userId} `))
  return [
    ...own
      .filter(([key, answered]) => answered !== null && there.get(key) !== answered.order_id)
      .map(([key]) => `${key} was answered and is not there`),
    ...orders
      .filter(order => !requested.has(`${userId} ${order.cl_order_id}`) && !elsewhere.has(order.cl_order_id))
      .map(order => `was never requested ${order.cl_order_id}`)
  ]
}
