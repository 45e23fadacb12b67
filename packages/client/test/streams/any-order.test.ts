// Readers that come, go and dawdle while connections break, in any order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededChance } from '@trunkline/testkit/chance'
import type { Followed, Following } from '../../src/streams/broker/items.ts'
import type { BrokerStream } from '../../src/streams/broker/stream.ts'
import { streamOf } from './followed.ts'
import { ScriptedService } from './scripted-service.ts'
import { Network } from './scripted-socket.ts'

const RUNS = 40
const STEPS = 400
const WAITING_MAX = 6

/** Follows one user, item by item, and stands for all that a reader may rely on. */
class CheckedReader {
  readonly #userId: string
  readonly #stream: BrokerStream
  readonly #service: ScriptedService
  #items: Following
  #over = new AbortController()
  #isReading = false
  /** The last update that it has. */
  seq: number | null = null

  constructor(userId: string, stream: BrokerStream, service: ScriptedService) {
    this.#userId = userId
    this.#stream = stream
    this.#service = service
    this.#items = this.#follow()
  }

  get isLive(): boolean {
    return this.#items.isLive
  }

  /** Asks for the next item, unless it waits for one. */
  read(): void {
    if (this.#isReading) return
    this.#isReading = true
    const items = this.#items
    void items.next().then(({ value }) => {
      if (items !== this.#items || value === undefined) return
      this.#isReading = false
      this.#take(value)
    })
  }

  /** Leaves in one way or another, and comes back. */
  again(chance: SeededChance): void {
    if (chance.happens(0.5)) this.#over.abort()
    else void this.#items.return()
    this.#over = new AbortController()
    this.#isReading = false
    this.#items = this.#follow()
  }

  check(): void {
    if (this.isLive) assert.ok(this.seq !== null && this.#service.isLiveAt(this.#userId, this.seq), `${this.#userId} is not live`)
  }

  #follow(): Following {
    return this.#stream.follow(this.#userId, { signal: this.#over.signal, ...(this.seq !== null && { after: this.seq }) })
  }

  #take(item: Followed): void {
    if (item.type === 'begin') {
      assert.ok(this.seq === null, 'a log that has everything needs no second snapshot')
      this.seq = item.seq
    } else if (item.type === 'live') assert.equal(item.seq, this.seq)
    else if ('event_id' in item) {
      assert.equal(item.user_id, this.#userId)
      assert.equal(item.seq, (this.seq ?? 0) + 1)
      this.seq = item.seq
    } else assert.ok(item.type === 'interrupted', item.type)
  }
}

async function run(seed: number): Promise<void> {
  const chance = new SeededChance(seed)
  const network = new Network()
  const service = new ScriptedService(network, chance)
  const readEvents = (userId: string, after: number) => service.events(userId, after)
  const stream = streamOf(network, { readEvents, waitingMax: WAITING_MAX, random: () => chance.fraction() })
  const users = ['ada', 'bob']
  const readers = users.map(userId => new CheckedReader(userId, stream, service))
  const user = () => chance.oneOf(users) ?? ''
  const reader = () => chance.oneOf(readers)
  const steps: readonly (readonly [share: number, step: () => void])[] = [
    [20, () => service.happen(user())],
    [30, () => service.read()],
    [40, () => service.send()],
    [40, () => reader()?.read()],
    [10, () => network.pass(chance.fraction() * 2_000)],
    [3, () => service.drop()],
    [3, () => reader()?.again(chance)]
  ]
  const shares = steps.flatMap(([share, step]) => Array.from({ length: share }, () => step))
  for (let at = 0; at < STEPS; at += 1) {
    chance.oneOf(shares)?.()
    await new Promise(setImmediate)
    for (const reader of readers) reader.check()
  }
  service.isCalm = true
  const isDone = () => readers.every((reader, at) => reader.isLive && reader.seq === service.lastSeq(users[at] ?? ''))
  for (let rounds = 0; !isDone(); rounds += 1) {
    assert.ok(rounds < 2_000, `${readers.map(({ seq, isLive }) => `${seq} ${isLive}`)} of ${users.map(userId => service.lastSeq(userId))}`)
    service.read()
    service.send()
    for (const reader of readers) reader.read()
    network.pass(100)
    await new Promise(setImmediate)
    for (const reader of readers) reader.check()
  }
}

const first = Math.floor(Math.random() * 2 ** 32)
test(`each update comes once and in order, and live means it, in any order of events (seeds from ${first})`, async () => {
  for (let at = 0; at < RUNS; at += 1) {
    await run(first + at).catch(error => {
      throw new Error(`seed ${first + at}: ${error.message}`, { cause: error })
    })
  }
})
