import { inspectEnvironment } from '../config/settings.ts'
import { unknownNames, wordsAbout } from '../config/unknown-names.ts'
import { checkBrokers } from './checks/brokers.ts'
import { checkDatabase } from './checks/database.ts'
import { checkDemo } from './checks/demo.ts'
import { checkExposure } from './checks/exposure.ts'
import { checkDataDir, checkKeys, checkLogFile } from './checks/files.ts'
import type { Finding } from './checks/finding.ts'
import { aligned, CommandFailed, type Common, type Console, counted, outJson } from './console.ts'

/** Tells everything that is wrong, not only the first. A fault keeps the service from starting, or from keeping its promises. */
export async function checkConfig(console: Console, { json }: Common): Promise<void> {
  const { values, faults } = inspectEnvironment(console.env)
  const findings: readonly Finding[] = [
    ...faults.map(({ env, message }) => ({ level: 'fault', about: env, message }) as const),
    ...unknownNames(console.env).map(unknown => ({ level: 'warning', about: unknown.name, message: wordsAbout(unknown) }) as const),
    ...(await checkDataDir(values)),
    ...checkKeys(values),
    ...checkLogFile(values),
    ...(await checkDatabase(values)),
    ...checkBrokers(values),
    ...checkExposure(values),
    ...checkDemo(values)
  ]
  const [faulty, warned] = [findings.filter(({ level }) => level === 'fault'), findings.filter(({ level }) => level === 'warning')]
  if (json) outJson(console, { ok: faulty.length === 0, findings })
  else {
    console.out(aligned(findings.map(({ level, about, message }) => [level, about, message])))
    console.out(`\n${counted(faulty.length, 'fault')}, ${counted(warned.length, 'warning')}.\n`)
  }
  if (faulty.length > 0) throw new CommandFailed(1)
}
