/** Options as they move: a chain around the present price, or some contracts together as one. */

import { compare, type Decimal, parseDecimal } from '@trunkline/core/domain/decimal'
import type { DialectBrokerage } from '../../brokerage/dialect.ts'
import { Problem } from '../../brokerage/problems.ts'
import type { Instrument } from '../../market/types.ts'
import { texts } from '../frame/sign-in.ts'
import { requestedExpiration } from './expirations.ts'
import { requestedInstrument } from './listing.ts'
import { optionWire } from './option-wire.ts'
import { bad, countOr } from './reading.ts'
import type { StreamCall, StreamEmitter, StreamProtocol, StreamRoute } from './stream-server.ts'
import { underlyingOf } from './symbols.ts'

const PROXIMITY_DEFAULT = 5
const PROXIMITY_MAX = 1_000
const LEGS_MAX = 10
const RATIO_MAX = 100

export function optionStreams(brokerage: DialectBrokerage): readonly StreamRoute[] {
  return [
    { path: '/marketdata/stream/options/chains/:underlying', open: call => openChain(brokerage, call) },
    { path: '/marketdata/stream/options/quotes', open: call => openQuotes(brokerage, call) }
  ]
}

interface RowLeg {
  readonly instrument: Instrument
  readonly ratio: number
}

async function openChain(brokerage: DialectBrokerage, { request }: StreamCall): Promise<StreamProtocol> {
  const query = texts(request.query)
  const underlying = underlyingOf(texts(request.params).underlying ?? '')
  if ((query.spreadType ?? 'Single') !== 'Single')
    throw new Problem('bad_request', 'Only the spreadType Single is emulated by this sandbox', { status: 501 })
  const expiration = requestedExpiration(brokerage, underlying, query.expiration)
  const contracts = brokerage.market.chain(underlying, expiration, brokerage.clock.now())
  if (contracts.length === 0) bad(`no options on ${underlying.slice(0, 40)} expire on ${expiration}`)
  const rows = narrowed(contracts, priceOf(brokerage, underlying, query.priceCenter), query)
  await brokerage.contracts.bring(rows.map(({ symbol }) => symbol))
  return new Rows(brokerage, {
    underlying,
    withGreeks: query.enableGreeks !== 'false',
    rows: rows.map(instrument => [{ instrument, ratio: 1 }])
  })
}

function priceOf({ market, clock }: DialectBrokerage, underlying: string, centre: string | undefined): Decimal | null {
  return centre === undefined || centre === '' ? market.priceOf(underlying, clock.now()) : parseDecimal(centre, 'priceCenter')
}

/** So many strikes on each side of the price, all of them where it is not known. */
function narrowed(
  contracts: readonly Instrument[],
  centre: Decimal | null,
  query: Readonly<Record<string, string>>
): readonly Instrument[] {
  const proximity = countOr(query.strikeProximity, 'strikeProximity', 1, PROXIMITY_MAX) ?? PROXIMITY_DEFAULT
  const strikes = [...new Set(contracts.map(({ option }) => option?.strike ?? '0'))]
  const at = centre === null ? -1 : strikes.findIndex(strike => compare(parseDecimal(strike, 'strike'), centre) >= 0)
  const middle = at < 0 ? strikes.length : at
  const near = new Set(centre === null ? strikes : strikes.slice(Math.max(0, middle - proximity), middle + proximity))
  const type = (query.optionType ?? 'All').toLowerCase()
  const range = (query.strikeRange ?? 'All').toUpperCase()
  return contracts.filter(
    ({ option }) =>
      option !== undefined &&
      near.has(option.strike) &&
      (type === 'all' || type === option.right) &&
      (range === 'ALL' || centre === null || (range === 'ITM') === isInTheMoney(option, centre))
  )
}

function isInTheMoney({ right, strike }: NonNullable<Instrument['option']>, price: Decimal): boolean {
  const order = compare(price, parseDecimal(strike, 'strike'))
  return right === 'call' ? order > 0 : order < 0
}

async function openQuotes(brokerage: DialectBrokerage, { request }: StreamCall): Promise<StreamProtocol> {
  const query = texts(request.query)
  const legs: RowLeg[] = []
  for (let index = 0; query[`legs[${index}].Symbol`] !== undefined; index++) {
    if (index >= LEGS_MAX) bad(`at most ${LEGS_MAX} legs`)
    const instrument = await requestedInstrument(brokerage, query[`legs[${index}].Symbol`] ?? '')
    if (instrument.option === undefined) bad(`${query[`legs[${index}].Symbol`]} is no option`)
    legs.push({ instrument, ratio: ratioOf(query[`legs[${index}].Ratio`]) })
  }
  const underlying = legs[0]?.instrument.option?.underlying ?? bad('legs[0].Symbol is required')
  return new Rows(brokerage, { underlying, withGreeks: query.enableGreeks !== 'false', rows: [legs] })
}

function ratioOf(text = '1'): number {
  const ratio = /^-?\d{1,3}$/.test(text) ? Number(text) : 0
  return ratio !== 0 && Math.abs(ratio) <= RATIO_MAX ? ratio : bad(`Ratio must be a whole number other than 0, at most ${RATIO_MAX}`)
}

interface RowRequest {
  readonly underlying: string
  readonly withGreeks: boolean
  readonly rows: readonly (readonly RowLeg[])[]
}

/** Rows that are sent again when one of their contracts has moved. */
class Rows implements StreamProtocol {
  readonly #brokerage: DialectBrokerage
  readonly #requested: RowRequest
  readonly #taps: Disposable[] = []
  readonly #moved = new Set<readonly RowLeg[]>()
  readonly #sent = new Map<readonly RowLeg[], string>()
  #emitter: StreamEmitter | null = null

  constructor(brokerage: DialectBrokerage, requested: RowRequest) {
    this.#brokerage = brokerage
    this.#requested = requested
  }

  begin(emitter: StreamEmitter): void {
    this.#emitter = emitter
    for (const row of this.#requested.rows) {
      this.#moved.add(row)
      const move = () => void this.#moved.add(row)
      for (const { instrument } of row) this.#taps.push(this.#brokerage.taps.add(instrument.symbol, { quote: move, trade: move }))
    }
    this.tick()
  }

  tick(): void {
    const { market, clock, driver } = this.#brokerage
    const now = clock.now()
    const price = market.priceOf(this.#requested.underlying, now)
    for (const row of this.#moved) {
      const legs = row.map(leg => ({
        ...leg,
        quote: driver.lastQuote(leg.instrument.symbol),
        figures: market.figures(leg.instrument.symbol, now)
      }))
      const wire = optionWire(legs, { price, withGreeks: this.#requested.withGreeks })
      const text = JSON.stringify(wire)
      if (this.#sent.get(row) === text) continue
      this.#sent.set(row, text)
      this.#emitter?.event(wire)
    }
    this.#moved.clear()
  }

  end(): void {
    for (const tap of this.#taps) tap[Symbol.dispose]()
  }
}
