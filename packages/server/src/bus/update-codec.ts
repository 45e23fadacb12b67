import type { UserKey } from '@trunkline/core/domain/ids'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { UpdateFrame } from '@trunkline/core/ports/bus'

/** An update of one user, on its way to other nodes. */
export interface UserUpdate extends UpdateFrame {
  readonly userKey: UserKey
}

/** The updates of one user that follow each other in a message. */
export interface UserUpdates {
  readonly userKey: UserKey
  readonly updates: readonly UpdateFrame[]
}

// Appended only: nodes of two versions read each other's messages.
const TOPICS = ['orders', 'positions', 'balances'] as const satisfies readonly UpdateFrame['topic'][]

const KEY_BYTES = 16
const SEQ_BYTES = 6
const HEAD_BYTES = KEY_BYTES + SEQ_BYTES + 1 + 4
const UUID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/** The size of an update in a message. */
export function updateSize({ frame }: UpdateFrame): number {
  return HEAD_BYTES + (frame?.byteLength ?? 0)
}

/** For each update: user key (16 bytes), `seq` (6), topic (1), length of the frame (4, 0: none), frame. Integers are big-endian. */
export function encodeUpdates(updates: readonly UserUpdate[]): Buffer {
  const bytes = Buffer.allocUnsafe(updates.reduce((size, update) => size + updateSize(update), 0))
  let at = 0
  for (const { userKey, seq, topic, frame } of updates) {
    bytes.write(userKey.replaceAll('-', ''), at, 'hex')
    at = bytes.writeUIntBE(seq, at + KEY_BYTES, SEQ_BYTES)
    at = bytes.writeUInt8(TOPICS.indexOf(topic), at)
    at = bytes.writeUInt32BE(frame?.byteLength ?? 0, at)
    if (frame === null) continue
    bytes.set(frame, at)
    at += frame.byteLength
  }
  return bytes
}

/** Frames are views of `bytes`. Null: not updates of users in this partition. */
export function decodeUpdates(bytes: Buffer, partition: Partition): readonly UserUpdates[] | null {
  const users: { readonly userKey: UserKey; readonly updates: UpdateFrame[] }[] = []
  for (let at = 0; at < bytes.byteLength; ) {
    if (at + HEAD_BYTES > bytes.byteLength) return null
    const userKey = userKeyAt(bytes, at)
    const seq = bytes.readUIntBE(at + KEY_BYTES, SEQ_BYTES)
    const topic = TOPICS[bytes.readUInt8(at + KEY_BYTES + SEQ_BYTES)]
    const begin = at + HEAD_BYTES
    at = begin + bytes.readUInt32BE(begin - 4)
    if (partitionOf(userKey) !== partition || seq === 0 || topic === undefined || at > bytes.byteLength) return null
    const update = { seq, topic, frame: at === begin ? null : bytes.subarray(begin, at) }
    const last = users.at(-1)
    if (last?.userKey === userKey) last.updates.push(update)
    else users.push({ userKey, updates: [update] })
  }
  return users
}

function userKeyAt(bytes: Buffer, at: number): UserKey {
  // Sixteen bytes are a key in every case; only its notation is restored.
  return bytes.toString('hex', at, at + KEY_BYTES).replace(UUID, '$1-$2-$3-$4-$5') as UserKey
}
