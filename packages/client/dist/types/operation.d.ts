/** What an operation takes and answers. */
export interface OperationShape {
    /** Whose credentials it needs; `user` stands for both. */
    readonly auth: 'platform' | 'user';
    readonly path: object;
    readonly query: object;
    readonly body: object | undefined;
    readonly answer: unknown;
    readonly hasPages: boolean;
}
/**
 * An operation of the service, as its own description has it, in words:
 * - the path, after `+` for POST, `-` for DELETE and `~` for PATCH; `{order}` stands for the parameter `order_id`;
 * - a member that each answer has, with `[]` if it is a list, or `[]` alone; none: the last parameter;
 * - what names the next page, if there are pages: a member, or the header `link`; with `data[]`, none stands for `next_cursor`.
 *
 * The shape is only in the type.
 */
export type Operation<S extends OperationShape = OperationShape> = string & {
    readonly length: number;
    readonly shape?: S;
};
/**
 * The operations of a resource, between bars: the beginning of all paths; then each method, with `!` if it is not repeated after a lost
 * answer, and its operation without that beginning.
 */
export type Resource<S = Readonly<Record<string, OperationShape>>> = string & {
    readonly length: number;
    readonly shapes?: S;
};
/** Everything that a request of an operation says, by name. Asked so that it holds without `strictNullChecks`, too. */
export type Params<S extends OperationShape> = S['path'] & S['query'] & (S['body'] extends undefined ? unknown : S['body']);
