// What the operations of the sandbox have in common.
import type { AuditEntry } from '@trunkline/core/ports/store'

const shared = { scope: 'sandbox', tag: 'Sandbox' } as const
export const FAILURES = ['sandbox_absent', 'sandbox_refused', 'sandbox_unavailable'] as const
/** Of an operation that reads what is always there. */
export const READS = { ...shared, method: 'GET', failures: ['sandbox_absent', 'sandbox_unavailable'] } as const
export const CHANGES = { ...shared, method: 'POST', failures: FAILURES } as const

type Fact = string | number | boolean

/** What was given, as a detail of an audit entry. */
export function noted(given: Readonly<Record<string, Fact | undefined>>): AuditEntry['detail'] {
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
