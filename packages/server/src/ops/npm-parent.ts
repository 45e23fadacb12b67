const LOOK_MS = 1_000

/**
 * Calls `lost` once when the process that npm put above this one for `script` has ended: npm forwards a signal to its shell, which dies
 * of it without forwarding it, so nothing would stop the service. Started in any other way, nothing is watched: a supervisor's parent may
 * end first. Call it before anything else: a parent that ended earlier is not noticed.
 */
export function watchNpm(env: Readonly<Record<string, string | undefined>>, lost: () => void, script = 'start'): void {
  if (env.npm_lifecycle_event !== script || process.platform === 'win32') return
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    lost()
  }, LOOK_MS)
  look.unref()
}
