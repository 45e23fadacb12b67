import { type BrokerId, parseBrokerId } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'

const TOKEN = /^[\w-]{20,64}$/

/** Whether a path segment has the format of a link's secret. */
export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** The path of a link's first page. */
export function linkPath(token: string): string {
  return `/connect/${token}`
}

export function allowPath(token: string, broker: BrokerId): string {
  return `${linkPath(token)}/allow/${broker.toLowerCase()}`
}

export function keysPath(token: string, broker: BrokerId): string {
  return `${linkPath(token)}/keys/${broker.toLowerCase()}`
}

/** The fields of a form. A repeated field is a list. */
export function recordOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? Object.fromEntries(Object.entries(body)) : {}
}

/** Null if the name is not a valid broker id. */
export function brokerOf(name: unknown): BrokerId | null {
  try {
    return parseBrokerId(name)
  } catch (cause) {
    if (cause instanceof Malformed) return null
    throw cause
  }
}
