/** A list of which one record cannot be read: the fault `spoil`, in the form of whichever API is answering. */

import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Fault } from '../faults.ts'

/**
 * The answer with a record of its list spoilt: the first one, or the first that contains `record`. Every value of it becomes an empty
 * object, or the record becomes `body`. An answer without such a list stays as it is.
 */
export function spoilt(answer: string, { record, body }: Pick<Fault, 'record' | 'body'>): string {
  const parsed = parsedOrNull(answer)
  const spoil = (value: unknown) => (body === null ? emptied(value) : body)
  return parsed === null ? answer : JSON.stringify(withSpoilt(parsed.value, record ?? '', spoil))
}

function parsedOrNull(text: string): { readonly value: unknown } | null {
  try {
    return { value: parseJson(text) }
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}

/** The outermost lists of an answer are the ones of its records. */
function withSpoilt(value: unknown, record: string, spoil: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) {
    const at = value.findIndex(each => typeof each === 'object' && JSON.stringify(each).includes(record))
    return at < 0 ? value : value.with(at, spoil(value[at]))
  }
  return mapped(value, each => withSpoilt(each, record, spoil))
}

function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(emptied)
  return typeof value === 'object' && value !== null ? mapped(value, emptied) : {}
}

function mapped(value: unknown, change: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]))
}
