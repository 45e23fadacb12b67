import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Hasher } from '@trunkline/core/ports/vault'

/** SHA-256 for secrets of high entropy, and an HMAC with the instance's key for ids that only this instance can make. */
export class Sha256Hasher implements Hasher {
  readonly #instanceKey: Uint8Array

  constructor(instanceKey: Uint8Array) {
    this.#instanceKey = instanceKey
  }

  hash(secret: string): string {
    return hash('sha256', secret, 'hex')
  }

  equal(a: string, b: string): boolean {
    // The length of a hash is no secret; its contents are compared in constant time.
    return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
  }

  derive(text: string): Uint8Array {
    return createHmac('sha256', this.#instanceKey).update(text, 'utf8').digest()
  }
}
