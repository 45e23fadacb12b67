import type { Why } from '@trunkline/core/app/connect/enter-keys'

/** What was amiss with a form, for the page that is shown instead of an answer to it. `choose`: no broker was chosen. */
export type Notice = Why | { readonly kind: 'choose' }

/** Broker's words in a notice, at most. */
export const MESSAGE_LENGTH_MAX = 300

/** As it was kept in a cookie; null: it is none of ours. */
export function parseNotice(value: unknown): Notice | null {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return null
  const { kind } = value
  if (kind === 'choose' || kind === 'refused' || kind === 'unreachable') return { kind }
  if (kind !== 'entry' || !('message' in value) || typeof value.message !== 'string') return null
  const field = 'field' in value && typeof value.field === 'string' ? value.field : null
  return { kind, field, message: value.message.slice(0, MESSAGE_LENGTH_MAX) }
}

/** Cut to what a cookie holds. */
export function bounded(notice: Notice): Notice {
  return notice.kind === 'entry' ? { ...notice, message: notice.message.slice(0, MESSAGE_LENGTH_MAX) } : notice
}
