/** Reads what clients send, loosely as TradeStation does. */

import { shown } from '@trunkline/core/domain/malformed'
import { Body, type Reading } from '../frame/body.ts'
import { Problem } from '../frame/brokerage.ts'

const READING: Reading = {
  bad: (name, expected, found) => bad(`${name === '' ? 'The request' : name} ${expected}, was ${shown(found)}`),
  takesNumbers: false,
  ignoresCase: true
}

/** @throws Problem `bad_request`, as all its readers do */
export function bodyOf(value: unknown): Body {
  return new Body(value, READING)
}

/** A whole number of a query. @throws Problem `bad_request` */
export function countOr(text: string | undefined, name: string, least: number, most: number): number | null {
  return bodyOf({ [name]: text }).countOr(name, least, most)
}

export function bad(message: string): never {
  throw new Problem('bad_request', message)
}

/** For what can be read and is not taken. */
export function refuse(message: string): never {
  throw new Problem('refused_by_operator', message)
}
