/** The account stream: a few fields of each order that changes, and a sign of life now and then. */

import type { OrderEvent, OrderView } from '../../../engine/types.ts'
import type { DialectHouse } from '../../../house/dialect.ts'
import type { Witness } from '../../../house/news.ts'
import type { Pass } from '../../../house/oauth/grants.ts'
import type { Entrance } from '../../../house/stream/gate.ts'
import { type DialectLine, DialectLines } from '../../frame/lines.ts'
import type { Accounts } from '../accounts.ts'
import type { TradierOptions } from '../options.ts'
import { chainUpTo, fillsOf, totalsOf } from '../orders/chain.ts'
import { type DeskView, dateOf, type Known, legIdOf, price } from '../orders/desk-view.ts'
import { chance, type Late } from '../orders/late.ts'
import { type Branch, figure, json, plain } from '../tree.ts'
import { Door, type Talk, textList } from './door.ts'
import { type Session, Sessions } from './sessions.ts'

export interface AccountStreamDeps {
  readonly house: DialectHouse
  readonly accounts: Accounts
  readonly options: TradierOptions
  readonly view: DeskView
  readonly late: Late
}

const WAITING_BYTES_MAX = 1024 * 1024

export class AccountStream implements Witness {
  readonly #deps: AccountStreamDeps
  readonly #sessions: Sessions
  readonly #lines: DialectLines
  readonly #excluded = new Map<DialectLine, ReadonlySet<string>>()
  readonly #heartbeat: NodeJS.Timeout
  readonly #following: Disposable
  readonly entrance: Entrance

  constructor(deps: AccountStreamDeps, path: string) {
    const { house, options } = deps
    this.#deps = deps
    this.#sessions = new Sessions(house.realNow, house.newId)
    this.#lines = new DialectLines({
      now: house.realNow,
      waitingMax: WAITING_BYTES_MAX,
      garbled: '{"id":9004',
      codes: { going: 1001, tokenEnded: 1008, slow: 1008 }
    })
    const door = new Door({ sessions: this.#sessions, lines: this.#lines, begin: line => this.#begin(line), onTrouble: house.onTrouble })
    this.entrance = { path, accept: (request, socket, head) => door.accept(request, socket, head) }
    this.#heartbeat = setInterval(() => this.#beat(), house.heartbeatMs ?? options.heartbeatMs)
    this.#heartbeat.unref()
    this.#following = house.news.follow(this)
  }

  get lines(): DialectLines {
    return this.#lines
  }

  session(pass: Pass): Session {
    return this.#sessions.create(pass)
  }

  order(event: OrderEvent, login: string): void {
    const { order, change } = event
    const { view, late } = this.#deps
    if (change === 'fill' && order.state === 'filled') late.filled(order.orderId)
    const account = this.#deps.accounts.numberOf(order.accountId)
    if (account === null || change === 'replaced' || change === 'triggered') return
    const readers = this.#lines.of(login).filter(line => this.#excluded.get(line)?.has(account) === false)
    if (readers.length === 0) return
    const chain = chainUpTo(order, view.find)
    if (!view.exists(chain)) return
    const known = view.known(chain)
    for (const frame of this.#frames(event, known, account)) for (const line of readers) line.event(frame)
  }

  orderAgain(): void {
    // Tradier has no words for what is only under way.
  }

  account(): void {
    // Balances and positions are not streamed.
  }

  reset(): void {
    this.#sessions.clear()
    this.#lines.reset()
  }

  close(): void {
    clearInterval(this.#heartbeat)
    this.#following[Symbol.dispose]()
    this.#lines.close()
  }

  #begin(line: DialectLine): Talk {
    return {
      hear: message => {
        const events = textList(message, 'events')
        if (!events.includes('order')) throw new Error('events must be ["order"]')
        this.#excluded.set(line, new Set(textList(message, 'excludeAccounts')))
      },
      left: () => this.#excluded.delete(line)
    }
  }

  /** A new order is told twice, as pending and as open; not always in this order. */
  #frames({ change, order }: OrderEvent, known: Known, account: string): readonly string[] {
    const { house, options } = this.#deps
    const isNew = change === 'accepted' && order.replaces === null
    const states = isNew ? ['pending', known.status] : [known.status]
    if (isNew && chance(`${house.seed} swapped ${order.orderId}`) < options.swapped) states.reverse()
    return states.flatMap(status => [json(eventTree(known, status, account)), ...legTrees(known, status, account).map(json)])
  }

  #beat(): void {
    const timestamp = `${new Date(this.#deps.house.realNow()).toISOString().slice(0, -1)}000000Z`
    const frame = JSON.stringify({ event: 'heartbeat', status: 'active', timestamp })
    for (const line of this.#lines.all()) if (this.#excluded.has(line)) line.say(frame)
  }
}

function eventTree({ chain, id, type, totals, note }: Known, status: string, account: string): Branch {
  const { first, last } = chain
  return {
    id,
    event: 'order',
    status,
    type,
    price: last.limitPrice === null ? figure('0', 1) : price(last.limitPrice),
    stop_price: figure(last.stopPrice, 1),
    avg_fill_price: figure(totals.average, 1),
    exec_quantity: figure(totals.quantity, 1),
    last_fill_quantity: figure(lastFill(last), 1),
    remaining_quantity: figure(last.remainingQuantity, 1),
    transaction_date: dateOf(last.updatedAt),
    create_date: dateOf(first.acceptedAt),
    account,
    tag: note.tag ?? undefined
  }
}

function legTrees(known: Known, status: string, account: string): readonly Branch[] {
  const { chain, id } = known
  return (chain.last.legs ?? []).map((_, nth) => {
    const totals = totalsOf(fillsOf(chain, nth))
    return {
      ...eventTree({ ...known, totals }, status, account),
      id: legIdOf(chain.first.orderId, nth),
      parent_id: id,
      last_fill_quantity: plain(totals.last?.quantity ?? '0')
    }
  })
}

/** Zero on the event that says that all is filled, as it is seen to be. */
function lastFill({ state, fills }: OrderView): string {
  return state === 'filled' ? '0' : (fills.at(-1)?.quantity ?? '0')
}
