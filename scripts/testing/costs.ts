// The cost of a run: its time, its processor time, and the most expensive files.
import { childrenProcessorMs, ownProcessorMs } from './processor-time.ts'
import type { Verdict } from './second-tries.ts'

const DEAREST = 10

/** Lines for the end of a run that began `durationMs` ago. Second tries count too. */
export function costs(verdicts: readonly Verdict[], durationMs: number): string {
  const files = verdicts.map(({ result, first }) => ({
    path: result.path,
    processorMs: (result.processorMs ?? 0) + (first?.processorMs ?? 0)
  }))
  const dearest = files.toSorted((a, b) => b.processorMs - a.processorMs).slice(0, DEAREST)
  const lines = dearest.map(({ path, processorMs }) => `  ${(processorMs / 1_000).toFixed(1).padStart(6)} s  ${path}`)
  const children = childrenProcessorMs() ?? files.reduce((sum, { processorMs }) => sum + processorMs, 0)
  const minutes = (ownProcessorMs() + children) / 60_000
  const total = `${Math.round(durationMs / 1_000)} s, and ${minutes.toFixed(1)} min of processor time`
  return files.length > 1 ? `Most processor time:\n${lines.join('\n')}\n\n${total}` : total
}
