import type { Fail, RawAnswer } from './request.js';
/** What was asked for: of the order that is named, the answer must be; empty if there is none. */
export type Asked = readonly [member: string, order: string, requestId: string, ...secrets: (string | undefined)[]];
/** @throws TrunklineError what the service says, or answer_unreadable */
export declare function dataOf([status, headers, text]: RawAnswer, [member, order, sentId, ...secrets]: Asked, fail: Fail): unknown;
