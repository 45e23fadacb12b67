import type { Answer } from './exchange.js';
import type { Meta } from './meta.js';
/** What a page of an operation's answer lists. */
export type Item<A> = A extends readonly (infer T)[] ? T : A extends {
    readonly data: readonly (infer T)[];
} ? T : A extends {
    readonly bars: readonly (infer T)[];
} ? T : never;
export interface Page<A> {
    readonly data: readonly Item<A>[];
    /** The whole answer, with what it says besides the list. */
    readonly answer: A;
    readonly meta: Meta;
}
/** A list that is read page by page, as far as it is asked for. */
export interface Pages<A> extends AsyncIterable<Item<A>> {
    pages(): AsyncGenerator<Page<A>>;
    /** The first so many: a list can be longer than memory is large. */
    toArray(bound: {
        readonly limit: number;
    }): Promise<Item<A>[]>;
}
type Query = Readonly<Record<string, unknown>>;
/** Follows the pages that `next` names; those before with `prev_cursor`. */
export declare function pagesOf<A>(next: string, query: Query, read: (query: Query) => Promise<Answer<A>>): Pages<A>;
export {};
