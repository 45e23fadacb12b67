/** The webhook is refused; `code` says why. It contains neither a secret nor anything of the body. */
export declare class WebhookError extends Error {
    readonly name = "WebhookError";
    readonly code: WebhookErrorCode;
    constructor(code: WebhookErrorCode, message: string);
}
export type WebhookErrorCode = 
/** A secret, a key, a body or an option of this call cannot be used: nothing was said about the webhook. */
'setting_invalid'
/** A header is missing, comes twice or has another form; or the signed body is not what the service sends. */
 | 'webhook_malformed'
/** The body is longer than `bodyBytesMax`. */
 | 'webhook_too_large'
/** It says that it was sent longer ago than the tolerance: somebody repeats it, or a clock is wrong. */
 | 'webhook_too_old'
/** It says that it was sent later than now, by more than the tolerance: a clock is wrong. */
 | 'webhook_too_new'
/** No signature was made over this id, this time and this body with one of the keys. */
 | 'webhook_signature_invalid';
