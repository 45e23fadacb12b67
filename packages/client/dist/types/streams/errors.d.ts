/** The stream cannot go on; `code` says why. */
export declare class StreamError extends Error {
    readonly name = "StreamError";
    readonly code: StreamErrorCode;
    /** Of a refused subscription to market data: the service's `error_code`. */
    readonly reason: string | null;
    constructor(code: StreamErrorCode, message: string, reason?: string | null);
}
export type StreamErrorCode = 
/** An option of the stream cannot be used, or there is no stream at its address. */
'setting_invalid'
/** The credentials or the token were refused three times. */
 | 'credentials_refused'
/** The platform or its key was disabled; or the connection ended, or another market data token of the user is in use. */
 | 'ended_by_service'
/** Somebody else reads this user in the stream, or the copy is kept already. */
 | 'followed_already'
/** The service refused to follow the user, or the subscription. */
 | 'subscription_refused'
/** More waits than may wait: the reader takes items too slowly. */
 | 'too_slow'
/** Followed, or subscribed to, more than one session may have. */
 | 'too_many';
/** Whether it is an error of the REST client that no repetition mends. */
export declare function isFinal(error: unknown): boolean;
/** Whether it is an error of the REST client after which the same request may be sent again. */
export declare function isRetrySafe(error: unknown): error is Error;
export declare function invalid(message: string): StreamError;
