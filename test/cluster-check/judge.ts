// Compares all sources after a round: the brokers, the log, REST at every node, and what each session received.
import type { Chance } from '@trunkline/testkit/crash/chance'
import { readOn } from '@trunkline/testkit/crash/event-log'
import type { Follower } from '@trunkline/testkit/crash/follower'
import { CrashPlatform } from '@trunkline/testkit/crash/platform'
import { Replay } from '@trunkline/testkit/crash/replay'
import type { Json } from '@trunkline/testkit/crash/sandbox-process'
import { cancelContradictions, contradictions, termsOf } from './answers.ts'
import type { BrokerRecords, BrokerView } from './broker-view.ts'
import { call } from './client.ts'
import { keyOfTerms, type Ledger, type Requested } from './ledger.ts'
import { allowedMs, Behind, LIMITS } from './limits.ts'
import { asShown, holdingFaults, isUnproved, orderFaults, withoutConfirmation } from './records.ts'
import type { Stage } from './stage.ts'
import type { CheckedUser, UserAccount } from './users.ts'

/** Newest orders that are compared at every node: more than a user has in a round. */
const NEWEST = 100
const SHOWN_MAX = 12

/** A node that could not be asked: this says nothing about what it has. */
class NoAnswer extends Error {}

/** What does not agree. */
export interface Differences {
  readonly found: readonly string[]
  /** Whether any source contradicts another. Otherwise nodes could not be asked. */
  readonly areOfSources: boolean
}

export class Judge {
  readonly #stage: Stage
  readonly #chance: Chance
  readonly #ledger: Ledger
  readonly #followers: readonly Follower[]
  readonly #brokers: BrokerView
  readonly #logs: ReadonlyMap<string, Replay>
  readonly #platforms: readonly CrashPlatform[]
  readonly #late: string[] = []
  #behind = new Behind()
  /** Orders that stay `pending` because nothing can prove what became of them, by order id. */
  readonly unproved = new Set<string>()

  constructor(stage: Stage, ledger: Ledger, brokers: BrokerView, followers: readonly Follower[], chance: Chance) {
    this.#stage = stage
    this.#chance = chance
    this.#ledger = ledger
    this.#followers = followers
    this.#brokers = brokers
    this.#logs = new Map(stage.users.map(({ userId }) => [userId, new Replay(userId)]))
    this.#platforms = stage.nodes.map(({ url }) => new CrashPlatform(() => ({ base_url: url, ...stage.platform })))
  }

  /** What is wrong for good: gaps, repeats, changed events, sessions that came too late. */
  faults(): readonly string[] {
    return [...[...this.#followers, ...this.#logs.values()].flatMap(({ faults }) => faults), ...this.#late]
  }

  /** Waits until every user's sources agree. Gives the differences that remain after the limit. */
  async differences(): Promise<Differences> {
    const began = performance.now()
    this.#behind = new Behind()
    let pending: readonly CheckedUser[] = this.#stage.users
    for (;;) {
      const found = await Promise.all(pending.map(async user => ({ user, ...(await this.#user(user).then(ofSources, ofFailure)) })))
      pending = found.filter(({ what }) => what.length > 0).map(({ user }) => user)
      if (pending.length === 0) return { found: [], areOfSources: false }
      const limitMs = allowedMs(LIMITS.agreement, this.#stage.machine.lateMs(began))
      if (performance.now() - began > limitMs || this.faults().length > 0)
        return {
          found: found.flatMap(({ user, what }) => what.slice(0, SHOWN_MAX).map(each => `${user.userId}: ${each}`)),
          areOfSources: found.some(({ isOfSources }) => isOfSources)
        }
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }

  async #user(user: CheckedUser): Promise<readonly string[]> {
    const log = this.#logs.get(user.userId) ?? new Replay(user.userId)
    // Any node has the whole log.
    const platform = this.#chance.oneOf(this.#platforms)
    if (platform !== undefined) await readOn(platform, log)
    const [rest, brokers] = await Promise.all([this.#rest(user, log), this.#atBrokers(user, log)])
    // A read of holdings that are not followed just then may have found a change.
    if (platform !== undefined) await readOn(platform, log)
    return [...this.#sessions(user, log), ...rest, ...brokers, ...this.#answers(user, log)]
  }

  /** Each session received exactly the events of the log. */
  #sessions({ userId }: CheckedUser, log: Replay): readonly string[] {
    return this.#followers.flatMap((follower, index) => {
      const own = follower.of(userId)
      this.#lag(`session ${index + 1} of ${userId}`, follower.isLive, own.seq, log.seq)
      if (!follower.isLive) return [`session ${index + 1} has not caught up; last refusal: ${follower.lastRefusal}`]
      if (own.seq !== log.seq) return [`session ${index + 1} received up to ${own.seq}, the log goes up to ${log.seq}`]
      return own.digest === log.digest ? [] : [`session ${index + 1} received something else than the log has`]
    })
  }

  #lag(name: string, isLive: boolean, has: number, target: number): void {
    const now = { ms: performance.now(), lateMs: (since: number) => this.#stage.machine.lateMs(since) }
    const ms = this.#behind.tooLongMs(name, has, target, isLive ? LIMITS.behind : LIMITS.apart, now)
    if (ms !== null) this.#late.push(`${name} was behind the log for ${Math.round(ms)} ms: at ${has}, and the log had reached ${target}`)
  }

  /** Every node answers alike, and as the log has it. */
  async #rest(user: CheckedUser, log: Replay): Promise<readonly string[]> {
    const found: string[] = []
    for (const path of [`/orders?limit=${NEWEST}`, '/positions', '/balances']) {
      const answers = await Promise.all(this.#stage.nodes.map(({ url }) => call(url, 'GET', path, user.headers)))
      const silent = answers.indexOf(null)
      if (silent >= 0) throw new NoAnswer(`node ${silent + 1} did not answer GET ${path}`)
      const texts = answers.map(answer => JSON.stringify(answer, path.startsWith('/orders') ? undefined : withoutConfirmation))
      for (const [index, text] of texts.entries())
        if (text !== texts[0]) found.push(`${path} at node ${index + 1}: ${firstDifference(texts[0] ?? '', text)}`)
      const [first] = answers
      if (first?.status !== 200) found.push(`${path}: ${texts[0]?.slice(0, 300)}`)
      else if (path === '/positions') found.push(...holdingFaults('position', first.body, log.positions))
      else if (path === '/balances') found.push(...holdingFaults('balance', first.body, log.balances))
      else {
        for (const order of first.body.data)
          if (JSON.stringify(order) !== JSON.stringify(log.orders.get(order.order_id)))
            found.push(
              `order ${order.cl_order_id}: REST has ${JSON.stringify(order)}, the log ${JSON.stringify(log.orders.get(order.order_id))}`
            )
      }
    }
    return found
  }

  async #atBrokers(user: CheckedUser, log: Replay): Promise<readonly string[]> {
    const byAccount = Map.groupBy(log.orders.values(), ({ account_id }) => String(account_id))
    const found = await Promise.all(
      user.accounts.map(async account => {
        const there = await this.#brokers.read(account)
        const orders = byAccount.get(account.accountId) ?? []
        const held = [...log.positions.values()].filter(({ account_id }) => account_id === account.accountId)
        const cash = [...log.balances.values()].find(({ account_id }) => account_id === account.accountId)?.cash
        return [
          ...this.#orders(account, orders, there),
          ...[...there.quantities].flatMap(([symbol, quantity]) => {
            const shown = Number(held.find(position => position.symbol === symbol)?.quantity ?? 0)
            return shown === quantity ? [] : [`position ${symbol}: ${quantity} at the broker, ${shown} here`]
          }),
          ...(cash !== undefined && Number(cash) === there.cash ? [] : [`cash: ${there.cash} at the broker, ${cash ?? 'none'} here`])
        ].map(what => `${account.broker}: ${what}`)
      })
    )
    return found.flat()
  }

  #orders(account: UserAccount, orders: readonly Json[], there: BrokerRecords): readonly string[] {
    const here = Map.groupBy(orders, order => keyOfTerms(termsOf(order)))
    const found: string[] = []
    for (const [terms, same] of there.orders) {
      if (same.length > 1) found.push(`order ${terms} is at the broker ${same.length} times`)
      if (!here.has(terms)) found.push(`order ${terms} is at the broker, ${same[0]?.state}, and not here`)
    }
    for (const [terms, same] of here) {
      const [order] = same
      if (same.length > 1) found.push(`order ${terms} is here ${same.length} times`)
      if (order === undefined) continue
      const known = there.orders.get(terms)?.[0]
      if (isUnproved(account.broker, order, known)) this.unproved.add(order.order_id)
      else found.push(...orderFaults(order, asShown(account.broker, order, known, chainOf(order, orders, there))))
    }
    return found
  }

  /** What was answered is so, and nothing exists that was not asked for. */
  #answers(user: CheckedUser, log: Replay): readonly string[] {
    const answered = [
      ...this.#ledger.of(user.userId).flatMap(requested => contradictions(requested, log.orders)),
      ...this.#ledger.cancelsOf(user.userId).flatMap(cancelled => cancelContradictions(cancelled, log.orders, this.unproved))
    ]
    const foreign = [...log.orders.values()].filter(order =>
      order.submission.state === 'external'
        ? !this.#ledger.elsewhere.has(Number(order.order_qty))
        : this.#ledger.requested(user.userId, order.cl_order_id) === null
    )
    const asked = (order: Json) => this.#ledger.of(user.userId).filter(({ terms }) => keyOfTerms(terms) === keyOfTerms(termsOf(order)))
    return [
      ...answered,
      ...foreign.map(order => `order ${JSON.stringify(order)} was never requested; with its terms: ${asked(order).map(shown).join(', ')}`)
    ]
  }
}

/** Orders that replaced each other: the quantity is theirs alone. */
function chainOf({ order_qty: quantity }: Json, orders: readonly Json[], there: BrokerRecords) {
  return {
    here: orders.filter(order => Number(order.order_qty) === Number(quantity)),
    there: [...there.orders.values()].flat().filter(order => Number(order.quantity) === Number(quantity))
  }
}

function shown({ clOrderId, answer }: Requested): string {
  return `${clOrderId}, answered ${answer === null ? 'never' : `${answer.status} ${JSON.stringify(answer.body)}`}`
}

function firstDifference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  return `${one.slice(Math.max(0, at - 80), at + 80)} <> ${other.slice(Math.max(0, at - 80), at + 80)}`
}

const ofSources = (what: readonly string[]) => ({ what, isOfSources: what.length > 0 })

/** `fetch` rejects with a `TypeError` that has a cause where there is no connection, and with a `DOMException` after its time limit. */
function ofFailure(cause: unknown) {
  const isNoConnection = cause instanceof TypeError && cause.cause !== undefined
  const isOfSources = !(cause instanceof NoAnswer || isNoConnection || cause instanceof DOMException)
  return { what: [cause instanceof Error ? cause.message : String(cause)], isOfSources }
}
