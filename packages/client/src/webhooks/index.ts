// Webhooks of the service, verified by Standard Webhooks with what every runtime has.
export { WebhookError, type WebhookErrorCode } from './errors.ts'
export type { WebhookHeaders } from './headers.ts'
export { type EventsErased, type VerifyWebhookOptions, verifyWebhook, type Webhook, type WebhookEvent } from './verify.ts'
