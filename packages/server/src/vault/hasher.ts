import { hash, timingSafeEqual } from 'node:crypto'
import type { Hasher } from '@trunkline/core/ports/vault'

const HASH = 'sha256'
const HASH_BYTES = 32
/** What the hash function takes at a time. */
const BLOCK_BYTES = 64
/** Room for the text of an id. A longer text has a buffer of its own. */
const TEXT_BYTES = 192

/** SHA-256 for secrets of high entropy, and an HMAC with the instance's key for ids that only this instance can make. */
export class Sha256Hasher implements Hasher {
  /** The key's two paddings, and room for what is hashed behind each. */
  readonly #inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES)
  readonly #outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES)
  /** For two hashes in hex, at two bytes per character. */
  readonly #compared = [Buffer.alloc(4 * HASH_BYTES), Buffer.alloc(4 * HASH_BYTES)] as const

  constructor(instanceKey: Uint8Array) {
    const key = instanceKey.length > BLOCK_BYTES ? Buffer.from(hash(HASH, instanceKey, 'hex'), 'hex') : instanceKey
    for (let at = 0; at < BLOCK_BYTES; at++) {
      const byte = key[at] ?? 0
      this.#inner[at] = byte ^ 0x36
      this.#outer[at] = byte ^ 0x5c
    }
  }

  hash(secret: string): string {
    return hash(HASH, secret, 'hex')
  }

  equal(a: string, b: string): boolean {
    // The length of a hash is no secret; its contents are compared in constant time.
    if (a.length !== b.length) return false
    const [first, second] = this.#compared
    if (2 * a.length !== first.length) return timingSafeEqual(Buffer.from(a, 'utf16le'), Buffer.from(b, 'utf16le'))
    first.write(a, 'utf16le')
    second.write(b, 'utf16le')
    return timingSafeEqual(first, second)
  }

  /** HMAC (RFC 2104) by two plain hashes, which Node makes in a quarter of the time of its Hmac objects. */
  derive(text: string): Uint8Array {
    this.#outer.write(hash(HASH, this.#keyed(text), 'hex'), BLOCK_BYTES, 'hex')
    return Buffer.from(hash(HASH, this.#outer, 'hex'), 'hex')
  }

  /** The inner padding and the text. */
  #keyed(text: string): Uint8Array {
    if (Buffer.byteLength(text) > TEXT_BYTES) return Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES), Buffer.from(text)])
    return this.#inner.subarray(0, BLOCK_BYTES + this.#inner.write(text, BLOCK_BYTES, 'utf8'))
  }
}
