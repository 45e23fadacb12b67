import type { Operation, OperationShape, Params } from './operation.js';
/** Without what is undefined, which would hide a default. */
export declare function given(values: object): Record<string, unknown>;
/** Named by position, because names would be in every bundle. `order` is the one that the answer must be about, or empty. */
export type Composed = readonly [method: string, path: string, body: string | null, member: string, order: string];
/**
 * Method, path with query, and body, from parameters by name.
 * @throws TrunklineError setting_invalid
 */
export declare function requestOf<S extends OperationShape>(operation: Operation<S>, params: Params<S>): Composed;
