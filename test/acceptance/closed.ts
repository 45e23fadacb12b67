import type { Body } from './api.ts'

/** The description with records that have no further fields: to clients it leaves them open, but what this version sends is described. */
export function closed(description: Body): Body {
  if (Array.isArray(description)) return description.map(closed)
  if (description === null || typeof description !== 'object') return description
  const members = Object.fromEntries(Object.entries(description).map(([name, value]) => [name, closed(value)]))
  return members.type === 'object' && members.properties !== undefined ? { additionalProperties: false, ...members } : members
}
