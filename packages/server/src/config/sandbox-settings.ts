/** The settings of the sandbox brokerage, as far as they concern the service that starts it. */

import { inspectConfig, type SandboxConfig, SETTING_ROWS } from '@trunkline/sandbox/config'
import type { SettingFault } from './setting.ts'
import type { Settings } from './settings.ts'

/** What the service itself sets for the sandbox it starts: from outside these have no effect. */
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

/** What is set for the sandbox, and what of it is wrong or without effect. `config` is null where none is started beside the service. */
export interface InspectedSandbox {
  readonly config: SandboxConfig | null
  readonly faults: readonly SettingFault[]
  readonly unused: readonly string[]
}

/** Of a sandbox that runs elsewhere only its calendar matters here; where none is needed, its settings are unused. */
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
