/** Accounts, balances and positions, over REST and as a stream. TradeStation has no accounts for crypto. */

import { createHash } from 'node:crypto'
import { type Account, type Answer, type PositionView, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { json, listIn, timeOf } from './answers.ts'
import type { Begin, StreamCall } from './streams.ts'
import { assetOf, shownSymbol } from './symbols.ts'

const ACCOUNTS_MAX = 25
/** Prices move positions all the time; they are sent so often at most. */
const PRICES_EVERY_MS = 1_000
const TYPES = { margin: 'Margin', cash: 'Cash', futures: 'Futures', coin: 'Cash' } as const satisfies Record<Account['kind'], string>

export function accountsHere(customers: BrokerageView['customers'], login: string): readonly Account[] {
  return customers.accountsOf(login).filter(({ kind }) => kind !== 'coin')
}

/** The accounts of a list of numbers, and an error for each number that is not theirs. @throws Problem `bad_request` */
export function requestedAccounts({ customers }: BrokerageView, { request, customer }: StreamCall) {
  const numbers = listIn(texts(request.params).accounts, ACCOUNTS_MAX, 'Account IDs')
  const own = accountsHere(customers, customer.id)
  const strange = numbers.filter(number => !own.some(account => account.number === number))
  return {
    accounts: numbers.flatMap(number => own.find(account => account.number === number) ?? []),
    errors: strange.map(number => ({ AccountID: number.slice(0, 40), Error: 'Forbidden', Message: 'Request not supported for account' }))
  }
}

/** Those of a stream, which reports the others. @throws Problem when none of the accounts is theirs */
export function streamedAccounts(brokerage: BrokerageView, call: StreamCall) {
  const requested = requestedAccounts(brokerage, call)
  if (requested.accounts.length === 0) throw new Problem('scope_missing', 'Request not supported for account')
  return requested
}

export function accountReads(brokerage: BrokerageView): readonly DialectRoute[] {
  const [get, path] = [{ method: 'GET' } as const, '/brokerage/accounts']
  return [
    { ...get, path, operation: 'accounts.list', handle: call => accounts(brokerage, call) },
    { ...get, path: `${path}/:accounts/balances`, operation: 'balances.list', handle: call => balances(brokerage, call) },
    { ...get, path: `${path}/:accounts/positions`, operation: 'positions.list', handle: call => positions(brokerage, call) }
  ]
}

function accounts({ customers, state }: BrokerageView, { customer, fault }: Call): Answer {
  const own = fault?.do === 'empty' ? [] : accountsHere(customers, customer.id)
  return json({
    Accounts: own.map(({ id, number, kind }) => {
      return { AccountID: number, AccountType: TYPES[kind], Currency: state.engine.account(id)?.currency ?? 'USD', Status: 'Active' }
    })
  })
}

function requested(brokerage: BrokerageView, call: Call) {
  const found = requestedAccounts(brokerage, call)
  return call.fault?.do === 'empty' ? { ...found, accounts: [] } : found
}

function balances(brokerage: BrokerageView, call: Call): Answer {
  const { accounts, errors } = requested(brokerage, call)
  return json({ Balances: accounts.map(account => balanceWire(brokerage, account)), Errors: errors })
}

/** Futures have their margins under other names, and by currency. */
function balanceWire({ state }: BrokerageView, { id, number, kind }: Account): object {
  const { cash, initialMargin, maintenanceMargin, regTBuyingPower, currency, buyingPower, equity, marketValue } = state.engine.balance(id)
  const margins = { InitialMargin: initialMargin, MaintenanceMargin: maintenanceMargin }
  return {
    ...{ AccountID: number, CashBalance: cash, BuyingPower: buyingPower, Equity: equity, MarketValue: marketValue },
    ...(kind === 'futures'
      ? { BalanceDetail: margins, CurrencyDetails: [{ Currency: currency, CashBalance: cash, ...margins }] }
      : { BalanceDetail: { RequiredMargin: initialMargin, OvernightBuyingPower: regTBuyingPower } })
  }
}

function positions(brokerage: BrokerageView, call: Call): Answer {
  const { accounts, errors } = requested(brokerage, call)
  const held = accounts.flatMap(({ id }) => brokerage.state.engine.positions(id))
  return json({ Positions: held.map(position => positionWire(brokerage, position)), Errors: errors })
}

/** Digits: the same as long as the position is not closed. */
function positionIdOf({ accountId, symbol, openedAt }: PositionView): string {
  const hash = createHash('sha256').update(`${accountId} ${symbol} ${openedAt}`).digest()
  return String(100_000_000 + (hash.readUInt32BE(0) % 900_000_000))
}

function positionWire({ customers, state, contracts }: BrokerageView, position: PositionView) {
  const { accountId, symbol, quantity, averagePrice, lastPrice, unrealizedPl, dailyPl, openedAt } = position
  const instrument = state.engine.instrument(symbol) ?? contracts.find(symbol)
  return {
    PositionID: positionIdOf(position),
    AccountID: customers.account(accountId)?.number ?? accountId,
    AssetType: instrument === null ? 'UNKNOWN' : assetOf(instrument),
    Symbol: shownSymbol(symbol),
    LongShort: quantity.startsWith('-') ? 'Short' : 'Long',
    ...{ Quantity: quantity, AveragePrice: averagePrice, Last: lastPrice, UnrealizedProfitLoss: unrealizedPl },
    // Of a future there is none.
    ...(instrument?.future === undefined ? { TodaysProfitLoss: dailyPl } : {}),
    Timestamp: timeOf(openedAt)
  }
}

/** Every position, then whatever changes of them. */
export function positionStream(brokerage: BrokerageView, call: StreamCall): Begin {
  const { state, publisher, realNow } = brokerage
  const { accounts, errors } = streamedAccounts(brokerage, call)
  const ids = accounts.map(({ id }) => id)
  const all = () => ids.flatMap(id => state.engine.positions(id))
  /** What was sent last, by account and symbol. */
  const sent = new Map<string, { readonly id: string; readonly text: string }>()
  const emit = (position: PositionView, send: (frame: object) => void) => {
    const key = `${position.accountId} ${position.symbol}`
    const [before, id, isFlat] = [sent.get(key), positionIdOf(position), position.quantity === '0']
    // Closed and opened again between two looks: another position, with an id of its own.
    if (before !== undefined && (isFlat || before.id !== id)) {
      sent.delete(key)
      send({ PositionID: before.id, Deleted: true })
    }
    if (isFlat) return
    const wire = positionWire(brokerage, position)
    const text = JSON.stringify(wire)
    if (sent.get(key)?.text === text) return
    sent.set(key, { id, text })
    send(wire)
  }
  return stream => {
    for (const position of all()) emit(position, stream.send)
    for (const frame of [...errors, { StreamStatus: 'EndSnapshot' }]) stream.send(frame)
    let readAt = realNow()
    // Prices only: they must not use up what fault injection is to lose or repeat of what happened.
    stream.onTick = () => {
      if (realNow() - readAt < PRICES_EVERY_MS) return
      readAt = realNow()
      for (const position of all()) emit(position, stream.send)
    }
    const following = publisher.follow({
      order: () => undefined,
      orderAgain: () => undefined,
      account: ({ accountId, symbols }) => {
        if (!ids.includes(accountId)) return
        for (const symbol of symbols) {
          const position = state.engine.position(accountId, symbol)
          if (position !== undefined) emit(position, stream.event)
        }
      }
    })
    stream.hold(following)
  }
}
