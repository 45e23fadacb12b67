import { withoutSecrets } from '../ops/redact.ts'

/** Errors whose message is written for operators. Others are shown with their class name. */
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

/** An error as text for an operator: its message, and that of its cause if it differs. */
export function explain(cause: unknown): string {
  if (!(cause instanceof Error)) return withoutSecrets(String(cause))
  if (cause.name === 'AbortError' || cause.message === 'interrupted') return 'Interrupted. Run this again to finish.'
  const because = cause.cause instanceof Error && cause.cause.message !== cause.message ? ` (${cause.cause.message})` : ''
  const text = FOR_OPERATORS.has(cause.name) ? `${cause.message}${because}` : `${cause.name}: ${cause.message}${because}`
  // Line by line, so that a list of faults keeps its line breaks.
  return text.split('\n').map(withoutSecrets).join('\n')
}
