// The one way in which order changes are written: groups of changes, gathered into batches, each batch one statement and one commit.
import type { EventId, OrderId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import { type ChangeResult, type OrderChange, StoreUnavailable } from '@trunkline/core/ports/store'
import { DOCUMENT_SEPARATOR } from '../documents.ts'
import { isRefusal } from '../faults.ts'
import type { Session } from '../session.ts'
import { Batches, type BatchLimits, type BatchStats } from './batches.ts'
import { type EncodedChange, encodeChange } from './encode.ts'

/** Changes that stand or fall together, encoded for the database. */
interface Group {
  readonly members: readonly EncodedChange[]
  readonly size: number
}

interface Verdict {
  readonly place: number
  readonly verdict: 'recorded' | 'duplicate' | 'stale' | 'busy'
  readonly existing: OrderId | null
  readonly seq: number | null
}

type Settle = (group: Group, outcome: () => readonly ChangeResult[]) => void

const LIMITS: BatchLimits = { batchMax: 256, waitingMax: 10_000, waitMsMax: 5_000 }
// Not a plain select: the embedded engine takes those for reads.
const STATEMENT = 'with recorded as (select * from record_changes($1, $2, $3, $4)) select place, verdict, existing, seq from recorded'

export class Recorder {
  readonly #session: Session
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #log: Log
  readonly #batches: Batches<Group, readonly ChangeResult[]>

  constructor(session: Session, deps: { readonly clock: Clock; readonly ids: Ids; readonly log: Log }, limits = LIMITS) {
    this.#session = session
    this.#clock = deps.clock
    this.#ids = deps.ids
    this.#log = deps.log
    this.#batches = new Batches((groups, settle) => this.#write(groups, settle), deps.clock, limits)
  }

  /** @throws StoreUnavailable, CommitUnknown */
  async record(changes: readonly OrderChange[]): Promise<readonly ChangeResult[]> {
    if (changes.length === 0) return []
    const at = this.#clock.now()
    const members = changes.map(change => encodeChange(change, { eventId: this.#ids.uuid<EventId>(), at }))
    return this.#batches.submit({ members, size: members.length })
  }

  stats(): BatchStats {
    return this.#batches.stats()
  }

  /** Writes what waits, takes nothing more. */
  close(): Promise<void> {
    return this.#batches.close()
  }

  /** Groups that would meet within one statement are written after one another. */
  async #write(groups: readonly Group[], settle: Settle): Promise<void> {
    for (let rest = groups; rest.length > 0; ) {
      const { apart, meeting } = separated(rest)
      const answered = await this.#writeApart(apart, settle)
      rest = this.#answerDuplicates(meeting, answered, settle)
    }
  }

  /** Writes groups that touch different orders and client order ids. One that the database refuses does not take others with it. */
  async #writeApart(groups: readonly Group[], settle: Settle): Promise<ReadonlyMap<string, OrderId>> {
    try {
      return this.#settleAll(groups, await this.#verdicts(groups), settle)
    } catch (cause) {
      const [only, ...more] = groups
      if (only === undefined || more.length === 0 || !isRefusal(cause)) {
        for (const group of groups)
          settle(group, () => {
            throw cause
          })
        return new Map()
      }
      this.#log.warn('a batch of order changes was refused and is written in halves', { groups: groups.length, cause: String(cause) })
      const middle = Math.ceil(groups.length / 2)
      const halves = [groups.slice(0, middle), groups.slice(middle)]
      const answered: [string, OrderId][] = []
      for (const half of halves) answered.push(...(await this.#writeApart(half, settle)))
      return new Map(answered)
    }
  }

  /** Waits for others that write for one of the users; when that takes too long, leaves such users out. */
  async #verdicts(groups: readonly Group[]): Promise<readonly Verdict[]> {
    try {
      return await this.#statement(groups, true)
    } catch (cause) {
      if (!isLockTimeout(cause)) throw cause
      return this.#statement(groups, false)
    }
  }

  #statement(groups: readonly Group[], wait: boolean): Promise<readonly Verdict[]> {
    const users = new Set(groups.flatMap(({ members }) => members.map(({ change }) => change.order.userKey)))
    const facts = groups.flatMap(({ members }, place) => members.map(member => `{"g":${place},${member.facts}`))
    const documents = groups.flatMap(({ members }) => members.map(({ document }) => document))
    return this.#session.statement<Verdict>(STATEMENT, [
      [...users].join(','),
      wait,
      `[${facts.join(',')}]`,
      documents.join(DOCUMENT_SEPARATOR)
    ])
  }

  /** Gives which order now has each client order id that the groups asked for. */
  #settleAll(groups: readonly Group[], verdicts: readonly Verdict[], settle: Settle): ReadonlyMap<string, OrderId> {
    const byPlace = new Map(verdicts.map(verdict => [verdict.place, verdict]))
    const holders = new Map<string, OrderId>()
    let place = 0
    for (const group of groups) {
      const results: ChangeResult[] = []
      let busy = false
      for (const member of group.members) {
        place += 1
        const verdict = byPlace.get(place)
        busy ||= verdict?.verdict === 'busy'
        const result = resultOf(member, verdict)
        const { order, overRevision } = member.change
        const holder = result.kind === 'recorded' ? order.orderId : result.kind === 'duplicate' ? result.orderId : null
        if (overRevision === null && holder !== null) holders.set(clientKey(order), holder)
        results.push(result)
      }
      settle(group, () => {
        if (busy) throw new StoreUnavailable('The user is being written to by somebody else for too long.')
        return results
      })
    }
    return holders
  }

  /** A single new order whose client order id was just answered for needs no question of its own. Gives the groups that do. */
  #answerDuplicates(groups: readonly Group[], holders: ReadonlyMap<string, OrderId>, settle: Settle): readonly Group[] {
    return groups.filter(group => {
      const [only, ...more] = group.members
      if (only === undefined || more.length > 0 || only.change.overRevision !== null) return true
      const orderId = holders.get(clientKey(only.change.order))
      if (orderId === undefined || only.change.order.orderId === orderId) return true
      settle(group, () => [{ kind: 'duplicate', orderId }])
      return false
    })
  }
}

/** The groups that have no order and no new client order id in common, first come first; and the rest. */
function separated(groups: readonly Group[]): { readonly apart: readonly Group[]; readonly meeting: readonly Group[] } {
  const taken = new Set<string>()
  const [apart, meeting]: [Group[], Group[]] = [[], []]
  for (const group of groups) {
    const keys = group.members.flatMap(({ change: { order, overRevision } }) =>
      overRevision === null ? [order.orderId, clientKey(order)] : [order.orderId]
    )
    if (keys.some(key => taken.has(key))) meeting.push(group)
    else apart.push(group)
    for (const key of keys) taken.add(key)
  }
  return { apart, meeting }
}

function clientKey({ userKey, tradingDay, clOrdId }: Order): string {
  return `${userKey} ${tradingDay} ${clOrdId}`
}

function resultOf({ change, eventId, at }: EncodedChange, verdict: Verdict | undefined): ChangeResult {
  if (verdict === undefined) throw new Error('the database gave no verdict on a change')
  if (verdict.verdict === 'duplicate' && verdict.existing !== null) return { kind: 'duplicate', orderId: verdict.existing }
  if (verdict.verdict !== 'recorded') return { kind: 'stale' }
  if (verdict.seq === null) return { kind: 'recorded', event: null }
  const { order } = change
  const { userKey, accountId } = order
  return { kind: 'recorded', event: { eventId, userKey, seq: verdict.seq, accountId, at, topic: 'orders', data: order } }
}

function isLockTimeout(cause: unknown): boolean {
  return cause instanceof StoreUnavailable && isRefusal(cause.cause) && cause.cause.code === LOCK_NOT_AVAILABLE
}

const LOCK_NOT_AVAILABLE = '55P03'
