import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { impliedVolatility, intrinsic, type Terms, type Valuation, valuation, worth } from '../../src/market/options/greeks.ts'
import { cumulative, density } from '../../src/market/options/normal.ts'

type Row = readonly [right: 'call' | 'put', spot: number, strike: number, years: number, rate: number, dividend: number, volatility: number]

function termsOf([right, spot, strike, years, rate, dividend]: Row): Terms {
  return { right, spot, strike, years, rate, dividend }
}

/** A published figure: correct if it agrees to the printed places. */
function agrees(found: number, published: string): boolean {
  const places = published.split('.')[1]?.length ?? 0
  return Math.abs(found - Number(published)) <= 0.500001 * 10 ** -places
}

// Rates of futures options: the yield equals the rate, so that waiting earns nothing.
const VALUES: readonly (readonly [source: string, row: Row, value: string])[] = [
  ['the usual example, call', ['call', 100, 100, 1, 0.05, 0, 0.2], '10.4506'],
  ['the usual example, put', ['put', 100, 100, 1, 0.05, 0, 0.2], '5.5735'],
  ['Hull, Options, Futures and Other Derivatives, ex. 15.6, call', ['call', 42, 40, 0.5, 0.1, 0, 0.2], '4.76'],
  ['Hull, ex. 15.6, put', ['put', 42, 40, 0.5, 0.1, 0, 0.2], '0.81'],
  ['Hull, ch. 19, the running example', ['call', 49, 50, 0.3846, 0.05, 0, 0.2], '2.40'],
  ['Hull, ex. 17.1, an index with a yield', ['call', 930, 900, 2 / 12, 0.08, 0.03, 0.2], '51.83'],
  ['Hull, ex. 18.6, a futures put', ['put', 20, 20, 4 / 12, 0.09, 0.09, 0.25], '1.12'],
  ['Haug, Option Pricing Formulas, 1.1.1', ['call', 60, 65, 0.25, 0.08, 0, 0.3], '2.1334'],
  ['Haug, 1.1.2, a yield', ['put', 100, 95, 0.5, 0.1, 0.05, 0.2], '2.4648'],
  ['Haug, 1.1.3, futures', ['call', 19, 19, 0.75, 0.1, 0.1, 0.28], '1.7011'],
  ['Haug, 1.1.5, a currency', ['call', 1.56, 1.6, 0.5, 0.06, 0.08, 0.12], '0.0291']
]

/** In textbook units: theta per year, vega and rho per 1. */
const YEARLY: Readonly<Partial<Record<keyof Valuation, number>>> = { theta: 365, vega: 100, rho: 100 }

const GREEKS: readonly (readonly [source: string, row: Row, greeks: Readonly<Partial<Record<keyof Valuation, string>>>])[] = [
  [
    'the usual example, call',
    ['call', 100, 100, 1, 0.05, 0, 0.2],
    { delta: '0.6368', gamma: '0.018762', vega: '37.524', theta: '-6.414', rho: '53.2325' }
  ],
  [
    'the usual example, put',
    ['put', 100, 100, 1, 0.05, 0, 0.2],
    { delta: '-0.3632', gamma: '0.018762', vega: '37.524', theta: '-1.658', rho: '-41.8905' }
  ],
  [
    'Hull, ch. 19, the running example',
    ['call', 49, 50, 0.3846, 0.05, 0, 0.2],
    { delta: '0.522', gamma: '0.066', vega: '12.1', theta: '-4.31', rho: '8.91' }
  ],
  ['Haug, 2.1.1, futures call', ['call', 105, 100, 0.5, 0.1, 0.1, 0.36], { delta: '0.5946' }],
  ['Haug, 2.1.1, futures put', ['put', 105, 100, 0.5, 0.1, 0.1, 0.36], { delta: '-0.3566' }],
  ['Haug, 2.2.1', ['call', 55, 60, 0.75, 0.1, 0, 0.3], { gamma: '0.0278' }],
  ['Haug, 2.5.1', ['put', 430, 405, 0.0833, 0.07, 0.05, 0.2], { theta: '-31.1924' }],
  ['Haug, 2.6.1', ['call', 72, 75, 1, 0.09, 0, 0.19], { rho: '38.7325' }]
]

test('values equal those of the textbooks', () => {
  for (const [source, row, value] of VALUES) {
    assert.ok(agrees(worth(termsOf(row), row[6]), value), `${source}: ${worth(termsOf(row), row[6])} for ${value}`)
    assert.equal(valuation(termsOf(row), row[6]).value, worth(termsOf(row), row[6]))
  }
})

test('greeks equal those of the textbooks', () => {
  for (const [source, row, greeks] of GREEKS) {
    const found = valuation(termsOf(row), row[6])
    for (const name of ['delta', 'gamma', 'vega', 'theta', 'rho'] as const) {
      const published = greeks[name]
      const value = found[name] * (YEARLY[name] ?? 1)
      if (published !== undefined) assert.ok(agrees(value, published), `${source}, ${name}: ${value} for ${published}`)
    }
  }
})

test('implied volatilities equal those of the textbooks', () => {
  // Hull, ch. 15.11: 1.875 for three months at 20, with the share at 21 and 10 %.
  assert.ok(agrees(impliedVolatility(termsOf(['call', 21, 20, 0.25, 0.1, 0, 0]), 1.875) ?? 0, '0.235'))
  for (const [source, row] of VALUES) {
    const found = impliedVolatility(termsOf(row), worth(termsOf(row), row[6]))
    assert.ok(found !== null && Math.abs(found - row[6]) < 1e-7, `${source}: ${found}`)
  }
})

test('the normal distribution equals the tables', () => {
  // Abramowitz and Stegun, table 26.1 and 26.2.
  for (const [x, share] of [
    [0, 0.5],
    [1, 0.841344746068543],
    [1.96, 0.97500210485178],
    [-2.5, 0.00620966532577613],
    [-5, 2.86651571879194e-7],
    [7.5, 0.999999999999968]
  ] as const)
    assert.ok(Math.abs(cumulative(x) - share) < 1e-15, `${x}: ${cumulative(x)}`)
  assert.ok(Math.abs(cumulative(-10) / 7.61985302416053e-24 - 1) < 1e-7)
  assert.deepEqual([cumulative(-40), cumulative(40)], [0, 1])
  assert.ok(Math.abs(density(0) - 0.398942280401433) < 1e-15)
})

const rows = fc
  .record({
    right: fc.constantFrom('call', 'put'),
    spot: fc.double({ min: 1, max: 5_000, noNaN: true }),
    // Within three deviations of the spot, where a derivative is measurable.
    away: fc.double({ min: -2.5, max: 2.5, noNaN: true }),
    years: fc.double({ min: 0.01, max: 3, noNaN: true }),
    rate: fc.double({ min: -0.01, max: 0.12, noNaN: true }),
    dividend: fc.double({ min: 0, max: 0.08, noNaN: true }),
    volatility: fc.double({ min: 0.05, max: 1.5, noNaN: true })
  })
  .map(({ right, spot, away, years, rate, dividend, volatility }): Row => {
    return [right, spot, spot * Math.exp(away * volatility * Math.sqrt(years)), years, rate, dividend, volatility] as const
  })

function near(found: number, expected: number, scale: number): boolean {
  return Math.abs(found - expected) <= 1e-4 * Math.max(Math.abs(expected), scale)
}

test('a call and a put with one strike differ by the discounted forward', () => {
  fc.assert(
    fc.property(rows, row => {
      const terms = termsOf(row)
      const call = valuation({ ...terms, right: 'call' }, row[6])
      const put = valuation({ ...terms, right: 'put' }, row[6])
      const forward = terms.spot * Math.exp(-terms.dividend * terms.years) - terms.strike * Math.exp(-terms.rate * terms.years)
      assert.ok(Math.abs(call.value - put.value - forward) < 1e-9 * (terms.spot + terms.strike))
      assert.ok(Math.abs(call.delta - put.delta - Math.exp(-terms.dividend * terms.years)) < 1e-12)
      assert.ok(Math.abs(call.gamma - put.gamma) < 1e-12 && Math.abs(call.vega - put.vega) < 1e-9 * terms.spot)
    })
  )
})

test('greeks equal the slopes of the value', () => {
  fc.assert(
    fc.property(rows, row => {
      const terms = termsOf(row)
      const volatility = row[6]
      const found = valuation(terms, volatility)
      const slope = (change: Partial<Terms>, back: Partial<Terms>, width: number): number =>
        (worth({ ...terms, ...change }, volatility) - worth({ ...terms, ...back }, volatility)) / width
      const { spot, years, rate } = terms
      const h = spot * 1e-4 * Math.min(1, volatility * Math.sqrt(years))
      assert.ok(near(found.delta, slope({ spot: spot + h }, { spot: spot - h }, 2 * h), 0.01), 'delta')
      const up = valuation({ ...terms, spot: spot + h }, volatility).delta
      const down = valuation({ ...terms, spot: spot - h }, volatility).delta
      assert.ok(near(found.gamma, (up - down) / (2 * h), 0.01 / spot), 'gamma')
      const t = years * 1e-4
      assert.ok(near(found.theta * 365, slope({ years: years - t }, { years: years + t }, 2 * t), 0.01 * spot), 'theta')
      assert.ok(near(found.rho * 100, slope({ rate: rate + 1e-5 }, { rate: rate - 1e-5 }, 2e-5), 0.01 * spot), 'rho')
      const v = volatility * 1e-4
      const vega = (worth(terms, volatility + v) - worth(terms, volatility - v)) / (2 * v)
      assert.ok(near(found.vega * 100, vega, 0.01 * spot), 'vega')
    })
  )
})

test('the volatility of a price is found wherever the price determines it', () => {
  fc.assert(
    fc.property(rows, row => {
      const terms = termsOf(row)
      const { value, vega } = valuation(terms, row[6])
      const found = impliedVolatility(terms, value)
      assert.ok(found !== null)
      // The solver's precision, divided by the price's sensitivity to volatility.
      assert.ok(Math.abs(found - row[6]) <= (2e-10 * Math.max(1, value)) / (vega * 100) + 1e-9, `${found} for ${row[6]}`)
    })
  )
})

test('a price that no volatility gives has none', () => {
  const terms = termsOf(['call', 100, 90, 0.5, 0.05, 0, 0])
  const floor = 100 - 90 * Math.exp(-0.025)
  for (const price of [-1, 0, floor - 0.5, floor, 100, 150, Number.NaN, Number.POSITIVE_INFINITY])
    assert.equal(impliedVolatility(terms, price), null, `${price}`)
  assert.ok((impliedVolatility(terms, floor + 0.5) ?? 0) > 0.05)
  assert.equal(impliedVolatility({ ...terms, years: 0 }, 12), null)
  assert.equal(impliedVolatility({ ...terms, spot: 0 }, 12), null)
  // Far from the money, Newton's method alone diverges.
  const far = termsOf(['put', 100, 20, 0.02, 0.05, 0, 0])
  const price = worth(far, 2.5)
  assert.ok(Math.abs((impliedVolatility(far, price) ?? 0) - 2.5) < 1e-3)
})

test('at expiration, and without volatility, only the exercise value is left', () => {
  const call = termsOf(['call', 105, 100, 0, 0.05, 0, 0])
  assert.deepEqual(valuation(call, 0.2), { value: 5, delta: 1, gamma: 0, theta: 0, vega: 0, rho: 0 })
  assert.deepEqual(valuation({ ...call, right: 'put' }, 0.2), { value: 0, delta: 0, gamma: 0, theta: 0, vega: 0, rho: 0 })
  assert.equal(worth({ ...call, years: -1 }, 0.2), 5)
  assert.equal(intrinsic({ ...call, right: 'put', spot: 90 }), 10)
  assert.equal(worth({ ...call, years: 1 }, 0), 105 - 100 * Math.exp(-0.05))
})
