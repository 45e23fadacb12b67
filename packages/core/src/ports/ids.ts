import type { Brand } from '../domain/brand.ts'

/** Chance, passed in. */
export interface Ids {
  /** A new identifier, a time-ordered UUID, branded as what the caller makes. */
  uuid<Id extends Brand<string, string>>(): Id
  /** 256 random bits, base64url, behind a prefix that shows the kind: `sk_…`. */
  secret(prefix: string): string
  /** A fraction in [0, 1), for jitter; never for secrets. */
  fraction(): number
}
