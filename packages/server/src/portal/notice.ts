import type { Complaint, Why } from '@trunkline/core/app/connect/enter-keys'

/** What was wrong with a submitted form. The form's page shows it. `choose`: no broker was chosen. */
export type Notice = Why | { readonly kind: 'choose' }

/** The most complaints in a notice, and the most characters of each: all must fit into a cookie. */
export const COMPLAINTS_MAX = 4
export const MESSAGE_LENGTH_MAX = 150

/** Parses a notice from a cookie; null if it is not valid. */
export function parseNotice(value: unknown): Notice | null {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return null
  const { kind } = value
  if (kind === 'choose' || kind === 'refused' || kind === 'unreachable') return { kind }
  if (kind !== 'entry' || !('complaints' in value) || !Array.isArray(value.complaints)) return null
  const complaints = value.complaints.slice(0, COMPLAINTS_MAX).flatMap(complaintOf)
  return complaints.length === 0 ? null : { kind, complaints }
}

/** The notice, cut to fit into a cookie. */
export function bounded(notice: Notice): Notice {
  if (notice.kind !== 'entry') return notice
  const cut = ({ field, message }: Complaint) => ({ field, message: message.slice(0, MESSAGE_LENGTH_MAX) })
  return { ...notice, complaints: notice.complaints.slice(0, COMPLAINTS_MAX).map(cut) }
}

function complaintOf(value: unknown): readonly Complaint[] {
  if (typeof value !== 'object' || value === null || !('message' in value) || typeof value.message !== 'string') return []
  const field = 'field' in value && typeof value.field === 'string' ? value.field : null
  return [{ field, message: value.message.slice(0, MESSAGE_LENGTH_MAX) }]
}
