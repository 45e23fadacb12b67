import { preflight } from '../preflight/index.ts'
import { checkBrokers } from './checks/brokers.ts'
import { checkDatabase } from './checks/database.ts'
import { checkDemo } from './checks/demo.ts'
import { checkExposure } from './checks/exposure.ts'
import { checkLoginProvider } from './checks/login-provider.ts'
import { checkNats } from './checks/nats.ts'
import { aligned, CommandFailed, type Common, type Console, counted, outJson } from './console.ts'

/** Lists all findings, not only the first. A fault prevents the service from starting or from working correctly. */
export async function checkConfig(console: Console, { json }: Common): Promise<void> {
  const { known, findings: before } = await preflight(console.env, false)
  const outside = [...(await checkDatabase(known)), ...(await checkNats(known)), ...(await checkLoginProvider(known))]
  const findings = [...before, ...outside, ...checkBrokers(known), ...checkExposure(known), ...checkDemo(known)]
  const [faulty, warned] = [findings.filter(({ level }) => level === 'fault'), findings.filter(({ level }) => level === 'warning')]
  if (json) outJson(console, { ok: faulty.length === 0, findings })
  else {
    console.out(aligned(findings.map(({ level, about, message }) => [level, about, message])))
    console.out(`\n${counted(faulty.length, 'fault')}, ${counted(warned.length, 'warning')}.\n`)
  }
  if (faulty.length > 0) throw new CommandFailed(1)
}
