// Where one fault after another is played on the same running service: each begins, meets a load, ends, and leaves everybody in agreement.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { Chance, ConsistencyCheck, type CrashUser, type OrderRecord, type Vitals, World } from '@trunkline/testkit/crash/index'
import { metricsPage } from '@trunkline/testkit/metrics'
import { ofSearch } from '@trunkline/testkit/search'
import { until } from '@trunkline/testkit/until'
import { copyStore } from '../store/template.ts'
import { knownKeys } from './known-keys.ts'

export type Fields = Readonly<Record<string, unknown>>

/** One row of the matrix. */
export interface Fault {
  /** As in docs/decisions/0006-fault-matrix.md. */
  readonly id: string
  readonly title: string
  /** How long everybody may take to agree afterwards, where that is longer than usual. */
  readonly settleMs?: number
  /** Makes it happen under load. What it set at the sandbox and on the proxies is cleared afterwards by the stage. */
  play(stage: Stage): Promise<void>
}

export interface StageOptions {
  /** Of the test file, for running it again. */
  readonly name: string
  /** Connects the users who trade and follow; by default four users of one platform with two accounts each, ten in a search. */
  readonly populate?: (world: World) => Promise<void>
  readonly env?: Readonly<Record<string, string>>
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const USERS = ofSearch(10, 4)
const ACCOUNTS_OF_EACH = 2
const SEED_VARIABLE = 'TRUNKLINE_FAULT_SEED'
const OPERATIONS = 4
const PAUSE_MS = 40
/** What a service may hold more than when it was fresh, beyond a tenth: it remembers orders that are asked for often, up to a bound. */
const HEAP_SLACK_BYTES = 12 * 1024 * 1024
const HANDLES_SLACK = 12

export class Stage implements AsyncDisposable {
  readonly world: World
  readonly accord: ConsistencyCheck
  readonly nameOf: (orderId: string) => string
  readonly chance: Chance
  readonly #seed: number
  readonly #name: string
  #loads = 0
  #armed: { readonly id: string; readonly spec: Fields }[] = []
  #fresh: Vitals | null = null

  private constructor(options: StageOptions, parts: { readonly world: World; readonly nameOf: (orderId: string) => string }, seed: number) {
    this.world = parts.world
    this.nameOf = parts.nameOf
    this.accord = new ConsistencyCheck(parts.world, parts.nameOf)
    this.chance = parts.world.chance.apart()
    this.#seed = seed
    this.#name = options.name
  }

  static async open(options: StageOptions): Promise<Stage> {
    const seed = Number(process.env[SEED_VARIABLE] ?? 1)
    assert.ok(Number.isInteger(seed), `${SEED_VARIABLE} must be a whole number`)
    const { env, nameOf } = knownKeys()
    const chance = new Chance(seed)
    const world = await World.open({ main: MAIN, database: copyStore, env: { ...env, ...options.env }, chance })
    const stage = new Stage(options, { world, nameOf }, seed)
    try {
      await (options.populate?.(world) ?? world.populate(USERS, ACCOUNTS_OF_EACH))
      await stage.trade()
      await stage.accord.reached()
      stage.#fresh = await world.service.vitals()
      return stage
    } catch (cause) {
      await world[Symbol.asyncDispose]().catch(() => undefined)
      throw cause
    }
  }

  /** Plays a fault, ends it, and waits until everybody agrees. A failure is reported with the seed. */
  async play(fault: Fault): Promise<void> {
    try {
      try {
        await fault.play(this)
        await this.struck()
      } finally {
        await this.#end()
      }
      await this.accord.reached(fault.settleMs)
    } catch (cause) {
      const again = `${SEED_VARIABLE}=${this.#seed} npm test -- faults/${this.#name}`
      throw new Error(`${fault.id} ${fault.title}, seed ${this.#seed} (again: ${again}): ${messageOf(cause)}`, { cause })
    }
  }

  /** Trades on all accounts. */
  async trade(operations = OPERATIONS, pauseMs = PAUSE_MS): Promise<void> {
    this.#loads += 1
    await this.world.trade({ name: `l${this.#loads}`, operations, pauseMs })
  }

  /** Trades on all accounts for as long as `work` takes. */
  async tradeDuring(work: () => Promise<void>, pauseMs = PAUSE_MS): Promise<void> {
    this.#loads += 1
    const over = new AbortController()
    const load = this.world.trade({ name: `l${this.#loads}`, operations: Number.POSITIVE_INFINITY, pauseMs, signal: over.signal })
    await work().finally(() => over.abort())
    await load
  }

  /** Sets faults of the sandbox's requests. Each must strike at least once before the fault is over. */
  async injectFaults(...specs: readonly Fields[]): Promise<void> {
    for (const spec of specs) {
      const { fault } = await this.world.sandbox.control('POST', '/faults', spec)
      this.#armed.push({ id: fault.id, spec })
    }
  }

  /** Does something to the sandbox's streams, of a login or of all. */
  async streams(order: Fields): Promise<void> {
    await this.world.sandbox.control('POST', '/streams', order)
  }

  /** Buy orders that rest, one on the first account of each of so many users. */
  async resting(symbol: string, count: number, quantity: number): Promise<readonly RestingOrder[]> {
    const users = this.world.users.slice(0, count)
    const [first] = users
    assert.ok(first !== undefined)
    const price = await this.world.sandbox.restingPrice(first.login, symbol)
    const ticket = { symbol, order_type: 'LMT', order_tif: 'GTC', order_limit_price: price, order_qty: String(quantity) }
    return await Promise.all(users.map(async user => ({ user, price, order: await this.place(user, ticket) })))
  }

  /** Places an order that the ledger knows of; it must be taken. */
  async place(user: CrashUser, ticket: Fields): Promise<OrderRecord> {
    this.#loads += 1
    const name = `a${this.#loads}`
    this.world.ledger.requested.set(`${user.userId} ${name}`, null)
    const { status, body } = await user.place(name, ticket)
    assert.equal(status, 201, JSON.stringify(body))
    this.world.ledger.requested.set(`${user.userId} ${name}`, body)
    return body
  }

  /** Asks for another quantity; gives the answer. */
  async modify({ user, order }: RestingOrder, quantity: number): Promise<{ readonly status: number; readonly body: OrderRecord }> {
    this.#loads += 1
    const name = `m${this.#loads}`
    this.world.ledger.requested.set(`${user.userId} ${name}`, null)
    const answer = await user.modify(order.order_id, name, { order_qty: String(quantity) })
    if (answer.status === 200) this.world.ledger.requested.set(`${user.userId} ${name}`, answer.body)
    return answer
  }

  /** A counter of the service, all its labels together, or only those that hold `label`. */
  async metric(name: string, label = ''): Promise<number> {
    const page = await metricsPage(this.world.demo.base_url)
    const lines = page.split('\n').filter(line => line.startsWith(`trunkline_${name}`) && line.includes(label))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }

  /** Runs `work`; the service must have counted that many more afterwards. */
  async counts(name: string, label: string, atLeast: number, work: () => Promise<void>): Promise<void> {
    const before = await this.metric(name, label)
    await work()
    const more = (await this.metric(name, label)) - before
    assert.ok(more >= atLeast, `${name} ${label} rose by ${more}, not by ${atLeast}: the fault did not strike`)
  }

  /** Everybody's health by GET /connections, by user. */
  async health(): Promise<readonly string[]> {
    const answers = await Promise.all(this.world.users.map(user => user.call('GET', '/connections')))
    return answers.flatMap(({ body }) => body.map((connection: OrderRecord) => connection.health))
  }

  /** The service holds no more than when it was fresh, give or take what it may remember. */
  async isBackToNormal(): Promise<void> {
    const fresh = this.#fresh
    assert.ok(fresh !== null)
    let details = ''
    await until(
      async () => {
        const now = await this.world.service.vitals()
        details = JSON.stringify({ fresh, now })
        const used = now.heapBytes + now.externalBytes
        const handles = (vitals: Vitals) => Object.values(vitals.resources).reduce((sum, count) => sum + count, 0)
        return used <= 1.1 * (fresh.heapBytes + fresh.externalBytes) + HEAP_SLACK_BYTES && handles(now) <= handles(fresh) + HANDLES_SLACK
      },
      'memory and handles are back',
      20_000
    ).catch(cause => assert.fail(`${cause.message}: ${details}`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
  }

  /** Waits until every fault that was set has struck at least once. */
  async struck(): Promise<void> {
    let missing: readonly Fields[] = []
    await until(async () => {
      const { items } = await this.world.sandbox.control('GET', '/faults')
      const unmet = new Set(items.filter((item: Fields) => item.hits === 0).map((item: Fields) => item.id))
      missing = this.#armed.filter(({ id }) => unmet.has(id)).map(({ spec }) => spec)
      return missing.length === 0
    }, 'every fault has struck').catch(cause => assert.fail(`${messageOf(cause)}; not so ${JSON.stringify(missing)}`))
  }

  async #end(): Promise<void> {
    const { sandbox, sandboxProxy, platformProxy } = this.world
    this.#armed = []
    for (const proxy of [sandboxProxy, platformProxy]) proxy.clear()
    await sandbox.control('DELETE', '/faults')
    await sandbox.control('POST', '/streams', { do: 'normal' })
    await sandbox.control('PUT', '/market', { paused: false })
    await sandbox.control('PUT', '/clock', { frozen: false })
  }
}

export interface RestingOrder {
  readonly user: CrashUser
  readonly order: OrderRecord
  readonly price: string
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
