import type { Brand } from '../domain/brand.ts'

/** Randomness, injected. */
export interface Ids {
  /** A new time-ordered UUID, with the brand that the caller names. */
  uuid<Id extends Brand<string, string>>(): Id
  /** 256 random bits in base64url, behind a prefix that names the kind: `sk_…`. */
  secret(prefix: string): string
  /** A fraction in [0, 1), for jitter; never for secrets. */
  fraction(): number
}
