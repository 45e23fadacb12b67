/** Runs `work` after this number of microtasks: for tests of events at any moment between two others. */
export function afterMicrotasks(count: number, work: () => void): void {
  if (count === 0) work()
  else queueMicrotask(() => afterMicrotasks(count - 1, work))
}
