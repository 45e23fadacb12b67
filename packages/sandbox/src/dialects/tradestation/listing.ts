/** Looks up requested symbols, and the errors for unknown ones. */

import { type Instrument, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { meantSymbols } from './symbols.ts'

const CONTINUOUS = /^@([A-Z0-9]{1,4})$/

/** Null where there is none. `@ES` is the next month of the root that trades. */
export function findInstrument({ contracts, market, clock }: BrokerageView, text: string): Instrument | null {
  const [, root] = CONTINUOUS.exec(text) ?? []
  if (root !== undefined) return market.futures(clock.now()).find(({ future }) => future?.root === root) ?? null
  for (const symbol of meantSymbols(text)) {
    const found = contracts.find(symbol)
    if (found !== null) return found
  }
  return null
}

/** With its present prices. @throws Problem `bad_request` */
export async function requestedInstrument(brokerage: BrokerageView, text: string): Promise<Instrument> {
  const found = findInstrument(brokerage, text)
  if (found === null) throw new Problem('bad_request', `Invalid symbol ${text.slice(0, 40)}`)
  await brokerage.contracts.bring([found.symbol])
  return found
}

/** The texts of a list in a path, each once. @throws Problem `bad_request` */
export function symbolsListed(list: string, most: number): readonly string[] {
  const symbols = [...new Set(list.split(',').filter(symbol => symbol !== ''))]
  if (symbols.length >= 1 && symbols.length <= most) return symbols
  throw new Problem('bad_request', `1 to ${most} symbols can be specified, comma separated`)
}
