/** Orders over REST: today's and the open ones, by id, and the historical ones; in pages, and with what failed beside what did not. */

import { midnight } from '@trunkline/core/domain/calendar/index'
import { type Answer, type Cursors, isLive, type Micros, NEW_YORK, newYorkDate } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import type { AccountViews } from './account-views.ts'
import { type Chain, chainById } from './chains.ts'
import { isTodays, pastOrders, todaysOrders } from './order-lists.ts'
import { requestedAccounts } from './ownership.ts'
import { json } from './protocol.ts'
import { bad, countOr } from './reading.ts'

export interface OrderReadsDeps {
  readonly brokerage: BrokerageView
  readonly views: AccountViews
  readonly cursors: Cursors
}

const PAGE_MAX = 600
const IDS_MAX = 50
const TOKEN_MS = 3_600_000
const DAYS_BACK = 90

export function orderReads(deps: OrderReadsDeps): readonly DialectRoute[] {
  const accounts = '/brokerage/accounts/:accounts'
  return [
    { method: 'GET', path: `${accounts}/orders`, operation: 'orders.list', handle: call => todays(deps, call) },
    { method: 'GET', path: `${accounts}/orders/:orderIds`, operation: 'orders.get', handle: call => byIds(deps, call, isTodaysOf(deps)) },
    { method: 'GET', path: `${accounts}/historicalorders`, operation: 'orders.list', handle: call => historical(deps, call) },
    {
      method: 'GET',
      path: `${accounts}/historicalorders/:orderIds`,
      operation: 'orders.get',
      handle: call => {
        const since = sinceOf(deps, texts(call.request.query).since)
        return byIds(deps, call, ({ last }) => !isLive(last) && last.updatedAt >= since)
      }
    }
  ]
}

function isTodaysOf({ brokerage }: OrderReadsDeps): (chain: Chain) => boolean {
  return ({ last }) => isTodays(brokerage, last)
}

function todays(deps: OrderReadsDeps, call: Call): Answer {
  return paged(deps, call, ids => todaysOrders(deps.brokerage, deps.views, ids))
}

function historical(deps: OrderReadsDeps, call: Call): Answer {
  const since = sinceOf(deps, texts(call.request.query).since)
  return paged(deps, call, ids => pastOrders(deps.brokerage, deps.views, ids, since))
}

const DATE_FORMS = [/^(?<y>\d{4})[-/](?<m>\d{2})[-/](?<d>\d{2})/, /^(?<m>\d{2})[-/](?<d>\d{2})[-/](?<y>\d{4})$/]

/** @throws Problem `bad_request` */
function sinceOf({ brokerage }: OrderReadsDeps, text = ''): Micros {
  const { y = '', m = '', d = '' } = DATE_FORMS.map(form => form.exec(text)?.groups).find(groups => groups !== undefined) ?? {}
  const since = `${y}-${m}-${d}`
  const today = newYorkDate(brokerage.clock.now())
  if (y === '') return bad('since is required: a date such as 2006-01-13')
  const earliest = Temporal.PlainDate.from(today).subtract({ days: DAYS_BACK }).toString()
  if (since < earliest) return bad(`Date range cannot exceed ${DAYS_BACK} days`)
  return isDate(since) ? midnight(since, NEW_YORK) * 1_000 : bad(`since must be a date, was ${since}`)
}

function isDate(text: string): boolean {
  return !Number.isNaN(Date.parse(`${text}T00:00:00Z`))
}

function paged(deps: OrderReadsDeps, { request, customer, fault }: Call, list: (accounts: readonly string[]) => readonly Chain[]): Answer {
  const { brokerage, views, cursors } = deps
  const query = texts(request.query)
  const { accounts, errors } = requestedAccounts(brokerage.customers, customer.id, texts(request.params).accounts ?? '')
  if (fault?.do === 'empty') return json({ Orders: [], Errors: errors })
  const size = countOr(query.pageSize, 'pageSize', 1, PAGE_MAX)
  const question = `${customer.id} ${request.url.split('?', 1)[0]} ${query.since ?? ''}`
  const position = cursors.read(query.nextToken === undefined || query.nextToken === '' ? null : query.nextToken, question)
  const { order: after, at } = position.after
  if (at !== undefined && Number(at) + TOKEN_MS < brokerage.realNow()) return bad('nextToken has expired')
  const chains = list(accounts.map(({ id }) => id))
  const begin = after === undefined ? 0 : chains.findIndex(({ id }) => id === after) + 1
  const end = begin + (size ?? PAGE_MAX)
  const shown = chains.slice(begin, end)
  const next =
    size === null ? undefined : nextOf(chains, end, { size, skips: fault?.do === 'lose_page' && fault.page === position.page + 1 })
  return json({
    Orders: shown.map(chain => views.order(chain)),
    Errors: errors,
    ...(next === undefined
      ? {}
      : { NextToken: cursors.issue({ after: { order: next.id, at: String(brokerage.realNow()) }, page: position.page + 1 }, question) })
  })
}

/** The last order before the next page; undefined: there is none. */
function nextOf(
  chains: readonly Chain[],
  end: number,
  { size, skips }: { readonly size: number; readonly skips: boolean }
): Chain | undefined {
  const begin = skips ? end + size : end
  return begin < chains.length ? chains[begin - 1] : undefined
}

function byIds({ brokerage, views }: OrderReadsDeps, { request, customer }: Call, isShown: (chain: Chain) => boolean): Answer {
  const { accounts: list = '', orderIds = '' } = texts(request.params)
  const { accounts, errors } = requestedAccounts(brokerage.customers, customer.id, list)
  const ids = [...new Set(orderIds.split(',').filter(id => id !== ''))]
  if (ids.length === 0 || ids.length > IDS_MAX) return bad(`1 to ${IDS_MAX} Order IDs can be specified, comma separated`)
  const found = ids.map(id => {
    const chain = chainById(
      brokerage.state,
      accounts.map(account => account.id),
      id
    )
    return chain !== undefined && isShown(chain) && !brokerage.publisher.isHidden(chain.last.orderId) ? chain : id
  })
  const missing = found
    .filter(item => typeof item === 'string')
    .map(id => ({ AccountID: list, OrderID: id.slice(0, 40), Error: 'NotFound', Message: 'Order not found' }))
  const orders = found.filter(item => typeof item === 'object').map(chain => views.order(chain))
  return json({ Orders: orders, Errors: [...errors, ...missing] })
}
