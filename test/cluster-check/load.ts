// The load: orders placed, changed and cancelled through random nodes, repeated after lost answers as a careful client does.
import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@trunkline/testkit/crash/chance'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import type { BrokerView } from './broker-view.ts'
import { type Answer, call } from './client.ts'
import { type Ledger, priceOf, type Requested, type Terms } from './ledger.ts'
import { LIMITS, Wait } from './limits.ts'
import type { CheckedNode } from './node.ts'
import { type Stage, SYMBOLS } from './stage.ts'
import type { CheckedUser, UserAccount } from './users.ts'

const WORKERS_PER_USER = 2
/** Resting orders of an account: beyond it, the oldest is cancelled before another one is placed. */
const RESTING_MAX = 3
/** How long a client waits for an answer before it repeats the request. */
const ANSWER_MS = 5_000
/** How long it repeats. */
const REPEAT_MS_MAX = PATIENCE_MS
const RESTING_CENTS = 500
/** What an order is that its broker has taken. */
const AT_BROKER = ['working', 'partially_filled', 'filled', 'cancelled']

interface Resting {
  readonly account: UserAccount
  readonly orderId: string
  readonly terms: Terms
}

/** Trades for all users until it is stopped. It outlives rounds, because orders rest from one to the next. */
export class Load {
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #brokers: BrokerView
  readonly #chance: Chance
  readonly #resting = new Map<string, Resting[]>()

  constructor(stage: Stage, ledger: Ledger, brokers: BrokerView, chance: Chance) {
    this.#stage = stage
    this.#brokers = brokers
    this.#ledger = ledger
    this.#chance = chance
  }

  /** Resolves when the signal has come and every request has its answer. */
  async run(pauseMs: number, signal: AbortSignal): Promise<void> {
    const workers = this.#stage.users.flatMap(user => Array.from({ length: WORKERS_PER_USER }, () => this.#worker(user, pauseMs, signal)))
    await Promise.all(workers)
  }

  async #worker(user: CheckedUser, pauseMs: number, signal: AbortSignal): Promise<void> {
    const chance = this.#chance.apart()
    while (!signal.aborted) {
      await delay(chance.fraction() * 2 * pauseMs, undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) await this.#operation(user, chance)
    }
  }

  async #operation(user: CheckedUser, chance: Chance): Promise<void> {
    const account = chance.oneOf(user.accounts)
    if (account === undefined) return
    const choice = chance.fraction()
    if (choice < 0.45) return await this.#place(user, account, null, chance)
    if (choice < 0.72) return await this.#rest(user, account, chance)
    if (choice < 0.84) return await this.#modify(user, account, chance)
    if (choice < 0.94) return await this.#cancel(user, account, chance)
    if (choice < 0.97) return await this.#placeElsewhere(account, chance)
    await this.#fillAtBroker(account, chance)
  }

  async #rest(user: CheckedUser, account: UserAccount, chance: Chance): Promise<void> {
    if (this.#of(account).length >= RESTING_MAX) await this.#cancel(user, account, chance)
    else await this.#place(user, account, RESTING_CENTS, chance)
  }

  async #place(user: CheckedUser, account: UserAccount, cents: number | null, chance: Chance): Promise<void> {
    const terms = { quantity: this.#ledger.nextQuantity(), cents }
    const requested = this.#ledger.request({ user, account, terms, clOrderId: this.#ledger.nextName() })
    const kind =
      cents === null ? { order_type: 'MKT', order_tif: 'DAY' } : { order_type: 'LMT', order_tif: 'GTC', order_limit_price: priceOf(cents) }
    const ticket = {
      ...{ account_id: account.accountId, cl_order_id: requested.clOrderId, broker: account.broker, side: 'BUY' },
      ...{ symbol: chance.oneOf(SYMBOLS), order_qty: String(terms.quantity), ...kind }
    }
    const at = performance.now()
    const answer = await this.#repeated(user, 'POST', '/orders', ticket, chance)
    this.#settle(requested, answer, 201)
    const isAccepted = answer?.status === 201
    const sent = isAccepted && AT_BROKER.includes(answer.body.normalized_status) ? terms.quantity : null
    this.#ledger.attempts.push({ userId: user.userId, at, endedAt: performance.now(), isAccepted, sent })
    if (cents !== null && (answer?.status === 201 || answer?.status === 409))
      this.#of(account).push({ account, terms, orderId: answer.body.order_id })
  }

  async #modify(user: CheckedUser, account: UserAccount, chance: Chance): Promise<void> {
    const resting = this.#of(account).shift()
    if (resting === undefined || resting.terms.cents === null) return await this.#rest(user, account, chance)
    const terms = { quantity: resting.terms.quantity, cents: resting.terms.cents + 1 }
    const requested = this.#ledger.request({ user, account, terms, clOrderId: this.#ledger.nextName() })
    const change = { new_cl_order_id: requested.clOrderId, broker: account.broker, order_limit_price: priceOf(terms.cents) }
    const path = `/accounts/${account.accountId}/orders/${resting.orderId}`
    const answer = await this.#repeated(user, 'PATCH', path, change, chance)
    this.#settle(requested, answer, 200)
    if (answer?.status === 200 || answer?.status === 409) this.#of(account).push({ account, terms, orderId: answer.body.order_id })
  }

  async #cancel(user: CheckedUser, account: UserAccount, chance: Chance): Promise<void> {
    const resting = this.#of(account).shift()
    if (resting === undefined) return
    const answer = await this.#repeated(user, 'DELETE', `/accounts/${account.accountId}/orders/${resting.orderId}`, undefined, chance)
    this.#ledger.cancel({ userId: user.userId, orderId: resting.orderId, answer })
    if (answer !== null && answer.status !== 200 && !isOver(answer))
      this.#ledger.fault(`a cancel at ${account.broker} was answered ${answer.status} ${JSON.stringify(answer.body)}`)
  }

  async #placeElsewhere(account: UserAccount, chance: Chance): Promise<void> {
    const quantity = this.#ledger.nextQuantity()
    this.#ledger.elsewhere.add(quantity)
    const ticket = { account: account.brokerAccount, symbol: chance.oneOf(SYMBOLS), direction: 'buy', quantity: String(quantity) }
    await this.#stage.sandbox.control('POST', '/orders', { login: account.login.username, ...ticket, kind: 'market', lifetime: 'day' })
  }

  /** The broker executes a part of an order that rests, or all of it. It may have ended meanwhile. */
  async #fillAtBroker(account: UserAccount, chance: Chance): Promise<void> {
    const order = chance.oneOf(await this.#brokers.resting(account))
    if (order === undefined) return
    const quantity = chance.happens(0.5) ? Number(order.remaining) : Math.ceil(Number(order.remaining) / 2)
    await this.#stage.sandbox.control('POST', `/orders/${order.id}/fill`, { quantity: String(quantity) }).catch(() => undefined)
  }

  /** Repeats the request, until an answer says how it ended. */
  async #repeated(user: CheckedUser, method: string, path: string, body: object | undefined, chance: Chance): Promise<Answer | null> {
    const { calm, machine } = this.#stage
    const deadline = performance.now() + REPEAT_MS_MAX
    const wait = new Wait(LIMITS.answer, performance.now())
    const trail: string[] = []
    let isFound = false
    for (;;) {
      const node = this.#nodeFor(trail.length, chance)
      if (node === undefined) return null
      const answer = await call(node.url, method, path, user.headers, body, ANSWER_MS)
      const shown = answer === null ? 'no answer' : `${answer.status}${codeOf(answer)}`
      this.#ledger.count(`${method} ${shown}`)
      trail.push(`node ${node.number}: ${shown}`)
      if (answer !== null && answer.status < 500 && answer.status !== 429) return answer
      const now = { ms: performance.now(), lateMs: (since: number) => machine.lateMs(since) }
      const isOver = now.ms > deadline
      if ((wait.isTooLong(now, !calm.look()) || isOver) && !isFound) {
        isFound = true
        const ms = Math.round(isOver ? REPEAT_MS_MAX : wait.passedMs(now))
        this.#ledger.fault(`${method} ${path} of ${user.userId} had no answer for ${ms} ms: ${trail.slice(-5).join(', ')}`)
      }
      if (isOver) return null
      await delay(100 + 200 * chance.fraction())
    }
  }

  /** Half of the requests go first through any node, a paused one too. What was not answered goes on as a load balancer would send it. */
  #nodeFor(tries: number, chance: Chance): CheckedNode | undefined {
    const { nodes } = this.#stage
    const ready = nodes.filter(node => node.isReady)
    const isAny = chance.happens(0.5)
    return chance.oneOf(ready.length === 0 || (tries === 0 && isAny) ? nodes : ready)
  }

  #settle(requested: Requested, answer: Answer | null, success: number): void {
    requested.answer = answer
    const { user, account, clOrderId } = requested
    if (answer !== null && answer.status !== success && !isRepeat(answer) && !isOver(answer))
      this.#ledger.fault(`${clOrderId} of ${user.userId} at ${account.broker} was answered ${answer.status} ${JSON.stringify(answer.body)}`)
  }

  #of({ accountId }: UserAccount): Resting[] {
    const known = this.#resting.get(accountId) ?? []
    this.#resting.set(accountId, known)
    return known
  }
}

/** Whether a 409 names the order that the first request made. */
export function isRepeat({ status, body }: Answer): boolean {
  return status === 409 && body?.code === 'cl_order_id_duplicate' && typeof body.order_id === 'string'
}

/** Whether the order that was to be changed had ended. */
function isOver({ status, body }: Answer): boolean {
  return status === 400 && body?.code === 'order_not_open'
}

function codeOf({ status, body }: Answer): string {
  return status < 300 ? '' : ` ${body?.code ?? ''}`
}
