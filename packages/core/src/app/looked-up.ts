import { CommitUnknown } from '../ports/store.ts'

/**
 * What `write` gives; when it is unknown whether it was written, what `look` finds: null where it was not, or cannot be determined either.
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
