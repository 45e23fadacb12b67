// Orders whose answers are lost, and the judgement at the sandbox: of each order that was asked for, how many there are.
import { ANSWER_FAULTS, AnswerFaults } from '@trunkline/testkit/answer-faults'
import type { SeededChance } from '@trunkline/testkit/chance'
import { CrashPlatform, type CrashUser } from '@trunkline/testkit/crash/platform'
import { CLIENT_SECRET, SandboxProcess } from '@trunkline/testkit/crash/sandbox-process'
import { inParallel } from '../../../../bench/harness/pace.ts'
import { type Engine, type RunningService, startService } from '../../../../test/acceptance/harness.ts'
import { Trunkline, TrunklineError, type TrunklineUser } from '../../src/index.ts'

/** Of the requests that lead to an order, so many meet a fault; the shares of reads and of answers that never come are lower. */
const SHARE = 0.6
const READ_SHARE = 0.2
const LATE_SHARE = 0.004
const TIMEOUT_MS = 4_000
const CANCEL_RETRIES = 20

/** A service with its sandbox, and users. */
export interface Scene extends AsyncDisposable {
  readonly service: RunningService
  readonly sandbox: SandboxProcess
  /** A new user with an account at the sandbox that pays for some hundred orders of a load. */
  user(): Promise<CrashUser>
}

/** The limits of requests are not what is looked at. */
const UNLIMITED = { TRUNKLINE_RATE_LIMIT_PLATFORM: '1000000', TRUNKLINE_RATE_LIMIT_USER: '1000000', TRUNKLINE_ACCESS_LOG: 'none' }

export async function openScene(engine: Engine): Promise<Scene> {
  await using undone = new AsyncDisposableStack()
  const sandbox = undone.use(await SandboxProcess.start(null))
  const link = { TRUNKLINE_SANDBOX_URL: `http://127.0.0.1:${sandbox.port}`, TRUNKLINE_SANDBOX_CLIENT_SECRET: CLIENT_SECRET }
  const service = undone.use(await startService(engine, { ...UNLIMITED, ...link }))
  const platform = new CrashPlatform(() => service.demo)
  const parts = undone.move()
  let users = 0
  return {
    service,
    sandbox,
    user: async () => platform.user(`user-${++users}`, await sandbox.login()),
    [Symbol.asyncDispose]: () => parts.disposeAsync()
  }
}

/** What became of the orders of a load. */
export interface Outcome {
  placed: number
  /** `outcome_unknown`: the client says that it does not know. */
  unknown: number
  /** Other errors, by code. */
  readonly refused: Map<string, number>
  /** Each with what is wrong; empty if nothing was doubled, lost or reported as something else. */
  readonly findings: string[]
  /** Answers that were lost or spoiled. */
  faults: number
  readonly byFault: Map<string, number>
}

export interface Load {
  readonly count: number
  readonly atOnce: number
  readonly chance: SeededChance
  /** Sends the requests instead of the runtime's own. */
  readonly fetch?: typeof fetch
}

export function emptyOutcome(): Outcome {
  return { placed: 0, unknown: 0, refused: new Map(), findings: [], faults: 0, byFault: new Map() }
}

/** Runs `work` with a client behind a proxy that spoils most answers, and waits for what is still on its way. */
async function throughFaults(
  { service }: Scene,
  { chance: { fraction }, fetch: ownFetch }: Load,
  outcome: Outcome,
  work: (trunkline: Trunkline) => Promise<void>
): Promise<void> {
  const { client_id: clientId, client_secret: clientSecret } = service.demo
  await using proxy = await AnswerFaults.start(service.url, method => {
    if (fraction() >= (method === 'GET' ? READ_SHARE : SHARE)) return null
    if (fraction() < LATE_SHARE) return 'late'
    const others = ANSWER_FAULTS.filter(name => name !== 'late')
    return others[Math.floor(fraction() * others.length)] ?? null
  })
  await work(
    new Trunkline({
      ...{ baseUrl: proxy.url, clientId, clientSecret },
      // Shorter waits than a platform's: these are many.
      ...{ random: () => fraction() / 10, timeoutMs: TIMEOUT_MS, totalTimeoutMs: 60_000, fetch: ownFetch }
    })
  )
  await proxy.quiet()
  outcome.faults += proxy.total
  for (const [fault, times] of proxy.counts) outcome.byFault.set(fault, (outcome.byFault.get(fault) ?? 0) + times)
}

function asUser(trunkline: Trunkline, { userId, headers }: CrashUser): TrunklineUser {
  return trunkline.user({ userId, userSecret: String(headers()['user-secret']) })
}

const TERMS = { broker: 'SANDBOX', side: 'BUY', order_tif: 'DAY', symbol: 'AAPL' } as const

/** Places orders of these users, each with a quantity that no other order of its user has. */
export async function placeThroughFaults(scene: Scene, users: readonly CrashUser[], load: Load, outcome: Outcome): Promise<void> {
  const { count, atOnce } = load
  const asked = new Map<string, Asked>()
  await throughFaults(scene, load, outcome, trunkline =>
    inParallel(count, atOnce, async index => {
      const user = users[index % users.length]
      if (user === undefined) throw new Error('no user')
      const quantity = String(1 + Math.floor(index / users.length))
      const ticket = { ...TERMS, account_id: user.accountId, order_type: 'MKT', order_qty: quantity } as const
      const found = await asUser(trunkline, user)
        .orders.place(ticket)
        .catch(error => error)
      asked.set(`${user.userId} ${quantity}`, resultOf(found))
    })
  )
  for (const user of users) judge(user.userId, asked, bookOf((await scene.sandbox.records(user.login)).orders), outcome)
}

/** Places orders that rest, changes the price of each once, and cancels it. The sandbox must have been asked once for each. */
export async function changeThroughFaults(scene: Scene, user: CrashUser, load: Load, outcome: Outcome): Promise<void> {
  const { sandbox } = scene
  const { count, atOnce } = load
  const price = await sandbox.restingPrice(user.login, 'AAPL')
  const requests = () => Promise.all(['orders.submit', 'orders.amend', 'orders.cancel'].map(each => sandbox.requests(each)))
  const before = await requests()
  const made = { placed: 0, changed: 0, cancelled: 0, unknown: 0 }
  await throughFaults(scene, load, outcome, trunkline =>
    inParallel(count, atOnce, async index => {
      const { orders } = asUser(trunkline, user)
      const address = { account_id: user.accountId, broker: 'SANDBOX' }
      const ticket = { ...TERMS, ...address, order_type: 'LMT', order_limit_price: price, order_qty: String(1 + index) } as const
      try {
        const { order_id } = await orders.place(ticket)
        made.placed += 1
        const changed = await orders.modify({ ...address, order_id, order_qty: String(1_001 + index) })
        made.changed += 1
        if (changed.replaces_order_id !== order_id) outcome.findings.push(`${order_id} was replaced by ${changed.replaces_order_id}`)
        const cancel = { account_id: user.accountId, order_id: changed.order_id }
        // A cancel is repeatable: how often is for the caller to say.
        const { normalized_status: status } = await orders.cancel(cancel, { retries: CANCEL_RETRIES })
        made.cancelled += 1
        if (status !== 'cancelled') outcome.findings.push(`${changed.order_id} is ${status} after its cancel`)
      } catch (error) {
        if (!(error instanceof TrunklineError)) throw error
        made.unknown += 1
        if (error.code !== 'outcome_unknown') outcome.refused.set(error.code, (outcome.refused.get(error.code) ?? 0) + 1)
      }
    })
  )
  const after = await requests()
  const wanted = [made.placed, made.changed, made.cancelled]
  after.forEach((times, index) => {
    const sent = times - (before[index] ?? 0)
    const least = wanted[index] ?? 0
    if (sent < least || sent > least + made.unknown) outcome.findings.push(`${sent} requests at the sandbox for ${JSON.stringify(made)}`)
  })
  outcome.placed += made.placed
  outcome.unknown += made.unknown
}

interface Asked {
  readonly result: 'placed' | 'unknown' | 'refused'
  readonly code: string
}

function resultOf(found: unknown): Asked {
  if (!(found instanceof TrunklineError)) {
    const { normalized_status: status } = Object(found)
    return status === undefined ? { result: 'refused', code: String(found) } : { result: 'placed', code: String(status) }
  }
  return { result: found.code === 'outcome_unknown' ? 'unknown' : 'refused', code: found.code }
}

function judge(userId: string, asked: ReadonlyMap<string, Asked>, book: ReadonlyMap<string, number>, outcome: Outcome): void {
  for (const [name, { result, code }] of asked) {
    const [owner, quantity = ''] = name.split(' ')
    if (owner !== userId) continue
    const there = book.get(quantity) ?? 0
    const isRight = there <= 1 && (result === 'unknown' || there === (result === 'placed' ? 1 : 0))
    if (!isRight) outcome.findings.push(`${name}: ${result} (${code}), and the sandbox has ${there}`)
    if (result === 'placed') outcome.placed += 1
    else if (result === 'unknown') outcome.unknown += 1
    else outcome.refused.set(code, (outcome.refused.get(code) ?? 0) + 1)
  }
  for (const quantity of book.keys())
    if (!asked.has(`${userId} ${quantity}`)) outcome.findings.push(`${userId}: ${quantity} was never asked for`)
}

/** How many orders of each quantity the sandbox has, by client order ids that differ. */
function bookOf(orders: readonly { readonly quantity: string; readonly client_order_id: string }[]): ReadonlyMap<string, number> {
  const found = new Map<string, Set<string>>()
  for (const { quantity, client_order_id: id } of orders) found.set(quantity, (found.get(quantity) ?? new Set()).add(id))
  return new Map([...found].map(([quantity, ids]) => [quantity, ids.size]))
}
