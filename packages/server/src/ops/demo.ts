import type { Deps } from '@trunkline/core/app/deps'
import { whyNotPractice } from '../config/practice.ts'
import type { Settings } from '../config/settings.ts'
import { type DemoFile, type DemoPlatform, demoPlatform } from './demo-platform.ts'
import type { SandboxReady } from './sandbox-process.ts'

/** Creates no demo platform outside practice. One that exists is left unchanged and logged. */
export async function demoFor(
  settings: Settings,
  deps: Deps,
  file: DemoFile,
  addresses: Parameters<typeof demoPlatform>[2]
): Promise<{ readonly demo: DemoPlatform; readonly created: boolean } | null> {
  const why = whyNotPractice(settings)
  if (why === null) return demoPlatform(deps, file, addresses)
  const stored = file.read()
  if (stored !== null && (await deps.store.platforms.findByClientId(stored.client_id)) !== null)
    deps.log.warn('a demo platform exists on a service that is not for practice', {
      because: why,
      clientId: stored.client_id,
      file: file.path
    })
  return null
}

export function addressesOf(url: string, sandbox: SandboxReady | null): Omit<DemoPlatform, 'client_id' | 'client_secret' | 'home_url'> {
  const ws = url.replace(/^http/, 'ws')
  return {
    base_url: url,
    stream_url: `${ws}/stream`,
    market_data_stream_url: `${ws}/market-data/stream`,
    portal_url: `${url}/connect`,
    sandbox_control_url: sandbox?.controlUrl ?? null,
    sandbox_logins: sandbox?.logins ?? []
  }
}
