/** As a `Request` has them, or as Node, Bun and the frameworks over them give them; the case of a name does not matter. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
/** What is signed besides the body, and the signatures. */
export interface SignedHeaders {
    readonly id: string;
    /** As it was sent, because that text is signed. */
    readonly timestamp: string;
    readonly signatures: readonly Signature[];
}
export interface Signature {
    readonly version: string;
    readonly base64: string;
}
/** @throws WebhookError webhook_malformed */
export declare function signedHeaders(headers: WebhookHeaders): SignedHeaders;
