/**
 * Ids in a broker's format for the sandbox's orders and executions, which are numbered within their state: a whole number of fifteen digits
 * or a UUID, and their inverse. Another state (after a reset) has other ids.
 */

import { createHash } from 'node:crypto'

const NUMBERS = 1_000_000_000
const FORM = /^(\w+)-(\w+)-(\d+)$/

interface Numbered {
  /** The kind, and the state that it belongs to. */
  readonly place: string
  readonly number: number
}

/** @throws Error for a text that is not an id of the sandbox */
function numbered(internalId: string): Numbered {
  const [, kind, state, number] = FORM.exec(internalId) ?? []
  if (kind === undefined || state === undefined || number === undefined) throw new Error(`${internalId} is not an id of the sandbox`)
  return { place: `${kind} ${state}`, number: Number(number) }
}

function marks(place: string): Buffer {
  return createHash('sha256').update(place).digest()
}

/** Fits a JavaScript number. */
export function digitsOf(internalId: string): string {
  const { place, number } = numbered(internalId)
  return String((100_000 + (marks(place).readUInt32BE(0) % 900_000)) * NUMBERS + (number % NUMBERS))
}

export function uuidOf(internalId: string): string {
  const { place, number } = numbered(internalId)
  const hex = marks(place).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-a${hex.slice(15, 18)}-${number.toString(16).padStart(12, '0')}`
}

/**
 * The internal id for an id made here; null for any other text. `idOf` gives the internal id of a number.
 */
export function internalIdOf(id: string, idOf: (number: number) => string): string | null {
  const number = /^\d{15}$/.test(id) ? Number(id) % NUMBERS : /^[0-9a-f-]{36}$/.test(id) ? Number.parseInt(id.slice(-12), 16) : 0
  if (!Number.isSafeInteger(number) || number <= 0) return null
  const internalId = idOf(number)
  return digitsOf(internalId) === id || uuidOf(internalId) === id ? internalId : null
}
