/** What `redirect_url` shows of a connection. Check it with your back end: the page of a browser proves nothing. */
export interface Connected {
    readonly type: 'connected';
    readonly connection_id: string;
    /** On a platform with claims: pass it to your back end. */
    readonly claim_code?: string;
}
/** It ended without a connection, as far as this page knows. */
export interface Exited {
    readonly type: 'exited';
    readonly reason: ExitReason;
    /** With `not_connected`, as `redirect_url` shows it: 400, 401 (the user declined) or 500. */
    readonly error?: string;
    /** A sentence for your log. */
    readonly error_details?: string;
}
export type ExitReason = 
/** The portal says so; `error` says why. */
'not_connected'
/**
 * The window was closed, or it is no longer seen from here because a broker's login cut it off. The user may still connect there: ask
 * your back end, and look at your page at `redirect_url`.
 */
 | 'closed'
/** The browser did not open a window. Open it from a click. */
 | 'blocked'
/** The portal did not show its page in the frame. */
 | 'unreachable'
/** Another link is open in this page; its window has the focus now. */
 | 'busy'
/** Nothing came for longer than a link works. */
 | 'timed_out'
/** By the caller's signal. */
 | 'aborted'
/** With React: there is no link yet. */
 | 'not_ready';
export type ConnectOutcome = Connected | Exited;
/** Of a message of the portal, whose origin was checked; null if it is another one. */
export declare function outcomeIn(result: unknown): ConnectOutcome | null;
