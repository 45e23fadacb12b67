// Brokers that report only totals, rounded or truncated at their last place: every price of ours was paid or stated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { absolute, compare, type Decimal, lastPlace, minus, parseDecimal, times } from '../../src/domain/decimal.ts'
import type { Fill, Order } from '../../src/domain/order.ts'
import { apply, averageFillPrice, filledQuantity } from '../../src/domain/order-machine.ts'
import { parseTimestamp } from '../../src/domain/timestamp.ts'
import { anOrder } from './an-order.ts'

const AT = parseTimestamp('2026-11-20T15:00:00Z', 'at')
const dec = (text: string) => parseDecimal(text, 'number')

interface Execution {
  readonly quantity: bigint
  /** In ten-thousandths. */
  readonly price: bigint
}

interface Broker {
  readonly places: number
  readonly isCutOff: boolean
  readonly isTrimmed: boolean
}

const executions = fc.array(
  fc.record({
    quantity: fc.bigInt({ min: 1n, max: 60n }),
    // Mostly whole cents, and some with a price improvement below a cent.
    price: fc.oneof(
      { arbitrary: fc.bigInt({ min: 990n, max: 1_010n }).map(cents => cents * 100n), weight: 4 },
      { arbitrary: fc.bigInt({ min: 99_000n, max: 101_000n }), weight: 1 }
    )
  }),
  { minLength: 1, maxLength: 10 }
)
const broker = fc.record({ places: fc.constantFrom(0, 1, 2, 3, 4, 6, 8, 12), isCutOff: fc.boolean(), isTrimmed: fc.boolean() })

function scaled(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

const valueIn = (made: readonly Execution[]) => made.reduce((value, { quantity, price }) => value + quantity * price, 0n)
const quantityIn = (made: readonly Execution[]) => made.reduce((all, { quantity }) => all + quantity, 0n)

/** The average as the broker states it. */
function stated(made: readonly Execution[], { places, isCutOff, isTrimmed }: Broker): Decimal {
  const [value, quantity] = [valueIn(made) * 10n ** BigInt(places), quantityIn(made) * 10_000n]
  const average = scaled(isCutOff ? value / quantity : (2n * value + quantity) / (2n * quantity), places)
  return dec(isTrimmed && average.includes('.') ? average.replace(/\.?0+$/, '') : average)
}

function reported(order: Order, made: readonly Execution[], of: Broker): Order {
  const total = { quantity: dec(String(quantityIn(made))), averagePrice: stated(made, of), at: AT }
  const step = apply(order, { type: 'filled_total', ...total })
  assert.equal(apply(step.order, { type: 'filled_total', ...total }).changed, false, 'the same total says nothing new')
  return step.order
}

const EMPTY = anOrder({ quantity: dec('100000') })

/** Whether the fill is everything executed between two of the totals, at its exact cost. */
function isExact({ quantity, price }: Fill, made: readonly Execution[], totals: readonly number[]): boolean {
  const ends = [0, ...totals]
  return ends.some((from, index) =>
    ends.slice(index + 1).some(to => {
      const part = made.slice(from, to)
      return quantity === String(quantityIn(part)) && compare(times(quantity, price), dec(scaled(valueIn(part), 4))) === 0
    })
  )
}

test('a fill inferred from a total has its own exact price or an average stated by the broker, and all fills add up to the total', () => {
  fc.assert(
    fc.property(executions, broker, fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }), (made, of, isReported) => {
      const totals = made.map((_, index) => index + 1).filter(count => count === made.length || isReported[count - 1] === true)
      let order = EMPTY
      const averages: Decimal[] = []
      for (const count of totals) {
        order = reported(order, made.slice(0, count), of)
        const average = stated(made.slice(0, count), of)
        averages.push(average)
        assert.equal(filledQuantity(order), String(quantityIn(made.slice(0, count))))
        for (const fill of order.fills)
          assert.ok(
            isExact(fill, made, totals) || averages.some(each => compare(each, fill.price) === 0),
            `${fill.quantity} at ${fill.price} was neither paid nor stated`
          )
        const paid = averageFillPrice(order)
        assert.ok(paid !== null)
        assert.ok(
          compare(absolute(minus(paid, average)), lastPlace(Math.min(of.places, 9))) <= 0,
          `${paid} on average, stated was ${average}`
        )
        assert.equal(new Set(order.fills.map(({ fillId }) => fillId)).size, order.fills.length)
      }
    }),
    { numRuns: 3_000 }
  )
})

test('if every execution is reported as its own total with enough places, the fills are the executions', () => {
  fc.assert(
    fc.property(executions, made => {
      let order = EMPTY
      for (let count = 1; count <= made.length; count += 1)
        order = reported(order, made.slice(0, count), { places: 9, isCutOff: false, isTrimmed: false })
      assert.deepEqual(
        order.fills.map(({ quantity, price }) => [quantity, Number(price)]),
        made.map(({ quantity, price }) => [String(quantity), Number(price) / 10_000])
      )
    }),
    { numRuns: 1_000 }
  )
})

test('lost executions become one fill, at a price that reproduces the stated average', () => {
  fc.assert(
    fc.property(executions, broker, fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }), (made, of, isLost) => {
      const fills: readonly Fill[] = made.map(({ quantity, price }, index) => ({
        ...{ fillId: `f${index}`, at: AT, execDest: null },
        quantity: dec(String(quantity)),
        price: dec(scaled(price, 4))
      }))
      const known = fills.filter((_, index) => isLost[index] !== true)
      let order = EMPTY
      for (const fill of known) order = apply(order, { type: 'fills', fills: [fill] }).order
      order = reported(order, made, of)
      assert.equal(filledQuantity(order), String(quantityIn(made)))
      assert.deepEqual(order.fills.slice(0, known.length), known, 'what was executed stays as it was')
      const rest = order.fills.slice(known.length)
      assert.equal(rest.length, known.length < made.length ? 1 : 0)
      const lost = made.filter((_, index) => isLost[index] === true)
      const [only] = lost
      const [inferred] = rest
      if (of.places < 8 || of.isTrimmed || only === undefined || lost.length > 1 || inferred === undefined) return
      assert.equal(compare(inferred.price, dec(scaled(only.price, 4))), 0, 'the one that is lost has its own price')
    }),
    { numRuns: 2_000 }
  )
})

test('an average that is a whole last place from the nearest price proves nothing: neither rounding nor truncation leads that far', () => {
  let order = EMPTY
  for (const [quantity, averagePrice] of [
    ['1', '10.00001'],
    ['2', '10.20000']
  ] as const)
    order = apply(order, { type: 'filled_total', quantity: dec(quantity), averagePrice: dec(averagePrice), at: AT }).order
  assert.deepEqual(
    order.fills.map(({ quantity, price }) => [quantity, price]),
    [['2', '10.20000']]
  )
})
