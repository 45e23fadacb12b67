// What a platform asks of the sender besides the events that go out by themselves.
import type { UserKey } from '../domain/ids.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { WebhookEndpoint } from '../domain/webhook.ts'
import type { SealedValue } from './login-store.ts'
import type { KnownWebhookEndpoint, WebhookDelivery } from './webhook-store.ts'

/** The most events that one call replays. */
export const REPLAY_EVENTS_MAX = 10_000

/** Events of one user's log, by `seq`, both inclusive. */
export interface WebhookReplay {
  readonly userKey: UserKey
  readonly from: number
  readonly to: number
}

/** Judges where an endpoint may be, before it is kept. */
export interface WebhookUrlJudge {
  /**
   * The URL as it is kept. A host that is a name is judged again at each attempt, by the addresses it then has.
   * @throws Malformed saying what was expected
   */
  judge(url: string): string
}

/** Neither call moves a cursor. Both keep their attempts, and neither tries again. */
export interface WebhookSender {
  /** Makes one attempt with a test message, and resolves when it has ended, whichever way: within 5 s. */
  test(endpoint: KnownWebhookEndpoint): Promise<WebhookDelivery>
  /**
   * Begins to send these events again, at most `REPLAY_EVENTS_MAX`, in the background of this node, and paced. It ends early when the
   * endpoint is disabled or the node stops: what was sent is among the deliveries.
   * @returns false if as many replays as the node carries out at once are under way; nothing was begun
   */
  replay(endpoint: KnownWebhookEndpoint, events: WebhookReplay): boolean
}

/** Makes the keys that sign an endpoint's messages, and seals them for its row. */
export interface WebhookKeyring {
  /** New keys. `secret` is `whsec_…`: the platform is shown it once. */
  create(row: WebhookKeysRow): NewWebhookKeys
  /**
   * New keys in the place of the current ones, which sign beside them for `overlapHours` (0 to 168) from `at`.
   * @throws SealBroken if the known keys do not open
   */
  rotate(known: KnownWebhookEndpoint, at: Timestamp, overlapHours: number): NewWebhookKeys
}

export type WebhookKeysRow = Pick<WebhookEndpoint, 'endpointId' | 'platformId'>

export interface NewWebhookKeys {
  readonly secret: string
  readonly sealed: SealedValue
}
