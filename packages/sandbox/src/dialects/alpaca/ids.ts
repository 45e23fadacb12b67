/** Ids that Alpaca has and the sandbox does not. */

import { createHash } from 'node:crypto'
import { uuidOf } from '../frame/order-ids.ts'

/** The same UUID for the same text. */
export function uuidFor(text: string): string {
  const hex = createHash('sha256').update(`alpaca ${text}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const ASSETS = new Map<string, string>()
const ASSETS_MAX = 50_000

export function assetIdOf(symbol: string): string {
  const known = ASSETS.get(symbol)
  if (known !== undefined) return known
  if (ASSETS.size >= ASSETS_MAX) ASSETS.clear()
  const id = uuidFor(`asset ${symbol}`)
  ASSETS.set(symbol, id)
  return id
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Executions and transactions have numbers; those of a multi-leg order's legs have their place behind it. */
export function executionIdOf(internalId: string): string {
  return /^\w+-\w+-\d+$/.test(internalId) ? uuidOf(internalId) : uuidFor(internalId)
}
