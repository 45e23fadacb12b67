/** The settings of the sandbox brokerage, as far as they concern the service that starts it. */

import { inspectConfig, type SandboxConfig, SETTING_ROWS } from '@trunkline/sandbox/config'
import type { SettingFault } from './setting.ts'
import type { Settings } from './settings.ts'

/** Settings that the service itself sets for the sandbox it starts: from outside they have no effect. */
export const SET_BY_SERVICE = [
  'SANDBOX_DATA_DIR',
  'SANDBOX_CLIENT_ID',
  'SANDBOX_CLIENT_SECRET',
  'SANDBOX_REDIRECT_URIS',
  'SANDBOX_END_WITH_STDIN'
] as const

const CALENDAR = 'SANDBOX_CALENDAR'

/** Rows of the settings page. */
export const SANDBOX_ROWS = SETTING_ROWS

/** The sandbox's settings, and their faults and those without effect. `config` is null if no sandbox is started beside the service. */
export interface InspectedSandbox {
  readonly config: SandboxConfig | null
  readonly faults: readonly SettingFault[]
  readonly unused: readonly string[]
}

/** For a sandbox that runs elsewhere only its calendar matters; without a sandbox its settings are unused. */
export function inspectSandbox(
  env: Readonly<Record<string, string | undefined>>,
  { offers, sandboxUrl }: Partial<Pick<Settings, 'offers' | 'sandboxUrl'>>
): InspectedSandbox {
  const isNeeded = offers?.some(({ at }) => at === 'sandbox') === true
  if (!isNeeded || sandboxUrl === undefined) return { config: null, faults: [], unused: [] }
  if (sandboxUrl !== null) return { config: null, faults: inspectConfig({ [CALENDAR]: env[CALENDAR] }).faults, unused: [] }
  const given = Object.fromEntries(Object.entries(env).filter(([name]) => !SET_BY_SERVICE.some(own => own === name)))
  const { config, faults } = inspectConfig({ SANDBOX_PORT: '0', ...given })
  return { config, faults, unused: SET_BY_SERVICE.filter(name => (env[name] ?? '') !== '') }
}
