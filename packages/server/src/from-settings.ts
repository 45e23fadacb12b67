/** What the settings mean for parts that do not know them. */

import { join } from 'node:path'
import { DEFAULT_TIMING, type Timing } from '@trunkline/core/app/timing'
import type { OperatorGrant } from '@trunkline/core/domain/operator'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Settings } from './config/settings.ts'
import { providerOptions } from './oidc/options.ts'
import { LoginProvider } from './oidc/provider.ts'
import type { RandomIds } from './ops/ids.ts'
import { metricsToken } from './ops/metrics-token.ts'
import { databaseFilesWithin, openFilesMax } from './ops/open-files.ts'
import type { OperationsOptions } from './ops/routes.ts'
import type { openStore } from './store/index.ts'

/** Where the metrics are: at a port of their own, or behind a token. */
export function metricsAt({ metricsPort, metricsToken: token }: Settings, dataDir: string, ids: RandomIds): OperationsOptions['metricsAt'] {
  if (metricsPort !== null) return { port: metricsPort }
  return { token: token ?? metricsToken(dataDir, () => ids.secret('mt_')) }
}

/** Which database, and how it is opened. */
export function storeOptions(settings: Settings, dataDir: string): Parameters<typeof openStore>[0] {
  return settings.databaseUrl === null
    ? { kind: 'embedded', dataDir: join(dataDir, 'database'), filesMax: databaseFilesWithin(openFilesMax()) }
    : { kind: 'postgres', url: settings.databaseUrl, poolMax: settings.databasePoolMax, ownerUrl: settings.databaseOwnerUrl }
}

/** The time limits of the application. */
export function timingOf({ answerWithinMs, commandMs, absenceSeconds, freshMs }: Settings): Timing {
  const enforced = absenceSeconds * 1_000
  const absenceMs = { enforced, bounded: 2 * enforced, open_only: 2 * enforced, label: 5 * enforced }
  return { ...DEFAULT_TIMING, answerWithinMs, commandMs, absenceMs, freshMs }
}

/** The provider that operators log in with, how it is called, and whom it may log in; null if there is none. */
export function loginBy(
  settings: Settings,
  clock: Clock
): { readonly provider: LoginProvider; readonly name: string; readonly grants: readonly OperatorGrant[] } | null {
  const options = providerOptions(settings)
  if (options === null) return null
  const provider = new LoginProvider(options, clock)
  return { provider, name: settings.oidcName ?? provider.host, grants: settings.oidcGrants }
}
