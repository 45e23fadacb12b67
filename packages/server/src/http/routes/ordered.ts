import { ServiceError } from '@trunkline/core/domain/errors'

/**
 * Refuses a range that ends before it begins. Both texts must have the same format, which sorts by time.
 * @throws ServiceError query_invalid.
 */
export function orderedTimes(from: string | undefined, to: string | undefined, fromName: string, toName: string): void {
  if (from === undefined || to === undefined || from <= to) return
  const message = `must not be before ${fromName}`
  throw new ServiceError('query_invalid', `${toName} ${message}.`, { details: [{ path: toName, message }] })
}
