import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerageClock } from '../../src/brokerage/clock.ts'
import { Contracts } from '../../src/brokerage/contracts.ts'
import { Customers } from '../../src/brokerage/customers.ts'
import { listInstruments, openNewAccounts } from '../../src/brokerage/ledger.ts'
import { BrokerageState } from '../../src/brokerage/state.ts'
import { openSynthetic } from '../../src/market/index.ts'
import type { Market } from '../../src/market/types.ts'

const AT = Date.UTC(2026, 10, 20, 16, 30) * 1_000

/** State, customers and a market that records what is followed; the test controls the time. */
async function scene() {
  const real = openSynthetic({ seed: 'followed', calendar: 'always' })
  const followed = new Set<string>()
  const market: Market = Object.create(real, {
    follow: {
      value: (symbols: Iterable<string>) => {
        const fresh = [...symbols]
        for (const symbol of fresh) followed.add(symbol)
        real.follow(fresh)
      }
    },
    unfollow: {
      value: (symbols: Iterable<string>) => {
        const idle = [...symbols]
        for (const symbol of idle) followed.delete(symbol)
        real.unfollow(idle)
      }
    }
  })
  // Getters and private fields are those of the real one.
  for (const name of ['find', 'futures', 'chain', 'expirations', 'next'] as const)
    Object.defineProperty(market, name, { value: (real[name] as (...given: never[]) => unknown).bind(real) })
  const state = new BrokerageState({
    folder: null,
    newSeed: () => 'followed',
    onEvents: () => undefined,
    onError: error => assert.ifError(error)
  })
  const customers = new Customers('followed', null)
  let now = AT / 1_000
  let at = AT
  const clock = new BrokerageClock({ realNow: () => now, startsAt: AT, speed: 1 })
  const bring = async () => {
    at += 60_000_000
    for (;;) {
      const { commands, through } = await market.next(at)
      for (const command of commands) state.run(command)
      if (through >= at) return
    }
  }
  listInstruments({ state, market, clock })
  await bring()
  openNewAccounts({ state, customers, clock })
  const forgotten: string[] = []
  const driver = { afresh: bring, forget: (symbols: Iterable<string>) => void forgotten.push(...symbols) }
  const contracts = new Contracts({ market, state, customers, clock, driver, now: () => now })
  const margin = customers.accounts().find(({ kind }) => kind === 'margin')?.id ?? ''
  const [expiration = ''] = real.expirations('SPY', AT)
  const [first = '', second = '', third = ''] = real.chain('SPY', expiration, AT).map(({ symbol }) => symbol)
  const order = { type: 'submit', accountId: margin, orderType: 'LMT', timeInForce: 'GTC', notional: null, stopPrice: null } as const
  return {
    state,
    contracts,
    followed,
    forgotten,
    symbols: [first, second, third] as const,
    pass: (ms: number) => {
      now += ms
    },
    buy: (clientOrderId: string, symbol: string, limitPrice: string) =>
      state.run({ ...order, at, clientOrderId, symbol, side: 'BUY_TO_OPEN', quantity: '1', limitPrice }),
    cancel: (clientOrderId: string) => state.run({ type: 'cancel', at, accountId: margin, order: { clientOrderId } }),
    [Symbol.asyncDispose]: async () => {
      contracts.close()
      await real[Symbol.asyncDispose]()
    }
  }
}

test('a requested contract is fed for a minute; one that is ordered or held is fed until it no longer is', async () => {
  await using brokerage = await scene()
  const [ordered, asked, bought] = brokerage.symbols
  await brokerage.contracts.bring([asked, ordered, bought, 'SPY', 'NOPE'])
  assert.deepEqual([...brokerage.followed].sort(), [asked, ordered, bought].sort())
  assert.notEqual(brokerage.state.engine.market(asked)?.asks.length, 0)
  brokerage.buy('waits', ordered, '0.01')
  brokerage.buy('fills', bought, '900.00')
  brokerage.contracts.sweep()
  assert.equal(brokerage.followed.size, 3)
  brokerage.pass(61_000)
  brokerage.contracts.sweep()
  assert.deepEqual([...brokerage.followed].sort(), [ordered, bought].sort())
  assert.deepEqual(brokerage.forgotten, [asked])
  brokerage.cancel('waits')
  brokerage.contracts.sweep()
  assert.deepEqual([...brokerage.followed], [bought])
  assert.equal(brokerage.contracts.comes(bought), true)
})

test('a contract with readers is fed until the last reader leaves', async () => {
  await using brokerage = await scene()
  const [symbol] = brokerage.symbols
  brokerage.contracts.hold([symbol, 'SPY'])
  brokerage.contracts.hold([symbol])
  brokerage.contracts.release([symbol, 'SPY'])
  brokerage.contracts.sweep()
  assert.deepEqual([...brokerage.followed], [symbol])
  brokerage.contracts.release([symbol])
  brokerage.contracts.sweep()
  assert.deepEqual([...brokerage.followed], [])
})

test('a sandbox that starts feeds all contracts that its customers own', async () => {
  await using brokerage = await scene()
  const [symbol] = brokerage.symbols
  await brokerage.contracts.bring([symbol])
  brokerage.buy('fills', symbol, '900.00')
  brokerage.contracts.ended(symbol)
  assert.equal(brokerage.contracts.comes(symbol), false)
  brokerage.contracts.sweep()
  assert.equal(brokerage.contracts.comes(symbol), true)
})
