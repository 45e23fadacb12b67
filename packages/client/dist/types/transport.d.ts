import { TrunklineError } from './errors.js';
import { type Answer, type Exchange } from './exchange.js';
import type { ErrorCode } from './generated/openapi.js';
import type { Operation, OperationShape, Params, Resource } from './operation.js';
import { type Pages } from './pages.js';
import { type CallOptions, type Clock, type TrunklineOptions, type UserCredentials } from './settings.js';
/** The record that a call answers; `withMeta` gives what came with it too. */
export interface Call<T> extends Promise<T> {
    withMeta(): Promise<Answer<T>>;
}
/** The parameters of a call, which may be left out if none is required. */
export type Given<P> = object extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions];
/** A method that makes requests of an operation. */
export type Calls<S extends OperationShape> = (...given: Given<Params<S>>) => Call<S['answer']>;
/** A method that reads the pages of an operation. */
export type Lists<S extends OperationShape> = (...given: Given<Params<S>>) => Pages<S['answer']>;
/** What a request that is sent again after a lost answer may meet: the trace of the first one. Undefined: something else. */
export type AfterLoss<S extends OperationShape> = (error: TrunklineError, exchange: Exchange, params: Params<S>) => Promise<Answer<S['answer']>> | Answer<S['answer']> | undefined;
/** The methods of a resource, by name. */
export type Methods<R> = {
    readonly [Name in keyof R]: R[Name] extends OperationShape ? (R[Name]['hasPages'] extends true ? Lists<R[Name]> : Calls<R[Name]>) : never;
};
/** Sends requests with the credentials of a platform, and of a user if it has one. Nothing shows them when it is printed. */
export interface Transport {
    /** The same, for requests of this user. @throws TrunklineError setting_invalid */
    asUser(user: UserCredentials): Transport;
    begin(options?: CallOptions): Exchange;
}
/**
 * @param clock shared with the transports of other users: what one learns of the service's clock is true for all
 * @throws TrunklineError setting_invalid
 */
export declare function transportOf(options?: TrunklineOptions, user?: UserCredentials | null, clock?: Clock): Transport;
/**
 * Sends a request until it is answered, within the limits of the exchange.
 * @param isRepeatable the same request again does nothing twice; otherwise it is sent again only if nothing was done
 */
export declare function repeated<S extends OperationShape>(exchange: Exchange, operation: Operation<S>, params: Params<S>, afterLoss?: AfterLoss<S>, isRepeatable?: boolean): Promise<Answer<S['answer']>>;
export declare function callOf<T>(answer: Promise<Answer<T>>): Call<T>;
/** The method that makes requests of an operation. */
export declare function calling<S extends OperationShape>(transport: Transport, operation: Operation<S>, afterLoss?: AfterLoss<S>, isRepeatable?: boolean): Calls<S>;
/** The method that reads an operation's pages. `check` sees each answer first, and what was asked for on that page. */
export declare function listing<S extends OperationShape>(transport: Transport, operation: Operation<S>, check?: (params: Params<S>, answer: S['answer']) => void): Lists<S>;
/** The methods of a resource. */
export declare function resourceOf<R>(transport: Transport, resource: Resource<R>, afterLosses?: {
    readonly [Name in keyof R]?: R[Name] extends OperationShape ? AfterLoss<R[Name]> : never;
}): Methods<R>;
/** With this code, an error says that what was asked for is done; the parameter is what the answer would have said. */
export declare function doneIf<S extends OperationShape>(doneCode: ErrorCode, name: string): AfterLoss<S>;
