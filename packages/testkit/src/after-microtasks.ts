/** Does `work` once so many microtasks have passed: for tests of what comes in any moment between two others. */
export function afterMicrotasks(count: number, work: () => void): void {
  if (count === 0) work()
  else queueMicrotask(() => afterMicrotasks(count - 1, work))
}
