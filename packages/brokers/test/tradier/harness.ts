/** Tradier's adapter at the sandbox that emulates Tradier. */

import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import { type TradierSettings, tradier } from '../../src/tradier/definition.ts'
import { HEARTBEAT_MS } from '../sandbox/sandbox-process.ts'
import { systemClock } from '../support/clocks.ts'
import type { DialectBroker } from '../support/dialect-harness.ts'
import { fullPages, isRecord } from '../support/endless.ts'

/** Before the market opens, when orders for that session are taken: the adapter goes by its own clock. */
const EARLY_MS = 3_600_000
const CALENDAR = usEquityCalendar()
const NOW_MS = epochMs(systemClock.now())
const MORNING_MS = (CALENDAR.spansOn(CALENDAR.nextTradingDay(CALENDAR.dateAt(NOW_MS)))[0]?.start ?? NOW_MS) + EARLY_MS
/** The sandbox's clock goes with it, so that both write the same dates. */
export const AHEAD_MS = Math.round(MORNING_MS - NOW_MS)
const morningClock: Clock = { ...systemClock, now: () => timestampOfMs(epochMs(systemClock.now()) + AHEAD_MS) }

export function settingsAt(url: string, publicUrl: string, client: Pick<TradierSettings, 'clientId' | 'clientSecret'>): TradierSettings {
  return {
    ...client,
    environment: 'sandbox',
    apiUrl: `${url}/tradier/v1`,
    streamUrl: `${url.replace(/^http/, 'ws')}/tradier/ws/v1`,
    authorizeUrl: `${publicUrl}/tradier/v1/oauth/authorize`,
    sendRedirectUri: true,
    accountStream: true,
    marketStream: true,
    heartbeatMs: HEARTBEAT_MS,
    hours: 'always',
    plain: true
  }
}

export const TRADIER: DialectBroker = {
  name: 'tradier',
  define: ({ url, publicUrl, clientId, clientSecret }, deps) => tradier(settingsAt(url, publicUrl, { clientId, clientSecret }), deps),
  clock: morningClock,
  accounts: [{ kind: 'margin', cash: '100000' }],
  accountOf: ({ number, kind }) => (kind === 'margin' || kind === 'cash' ? numberOf(number) : null),
  ids: 'digits',
  path: (on, account) => `/tradier/v1/accounts/${account}/${on === 'transactions' ? 'history' : on}`,
  authorize: ({ access_token: token }) => ({ authorization: `Bearer ${token}` }),
  // The list shows which order has a tag, the order itself its state.
  operations: { find: ['orders.list', 'orders.get'] },
  credentials: minted => ({ ...minted, issued_at: later(minted.issued_at), expires_at: later(minted.expires_at) }),
  sample(sample, instrument) {
    // "Short sales cannot be placed GTC" (README).
    if (instrument === 'STK') return { ...sample, neverShort: ['GTC'] }
    if (instrument !== 'MLEG_OPT') return sample
    // A debit has a positive price; one so small is not taken.
    const cheap = (price: string) => parseDecimal(price, 'price')
    return {
      ...sample,
      resting: (type, tif, side) => {
        const ticket = sample.resting(type, tif, side)
        return ticket === null ? null : { ...ticket, limitPrice: cheap('0.01') }
      },
      otherLimit: cheap('0.02')
    }
  },
  throttledSubmit: 'refused',
  // A page that adds nothing is the last, so every one has other orders.
  endless: () => {
    let id = 0
    return fullPages(PAGE_FULL, ordersIn, records => ({ orders: { order: records.map(order => ({ ...Object(order), id: ++id })) } }))
  },
  patienceMs: 20_000,
  unknownOrderId: '999999999999999'
}

/** A full page of Tradier's. */
const PAGE_FULL = 100

/** A list of one record is that record, and an empty one a string. */
function ordersIn(answer: unknown): readonly unknown[] | null {
  if (!isRecord(answer) || answer.orders === undefined) return null
  return isRecord(answer.orders) ? [answer.orders.order].flat() : []
}

function later(time: string | undefined): string {
  return timestampOfMs(Date.parse(time ?? '') + AHEAD_MS)
}

/** Practice accounts begin with VA at Tradier. */
function numberOf(sandboxNumber: string): string {
  return sandboxNumber.replace(/^SB/, 'VA')
}
