// Orders whose answers are lost, and the judgement at the sandbox: of each order that was asked for, how many there are.
import { ANSWER_FAULTS, AnswerFaults } from '@trunkline/testkit/answer-faults'
import type { SeededChance } from '@trunkline/testkit/chance'
import { CrashPlatform, type CrashUser } from '@trunkline/testkit/crash/platform'
import { CLIENT_SECRET, SandboxProcess } from '@trunkline/testkit/crash/sandbox-process'
import { inParallel } from '../../../../bench/harness/pace.ts'
import { type Engine, type RunningService, startService } from '../../../../test/acceptance/harness.ts'
import { Trunkline, TrunklineError } from '../../src/index.ts'

/** Of the requests that lead to an order, so many meet a fault; the shares of reads and of answers that never come are lower. */
const SHARE = 0.6
const READ_SHARE = 0.2
const LATE_SHARE = 0.004
const TIMEOUT_MS = 4_000

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
}

export function emptyOutcome(): Outcome {
  return { placed: 0, unknown: 0, refused: new Map(), findings: [], faults: 0, byFault: new Map() }
}

/** Places orders of these users through a proxy that spoils most answers, each with a quantity that no other order of its user has. */
export async function placeThroughFaults(scene: Scene, users: readonly CrashUser[], load: Load, outcome: Outcome): Promise<void> {
  const { service, sandbox } = scene
  const { client_id: clientId, client_secret: clientSecret } = service.demo
  const { count, atOnce, chance } = load
  const { fraction } = chance
  const isOrder = (method: string, path: string) => method === 'POST' && path === '/orders'
  await using proxy = await AnswerFaults.start(service.url, (method, path) => {
    if (fraction() >= (isOrder(method, path) ? SHARE : READ_SHARE)) return null
    if (fraction() < LATE_SHARE) return 'late'
    const others = ANSWER_FAULTS.filter(name => name !== 'late')
    return others[Math.floor(fraction() * others.length)] ?? null
  })
  const trunkline = new Trunkline({
    ...{ baseUrl: proxy.url, clientId, clientSecret },
    // The waits are as long as chance makes them, which a hundred times a second need not be whole.
    ...{ random: () => fraction() / 10, timeoutMs: TIMEOUT_MS, totalTimeoutMs: 60_000 }
  })
  const asked = new Map<string, Asked>()
  await inParallel(count, atOnce, async index => {
    const user = users[index % users.length]
    if (user === undefined) throw new Error('no user')
    const quantity = String(1 + Math.floor(index / users.length))
    const asker = trunkline.user({ userId: user.userId, userSecret: String(user.headers()['user-secret']) })
    const ticket = {
      account_id: user.accountId,
      broker: 'SANDBOX',
      side: 'BUY',
      order_type: 'MKT',
      order_tif: 'DAY',
      symbol: 'AAPL'
    } as const
    const found = await asker.orders.place({ ...ticket, order_qty: quantity }).catch(error => error)
    asked.set(`${user.userId} ${quantity}`, resultOf(found))
  })
  await proxy.quiet()
  outcome.faults += proxy.total
  for (const [fault, times] of proxy.counts) outcome.byFault.set(fault, (outcome.byFault.get(fault) ?? 0) + times)
  for (const user of users) judge(user.userId, asked, bookOf((await sandbox.records(user.login)).orders), outcome)
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
