import type { Failure } from './failures.ts'
import type { SharedSubmissions } from './shared-submissions.ts'

export interface PortalOptions {
  /** Origin under which browsers reach the service. */
  readonly publicUrl: () => string
  /** `client_id` of the demo platform, whose application is the service's start page; null if there is none. */
  readonly demo: () => string | null
  /** Maps a thrown value to its HTTP response. */
  readonly problemOf: (error: unknown) => Failure
  /** What other nodes handle; null where there is one. */
  readonly submissions?: SharedSubmissions | null
}
