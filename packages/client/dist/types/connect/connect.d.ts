import type { Connected, ConnectOutcome, Exited } from './outcome.js';
export interface ConnectOptions {
    /** The origin of the service as browsers reach it: that of the links. */
    readonly portalOrigin: string;
    /** How long the page may take to appear in a frame; 20 seconds. */
    readonly readyMs?: number;
    /** 35 minutes: five more than a link works. */
    readonly timeoutMs?: number;
}
export interface OpenOptions {
    /**
     * The `authorization_url` of `connections.create`, with a `redirect_url` of this page's origin; or what your back end will answer with
     * it: the window is opened before, while the browser still allows it.
     */
    readonly link: string | Promise<string>;
    /** `popup`; a frame needs a registered `redirect_url`. */
    readonly mode?: 'popup' | 'frame';
    /** Where the frame is put. */
    readonly container?: Element;
    readonly onSuccess?: (connected: Connected) => void;
    readonly onExit?: (exited: Exited) => void;
    readonly signal?: AbortSignal;
}
export interface Connect {
    /**
     * Opens a link, and gives what becomes of it: once, by the promise and by one of the callbacks. Call it from a click.
     *
     * @throws ConnectError as a rejection: an option cannot be used. If `link` is rejected, so is this.
     */
    readonly open: (options: OpenOptions) => Promise<ConnectOutcome>;
}
/** The portal for a page: one link at a time. */
export declare function createConnect({ portalOrigin, readyMs, timeoutMs }?: ConnectOptions): Connect;
