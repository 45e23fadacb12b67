import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digitsOf } from '../../../src/dialects/frame/order-ids.ts'
import { chainById, chainOf, fillsOf, type StateOf } from '../../../src/dialects/tradestation/chains.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { InstrumentSpec, OrderView } from '../../../src/engine/types.ts'

const ACCOUNT = 'acc-1'
const AT = Date.UTC(2026, 9, 12, 15) * 1_000

test('a chain is one order, from each of its links', () => {
  const { engine, state, ids } = changedTwice()
  const links = ids.map(orderId => orderOf(engine, orderId))
  for (const link of links) {
    const chain = chainOf(state, link)
    assert.deepEqual(
      chain.orders.map(({ orderId }) => orderId),
      ids
    )
    assert.deepEqual([chain.id, chain.first.orderId, chain.last.orderId], [digitsOf(ids[0] ?? ''), ids[0], ids[2]])
    assert.deepEqual(
      fillsOf(chain, null).map(({ quantity }) => quantity),
      ['2', '3']
    )
  }
  assert.equal(chainById(state, [ACCOUNT], digitsOf(ids[0] ?? ''))?.last.orderId, ids[2])
  for (const later of ids.slice(1)) assert.equal(chainById(state, [ACCOUNT], digitsOf(later)), undefined)
  assert.equal(chainById(state, [], digitsOf(ids[0] ?? '')), undefined)
})

test('an order keeps its first id after the state has dropped what it replaced', () => {
  const { engine, state, ids } = changedTwice()
  const forgetful: StateOf = {
    engine,
    order: (accounts, ref) => ('orderId' in ref && ref.orderId === ids[0] ? 'unknown' : state.order(accounts, ref))
  }
  const chain = chainById(forgetful, [ACCOUNT], digitsOf(ids[0] ?? ''))
  assert.deepEqual([chain?.last.orderId, chain?.orders.length], [ids[2], 2])
  assert.equal(chainById(forgetful, [ACCOUNT, 'acc-2'], '123456789012345'), undefined)
})

/** An order for 10, filled by 2, changed, filled by 3, changed again. */
function changedTwice() {
  const engine = Engine.create({ seed: 'chains' })
  const account = { accountId: ACCOUNT, number: 'SB1', accountType: 'margin', currency: 'USD', deposit: '100000', permitted: null } as const
  const spec: InstrumentSpec = {
    symbol: 'SPY',
    kind: 'STK',
    name: 'SPY',
    currency: 'USD',
    market: 'us-equity',
    tick: '0.01',
    tickBelowOne: null,
    lot: '1',
    fraction: '1',
    multiplier: '1',
    shortable: true,
    auctions: true,
    settlementDays: 1,
    margin: { initial: 5_000, maintenanceLong: 2_500, maintenanceShort: 3_000 },
    fees: { buy: 0, sell: 0 }
  }
  engine.handle({ type: 'list_instrument', at: AT, spec })
  engine.handle({ type: 'session', at: AT, market: 'us-equity', phase: 'open', tradingDate: '2026-10-12' })
  engine.handle({ type: 'open_account', at: AT, ...account })
  const prices = { limitPrice: '500', stopPrice: null, notional: null }
  const terms = { symbol: 'SPY', side: 'BUY', orderType: 'LMT', timeInForce: 'GTC', quantity: '10', ...prices } as const
  engine.handle({ type: 'submit', at: AT, accountId: ACCOUNT, clientOrderId: 'c1', ...terms })
  const offer = (size: string) => engine.handle({ type: 'quote', at: AT, symbol: 'SPY', bids: [], asks: [['500', size]] })
  const change = (newClientOrderId: string, quantity: string) => {
    const [live] = engine.orders(ACCOUNT, { live: true })
    const order = { orderId: live?.orderId ?? assert.fail('no live order') }
    engine.handle({ type: 'replace', at: AT, accountId: ACCOUNT, order, newClientOrderId, ...prices, limitPrice: null, quantity })
  }
  offer('2')
  change('c2', '11')
  offer('3')
  change('c3', '12')
  const state: StateOf = { engine, order: ([own = ''], ref) => engine.order(own, ref) }
  const ids = engine.orders(ACCOUNT, { oldestFirst: true }).map(({ orderId }) => orderId)
  return { engine, state, ids }
}

function orderOf(engine: Engine, orderId: string): OrderView {
  const found = engine.order(ACCOUNT, { orderId })
  return typeof found === 'object' ? found : assert.fail(`no order ${orderId}`)
}
