// Trading for one user: what is read, and where it is shown.
import { useQueryClient } from '@tanstack/react-query'
import { CandlestickSeries, createChart, createSeriesMarkers, HistogramSeries } from 'lightweight-charts'
import { type FormEvent, type ReactNode, useEffect, useMemo, useState } from 'react'
import { AccountView } from '../../../server/src/http/docs/live/client/trading/account-view.js'
import { Chart } from '../../../server/src/http/docs/live/client/trading/chart.js'
import { get } from '../api.ts'
import type { Account, Order } from '../generated/admin.ts'
import { sessionQuery, useRecord } from '../reads.ts'
import { onColours } from '../theme.ts'
import { INTERVAL_NAMES, type Interval, wireBar } from '../trading/bars.ts'
import { newestOf, ordersOf } from '../trading/orders.ts'
import { useBars } from '../trading/use-bars.ts'
import { useIsUsed } from '../use-of-page.ts'
import { Failure } from './states.tsx'
import { ChartMarkup, TablesMarkup, TicketMarkup } from './trading-markup.tsx'
import { Time } from './values.tsx'

const LIBRARY = { CandlestickSeries, createChart, createSeriesMarkers, HistogramSeries }
const BARS_MS = 2_000
const ACCOUNT_MS = 3_000

/** The chart and the view of the account, which write into the page by themselves. */
interface Shown {
  readonly chart: Chart
  readonly view: AccountView
}

interface TradingPartsProps {
  readonly userKey: string
  readonly accounts: readonly Account[]
  readonly symbol: string
  readonly choose: (symbol: string) => void
}

/** Give it a `key` of the user: another one has other parts. */
export function TradingParts({ userKey, accounts, symbol, choose }: TradingPartsProps): ReactNode {
  const isUsed = useIsUsed()
  const [interval, setBarInterval] = useState<Interval>('1m')
  const { accountId, put, shown } = useShown(userKey, accounts, symbol)
  const connectionId = accounts.find(account => account.account_id === accountId)?.connection_id
  const series = connectionId === undefined ? null : { userKey, connectionId, symbol, interval }
  const bars = useBars(series, isUsed ? BARS_MS : undefined)
  const records = useRecords(userKey, isUsed ? ACCOUNT_MS : undefined)
  const { orders, positions, balances } = records

  // The chart of another series begins before its bars are there, so that no bars are shown under another name.
  useEffect(() => {
    if (connectionId !== undefined) shown?.chart.begin(symbol, interval)
  }, [shown, connectionId, symbol, interval])
  useEffect(() => {
    for (const bar of bars.data?.bars ?? []) shown?.chart.put(wireBar(bar))
  }, [shown, bars.data])
  useEffect(() => {
    if (shown === null || accountId === '') return
    for (const order of orders) shown.view.seen(order)
    shown.view.show({ orders: newestOf(orders, put), positions, balances })
  }, [shown, accountId, orders, positions, balances, put])

  const error = records.error ?? bars.error
  return (
    <div className="trade">
      {error !== null && <Failure error={error} again={() => void Promise.all([records.again(), bars.refetch()])} />}
      <ChartChoice symbol={symbol} interval={interval} choose={choose} chooseInterval={setBarInterval} />
      <ReadState readAt={records.readAt} isUsed={isUsed} />
      <ChartMarkup />
      <div className="trading-parts">
        <TicketMarkup />
        <TablesMarkup />
      </div>
    </div>
  )
}

interface ChartChoiceProps {
  readonly symbol: string
  readonly interval: Interval
  readonly choose: (symbol: string) => void
  readonly chooseInterval: (interval: Interval) => void
}

/** The symbol, which is the ticket's too, and the length of a bar. */
function ChartChoice({ symbol, interval, choose, chooseInterval }: ChartChoiceProps): ReactNode {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget).get('symbol')
    choose(String(given).trim().toUpperCase())
  }
  return (
    <form className="filters" onSubmit={submit} aria-label="Chart">
      <p className="field">
        <label htmlFor="symbol">Symbol</label>
        <input id="symbol" name="symbol" className="input" defaultValue={symbol} key={symbol} required maxLength={40} autoComplete="off" />
      </p>
      <p className="field">
        <label htmlFor="interval">Interval</label>
        <select
          id="interval"
          className="input"
          value={interval}
          onChange={event => chooseInterval(INTERVAL_NAMES.find(name => name === event.target.value) ?? '1m')}
        >
          {INTERVAL_NAMES.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </p>
      <button type="submit" className="button">
        Show
      </button>
    </form>
  )
}

/** Announced by nobody: it changes every few seconds. */
function ReadState({ readAt, isUsed }: { readonly readAt: number; readonly isUsed: boolean }): ReactNode {
  return (
    <p id="trading-status" className="hint">
      Practice money, in the sandbox.{' '}
      {readAt === 0 ? (
        'Reading…'
      ) : (
        <>
          {isUsed ? 'Read' : 'Paused, since the page was not used for a quarter of an hour. Read'} at{' '}
          <Time at={new Date(readAt).toISOString()} />.
        </>
      )}
    </p>
  )
}

/** What writes into the page: made once it is there, and ended with it. */
function useShown(userKey: string, accounts: readonly Account[], symbol: string) {
  const queries = useQueryClient()
  const [shown, setShown] = useState<Shown | null>(null)
  const [accountId, setAccountId] = useState('')
  // Answers to requests, until a list has them.
  const [put, setPut] = useState<readonly Order[]>([])
  useEffect(() => {
    const chart = new Chart(LIBRARY, () => undefined)
    const ignoreColours = onColours(() => chart.paint())
    const view = new AccountView({
      name: `console-${userKey}`,
      prefix: 'console',
      changed: () => setAccountId(view.accountId),
      // The session has ended: the login is shown in place of the page.
      refused: () => void queries.resetQueries({ queryKey: sessionQuery.queryKey }),
      showFills: fills => chart.putFills(fills)
    })
    setShown({ chart, view })
    return () => {
      ignoreColours()
      view.leave()
      chart.remove()
    }
  }, [userKey, queries])
  useEffect(() => {
    const putOrder = (order: Order) => {
      setPut(before => newestOf(before, [order]).slice(-PUT_MAX))
      void queries.invalidateQueries({ queryKey: ['record'] })
    }
    shown?.view.begin({ orders: ordersOf(userKey), accounts, putOrder })
  }, [shown, userKey, accounts, queries])
  useEffect(() => {
    if (shown !== null) shown.view.symbol = symbol
  }, [shown, symbol])
  return { shown, accountId, put }
}

/** As many answers are kept as somebody may wait for at once. */
const PUT_MAX = 50
const NONE: readonly never[] = []

/** What the user's accounts have, and the orders that are open or new. */
function useRecords(userKey: string, refreshMs: number | undefined) {
  const user = { user_key: userKey }
  const open = useRecord(get('/sandbox/users/{user_key}/orders', user, { status: 'open', limit: '500' }), refreshMs)
  const newest = useRecord(get('/sandbox/users/{user_key}/orders', user, { limit: '100' }), refreshMs)
  const positions = useRecord(get('/sandbox/users/{user_key}/positions', user), refreshMs)
  const balances = useRecord(get('/sandbox/users/{user_key}/balances', user), refreshMs)
  const all = [open, newest, positions, balances] as const
  const [opened, listed] = [open.data?.data ?? NONE, newest.data?.data ?? NONE]
  const orders = useMemo(() => newestOf(opened, listed), [opened, listed])
  return {
    ...{ orders, positions: positions.data ?? NONE, balances: balances.data ?? NONE },
    error: all.find(({ error }) => error !== null)?.error ?? null,
    // What was read longest ago: nothing shown is older.
    readAt: Math.min(...all.map(({ dataUpdatedAt }) => dataUpdatedAt)),
    again: () => Promise.all(all.map(({ refetch }) => refetch()))
  }
}
