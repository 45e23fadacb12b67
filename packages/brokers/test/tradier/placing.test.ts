/** What is refused before it is sent, and how what is sent is written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { parseDay, parseTimestamp } from '@trunkline/core/domain/timestamp'
import { changeRefusalBy } from '../../src/kit/order-rules.ts'
import { HISTORY, TRADIER_READS } from '../../src/tradier/definition.ts'
import { quotesRequest } from '../../src/tradier/market.ts'
import { changeRequest, durationOf, placeRequest, refusalOf, shareSide } from '../../src/tradier/orders.ts'
import { underlyingOf } from '../../src/tradier/symbols.ts'
import { decimal, MULTI_LEG, TICKET } from './fixtures.ts'

const ORDER = { ...TICKET, brokerAccountId: '6YA00001', brokerClOrdId: 'osk01H' }
const NOW = parseTimestamp('2026-11-20T16:00:00Z', 'now')
const changeRefusal = changeRefusalBy('Tradier')
const written = (body = '') => decodeURIComponent(body).replaceAll('&', ' ')

test('shares, options and multi-leg orders as Tradier writes them', () => {
  const shares = placeRequest({ ...ORDER, symbol: 'BRK.B' }, { duration: 'day', side: 'buy' })
  assert.deepEqual([shares.method, shares.path], ['POST', '/accounts/6YA00001/orders'])
  const subject = 'class=equity symbol=BRK/B side=buy quantity=40'
  assert.equal(written(shares.body), `${subject} type=limit duration=day price=220.00 tag=osk01H`)
  const contract = { symbol: 'SPY261218C00600000', instrument: 'OPT', side: 'SELL_TO_CLOSE' } as const
  const option = { ...ORDER, ...contract, type: 'STPLMT', stopPrice: decimal('1.0') } as const
  assert.equal(
    written(placeRequest(option, { duration: 'gtc', side: null }).body),
    'class=option symbol=SPY side=sell_to_close quantity=40 option_symbol=SPY261218C00600000 type=stop_limit duration=gtc price=220.00 stop=1.0 tag=osk01H'
  )
  const spread = (change: Partial<OrderTicket>) =>
    written(placeRequest({ ...ORDER, ...MULTI_LEG, ...change }, { duration: 'day', side: null }).body)
  const legs =
    'side[0]=buy_to_open quantity[0]=2 option_symbol[0]=SPY261218C00600000 side[1]=sell_to_open quantity[1]=4 option_symbol[1]=SPY261218C00610000'
  for (const [change, terms] of [
    [{}, 'type=debit duration=day price=1.20'],
    [{ side: 'SELL' }, 'type=credit duration=day price=1.20'],
    [{ limitPrice: decimal('0') }, 'type=even duration=day'],
    [{ type: 'MKT', limitPrice: null }, 'type=market duration=day']
  ] as const)
    assert.equal(spread(change), `class=multileg symbol=SPY ${legs} ${terms} tag=osk01H`)
  assert.throws(() => spread({ quantity: decimal('1.5') }), Malformed)
})

test('a change names type, duration and prices, and nothing else', () => {
  const change = changeRequest('6YA00001', '900500', { ...TICKET, type: 'STP', limitPrice: null, stopPrice: decimal('210') }, 'gtc')
  assert.deepEqual([change.method, change.path], ['PUT', '/accounts/6YA00001/orders/900500'])
  assert.equal(written(change.body), 'type=stop duration=gtc stop=210')
})

test('reads', () => {
  const day = (text: string) => parseDay(text, 'day')
  const query = { account: '6YA/1', since: NOW, from: day('2026-10-01'), to: day('2026-10-31') }
  assert.equal(TRADIER_READS.orderList?.request(query, '2').path, '/accounts/6YA%2F1/orders?includeTags=true&page=2&limit=100')
  assert.equal(HISTORY.request(query, null).path, '/accounts/6YA%2F1/history?start=2026-10-01&end=2026-10-31&page=1&limit=100')
  assert.equal(written(quotesRequest(['BRK/B', 'SPY']).body), 'symbols=BRK/B,SPY greeks=false')
})

test('the underlying of an option', () => {
  for (const [option, underlying] of [
    ['SPY261218C00600000', 'SPY'],
    ['SPXW261218C06000000', 'SPX'],
    ['BRKB261218C00500000', 'BRK/B'],
    ['AAPL1261218C00250000', 'AAPL']
  ] as const)
    assert.equal(underlyingOf(option), underlying)
})

test('what Tradier does not accept is refused with a message that says what it does', () => {
  const reasonOf = (change: Partial<OrderTicket>, of: OrderTicket = TICKET) => refusalOf({ ...of, ...change })?.message ?? null
  assert.equal(reasonOf({}), null)
  assert.equal(reasonOf({}, MULTI_LEG), null)
  assert.equal(reasonOf({ quantity: decimal('3.00') }), null)
  for (const [change, pattern] of [
    [{ quantity: decimal('1.5') }, /whole number/],
    [{ quantity: null, notional: decimal('100') }, /whole number/],
    [{ quantity: decimal('10000001') }, /at most 10000000/],
    [{ type: 'MKT', tif: 'GTC', limitPrice: null }, /order_tif GTC .* only DAY\./],
    [{ type: 'MKT', tif: 'DAY+', limitPrice: null }, /order_tif DAY\+ .* only DAY\./],
    [{ limitPrice: decimal('220.001') }, /220\.001 has more than 2 decimal places/],
    [{ limitPrice: decimal('0.12345') }, /more than 4 decimal places/]
  ] as const)
    assert.match(reasonOf(change) ?? '', pattern)
  assert.equal(reasonOf({ limitPrice: decimal('220.1000') }), null)
  assert.equal(reasonOf({ limitPrice: decimal('0.1234') }), null)
  assert.match(reasonOf({ limitPrice: decimal('-0.50') }, MULTI_LEG) ?? '', /SELL it to receive a credit/)
  assert.match(reasonOf({ side: 'SELL', limitPrice: decimal('-0.50') }, MULTI_LEG) ?? '', /BUY it to pay a debit/)
  const [first, second] = MULTI_LEG.legs ?? []
  assert.ok(first !== undefined && second !== undefined)
  assert.match(reasonOf({ legs: [{ ...first, ratio: decimal('2') }, second] }, MULTI_LEG) ?? '', /lowest terms/)
})

test('DAY+ is the session that is on, and none is there on a holiday or in between', () => {
  for (const [time, session] of [
    ['2026-11-20T08:59:59Z', 'refused'],
    ['2026-11-20T09:00:00Z', 'pre'],
    ['2026-11-20T14:23:59Z', 'pre'],
    ['2026-11-20T14:24:00Z', 'refused'],
    ['2026-11-20T18:00:00Z', 'refused'],
    ['2026-11-20T21:00:00Z', 'post'],
    ['2026-11-21T00:54:59Z', 'post'],
    ['2026-11-21T00:55:00Z', 'refused'],
    // Saturday, and Thanksgiving.
    ['2026-11-21T10:00:00Z', 'refused'],
    ['2026-11-26T10:00:00Z', 'refused']
  ] as const) {
    const found = durationOf({ ...TICKET, tif: 'DAY+' }, Date.parse(time))
    assert.equal(typeof found === 'string' ? found : 'refused', session, time)
  }
  const always = (['DAY', 'GTC'] as const).map(tif => durationOf({ ...TICKET, tif }, Date.parse('2026-11-21T10:00:00Z')))
  assert.deepEqual(always, ['day', 'gtc'])
})

test('the side of shares goes by what is held, and no order crosses zero', () => {
  const side = (side: 'BUY' | 'SELL', held: string, tif: OrderTicket['tif'] = 'DAY') => {
    const found = shareSide({ ...TICKET, side, tif }, decimal(held))
    return typeof found === 'string' ? found : found.refused.message
  }
  assert.deepEqual(
    [side('BUY', '0'), side('BUY', '100'), side('BUY', '-40'), side('SELL', '40'), side('SELL', '0'), side('SELL', '-5')],
    ['buy', 'buy', 'buy_to_cover', 'sell', 'sell_short', 'sell_short']
  )
  assert.match(side('BUY', '-39'), /buy 39 to cover and the rest with a second order/)
  assert.match(side('SELL', '39.00000000'), /sell 39 and the rest with a second order/)
  assert.match(side('SELL', '0', 'GTC'), /short sale cannot be GTC/)
})

test('a change of anything but type, time in force and prices is refused', () => {
  const order = { ...TICKET, brokerAccountId: 'a', brokerOrderId: '1', brokerClOrdId: null } as Parameters<typeof changeRefusal>[0]
  assert.equal(changeRefusal(order, { ...TICKET, limitPrice: decimal('1'), tif: 'GTC', quantity: decimal('40.00') }), null)
  for (const [change, pattern] of [
    [{ quantity: decimal('41') }, /the quantity .* was 40/],
    [{ symbol: 'KO' }, /the symbol/],
    [{ side: 'SELL' }, /the side .* was BUY/],
    [{ tif: 'DAY+' }, /the session/]
  ] as const)
    assert.match(changeRefusal(order, { ...TICKET, ...change })?.message ?? '', pattern)
  const spread = { ...order, ...MULTI_LEG }
  assert.match(changeRefusal(spread, { ...MULTI_LEG, legs: [...(MULTI_LEG.legs ?? [])].reverse() })?.message ?? '', /the legs/)
  // What costs nothing is looked up as bought, whichever it was.
  const even = { ...spread, limitPrice: decimal('0') }
  assert.equal(changeRefusal(even, { ...MULTI_LEG, side: 'SELL' }), null)
  assert.match(changeRefusal(spread, { ...MULTI_LEG, side: 'SELL' })?.message ?? '', /the side/)
})
