import type * as client from './index.js' with { 'resolution-mode': 'import' }
export type * from './index.js' with { 'resolution-mode': 'import' }
export declare const WebhookError: typeof client.WebhookError
export type WebhookError = client.WebhookError
export declare const verifyWebhook: typeof client.verifyWebhook
