import type { LoggedEvent } from '@trunkline/core/ports/store'
import type { EncodeUpdate } from './hub.ts'

/** Encodes each event once, for this node's sessions and for other nodes. An event has one user, and so one frame. */
export function encodedOnce(encode: EncodeUpdate): EncodeUpdate {
  const frames = new WeakMap<LoggedEvent, Uint8Array>()
  return (event, userId) => {
    const known = frames.get(event)
    if (known !== undefined) return known
    const frame = encode(event, userId)
    frames.set(event, frame)
    return frame
  }
}
