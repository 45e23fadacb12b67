import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Customer, control, openBrokerage, type Wire } from './support.ts'

test('each demo login has an account of every kind with balances', async () => {
  await using brokerage = await openBrokerage()
  assert.ok(brokerage.logins.length >= 2)
  for (const { username } of brokerage.logins) {
    const customer = await Customer.of(brokerage, username)
    assert.deepEqual(
      customer.accounts.map(({ kind }) => kind),
      ['margin', 'cash', 'coin', 'futures']
    )
    const { items } = (await customer.call('GET', '/balances')).body
    assert.deepEqual(
      items.map(({ account }: Wire) => account),
      customer.accounts.map(({ id }) => id)
    )
    for (const balance of items) {
      assert.match(balance.cash, /^\d+(\.\d+)?$/)
      assert.equal(balance.equity, balance.cash)
    }
    assert.notEqual(items[0].reg_t_buying_power, null)
    assert.equal(items[1].reg_t_buying_power, null)
  }
})

test('customers, passwords and account numbers depend on the seed', async () => {
  const seen: unknown[] = []
  for (const seed of ['one', 'one', 'two']) {
    await using brokerage = await openBrokerage({ seed })
    const { items } = await control(brokerage, 'GET', '/logins')
    seen.push(items)
  }
  assert.deepEqual(seen[0], seen[1])
  assert.notDeepEqual(seen[0], seen[2])
})

test('instruments are listed in pages, searched, and shown singly', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const { body } = await alex.call('GET', `/instruments?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`)
    seen.push(...body.items.map(({ symbol }: Wire) => symbol))
    cursor = body.next
  } while (cursor !== null)
  assert.deepEqual(seen, [...new Set(seen)].sort())
  assert.ok(seen.includes('SPY') && seen.includes('BTC/USD'))
  assert.deepEqual(
    (await alex.call('GET', '/instruments?search=spy')).body.items.map(({ symbol }: Wire) => symbol),
    ['SPY']
  )
  assert.ok((await alex.call('GET', '/instruments?class=coin')).body.items.every((found: Wire) => found.class === 'coin'))
  assert.equal((await alex.call('GET', '/instruments/BTC%2FUSD')).body.instrument.class, 'coin')
  assert.equal((await alex.call('GET', '/instruments/NOPE')).body.error.code, 'unknown_symbol')
})

test('quotes show both sides of the requested symbols', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const { items } = (await alex.call('GET', '/quotes?symbols=SPY,BTC%2FUSD')).body
  assert.deepEqual(
    items.map(({ symbol }: Wire) => symbol),
    ['SPY', 'BTC/USD']
  )
  for (const { bid, ask } of items) assert.ok(Number(bid) < Number(ask))
  assert.equal((await alex.call('GET', '/quotes?symbols=NOPE')).status, 404)
  assert.equal((await alex.call('GET', '/quotes')).status, 400)
})

test('bars are sorted oldest first, in consecutive pages', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const { sandbox_time } = (await alex.call('GET', '/clock')).body
  const from = new Date(Date.parse(sandbox_time) - 30 * 60_000).toISOString()
  const all = (await alex.call('GET', `/bars?symbol=SPY&interval=1m&from=${from}&limit=1000`)).body.items
  assert.ok(all.length >= 29, String(all.length))
  const paged: Wire[] = []
  let cursor: string | null = null
  do {
    const { body } = await alex.call(
      'GET',
      `/bars?symbol=SPY&interval=1m&from=${from}&limit=7${cursor === null ? '' : `&cursor=${cursor}`}`
    )
    paged.push(...body.items)
    cursor = body.next
  } while (cursor !== null)
  assert.deepEqual(paged, all)
  assert.deepEqual(
    all.map(({ start }: Wire) => start),
    all.map(({ start }: Wire) => start).toSorted()
  )
  assert.equal((await alex.call('GET', '/bars?symbol=SPY&interval=1d&limit=5')).body.items.length, 5)
  const core = (await alex.call('GET', '/bars?symbol=SPY&interval=1d&session=core&from=2025-11-24T00:00:00Z&to=2025-12-01T00:00:00Z')).body
  assert.deepEqual(
    core.items.map(({ start }: Wire) => start.slice(0, 10)),
    ['2025-11-24', '2025-11-25', '2025-11-26', '2025-11-28'],
    'neither a holiday nor a weekend has a core session'
  )
  for (const wrong of [
    'symbol=SPY&interval=1h&session=core',
    'symbol=BTC%2FUSD&interval=1d&session=core',
    'symbol=SPY&interval=1d&session=late'
  ]) {
    const { status, body } = await alex.call('GET', `/bars?${wrong}`)
    assert.deepEqual([status, body.error.code, body.error.field], [400, 'bad_request', 'session'], wrong)
  }
  assert.equal((await alex.call('GET', '/bars?symbol=NOPE&interval=1d&session=core')).status, 404)
  assert.equal((await alex.call('GET', '/bars?symbol=SPY&interval=2m')).status, 400)
  assert.equal((await alex.call('GET', '/bars?symbol=NOPE&interval=1m')).status, 404)
})

test('the exchange calendar has sessions, half days and holidays', async () => {
  await using brokerage = await openBrokerage({ calendar: 'exchange' })
  const alex = await Customer.of(brokerage)
  const { items } = (await alex.call('GET', '/calendar?from=2025-11-26&to=2025-12-01')).body
  assert.deepEqual(
    items.map(({ date, opens, closes }: Wire) => [date, opens.slice(11, 16), closes.slice(11, 16)]),
    [
      ['2025-11-26', '14:30', '21:00'],
      ['2025-11-28', '14:30', '18:00'],
      ['2025-12-01', '14:30', '21:00']
    ]
  )
  assert.equal((await alex.call('GET', '/calendar?from=2025-01-01&to=2027-01-01')).status, 400)
  assert.equal((await alex.call('GET', '/calendar?from=2025-02-30')).status, 400)
})

test('transactions are filtered by inclusive dates', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await alex.buy('1')
  const { items } = (await alex.call('GET', '/transactions')).body
  const bought = items.find(({ type }: Wire) => type === 'buy')
  const kinds = async (query: string) => (await alex.call('GET', `/transactions?${query}`)).body.items.map(({ type }: Wire) => type)
  assert.ok((await kinds(`from=${bought.date}&to=${bought.date}`)).includes('buy'))
  assert.deepEqual(await kinds('to=2000-01-01'), [])
  assert.deepEqual(await kinds('from=2100-01-01'), [])
  assert.equal((await alex.call('GET', '/transactions?from=2025-13-01')).status, 400)
})

test('the public port has no part of the control API', async () => {
  await using brokerage = await openBrokerage()
  const { items } = await control(brokerage, 'GET', '/logins')
  assert.ok(items[0].password.length > 0)
  for (const path of ['/logins', '/faults', '/reset', '/clock', '/control/logins', '/orders?client_order_id=x'])
    assert.equal((await fetch(`${brokerage.url}${path}`)).status, 404, path)
})

test('the control API refuses web pages and other host names', async () => {
  await using brokerage = await openBrokerage()
  const foreign = await fetch(`${brokerage.controlUrl}/logins`, { headers: { origin: 'https://evil.example' } })
  assert.equal(foreign.status, 404)
  const { port } = new URL(brokerage.controlUrl)
  const { request } = await import('node:http')
  const status = await new Promise(resolve => {
    request({ host: '127.0.0.1', port, path: '/logins', headers: { host: `evil.example:${port}` } }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    }).end()
  })
  assert.equal(status, 404)
})
