import { randomBytes, randomFillSync } from 'node:crypto'
import type { Brand } from '@trunkline/core/domain/brand'
import type { Ids } from '@trunkline/core/ports/ids'

const SECRET_BYTES = 32

const COUNT_MAX = 0xfff
const UUID_BYTES = 16
const POOL_BYTES = 256 * UUID_BYTES

/**
 * Ids from the machine's entropy: UUIDs of version 7 (RFC 9562), counted up within a millisecond, so that those of one process sort by
 * creation and indexes grow at their end.
 */
export class RandomIds implements Ids {
  /** Random bytes fetched ahead, because each fetch costs as much as a hundred uses. */
  readonly #pool = Buffer.alloc(POOL_BYTES)
  #used = POOL_BYTES
  #ms = 0
  #count = 0

  uuid<Id extends Brand<string, string>>(): Id {
    if (this.#used === POOL_BYTES) {
      randomFillSync(this.#pool)
      this.#used = 0
    }
    const at = this.#used
    this.#used += UUID_BYTES
    this.#tick()
    this.#pool.writeUIntBE(this.#ms, at, 6)
    this.#pool.writeUInt16BE(0x7000 | this.#count, at + 6)
    this.#pool[at + 8] = ((this.#pool[at + 8] ?? 0) & 0x3f) | 0x80
    const hex = this.#pool.toString('hex', at, at + UUID_BYTES)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Id
  }

  /** If a millisecond's count is used up, the next one is used early. A clock that is set back has no effect here. */
  #tick(): void {
    const now = Date.now()
    if (now > this.#ms) {
      this.#ms = now
      this.#count = 0
      return
    }
    this.#count += 1
    if (this.#count <= COUNT_MAX) return
    this.#ms += 1
    this.#count = 0
  }

  secret(prefix: string): string {
    return prefix + randomBytes(SECRET_BYTES).toString('base64url')
  }

  fraction(): number {
    return Math.random()
  }
}
