import { CommitUnknown } from '../ports/store.ts'

/**
 * The result of `write`; if its commit was not confirmed, the result of `look`, which is null if nothing was written or that is unknown
 * too.
 * @throws what `write` throws.
 */
export async function lookedUp<T>(write: () => Promise<T>, look: () => Promise<T | null>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    if (!(cause instanceof CommitUnknown)) throw cause
    const found = await look().catch(() => null)
    if (found === null) throw cause
    return found
  }
}
