/** What a sealed value belongs to. It opens only with the same context. */
export interface SealContext {
  readonly table: string
  readonly column: string
  readonly rowId: string
  readonly ownerId: string
  /** Grows with every write, so that an older sealed value cannot be put back. */
  readonly revision: number
}

/** Encrypts secrets at rest. Envelope encryption: a new data key for each write, wrapped by a master key. */
export interface Vault {
  /** Returns the bytes to store; they carry the master key's id. */
  seal(plaintext: string, context: SealContext): Uint8Array
  /** @throws SealBroken if the bytes or the context are not what was sealed. */
  open(sealed: Uint8Array, context: SealContext): string
  /** The same data key wrapped by the current master key; null if it already is. */
  rewrap(sealed: Uint8Array, context: SealContext): Uint8Array | null
  /** Id of the master key that new seals use. */
  readonly currentKeyId: string
}

/** A sealed value that does not open: altered, moved, or sealed with a missing master key. The message never contains the value. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

/** Sealed with a master key that is not configured: a configuration error, which ends when the key is put back. */
export class SealKeyMissing extends SealBroken {}

/** One-way SHA-256 of a high-entropy secret, as lower-case hex. */
export interface Hasher {
  hash(secret: string): string
  /** Compares two hex hashes of any lengths in constant time. */
  equal(a: string, b: string): boolean
  /** HMAC with the instance's own key: ids that are stable and that outsiders cannot predict. */
  derive(text: string): Uint8Array
}
