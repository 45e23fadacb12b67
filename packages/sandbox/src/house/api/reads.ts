/** Everything over REST that only reads, except orders: logins, accounts, balances, positions, transactions, markets, clock. */

import type { PositionView, TransactionView } from '../../engine/types.ts'
import { BAR_INTERVALS, BARS_MAX, type Bar, type Instrument, type Market, UnknownSymbol } from '../../market/types.ts'
import type { Books } from '../books.ts'
import { type HouseClock, isoOf } from '../clock.ts'
import type { People } from '../people.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import * as wire from '../wire.ts'
import { tradingDays } from './calendar.ts'
import { type Cursors, type Merge, mergePage, questionOf } from './cursor.ts'
import { accountsAsked, paramOf } from './orders.ts'
import type { Call, Reply, Route } from './router.ts'

export interface ReadRoutesDeps {
  readonly books: Books
  readonly people: People
  readonly market: Market
  readonly clock: HouseClock
  readonly cursors: Cursors
}

const CALENDAR_DAYS_MAX = 366
const BARS_DEFAULT = 500
const BARS_PAGE_MAX = 10_000
const SYMBOLS_MAX = 100

export function readRoutes(deps: ReadRoutesDeps): readonly Route[] {
  const scope = 'read'
  return [
    { method: 'GET', path: '/me', operation: 'me.get', scope, act: me },
    { method: 'GET', path: '/accounts', operation: 'accounts.list', scope, act: call => accounts(deps, call) },
    { method: 'GET', path: '/balances', operation: 'balances.list', scope, act: call => balances(deps, call) },
    { method: 'GET', path: '/positions', operation: 'positions.list', scope, act: call => positions(deps, call) },
    { method: 'GET', path: '/transactions', operation: 'transactions.list', scope, act: call => transactions(deps, call) },
    { method: 'GET', path: '/instruments', operation: 'instruments.list', scope, act: call => instruments(deps, call) },
    { method: 'GET', path: '/instruments/:symbol', operation: 'instruments.get', scope, act: call => instrument(deps, call) },
    { method: 'GET', path: '/quotes', operation: 'quotes.list', scope, act: call => quotes(deps, call) },
    { method: 'GET', path: '/bars', operation: 'bars.list', scope, act: call => bars(deps, call) },
    { method: 'GET', path: '/clock', operation: 'clock.get', scope, act: () => clock(deps) },
    { method: 'GET', path: '/calendar', operation: 'calendar.list', scope, act: call => calendar(deps, call) }
  ]
}

function me({ person, pass }: Call): Reply {
  return { body: { login: wire.personWire(person), scopes: [...pass.scopes], client: pass.client } }
}

function accounts({ people, books }: ReadRoutesDeps, { person, request, fault }: Call): Reply {
  noFields(request.query)
  const items = people.accountsOf(person.id).map(account => {
    const view = books.engine.account(account.id)
    return wire.accountWire(account, view?.currency ?? 'USD', view?.openedAt ?? null)
  })
  return whole(items, fault)
}

function balances({ people, books }: ReadRoutesDeps, { person, request, fault }: Call): Reply {
  const fields = new Fields(request.query, ['account'])
  const items = accountsAsked(people, person.id, fields).map(id =>
    wire.balanceWire(books.engine.balance(id), people.account(id)?.kind === 'margin')
  )
  return whole(items, fault)
}

function positions(deps: ReadRoutesDeps, call: Call): Reply {
  const fields = new Fields(call.request.query, ['account', 'symbol', 'limit', 'cursor'])
  const symbol = fields.textOr('symbol')
  const parts = accountsAsked(deps.people, call.person.id, fields).map(account => ({
    account,
    fetch: (after: string | undefined, most: number) =>
      deps.books.engine
        .positions(account)
        .filter(position => (symbol === null || position.symbol === symbol) && (after === undefined || position.symbol > after))
        .slice(0, most)
  }))
  const merge = { parts, idOf: (position: PositionView) => position.symbol, before: () => false }
  return paged(deps, call, { fields, merge, show: wire.positionWire })
}

function transactions(deps: ReadRoutesDeps, call: Call): Reply {
  const fields = new Fields(call.request.query, ['account', 'from', 'to', 'limit', 'cursor'])
  const [fromDate, toDate] = [fields.dateOr('from'), fields.dateOr('to')]
  const filter = { ...(fromDate === null ? {} : { fromDate }), ...(toDate === null ? {} : { toDate }) }
  const parts = accountsAsked(deps.people, call.person.id, fields).map(account => ({
    account,
    fetch: (after: string | undefined, most: number) =>
      deps.books.engine.transactions(account, { ...filter, limit: most, ...(after === undefined ? {} : { after }) })
  }))
  const before = (a: TransactionView, b: TransactionView) => a.at > b.at
  return paged(deps, call, { fields, merge: { parts, idOf: transaction => transaction.transactionId, before }, show: wire.transactionWire })
}

function instruments(deps: ReadRoutesDeps, call: Call): Reply {
  const fields = new Fields(call.request.query, ['class', 'search', 'limit', 'cursor'])
  const wanted = fields.memberOr('class', wire.wordsOf(wire.CLASSES))
  const search = fields.textOr('search')?.toLowerCase() ?? ''
  const known = deps.market.instruments
    .filter(({ kind }) => wanted === null || kind === wire.CLASSES[wanted])
    .filter(({ symbol, name }) => `${symbol} ${name}`.toLowerCase().includes(search))
    .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1))
  const fetch = (after: string | undefined, most: number) =>
    known.filter(({ symbol }) => after === undefined || symbol > after).slice(0, most)
  const merge = { parts: [{ account: '', fetch }], idOf: ({ symbol }: Instrument) => symbol, before: () => false }
  return paged(deps, call, { fields, merge, show: found => instrumentShown(deps, found) })
}

function instrument(deps: ReadRoutesDeps, { request }: Call): Reply {
  const symbol = paramOf(request, 'symbol')
  const found = deps.market.instruments.find(listed => listed.symbol === symbol)
  if (found === undefined) throw unknownSymbol(symbol)
  return { body: { instrument: instrumentShown(deps, found) } }
}

function instrumentShown({ books }: ReadRoutesDeps, listed: Instrument): object {
  return wire.instrumentWire(listed, listed.exchange, books.engine.market(listed.symbol))
}

function quotes({ books }: ReadRoutesDeps, { request, fault }: Call): Reply {
  const symbols = new Fields(request.query, ['symbols']).text('symbols').split(',')
  if (symbols.length > SYMBOLS_MAX) throw new Problem('bad_request', `at most ${SYMBOLS_MAX} symbols at once`, { field: 'symbols' })
  const items = symbols.map(symbol => {
    const market = books.engine.market(symbol)
    if (market === undefined) throw unknownSymbol(symbol)
    return wire.quoteWire(market)
  })
  return whole(items, fault)
}

async function bars(deps: ReadRoutesDeps, call: Call): Promise<Reply> {
  const fields = new Fields(call.request.query, ['symbol', 'interval', 'from', 'to', 'limit', 'cursor'])
  const symbol = fields.text('symbol')
  const interval = fields.member('interval', BAR_INTERVALS)
  const now = deps.clock.now()
  const [from, to] = [fields.timeOr('from'), fields.timeOr('to') ?? now + 1]
  const limit = fields.countOr('limit', 1, BARS_PAGE_MAX) ?? BARS_DEFAULT
  const place = deps.cursors.read(fields.textOr('cursor'), questionOf(call))
  const start = place.after[''] === undefined ? (from ?? 0) : Number(place.after['']) + 1
  const query = { symbol, interval, from: start, to, now, limit: from === null ? limit : BARS_MAX }
  const found = await deps.market.bars(query).catch((error: unknown) => {
    throw error instanceof UnknownSymbol ? unknownSymbol(symbol) : error
  })
  const parts = [{ account: '', fetch: (_after: string | undefined, most: number) => found.slice(0, most) }]
  return paged(deps, call, {
    fields,
    merge: { parts, idOf: (bar: Bar) => String(bar.start), before: () => false },
    show: wire.barWire,
    limit
  })
}

function clock({ clock: house, market }: ReadRoutesDeps): Reply {
  const now = house.now()
  const [share, coin] = [market.phaseAt('us-equity', now), market.phaseAt('crypto', now)].map(({ phase, nextChange }) => ({
    phase,
    next_change: nextChange === null ? null : isoOf(nextChange)
  }))
  return { body: { clock: { house_time: isoOf(now), frozen: house.frozen, market: market.kind, share, coin } } }
}

function calendar({ market, clock: house }: ReadRoutesDeps, { request, fault }: Call): Reply {
  const fields = new Fields(request.query, ['from', 'to'])
  const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(house.now() / 1000))
    .toZonedDateTimeISO('America/New_York')
    .toPlainDate()
  const from = Temporal.PlainDate.from(fields.textOr('from') === null ? today : (fields.dateOr('from') ?? today))
  const to = Temporal.PlainDate.from(fields.dateOr('to') ?? from.add({ days: 30 }))
  const days = from.until(to).days
  if (days < 0 || days >= CALENDAR_DAYS_MAX)
    throw new Problem('bad_request', `from must not be after to, and at most ${CALENDAR_DAYS_MAX} days before it`, { field: 'from' })
  return whole(tradingDays(market, from, to), fault)
}

interface Page<Item> {
  readonly fields: Fields
  readonly merge: Pick<Merge<Item>, 'parts' | 'idOf' | 'before'>
  readonly show: (item: Item) => object
  readonly limit?: number
}

function paged<Item>({ cursors }: { readonly cursors: Cursors }, call: Call, page: Page<Item>): Reply {
  const { fault } = call
  if (fault?.do === 'empty') return whole([], fault)
  const question = questionOf(call)
  const limit = page.limit ?? page.fields.countOr('limit', 1, 500) ?? 100
  const { items, next } = mergePage({ ...page.merge, limit, place: cursors.read(page.fields.textOr('cursor'), question) })
  const skips = fault?.do === 'lose_page' && next !== null && next.page === fault.page
  const after = skips ? mergePage({ ...page.merge, limit, place: next }).next : next
  return { body: { items: items.map(page.show), next: after === null ? null : cursors.issue(after, question) } }
}

function whole(items: readonly object[], fault: Call['fault']): Reply {
  return { body: { items: fault?.do === 'empty' ? [] : items, next: null } }
}

function noFields(query: unknown): void {
  new Fields(query, [])
}

function unknownSymbol(symbol: string): Problem {
  return new Problem('unknown_symbol', `no symbol ${JSON.stringify(symbol.slice(0, 40))} here; see GET /instruments`, {
    status: 404,
    field: 'symbol'
  })
}
