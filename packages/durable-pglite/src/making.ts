/** The resources that creating a database needs, and the messages without them. */

const MIB = 1024 ** 2
const MEMORY_BYTES = 700 * MIB
const DISK_MIB = 100

/** The message if the process cannot open another file. */
export const FILES_SHORT =
  'the limit of open files is too low (ulimit -n; 256 are enough to create the database, 1024 are better to run the service).'

/**
 * Whether the output of a failure shows that no further file can be opened: by the host, or by the engine, whose own numbers are 33 and 41.
 */
export function areFilesShort(output: string): boolean {
  return /\bE[MN]FILE\b|too many open files|no file descriptors available|errno: (?:33|41)\b/i.test(output)
}

/** A message if less memory is available than creating a database needs; null if there is enough. */
export function memoryWarning(availableBytes: number): string | null {
  if (availableBytes >= MEMORY_BYTES) return null
  return `the first start creates the database, which briefly needs ${MEMORY_BYTES / MIB} MiB of memory; ${Math.floor(availableBytes / MIB)} MiB are available, so it may fail; later starts need less`
}

/** Why the process that creates a database failed, from its exit and its output. */
export function whyNotMade(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const signal = 'signal' in cause && typeof cause.signal === 'string' ? cause.signal : null
  const output = 'stderr' in cause && typeof cause.stderr === 'string' ? cause.stderr : ''
  // The engine's own numbers: 51 is ENOSPC there, 19 EDQUOT.
  if (/ENOSPC|No space left|EDQUOT|errno: (?:51|19)\b/i.test(output))
    return `there is no space left on its disk, and about ${DISK_MIB} MiB are needed. Free some space and start again.`
  if (areFilesShort(output)) return `${FILES_SHORT} Raise it and start again.`
  // Linux ends a process by SIGKILL when it takes its memory; Node and WebAssembly print a message.
  if (signal === 'SIGKILL' || /out of memory|Cannot enlarge memory|Array buffer allocation failed|could not allocate memory/i.test(output))
    return `there was not enough memory: ${MEMORY_BYTES / MIB} MiB are needed briefly. Later starts need less.`
  const last = output
    .split('\n')
    .map(line => line.trim())
    // Members of a printed object are not messages.
    .findLast(line => /error|fatal|panic/i.test(line) && !/^\w+: .*,$/.test(line))
  return last ?? (signal === null ? (cause.message.split('\n', 1)[0] ?? 'unknown') : `its process was ended by ${signal}.`)
}
