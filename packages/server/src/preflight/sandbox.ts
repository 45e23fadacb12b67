import { statSync } from 'node:fs'
import { recordedFolder } from '@trunkline/sandbox/config'
import type { InspectedSandbox } from '../config/sandbox-settings.ts'
import type { Finding } from './finding.ts'

/** The settings of the sandbox that is started beside the service. */
export function checkSandbox({ config, faults, unused }: InspectedSandbox): readonly Finding[] {
  const folder = config === null ? null : recordedFolder(config)
  const isGone = folder !== null && statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true
  return [
    ...faults.map(({ env, message }) => ({ level: 'fault', about: env, message }) as const),
    ...(isGone ? [{ level: 'fault', about: 'SANDBOX_MARKET', message: `names the folder ${folder}, which does not exist` } as const] : []),
    ...unused.map(about => ({ level: 'warning', about, message: 'has no effect: the service sets it for the sandbox it starts' }) as const)
  ]
}
