/** Items that wait, in order. How many may wait is decided by those that put. */
export interface Queue<T> {
    length(): number;
    /** Puts an item in the place of the waiting one with the same key, or at the end. */
    put(item: T, key?: unknown): void;
    delete(key: unknown): void;
    take(): T | undefined;
}
export declare function queueOf<T>(): Queue<T>;
