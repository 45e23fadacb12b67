import type { StreamStatus } from '../../generated/asyncapi.ts'
import type { Incoming } from '../connection.ts'
import type { Update } from './items.ts'

/**
 * Whether it is an update. The service's own document describes the records; what is checked here is what the stream itself depends on.
 * A later version of the service may send other types of updates, which count in `seq` like these.
 */
export function isUpdate(message: Incoming): message is Incoming & Update {
  if (typeof message.event_id !== 'string') return false
  numberIn(message)
  if (typeof message.data !== 'object' || message.data === null) throw new Error('an update has no data')
  return true
}

export function isHealth(message: Incoming): message is Incoming & StreamStatus {
  return message.type === 'stream_status'
}

/** @throws Error */
export function numberIn({ type, seq }: Incoming): number {
  if (typeof seq === 'number' && Number.isSafeInteger(seq)) return seq
  throw new Error(`${String(type)} has the seq ${String(seq)}`)
}
