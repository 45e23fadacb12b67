import { type ConnectOutcome } from './outcome.js';
import type { PortalWindow } from './windows.js';
/** A link that is open. */
export interface Waited {
    readonly host: Window;
    readonly portal: PortalWindow;
    readonly portalOrigin: string;
    /** Chosen for this link: the portal repeats it. */
    readonly nonce: string;
    /** What the window is led to, once it is known. */
    readonly address: Promise<string>;
    /** How long until the page is shown, where that can be known; null: it cannot. */
    readonly readyMs: number | null;
    readonly timeoutMs: number;
    readonly signal: AbortSignal | undefined;
}
/**
 * Waits for what becomes of the link, and closes its window. Everything that is not a message of that window's portal is passed over.
 * Rejects with what `address` rejects with.
 */
export declare function outcomeOf({ host, portal, portalOrigin, nonce, address, readyMs, timeoutMs, signal }: Waited): Promise<ConnectOutcome>;
