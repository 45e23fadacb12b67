import { createHmac, timingSafeEqual } from 'node:crypto'

/** Of the format of messages. A message of another version is not read. */
const VERSION = 1
const PUBLISHER_BYTES = 8
const MAC_BYTES = 16
const HEAD_BYTES = 1 + PUBLISHER_BYTES + MAC_BYTES

/** A message of another node, and which of the installation's buses made it. */
export interface Genuine {
  readonly kind: 'message'
  readonly publisher: string
  readonly body: Buffer
}

export type Opened =
  | Genuine
  /** A message of this bus that came back. */
  | { readonly kind: 'own' }
  /** Not made by a node of this installation, altered, of another subject or of another version. */
  | { readonly kind: 'foreign' }

/**
 * Seals the messages of one bus: version (1 byte), publisher (8), MAC (16), body. The MAC covers the subject too. Its key is known to the
 * nodes of the installation only, so that another client of the NATS server cannot send an update to a platform's sessions, or end them.
 */
export class Envelope {
  readonly #key: Uint8Array
  readonly #publisher: Uint8Array

  /** @param publisher 8 random bytes, one value for each bus */
  constructor(key: Uint8Array, publisher: Uint8Array) {
    if (publisher.byteLength !== PUBLISHER_BYTES) throw new RangeError(`a publisher has ${PUBLISHER_BYTES} bytes`)
    this.#key = key
    this.#publisher = publisher
  }

  seal(subject: string, body: Uint8Array): Uint8Array {
    const sealed = Buffer.allocUnsafe(HEAD_BYTES + body.byteLength)
    sealed[0] = VERSION
    sealed.set(this.#publisher, 1)
    sealed.set(body, HEAD_BYTES)
    sealed.set(this.#mac(subject, this.#publisher, body), 1 + PUBLISHER_BYTES)
    return sealed
  }

  open(subject: string, sealed: Uint8Array): Opened {
    if (sealed.byteLength < HEAD_BYTES || sealed[0] !== VERSION) return { kind: 'foreign' }
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    const publisher = bytes.subarray(1, 1 + PUBLISHER_BYTES)
    if (publisher.equals(this.#publisher)) return { kind: 'own' }
    const body = bytes.subarray(HEAD_BYTES)
    const isGenuine = timingSafeEqual(bytes.subarray(1 + PUBLISHER_BYTES, HEAD_BYTES), this.#mac(subject, publisher, body))
    return isGenuine ? { kind: 'message', publisher: publisher.toString('hex'), body } : { kind: 'foreign' }
  }

  #mac(subject: string, publisher: Uint8Array, body: Uint8Array): Uint8Array {
    // A subject has no line break, and a publisher has a fixed length: two different messages are never the same text.
    const mac = createHmac('sha256', this.#key).update(`${VERSION} ${subject}\n`).update(publisher).update(body).digest()
    return mac.subarray(0, MAC_BYTES)
  }
}
