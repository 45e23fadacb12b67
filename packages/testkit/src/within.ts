// A wait with a bound.

/** Gives what the promise gives. @throws Error saying what was waited for, when that takes longer than `limitMs`. */
export async function within<T>(limitMs: number, promise: Promise<T>, what: () => string): Promise<T> {
  const late = Promise.withResolvers<never>()
  const patience = setTimeout(() => late.reject(new Error(`waited ${limitMs} ms in vain until ${what()}`)), limitMs)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(patience)
  }
}
