import { withoutSecrets } from '../ops/redact.ts'

/** Errors whose message was written for an operator. */
const FOR_OPERATORS = new Set([
  'AdminRefused',
  'AdminFailed',
  'KeyFileRefused',
  'EngineRefused',
  'SchemaMismatch',
  'UnsafeDurability',
  'StoreUnavailable',
  'DatabaseHeld',
  'FileNotWritten',
  'FileNotDurable',
  'SettingsInvalid',
  'Malformed',
  'ServiceError'
])

/** The text of a failure for an operator: its message, and the first cause that says more. */
export function explain(cause: unknown): string {
  if (!(cause instanceof Error)) return withoutSecrets(String(cause))
  if (cause.name === 'AbortError' || cause.message === 'interrupted')
    return 'Interrupted. What was begun can be finished by running this again.'
  const because = cause.cause instanceof Error && cause.cause.message !== cause.message ? ` (${cause.cause.message})` : ''
  const text = FOR_OPERATORS.has(cause.name) ? `${cause.message}${because}` : `${cause.name}: ${cause.message}${because}`
  // Line by line: a list of faults stays a list.
  return text.split('\n').map(withoutSecrets).join('\n')
}
