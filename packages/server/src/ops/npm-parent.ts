const LOOK_MS = 1_000

/**
 * Calls `lost` once when the process that `npm start` put above this one has ended: npm hands a signal on to its shell, which dies of it and hands
 * nothing on, so the service would keep running with nothing to stop it. Started any other way, nothing is watched: a supervisor's parent may well end first.
 * Call it before anything else: a parent that ended earlier is not seen.
 */
export function watchNpm(env: Readonly<Record<string, string | undefined>>, lost: () => void): void {
  if (env.npm_lifecycle_event !== 'start' || process.platform === 'win32') return
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    lost()
  }, LOOK_MS)
  look.unref()
}
