/** Items for one reader. What waits is bounded by those who put. */
export declare class Queue<T> {
    #private;
    get length(): number;
    put(item: T): void;
    /** Puts an item in the place of the waiting one that it makes needless, or at the end. */
    replace(item: T, isOld: (waiting: T) => boolean): void;
    /** What waits is still read; then the reader ends, with the error if there is one. */
    end(error?: unknown): void;
    /** One reader at a time. Ends at once when the signal aborts. `leave`: called when it has ended, however. */
    read(signal: AbortSignal | undefined, leave: () => void): AsyncGenerator<T, void, undefined>;
}
