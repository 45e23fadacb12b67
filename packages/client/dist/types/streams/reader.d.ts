/** Items for one reader. */
export interface Reading<T> extends AsyncIterableIterator<T, undefined, undefined> {
    /** Ends it at once, also while a `next` waits. */
    return(): Promise<IteratorResult<T, undefined>>;
}
/**
 * What one reader iterates over. Written by hand, because an async generator keeps `return` waiting until its pending `next` is settled,
 * and ends nothing if it is left before its first `next`.
 */
export declare abstract class Reader<T> implements Reading<T> {
    #private;
    /** Nothing is added any more. */
    get isEnded(): boolean;
    /** Ends at once when the signal aborts. */
    stopWith(signal: AbortSignal | undefined): void;
    /** What waits is still read; then it ends, with the error if there is one. */
    end(error?: unknown): void;
    next(): Promise<IteratorResult<T, undefined>>;
    return(): Promise<IteratorResult<T, undefined>>;
    [Symbol.asyncIterator](): this;
    /** The next item, if there is one. */
    protected abstract take(): T | undefined;
    /** Called once, as soon as nothing may be added any more: by an end, by the signal, or because the reader leaves. */
    protected abstract ended(): void;
    /** There may be an item. */
    protected wake(): void;
}
