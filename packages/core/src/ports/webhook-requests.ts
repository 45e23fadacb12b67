// What a platform asks for besides the events that are sent by themselves, and what it needs of the sender for that.
import type { UserKey, WebhookEndpointId } from '../domain/ids.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { WebhookEndpoint, WebhookFilter } from '../domain/webhook.ts'
import type { SealedValue } from './login-store.ts'
import type { KnownWebhookEndpoint, WebhookDelivery } from './webhook-store.ts'

/** The most test messages that an endpoint is sent: so many at once, and so many a minute. */
export const TESTS_PER_MINUTE = 6

/** The most events that one call replays. */
export const REPLAY_EVENTS_MAX = 10_000

/** Events of one user's log, by `seq`, both inclusive. */
export interface WebhookReplay {
  readonly userKey: UserKey
  readonly from: number
  readonly to: number
  /** Of the message that is sent again; absent: the endpoint's. */
  readonly filter?: WebhookFilter
}

/** Judges where an endpoint may be, before it is kept. */
export interface WebhookUrlJudge {
  /**
   * The URL as it is kept. A host that is a name is judged again at each attempt, by the addresses it then has.
   * @throws Malformed saying what was expected
   */
  judge(url: string): string
}

/** None of these moves a cursor. Attempts are kept, and not tried again. */
export interface WebhookRequests {
  /** Seconds until the endpoint may be sent a test message; null: now, and this one is counted. See {@link TESTS_PER_MINUTE}. */
  countTest(endpointId: WebhookEndpointId): number | null
  /** Makes one attempt with a test message, and resolves when it has ended, whichever way: within 5 s. */
  test(endpoint: KnownWebhookEndpoint): Promise<WebhookTest>
  /**
   * Begins to send these events again, at most `REPLAY_EVENTS_MAX`, in the background of this node, message by message. It ends early
   * when the endpoint is disabled or removed, the node stops, or {@link REPLAY_FAILURES_MAX} attempts in a row have failed: what was sent
   * is among the deliveries.
   * @returns false if {@link REPLAYS_MAX} are under way at the node, or {@link PLATFORM_REPLAYS_MAX} of the platform; nothing was begun
   */
  replay(endpoint: KnownWebhookEndpoint, events: WebhookReplay): boolean
  /** The body that was sent, as text; null if it cannot be made again: events were erased. */
  bodyOf(endpoint: WebhookEndpoint, delivery: WebhookDelivery): Promise<string | null>
}

/** A test message that was sent. */
export interface WebhookTest {
  readonly delivery: WebhookDelivery
  /** Whether it is among the deliveries; false: the database took no writes; null: it is not known. */
  readonly isKept: boolean | null
}

/** Replays that a node carries out at once. */
export const REPLAYS_MAX = 4
/** Of these, a platform's. */
export const PLATFORM_REPLAYS_MAX = 2

/** Failures in a row that end a replay. */
export const REPLAY_FAILURES_MAX = 5

/** Makes the keys that sign an endpoint's messages, and seals them for its row. */
export interface WebhookKeyring {
  /** New keys. `secret` is `whsec_…`: the platform is shown it once. */
  create(row: WebhookKeysRow): NewWebhookKeys
  /**
   * New keys in the place of the current ones, which sign beside them for `overlapHours` (0 to 168) from `at`.
   * @throws SealBroken if the known keys do not open
   */
  rotate(known: KnownWebhookEndpoint, at: Timestamp, overlapHours: number): NewWebhookKeys
  /** `whpk_…` of each key that signs at `at`, the current one first. @throws SealBroken */
  publicKeys(known: KnownWebhookEndpoint, at: Timestamp): readonly string[]
}

/** What the use cases of webhooks need besides the store. */
export interface WebhookPorts {
  readonly keyring: WebhookKeyring
  readonly urls: WebhookUrlJudge
  readonly requests: WebhookRequests
}

export type WebhookKeysRow = Pick<WebhookEndpoint, 'endpointId' | 'platformId'>

export interface NewWebhookKeys {
  readonly secret: string
  readonly sealed: SealedValue
}
