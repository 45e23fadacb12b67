/** Checks before a start: `check-config` lists all findings, and a start refuses for the same reasons with the same messages. */
import { inspectSandbox } from '../config/sandbox-settings.ts'
import { inspectEnvironment } from '../config/settings.ts'
import { messageAbout, unknownNames } from '../config/unknown-names.ts'
import { checkDataDir, checkKeys, checkLogFile, serviceRunsOn } from './files.ts'
import type { Finding, Known } from './finding.ts'
import { checkPorts } from './ports.ts'
import { checkSandbox } from './sandbox.ts'

export interface Preflight {
  /** The settings, as far as they could be read. */
  readonly known: Known
  readonly findings: readonly Finding[]
  /** Whether a setting itself is wrong, whatever it names. */
  readonly isMisset: boolean
}

/**
 * Checks the settings, the data directory, keys, the log file and the ports. Leaves nothing changed.
 * @param toStart whether a service is about to start: one that runs on the data directory is then a fault.
 */
export async function preflight(env: Readonly<Record<string, string | undefined>>, toStart: boolean): Promise<Preflight> {
  const { values: known, faults } = inspectEnvironment(env)
  const sandbox = inspectSandbox(env, known)
  const isRunning = await serviceRunsOn(known)
  const findings: readonly Finding[] = [
    ...faults.map(({ env: about, message }) => ({ level: 'fault', about, message }) as const),
    ...checkSandbox(sandbox),
    ...unknownNames(env).map(unknown => ({ level: 'warning', about: unknown.name, message: messageAbout(unknown) }) as const),
    ...checkDataDir(known, { isRunning, toStart }),
    ...checkKeys(known),
    ...checkLogFile(known),
    // The running service also has the ports.
    ...(isRunning ? [] : await checkPorts(known, sandbox.config))
  ]
  return { known, findings, isMisset: faults.length + sandbox.faults.length > 0 }
}

/** The message of a refused start: every warning and fault, one a line. */
export function refusal(findings: readonly Finding[]): string {
  const of = (level: Finding['level']) => findings.filter(finding => finding.level === level)
  const faults = of('fault')
  const width = Math.max(...faults.map(({ about }) => about.length))
  return [
    ...of('warning').map(({ about, message }) => `warning: ${about} ${message}`),
    'trunkline did not start:',
    ...faults.map(({ about, message }) => `  ${about.padEnd(width)}  ${message}`),
    'npm run cli -- check-config checks everything, the database too; docs/settings.md describes every setting.',
    ''
  ].join('\n')
}
