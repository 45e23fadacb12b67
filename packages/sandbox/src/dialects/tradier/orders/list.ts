/** Orders read: the list of a day, and one by its id. */

import { paramOf } from '../../../brokerage/api/orders.ts'
import type { Answer } from '../../../brokerage/api/response-writer.ts'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import { isLive } from '../../../brokerage/wire.ts'
import type { OrderView } from '../../../engine/types.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import type { Accounts } from '../accounts.ts'
import { answer, textAnswer } from '../answers.ts'
import { dayOf, startOfDay } from '../days.ts'
import type { TradierOptions } from '../options.ts'
import { bad, isTrue, member, pageOf } from '../parameters.ts'
import { listed } from '../tree.ts'
import type { Chain } from './chain.ts'
import type { TradierOrders } from './tradier-orders.ts'

export interface ListDeps {
  readonly brokerage: DialectBrokerage
  readonly accounts: Accounts
  readonly view: TradierOrders
  readonly options: TradierOptions
}

const LIMIT_DEFAULT = 25
const MONTH_DAYS = 31

export function listOrders(deps: ListDeps, call: Call): Answer {
  const account = deps.accounts.requested(call)
  const query = texts(call.request.query)
  const found = call.fault?.do === 'empty' ? [] : chainsIn(deps, account.id, window(deps, query))
  const shown = pageOf(found, query, LIMIT_DEFAULT, call.fault)
  const withTags = isTrue(query.includeTags)
  return answer(
    call.request,
    listed(
      'orders',
      'order',
      shown.map(chain => deps.view.tree(deps.view.known(chain), withTags))
    )
  )
}

export function getOrder({ accounts, view, brokerage, options }: ListDeps, call: Call): Answer {
  const account = accounts.requested(call)
  const known = view.lookUp(account.id, paramOf(call.request, 'id'))
  // Recorded: an id that never existed is answered like a foreign account.
  if (known === null) return textAnswer(401, `Unauthorized Account: ${paramOf(call.request, 'account').slice(0, 40)}`)
  const { last } = known.chain
  const isOfToday = last.updatedAt >= startOfDay(dayOf(brokerage.clock.now()))
  if (options.forgetsOvernight && !isOfToday && !isLive(last)) return textAnswer(404, `Order not found: ${known.id.text}`)
  return answer(call.request, { order: view.tree(known, isTrue(texts(call.request.query).includeTags)) })
}

interface Window {
  readonly from: number
  readonly until: number | null
  /** Whether working orders are listed regardless of their age. */
  readonly withLive: boolean
}

/** Newest first, each amended order once. */
function chainsIn({ brokerage, view }: ListDeps, accountId: string, { from, until, withLive }: Window): readonly Chain[] {
  const { engine } = brokerage.state
  const accepted = engine.orders(accountId, { from, ...(until === null ? {} : { until }) })
  const live = withLive ? engine.orders(accountId, { live: true }) : []
  const chains = new Map<string, Chain>()
  for (const order of [...accepted, ...live].filter(({ orderId }) => !brokerage.publisher.isHidden(orderId))) {
    const chain = view.chainOf(order)
    if (view.exists(chain)) chains.set(chain.first.orderId, chain)
  }
  return [...chains.values()].sort((a, b) => numberOf(b.first) - numberOf(a.first))
}

function numberOf({ orderId }: OrderView): number {
  return Number(orderId.slice(orderId.lastIndexOf('-') + 1))
}

/** The day's orders and those still working, unless days are named. @throws Problem */
function window({ brokerage, options }: ListDeps, query: Readonly<Record<string, string>>): Window {
  const today = dayOf(brokerage.clock.now())
  const filter = query.filter === undefined ? 'intraday' : member(query, 'filter', ['intraday', 'all'])
  const { date } = query
  if (date !== undefined)
    return { from: startOfDay(day('date', date)), until: startOfDay(day('date', date).add({ days: 1 })), withLive: false }
  if (query.start === undefined && query.end === undefined && filter === 'intraday')
    return { from: startOfDay(today), until: null, withLive: true }
  const from = query.start === undefined ? today.subtract({ days: MONTH_DAYS }) : day('start', query.start)
  const until = query.end === undefined ? null : startOfDay(day('end', query.end).add({ days: 1 }))
  const oldest = options.forgetsOvernight ? today : today.subtract({ days: MONTH_DAYS })
  return { from: startOfDay(Temporal.PlainDate.compare(from, oldest) < 0 ? oldest : from), until, withLive: filter === 'all' }
}

function day(name: string, text: string): Temporal.PlainDate {
  try {
    return Temporal.PlainDate.from(text)
  } catch {
    return bad(name, 'must be a date such as 2026-11-03')
  }
}
