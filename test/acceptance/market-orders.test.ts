// Orders for options, multi-leg orders and futures, and what they leave behind: positions, balances, transactions, and a contract's end.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { Body } from './api.ts'
import { exact } from './market-bars.ts'
import { MarketStage, type Viewer } from './market-stage.ts'

const DAY = 24 * 3600 * 1000
const SHARES_A_CONTRACT = 100n
const FINAL = ['filled', 'rejected', 'cancelled', 'expired']

describe('options, packages and futures', () => {
  let stage: MarketStage
  before(async () => {
    stage = await MarketStage.open()
  })
  after(() => stage[Symbol.asyncDispose]())

  /** Somebody with a margin account and one for futures, and the chain of options that ends first after `days`. */
  const scene = async (days: number) => {
    const viewer = await stage.viewer('trader', [
      { kind: 'margin', cash: '10000000' },
      { kind: 'futures', cash: '10000000' }
    ])
    const { body: accounts } = await viewer.call('GET', '/accounts')
    const accountOf = (kind: string): string => {
      const index = viewer.login.accounts.findIndex(account => account.kind === kind)
      const { number } = viewer.login.accounts[index] as Body
      return accounts.find((row: Body) => row.account_number === number)?.account_id ?? assert.fail(JSON.stringify(accounts))
    }
    const earliest = new Date((await stage.sandboxMs()) + days * DAY).toISOString()
    const { items } = await stage.sandbox(viewer, '/expirations?underlying=SPY')
    const expiration: string = items.find((row: Body) => row.expiration > earliest).expiration
    const chain: readonly Body[] = (await stage.sandbox(viewer, `/chain?underlying=SPY&expiration=${expiration}`)).items
    const { items: quotes } = await stage.sandbox(viewer, '/quotes?symbols=SPY')
    const price = Number(quotes[0].last ?? quotes[0].bid)
    /** The contract whose strike is nearest to this part of the price. */
    const contract = (right: 'call' | 'put', part: number): string =>
      chain
        .filter(row => row.right === right && row.b !== null && row.a !== null)
        .toSorted((a, b) => Math.abs(Number(a.strike) - part * price) - Math.abs(Number(b.strike) - part * price))[0]?.s ??
      assert.fail('an empty chain')
    return { viewer, margin: accountOf('margin'), futures: accountOf('futures'), expiration, contract }
  }

  const named = async (viewer: Viewer, clOrderId: string): Promise<Body> =>
    (await viewer.call('GET', '/orders?limit=500')).body.data.find((row: Body) => row.cl_order_id === clOrderId)

  /** Places an order and gives it as it stands in the end. */
  const placed = async (viewer: Viewer, change: Body): Promise<Body> => {
    const ticket = viewer.ticket(change)
    const { status, body, text } = await viewer.call('POST', '/orders', ticket)
    assert.equal(status, 201, text)
    for (const [field, value] of Object.entries(ticket)) if (field !== 'legs') assert.equal(body[field], value, `${field} as it was sent`)
    let order: Body
    await until(
      async () => {
        order = await named(viewer, ticket.cl_order_id)
        return FINAL.includes(order?.normalized_status)
      },
      `${JSON.stringify(change)} is over`
    )
    return order
  }
  const filled = async (viewer: Viewer, change: Body): Promise<Body> => {
    const order = await placed(viewer, change)
    assert.equal(order.normalized_status, 'filled', JSON.stringify(order))
    return order
  }
  const positions = async (viewer: Viewer): Promise<ReadonlyMap<string, Body>> => {
    const { body } = await viewer.call('GET', '/positions')
    return new Map(body.map((row: Body) => [row.symbol, row]))
  }
  const holds = (viewer: Viewer, symbol: string, quantity: string | null): Promise<void> =>
    until(async () => ((await positions(viewer)).get(symbol)?.quantity ?? null) === quantity, `${quantity} of ${symbol} are held`)
  const balance = async (viewer: Viewer, account: string): Promise<Body> =>
    (await viewer.call('GET', `/balances?account_id=${account}`)).body[0]
  const transactions = async (viewer: Viewer, account: string): Promise<readonly Body[]> =>
    // The market's day, which a jump of its clock takes ahead of the machine's.
    (
      await viewer.call(
        'GET',
        `/transactions?account_id=${account}&end_date=${new Date((await stage.sandboxMs()) + DAY).toISOString().slice(0, 10)}`
      )
    ).body
  const worth = (fills: readonly Body[]): bigint =>
    fills.reduce((sum, { price, quantity }) => sum + (exact(price) * exact(quantity)) / 10n ** 12n, 0n)
  const total = (fills: readonly Body[]): bigint => fills.reduce((sum, { quantity }) => sum + exact(quantity), 0n)

  test('an option is opened and closed, and every page shows it', async () => {
    const { viewer, margin, contract } = await scene(20)
    const symbol = contract('call', 1)
    const before = await balance(viewer, margin)
    const bought = await filled(viewer, { account_id: margin, symbol, side: 'BUY_TO_OPEN', order_qty: '3', instrument: 'OPT' })
    assert.deepEqual([bought.instrument, bought.side, bought.legs], ['OPT', 'BUY_TO_OPEN', null])
    assert.equal(total(bought.fills), exact('3'))
    await holds(viewer, symbol, '3')
    const held = (await positions(viewer)).get(symbol)
    assert.deepEqual([held.instrument, held.account_id], ['OPT', margin])
    await until(async () => (await transactions(viewer, margin)).some(row => row.symbol === symbol), 'the purchase is booked')
    const rows = (await transactions(viewer, margin)).filter(row => row.symbol === symbol)
    assert.ok(rows.every(({ type, instrument }) => type === 'BUY' && instrument === 'OPT'))
    const paid = rows.reduce((sum, { amount }) => sum + exact(amount), 0n)
    const fees = rows.reduce((sum, row) => sum + exact(row.fees ?? '0'), 0n)
    assert.equal(paid, -worth(bought.fills) * SHARES_A_CONTRACT - fees, 'a contract is for a hundred shares')
    const after = await balance(viewer, margin)
    assert.equal(exact(after.cash) - exact(before.cash), paid)
    const sold = await filled(viewer, { account_id: margin, symbol, side: 'SELL_TO_CLOSE', order_qty: '1' })
    assert.equal(sold.instrument, 'OPT', 'it follows from the symbol')
    await holds(viewer, symbol, '2')
    const tooMany = await placed(viewer, { account_id: margin, symbol, side: 'SELL_TO_CLOSE', order_qty: '3' })
    assert.equal(tooMany.normalized_status, 'rejected')
    assert.ok(tooMany.broker_message.length > 0)
    await filled(viewer, { account_id: margin, symbol, side: 'SELL_TO_CLOSE', order_qty: '2' })
    await holds(viewer, symbol, null)
  })

  test('an option is sold short and bought back, with margin held for it', async () => {
    const { viewer, margin, contract } = await scene(20)
    const symbol = contract('put', 0.97)
    const before = await balance(viewer, margin)
    await filled(viewer, { account_id: margin, symbol, side: 'SELL_TO_OPEN', order_qty: '2' })
    await holds(viewer, symbol, '-2')
    const during = await balance(viewer, margin)
    assert.ok(exact(during.initial_margin) > exact(before.initial_margin ?? '0'), 'a short option is secured')
    assert.ok(exact(during.cash) > exact(before.cash))
    const notHeld = await placed(viewer, { account_id: margin, symbol, side: 'BUY_TO_CLOSE', order_qty: '3' })
    assert.equal(notHeld.normalized_status, 'rejected')
    await filled(viewer, { account_id: margin, symbol, side: 'BUY_TO_CLOSE', order_qty: '2' })
    await holds(viewer, symbol, null)
  })

  test('four legs fill as one, and each is shown with its own fills', async () => {
    const { viewer, margin, contract } = await scene(20)
    const legs = [
      { symbol: contract('put', 0.95), action: 'BUY_TO_OPEN', ratio: '1' },
      { symbol: contract('put', 0.97), action: 'SELL_TO_OPEN', ratio: '1' },
      { symbol: contract('call', 1.03), action: 'SELL_TO_OPEN', ratio: '1' },
      { symbol: contract('call', 1.05), action: 'BUY_TO_OPEN', ratio: '1' }
    ]
    assert.equal(new Set(legs.map(({ symbol }) => symbol)).size, 4)
    const mleg = { account_id: margin, symbol: null, instrument: 'MLEG_OPT', side: 'SELL', order_qty: '2' }
    const order = await filled(viewer, { ...mleg, legs })
    assert.deepEqual([order.symbol, order.instrument, order.order_qty], [null, 'MLEG_OPT', '2'])
    assert.equal(total(order.fills), exact('2'), 'the order’s own fills count packages')
    assert.deepEqual(
      order.legs.map(({ symbol, action, ratio }: Body) => ({ symbol, action, ratio })),
      legs
    )
    for (const { fills, symbol } of order.legs) {
      assert.equal(total(fills), exact('2'), symbol)
      for (const fill of fills) assert.deepEqual(Object.keys(fill).sort(), ['exec_dest', 'fill_id', 'price', 'quantity', 'time'])
    }
    const net = order.legs.reduce((sum: bigint, { action, fills }: Body) => sum + (action.startsWith('SELL') ? 1n : -1n) * worth(fills), 0n)
    assert.equal(worth(order.fills), net, 'the spread’s price is what its legs come to')
    for (const { symbol, action } of legs) await holds(viewer, symbol, action.startsWith('SELL') ? '-2' : '2')
    const back = legs.map(leg => ({ ...leg, action: leg.action.startsWith('SELL') ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE' }))
    await filled(viewer, { ...mleg, side: 'BUY', legs: back })
    for (const { symbol } of legs) await holds(viewer, symbol, null)
  })

  test('a multi-leg order rests at its limit, is cancelled as one, and is refused as one', async () => {
    const { viewer, margin, contract, expiration } = await scene(20)
    const legs = [
      { symbol: contract('call', 1), action: 'BUY_TO_OPEN', ratio: '1' },
      { symbol: contract('call', 1.04), action: 'SELL_TO_OPEN', ratio: '2' }
    ]
    const mleg = { account_id: margin, symbol: null, instrument: 'MLEG_OPT', side: 'BUY', order_qty: '1', legs }
    const ticket = viewer.ticket({ ...mleg, order_type: 'LMT', order_limit_price: '-50.00' })
    const { status, body, text } = await viewer.call('POST', '/orders', ticket)
    assert.equal(status, 201, text)
    await until(async () => (await named(viewer, ticket.cl_order_id)).normalized_status === 'working', 'it rests')
    const cancelled = await viewer.call('DELETE', `/accounts/${margin}/orders/${body.order_id}`)
    assert.equal(cancelled.status, 200, cancelled.text)
    await until(async () => (await named(viewer, ticket.cl_order_id)).normalized_status === 'cancelled', 'it is cancelled')
    assert.ok((await positions(viewer)).size === 0)
    const [first] = legs
    assert.ok(first !== undefined)
    const wrong: readonly (readonly [string, Body])[] = [
      ['one leg', { legs: [first] }],
      ['five legs', { legs: [0.9, 0.95, 1, 1.05, 1.1].map(part => ({ ...first, symbol: contract('put', part) })) }],
      ['no legs', { legs: undefined }],
      ['a ratio that is no number', { legs: [first, { ...first, symbol: contract('call', 1.04), ratio: 'one' }] }],
      ['a symbol beside the legs', { symbol: first.symbol }]
    ]
    for (const [what, change] of wrong) {
      const answer = await viewer.call('POST', '/orders', viewer.ticket({ ...mleg, ...change }))
      assert.equal(answer.status, 400, `${what}: ${answer.text}`)
    }
    const twice = await placed(viewer, { ...mleg, legs: [first, { ...first, ratio: '2' }] }).catch(() => null)
    assert.ok(twice === null || twice.normalized_status === 'rejected', `the same contract twice (${expiration})`)
  })

  test('a future is bought in an account for futures, with margin and no price paid', async () => {
    const { viewer, margin, futures } = await scene(1)
    const { items } = await stage.sandbox(viewer, '/instruments?class=future')
    const symbol: string = items.find((row: Body) => row.symbol.startsWith('ES')).symbol
    const before = await balance(viewer, futures)
    const order = await filled(viewer, { account_id: futures, symbol, side: 'BUY', order_qty: '2', instrument: 'FUT' })
    assert.equal(order.instrument, 'FUT')
    await holds(viewer, symbol, '2')
    const held = (await positions(viewer)).get(symbol)
    assert.deepEqual([held.instrument, typeof held.broker_position_id], ['FUT', 'string'])
    const during = await balance(viewer, futures)
    assert.ok(exact(during.initial_margin) > exact(before.initial_margin ?? '0'))
    assert.ok(exact(before.cash) - exact(during.cash) < exact('1000'), 'a future costs margin, not its price')
    const elsewhere = await placed(viewer, { account_id: margin, symbol, side: 'BUY', order_qty: '1' })
    assert.equal(elsewhere.normalized_status, 'rejected', 'a margin account has no futures')
    // Over a weekend at least.
    await stage.advance(4 * DAY)
    const isSettlement = ({ symbol: of, type }: Body): boolean => of === symbol && type !== 'BUY'
    await until(async () => (await transactions(viewer, futures)).some(isSettlement), 'the settlement of a day is booked')
    const paid = (await transactions(viewer, futures)).filter(isSettlement).reduce((sum, { amount }) => sum + exact(amount), 0n)
    const settled = await balance(viewer, futures)
    assert.equal(exact(settled.cash) - exact(during.cash), paid, 'what it gained or lost is paid every day')
    await filled(viewer, { account_id: futures, symbol, side: 'SELL', order_qty: '2' })
    await holds(viewer, symbol, null)
  })

  test('at the end what is in the money is exercised and assigned, and the rest expires', async () => {
    const { viewer, margin, contract, expiration } = await scene(0)
    const [long, worthless, short] = [contract('call', 0.8), contract('call', 1.3), contract('put', 1.2)]
    await filled(viewer, { account_id: margin, symbol: long, side: 'BUY_TO_OPEN', order_qty: '2' })
    await filled(viewer, { account_id: margin, symbol: worthless, side: 'BUY_TO_OPEN', order_qty: '5' })
    await filled(viewer, { account_id: margin, symbol: short, side: 'SELL_TO_OPEN', order_qty: '3' })
    for (const [symbol, quantity] of [
      [long, '2'],
      [worthless, '5'],
      [short, '-3']
    ] as const)
      await holds(viewer, symbol, quantity)
    await stage.jump(new Date(Date.parse(expiration) + 2 * DAY).toISOString())
    for (const symbol of [long, worthless, short]) await holds(viewer, symbol, null)
    await holds(viewer, 'SPY', '500')
    const expected: readonly (readonly [string, string, string])[] = [
      [long, 'EXERCISE', '2'],
      [worthless, 'EXPIRATION', '5'],
      [short, 'ASSIGNMENT', '3']
    ]
    await until(
      async () => (await transactions(viewer, margin)).filter(({ symbol }) => symbol === 'SPY').length >= 2,
      'the shares are booked'
    )
    const rows = await transactions(viewer, margin)
    for (const [symbol, type, quantity] of expected) {
      const found = rows.filter(row => row.symbol === symbol && !['BUY', 'SELL'].includes(row.type))
      assert.deepEqual([...new Set(found.map(row => row.type))], [type], symbol)
      const count = found.reduce((sum, row) => sum + exact(row.quantity.replace('-', '')), 0n)
      assert.equal(count, exact(quantity), symbol)
    }
    const strikeOf = (symbol: string): bigint => BigInt(symbol.slice(-8)) * 10n ** 9n
    const shares = rows.filter(({ symbol }) => symbol === 'SPY')
    assert.ok(shares.every(({ type }) => type === 'BUY'))
    assert.deepEqual(
      new Set(shares.map(({ price }) => exact(price))),
      new Set([strikeOf(long), strikeOf(short)]),
      'the shares come at the strikes'
    )
    assert.equal((await balance(viewer, margin)).account_id, margin)
  })
})
