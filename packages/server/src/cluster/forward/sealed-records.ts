/**
 * Bytes between two nodes as records that nobody else can read, alter, repeat, reorder or leave out: AES-256-GCM with the number of the
 * record as the nonce, and a key for each direction that belongs to one connection only.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
/** Of the nonce, those that count. */
const COUNT_BYTES = 6
const TAG_BYTES = 16
const LENGTH_BYTES = 4
/** What a record holds at most. */
export const RECORD_BYTES_MAX = 256 * 1024

export interface LinkKeys {
  readonly toOwner: Uint8Array
  readonly fromOwner: Uint8Array
}

/** The keys of one connection. `opening`: the signature that opened it, which no other has; `chance`: random text of the other node. */
export function linkKeys(key: Uint8Array, opening: string, chance: string): LinkKeys {
  const of = (direction: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify(['link', direction, opening, chance]))
      .digest()
  return { toOwner: of('to the owner'), fromOwner: of('from the owner') }
}

class Nonces {
  readonly #nonce = Buffer.alloc(NONCE_BYTES)
  #count = 0

  next(): Buffer {
    this.#nonce.writeUIntBE(this.#count++, NONCE_BYTES - COUNT_BYTES, COUNT_BYTES)
    return this.#nonce
  }
}

export class Sealer {
  readonly #key: Uint8Array
  readonly #nonces = new Nonces()

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** The record: its length (4 bytes), the sealed content, and its tag. */
  seal(content: Uint8Array): Buffer {
    if (content.byteLength > RECORD_BYTES_MAX) throw new RangeError(`a record holds at most ${RECORD_BYTES_MAX} bytes`)
    const cipher = createCipheriv(ALGORITHM, this.#key, this.#nonces.next())
    const length = Buffer.allocUnsafe(LENGTH_BYTES)
    length.writeUInt32BE(content.byteLength + TAG_BYTES)
    const sealed = cipher.update(content)
    cipher.final()
    return Buffer.concat([length, sealed, cipher.getAuthTag()])
  }
}

export class Opener {
  readonly #key: Uint8Array
  readonly #nonces = new Nonces()
  #pending: Buffer = Buffer.alloc(0)

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** The contents of the records that are complete with these bytes. @throws Error unless they are the next records of the other end */
  open(bytes: Buffer): readonly Buffer[] {
    const all = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    const contents: Buffer[] = []
    let at = 0
    while (all.length - at >= LENGTH_BYTES) {
      const length = all.readUInt32BE(at)
      if (length < TAG_BYTES || length > RECORD_BYTES_MAX + TAG_BYTES)
        throw new Error(`a record between nodes must not have ${length} bytes`)
      const end = at + LENGTH_BYTES + length
      if (end > all.length) break
      contents.push(this.#content(all.subarray(at + LENGTH_BYTES, end)))
      at = end
    }
    this.#pending = at === all.length ? Buffer.alloc(0) : all.subarray(at)
    return contents
  }

  #content(record: Buffer): Buffer {
    const decipher = createDecipheriv(ALGORITHM, this.#key, this.#nonces.next(), { authTagLength: TAG_BYTES })
    decipher.setAuthTag(record.subarray(-TAG_BYTES))
    const content = decipher.update(record.subarray(0, -TAG_BYTES))
    decipher.final()
    return content
  }
}
