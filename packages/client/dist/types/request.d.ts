import { TrunklineError } from './errors.js';
/** The whole answer to a request. */
export type RawAnswer = readonly [status: number, headers: Headers, text: string];
/** Makes the errors of a request. */
export type Fail = (code: string, message: string, known?: Partial<TrunklineError>) => TrunklineError;
/**
 * Sends a request once, and reads its answer to the end.
 * @throws TrunklineError connection_failed, timed_out, aborted, answer_unreadable
 */
export declare function request(send: typeof fetch, url: string, init: RequestInit, timeoutMs: number, signal: AbortSignal, fail: Fail): Promise<RawAnswer>;
export declare const ABORTED = "The call was aborted.";
