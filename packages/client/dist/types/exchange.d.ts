import { TrunklineError } from './errors.js';
import { type Meta } from './meta.js';
import type { Operation, OperationShape, Params } from './operation.js';
import { type CallOptions, type Clock, type TrunklineOptions } from './settings.js';
export interface Answer<T> {
    readonly data: T;
    readonly meta: Meta;
}
/** What all calls of a client share. */
export interface Surroundings {
    readonly base: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly clock: Clock;
    readonly options: TrunklineOptions;
}
/** One call of the caller: its attempts, and the time they share. */
export interface Exchange {
    readonly clock: Clock;
    /**
     * Sends a request once.
     * @param isRepeatable the same request again does nothing twice
     * @throws TrunklineError
     */
    attempt<S extends OperationShape>(operation: Operation<S>, params: Params<S>, isRepeatable: boolean): Promise<Answer<S['answer']>>;
    /** Waits before the next attempt. @throws `error` if there is none: too many, too late, or the caller ended it */
    pause(error: TrunklineError, retries?: number): Promise<void>;
    /** Begins to count attempts and waits again, within the same time. */
    renew(): void;
}
export declare function begin({ base, headers, clock, options }: Surroundings, more?: CallOptions): Exchange;
