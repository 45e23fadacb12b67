import { parseJson } from '@trunkline/core/domain/json'

/** A client's message as JSON. */
export type Message = Readonly<Record<string, unknown>>

const SHOWN_MAX = 60

/** The message, if it is a JSON object within the limits of {@link parseJson}; null otherwise. */
export function readMessage(text: string): Message | null {
  try {
    const value = parseJson(text, { what: 'message' })
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.assign(Object.create(null), value) : null
  } catch {
    return null
  }
}

/** The value found, cut to a length that can be shown. */
export function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value)?.slice(0, SHOWN_MAX) ?? typeof value)
}
