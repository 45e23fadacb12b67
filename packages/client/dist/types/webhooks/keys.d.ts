import type { Signature } from './headers.js';
/** Bytes that WebCrypto accepts: not those of memory that is shared between threads. */
export type Bytes = Uint8Array<ArrayBuffer>;
/** Whether a key made this signature of these bytes. */
export interface Verifier {
    readonly verify: (content: Bytes, signatures: readonly Signature[]) => Promise<boolean>;
}
/** One for each key. @throws WebhookError setting_invalid: the key, which is not shown, cannot be used. */
export declare function verifiersOf(secrets: readonly string[], publicKeys: readonly string[]): readonly Verifier[];
