/** What an operation takes and answers. */
export interface OperationShape {
    /** Whose credentials it needs; `user` stands for both. */
    readonly auth: 'platform' | 'user';
    readonly path: object;
    readonly query: object;
    readonly body: object | undefined;
    readonly answer: unknown;
}
/**
 * An operation of the service, as its own description has it, in words: the method; the path with `{name}` for parameters; a member that
 * each answer has, with `[]` if it is a list, or `[]` alone; and what names the next page, if there are pages: a member, or the header
 * `link`. The shape is only in the type.
 */
export type Operation<S extends OperationShape = OperationShape> = string & {
    readonly length: number;
    readonly shape?: S;
};
/** Everything that a request of an operation says, by name. */
export type Params<S extends OperationShape> = S['path'] & S['query'] & (S['body'] extends object ? S['body'] : unknown);
