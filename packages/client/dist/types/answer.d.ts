import type { Fail, RawAnswer } from './request.js';
/** What was asked for. */
interface Asked {
    readonly member: string;
    /** The order that was named, which the answer must be about; empty if there is none. */
    readonly order: string;
    readonly requestId: string;
    readonly secrets: readonly (string | undefined)[];
}
/** @throws TrunklineError what the service says, or answer_unreadable */
export declare function dataOf({ status, headers, text }: RawAnswer, { member, order, requestId: sentId, secrets }: Asked, fail: Fail): unknown;
export {};
