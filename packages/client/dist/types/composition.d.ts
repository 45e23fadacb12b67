import type { Operation, OperationShape, Params } from './operation.js';
/** Without what is undefined, which would hide a default. */
export declare function given(values: object): Record<string, unknown>;
/**
 * Path, query and body, from parameters by name; `order` is the one that the answer must be about, if one is named.
 * @throws TrunklineError setting_invalid
 */
export declare function requestOf<S extends OperationShape>(operation: Operation<S>, params: Params<S>): {
    method: string;
    member: string;
    path: string;
    order: string;
    body: string;
} | {
    method: string;
    member: string;
    path: string;
    order: string;
    body: null;
};
