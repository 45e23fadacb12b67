import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Books } from '../../src/house/books.ts'
import { HouseClock } from '../../src/house/clock.ts'
import { Contracts } from '../../src/house/contracts.ts'
import { listInstruments, openNewAccounts } from '../../src/house/ledger.ts'
import { People } from '../../src/house/people.ts'
import { openSynthetic } from '../../src/market/index.ts'
import type { Market } from '../../src/market/types.ts'

const AT = Date.UTC(2026, 10, 20, 16, 30) * 1_000

/** Books, people and a market whose follows are written down; time goes by as the test says. */
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
  // Getters and private fields are the real one's.
  for (const name of ['find', 'futures', 'chain', 'expirations', 'next'] as const)
    Object.defineProperty(market, name, { value: (real[name] as (...given: never[]) => unknown).bind(real) })
  const books = new Books({ folder: null, newSeed: () => 'followed', onEvents: () => undefined, onTrouble: error => assert.ifError(error) })
  const people = new People('followed', null)
  let now = AT / 1_000
  let at = AT
  const clock = new HouseClock({ realNow: () => now, startsAt: AT, speed: 1 })
  const bring = async () => {
    at += 60_000_000
    for (;;) {
      const { commands, through } = await market.next(at)
      for (const command of commands) books.run(command)
      if (through >= at) return
    }
  }
  listInstruments({ books, market, clock })
  await bring()
  openNewAccounts({ books, people, clock })
  const forgotten: string[] = []
  const pump = { afresh: bring, forget: (symbols: Iterable<string>) => void forgotten.push(...symbols) }
  const contracts = new Contracts({ market, books, people, clock, pump, now: () => now })
  const margin = people.accounts().find(({ kind }) => kind === 'margin')?.id ?? ''
  const [expiration = ''] = real.expirations('SPY', AT)
  const [first = '', second = '', third = ''] = real.chain('SPY', expiration, AT).map(({ symbol }) => symbol)
  const order = { type: 'submit', accountId: margin, orderType: 'LMT', timeInForce: 'GTC', notional: null, stopPrice: null } as const
  return {
    books,
    contracts,
    followed,
    forgotten,
    symbols: [first, second, third] as const,
    pass: (ms: number) => {
      now += ms
    },
    buy: (clientOrderId: string, symbol: string, limitPrice: string) =>
      books.run({ ...order, at, clientOrderId, symbol, side: 'BUY_TO_OPEN', quantity: '1', limitPrice }),
    cancel: (clientOrderId: string) => books.run({ type: 'cancel', at, accountId: margin, order: { clientOrderId } }),
    [Symbol.asyncDispose]: async () => {
      contracts.close()
      await real[Symbol.asyncDispose]()
    }
  }
}

test('what was asked for once comes for a minute; what is ordered or held comes until it is not', async () => {
  await using house = await scene()
  const [ordered, asked, bought] = house.symbols
  await house.contracts.bring([asked, ordered, bought, 'SPY', 'NOPE'])
  assert.deepEqual([...house.followed].sort(), [asked, ordered, bought].sort())
  assert.notEqual(house.books.engine.market(asked)?.asks.length, 0)
  house.buy('waits', ordered, '0.01')
  house.buy('fills', bought, '900.00')
  house.contracts.sweep()
  assert.equal(house.followed.size, 3)
  house.pass(61_000)
  house.contracts.sweep()
  assert.deepEqual([...house.followed].sort(), [ordered, bought].sort())
  assert.deepEqual(house.forgotten, [asked])
  house.cancel('waits')
  house.contracts.sweep()
  assert.deepEqual([...house.followed], [bought])
  assert.equal(house.contracts.comes(bought), true)
})

test('what is read comes as long as anybody reads it', async () => {
  await using house = await scene()
  const [symbol] = house.symbols
  house.contracts.hold([symbol, 'SPY'])
  house.contracts.hold([symbol])
  house.contracts.release([symbol, 'SPY'])
  house.contracts.sweep()
  assert.deepEqual([...house.followed], [symbol])
  house.contracts.release([symbol])
  house.contracts.sweep()
  assert.deepEqual([...house.followed], [])
})

test('a house that starts has whatever its customers own come', async () => {
  await using house = await scene()
  const [symbol] = house.symbols
  await house.contracts.bring([symbol])
  house.buy('fills', symbol, '900.00')
  house.contracts.ended(symbol)
  assert.equal(house.contracts.comes(symbol), false)
  house.contracts.sweep()
  assert.equal(house.contracts.comes(symbol), true)
})
