import { TrunklineError } from './errors.js';
import { type Answer, type Exchange } from './exchange.js';
import type { ErrorCode } from './generated/openapi.js';
import type { Operation, OperationShape, Params } from './operation.js';
import { type Pages } from './pages.js';
import { type CallOptions, type Clock, type TrunklineOptions, type UserCredentials } from './settings.js';
/** The record that a call answers; `withMeta` gives what came with it too. */
export interface Call<T> extends Promise<T> {
    withMeta(): Promise<Answer<T>>;
}
/** The parameters of a call, which may be left out if none is required. */
export type Given<P> = object extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions];
/** A method that makes requests of an operation. */
export type Calls<O> = O extends Operation<infer S> ? (...given: Given<Params<S>>) => Call<S['answer']> : never;
/** A method that reads the pages of an operation. */
export type Lists<O> = O extends Operation<infer S> ? (...given: Given<Params<S>>) => Pages<S['answer']> : never;
/** What a request that is sent again after a lost answer may meet: the trace of the first one. Undefined: something else. */
export type AfterLoss<A> = (error: TrunklineError, exchange: Exchange) => Promise<Answer<A>> | Answer<A> | undefined;
/** Sends requests with the credentials of a platform, and of a user if it has one. Nothing shows them when it is printed. */
export interface Transport {
    readonly base: string;
    readonly clock: Clock;
    /** The credentials as they are sent. */
    credentials(): Readonly<Record<string, string>>;
    /** The same, for requests of this user. @throws TrunklineError setting_invalid */
    asUser(user: UserCredentials): Transport;
    begin(options?: CallOptions): Exchange;
}
/** @throws TrunklineError setting_invalid */
export declare function transportOf(options: TrunklineOptions, user?: UserCredentials | null): Transport;
/**
 * Sends a request until it is answered, within the limits of the exchange.
 * @param isRepeatable the same request again does nothing twice; otherwise it is sent again only if nothing was done
 */
export declare function repeated<S extends OperationShape>(exchange: Exchange, operation: Operation<S>, params: Params<S>, afterLoss?: AfterLoss<S['answer']>, isRepeatable?: boolean): Promise<Answer<S['answer']>>;
export declare function callOf<T>(answer: Promise<Answer<T>>): Call<T>;
/** The method that makes requests of an operation. */
export declare function calling<S extends OperationShape>(transport: Transport, operation: Operation<S>, afterLoss?: (params: Params<S>) => AfterLoss<S['answer']>, isRepeatable?: boolean): (...given: Given<Params<S>>) => Call<S['answer']>;
/** The same for an operation that is not repeated after a lost answer. */
export declare function callingOnce<S extends OperationShape>(transport: Transport, operation: Operation<S>): ReturnType<typeof calling<S>>;
/** The method that reads an operation's pages. `check` sees each answer first, and what was asked for on that page. */
export declare function listing<S extends OperationShape>(transport: Transport, operation: Operation<S>, check?: (params: Params<S>, answer: S['answer']) => void): (...given: Given<Params<S>>) => Pages<S['answer']>;
/** With this code, an error says that what was asked for is done. */
export declare function doneIf<T>(doneCode: ErrorCode, data: T): AfterLoss<T>;
