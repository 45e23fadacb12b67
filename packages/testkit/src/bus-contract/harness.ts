import type { UserId } from '@trunkline/core/domain/ids'
import type { Bus, BusMessage } from '@trunkline/core/ports/bus'
import type { LoggedEvent } from '@trunkline/core/ports/store'

/** One node of an installation, with everything that its bus delivered. */
export interface BusNode {
  readonly bus: Bus
  readonly received: readonly BusMessage[]
}

export interface BusHarness extends AsyncDisposable {
  /** The first one publishes. The bus of a single node has no other. */
  readonly nodes: readonly [BusNode, ...BusNode[]]
  /** What another node must get for an event. */
  encode(event: LoggedEvent, userId: UserId): Uint8Array
  /** Resolves when everything that was published or followed is in effect on every node. */
  settled(): Promise<void>
}

/** A node that remembers what its bus delivers, except that it is connected: that is not the same for every bus. */
export function listening(bus: Bus): BusNode {
  const received: BusMessage[] = []
  bus.subscribe(message => {
    if (message.type === 'bus_resumed' || message.type === 'partitions_followed') return
    // Frames are valid until the listener returns.
    if (message.type !== 'update_frames') return void received.push(message)
    const updates = message.updates.map(update => ({ ...update, frame: update.frame === null ? null : Buffer.from(update.frame) }))
    received.push({ ...message, updates })
  })
  return { bus, received }
}
