import type { BalanceUpdate, OrderUpdate, PositionsUpdate } from '../generated/openapi.js';
import { type WebhookHeaders } from './headers.js';
export interface VerifyWebhookOptions {
    /** Those of the endpoint, `whsec_…`; while one is replaced, the old one and the new one. */
    readonly secrets?: readonly string[];
    /** Those of the endpoint, `whpk_…`, instead of secrets or besides them. */
    readonly publicKeys?: readonly string[];
    readonly headers: WebhookHeaders;
    /** As it was received. Parsed and written again, it is another text. */
    readonly body: string | Uint8Array | ArrayBuffer;
    /** How far the time of the webhook may be from now, in both directions; 300. */
    readonly toleranceSeconds?: number;
    /** 8 MiB. A message is 256 KiB at most, unless it is one event: that has all positions of an account that changed. */
    readonly bodyBytesMax?: number;
    /** Milliseconds since 1970. */
    readonly now?: () => number;
}
/**
 * The event that the broker stream sends, too, or what stands in the place of events that are missing. Pass over a `type` that you do not
 * know: later versions may have others.
 */
export type WebhookEvent = OrderUpdate | PositionsUpdate | BalanceUpdate | EventsErased;
/** Events of the user that the log has no more, because the endpoint was behind for too long: read orders, positions and balances. */
export interface EventsErased {
    readonly type: 'events_erased';
    readonly user_id: string;
    readonly from_seq: number;
    readonly to_seq: number;
}
export interface Webhook {
    /** The same at every repetition of a delivery. */
    readonly id: string;
    /** When this attempt was made. */
    readonly sentAt: Date;
    /** `events`; later versions of the service may have others. */
    readonly type: 'events' | (string & {});
    /** In the order of their `seq`. */
    readonly data: readonly WebhookEvent[];
}
/**
 * The webhook, if the service signed it: by Standard Webhooks, over the id, the time and the body. Whether it came before is for the caller
 * to know, by its `id` or by the `seq` of the events.
 *
 * @throws WebhookError whose `code` says why it is refused.
 */
export declare function verifyWebhook(options?: VerifyWebhookOptions): Promise<Webhook>;
