export { WebhookError, type WebhookErrorCode } from './errors.js';
export type { WebhookHeaders } from './headers.js';
export { type EventsErased, type VerifyWebhookOptions, verifyWebhook, type Webhook, type WebhookEvent } from './verify.js';
