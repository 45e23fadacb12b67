// Preloaded into the process of a test file: at its end it reports the processor time of the file.
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { childrenProcessorMs, ownProcessorMs } from './processor-time.ts'

/** Names the file to write to, and the runner's process. */
export const USAGE_FILE = 'TRUNKLINE_TEST_USAGE_FILE'
export const USAGE_PARENT = 'TRUNKLINE_TEST_USAGE_PARENT'

const file = process.env[USAGE_FILE]
// Programs that a test starts inherit the variables: only the runner's own child reports.
if (isMainThread && file !== undefined && process.env[USAGE_PARENT] === String(process.ppid)) {
  process.once('exit', () => writeFileSync(file, String(ownProcessorMs() + (childrenProcessorMs() ?? 0))))
}
