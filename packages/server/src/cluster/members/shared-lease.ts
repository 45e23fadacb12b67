// What the main thread and the thread that renews share without messages: either may be blocked while the other needs it.

const ENDS_AT = 0
const MAIN_SEEN_AT = 1

/**
 * Milliseconds that never run backwards, the same in all threads of the process. `performance.now()` is documented to be relative to the
 * start of each thread.
 */
export function sharedMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}

/**
 * The end of this node's lease, and when its main thread last showed that it is not blocked. Both by {@link sharedMs}, which stands still
 * in a suspended machine. Its threads share it; other nodes know only what the database has.
 */
export class SharedLease {
  /** To be passed to the other thread. */
  readonly memory: SharedArrayBuffer
  readonly #values: BigInt64Array<SharedArrayBuffer>

  constructor(memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#values = new BigInt64Array(memory)
  }

  /** Before any lease, and after {@link end}: long ago. */
  get endsAtMs(): number {
    return Number(Atomics.load(this.#values, ENDS_AT))
  }

  extendTo(ms: number): void {
    Atomics.store(this.#values, ENDS_AT, BigInt(Math.floor(ms)))
  }

  /** The node owns nothing from now on. */
  end(): void {
    Atomics.store(this.#values, ENDS_AT, 0n)
  }

  get mainSeenAtMs(): number {
    return Number(Atomics.load(this.#values, MAIN_SEEN_AT))
  }

  mainIsSeen(atMs: number): void {
    Atomics.store(this.#values, MAIN_SEEN_AT, BigInt(Math.floor(atMs)))
  }
}
