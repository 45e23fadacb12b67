/** Processor time that synchronous work takes, in milliseconds: what a busy machine makes it wait is not in it. */
export function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
