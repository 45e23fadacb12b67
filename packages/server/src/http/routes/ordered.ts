import { ServiceError } from '@trunkline/core/domain/errors'

/** Refuses a span that ends before it begins. Texts of equal form sort as time does. @throws ServiceError query_invalid. */
export function orderedTimes(from: string | undefined, to: string | undefined, fromName: string, toName: string): void {
  if (from === undefined || to === undefined || from <= to) return
  const message = `must not be before ${fromName}`
  throw new ServiceError('query_invalid', `${toName} ${message}.`, { details: [{ path: toName, message }] })
}
