/** Master keys as text: `id:base64` items, the current key first, and optionally the instance key under its own name. */
import { createHmac } from 'node:crypto'

/** A 256-bit key that wraps data keys. `id` is public and part of every seal. */
export interface MasterKey {
  readonly id: string
  readonly key: Uint8Array
}

/** Master keys of this instance: new seals use `current`, older ones still open. */
export interface KeyRing {
  current(): MasterKey
  /** Undefined if there is no such key. */
  find(id: string): MasterKey | undefined
  /** The current one first. */
  ids(): readonly string[]
  /** 32 bytes that do not change when master keys do: cursors and order ids at brokers are derived from them. */
  instanceKey(): Uint8Array
}

export interface KeySet {
  readonly keys: readonly [MasterKey, ...MasterKey[]]
  /** Null if not given: then it is derived from the oldest master key. */
  readonly instance: Uint8Array | null
}

export const KEY_BYTES = 32
/** Names the instance key among the items. */
export const INSTANCE_ID = 'instance'
const ITEM = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/
/** More than any rotation keeps before old keys are retired. */
const KEYS_MAX = 64

/** Reads `id:base64` items, separated by commas or white space. @throws Error naming the faulty item, never its contents. */
export function parseKeySet(text: string): KeySet {
  const items = text.split(/[\s,]+/).filter(item => item !== '')
  if (items.length > KEYS_MAX) throw new Error(`at most ${KEYS_MAX} master keys can be given`)
  const all = items.map((item, index) => parseItem(item, index + 1))
  const [first, ...rest] = all.filter(({ id }) => id !== INSTANCE_ID)
  const [instance, second] = all.filter(({ id }) => id === INSTANCE_ID)
  if (first === undefined) throw new Error('at least one master key is needed')
  if (second !== undefined || new Set(all.map(({ id }) => id)).size !== all.length) throw new Error('two master keys have the same id')
  return { keys: [first, ...rest], instance: instance?.key ?? null }
}

/** The text {@link parseKeySet} reads, one item a line. */
export function formatKeySet({ keys, instance }: KeySet): string {
  const items = instance === null ? keys : [...keys, { id: INSTANCE_ID, key: instance }]
  return items.map(({ id, key }) => `${id}:${Buffer.from(key).toString('base64')}\n`).join('')
}

/**
 * The key that order ids and cursors are derived from. An instance that never had one keeps using the key derived from its oldest master
 * key.
 */
export function instanceKeyOf({ keys, instance }: KeySet): Uint8Array {
  const oldest = keys.at(-1) ?? keys[0]
  return instance ?? createHmac('sha256', oldest.key).update(INSTANCE_ID).digest()
}

/** Keys given once, by the environment. */
export class FixedKeyRing implements KeyRing {
  readonly #set: KeySet

  constructor(set: KeySet) {
    this.#set = set
  }

  current(): MasterKey {
    return this.#set.keys[0]
  }

  find(id: string): MasterKey | undefined {
    return this.#set.keys.find(key => key.id === id)
  }

  ids(): readonly string[] {
    return this.#set.keys.map(({ id }) => id)
  }

  instanceKey(): Uint8Array {
    return instanceKeyOf(this.#set)
  }
}

function parseItem(item: string, index: number): MasterKey {
  const [, id, encoded = ''] = ITEM.exec(item) ?? []
  const key = Buffer.from(encoded, 'base64')
  if (id === undefined || key.length !== KEY_BYTES)
    throw new Error(`master key ${index} must be id:base64 of exactly ${KEY_BYTES} bytes, the id of letters, digits, - and _`)
  // A placeholder that was never replaced, such as AAAA….
  if (new Set(key).size < 8) throw new Error(`master key ${index} is not random; make one with: npm run cli -- keys generate`)
  return { id, key }
}
