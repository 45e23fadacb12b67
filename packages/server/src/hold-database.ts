// The database belongs to this process, or to the nodes of its cluster, for as long as it runs.
import type { Deps } from '@trunkline/core/app/deps'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import type { Settings } from './config/settings.ts'
import type { Parts } from './ops/parts.ts'
import type { StoreDeps } from './store/index.ts'
import { SoleProcess } from './store/sole-process.ts'

/**
 * Waits for PostgreSQL and locks it for this process, or for the nodes of its cluster; the embedded database has its own lock. Returns what
 * the store has to observe.
 */
export async function holdDatabase(
  { databaseUrl: url, databaseWaitSeconds, natsUrl }: Settings,
  deps: Pick<Deps, 'clock' | 'log'> & { readonly name: string; readonly schema: number },
  parts: Parts
): Promise<Pick<StoreDeps, 'assertMayWrite' | 'migrating'>> {
  if (url === null) return {}
  const waitMs = databaseWaitSeconds * 1_000
  const sole = await SoleProcess.take({ url, waitMs, isShared: natsUrl !== null, onTaken: endProcess, ...deps })
  parts.add('database lock', async () => await sole[Symbol.asyncDispose]())
  return {
    assertMayWrite: () => {
      if (!sole.isHeld) throw new StoreUnavailable('the database lock is lost and is being acquired again')
    },
    migrating: work => work(migration => sole.demandNoOlder(migration))
  }
}

/** An error that ends this process: another one may do its work now. */
export function endProcess(cause: Error): void {
  queueMicrotask(() => {
    throw cause
  })
}
