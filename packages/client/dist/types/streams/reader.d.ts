/** Items for one reader. */
export interface Reading<T> extends AsyncIterable<T> {
    next(): Promise<IteratorResult<T, undefined>>;
    /** Ends it at once, also while a `next` waits. */
    return(): Promise<IteratorResult<T, undefined>>;
    [Symbol.asyncIterator](): Reading<T>;
}
/** What one reader iterates over, for the code that has its items. */
export interface Reader<T> extends Reading<T> {
    /** Nothing is added any more. */
    isEnded(): boolean;
    /** Ends at once when the signal aborts. */
    stopWith(signal: AbortSignal | undefined): void;
    /** What waits is still read; then it ends, with the error if there is one. */
    end(error?: unknown): void;
    /** There may be an item. */
    wake(): void;
}
/**
 * Written by hand, because an async generator keeps `return` waiting until its pending `next` is settled, and ends nothing if it is left
 * before its first `next`.
 * @param take the next item, if there is one
 * @param left called once, as soon as nothing may be added any more: by an end, by the signal, or because the reader leaves
 */
export declare function readerOf<T>(take: () => T | undefined, left: () => void): Reader<T>;
