/** Opens and closes each port to listen on, before a start creates anything expensive. */
import { createServer } from 'node:net'
import type { SandboxConfig } from '@trunkline/sandbox/config'
import { whyNotListening } from '../ops/start-failure.ts'
import type { Finding, Known } from './finding.ts'

const LOOPBACK = '127.0.0.1'

interface Port {
  readonly env: string
  readonly host: string
  readonly port: number
}

/** @param sandbox the port of the sandbox that is started beside the service; null if none is. */
export async function checkPorts(
  { host, port, metricsPort, nodeHost, nodePort }: Known,
  sandbox: Pick<SandboxConfig, 'host' | 'port' | 'controlPort'> | null
): Promise<readonly Finding[]> {
  const wanted: readonly Port[] = [
    ...(host === undefined || port === undefined ? [] : [{ env: 'TRUNKLINE_PORT', host, port }]),
    ...(metricsPort == null ? [] : [{ env: 'TRUNKLINE_METRICS_PORT', host: LOOPBACK, port: metricsPort }]),
    ...(nodePort == null || nodeHost === undefined ? [] : [{ env: 'TRUNKLINE_NODE_PORT', host: nodeHost, port: nodePort }]),
    ...(sandbox === null
      ? []
      : [
          { env: 'SANDBOX_PORT', host: sandbox.host, port: sandbox.port },
          { env: 'SANDBOX_CONTROL_PORT', host: LOOPBACK, port: sandbox.controlPort }
        ])
  ]
  const fixed = wanted.filter(each => each.port !== 0)
  const findings: Finding[] = []
  for (const [index, { env, host: address, port: number }] of fixed.entries()) {
    const twin = fixed.slice(0, index).find(other => other.port === number)
    const code = twin === undefined ? await refusalOf(address, number) : null
    if (twin !== undefined)
      findings.push({ level: 'fault', about: env, message: `port ${number} is that of ${twin.env}, too; choose another` })
    if (code !== null)
      findings.push({ level: 'fault', about: aboutOf(env, code), message: whyNotListening({ code, address, port: number }) })
  }
  return findings
}

function aboutOf(env: string, code: string): string {
  return code === 'EADDRINUSE' || code === 'EACCES'
    ? env
    : env.replace(/^SANDBOX_.*/, 'SANDBOX_HOST').replace(/^TRUNKLINE_(NODE_)?.*/, 'TRUNKLINE_$1HOST')
}

/** The system's error code if nothing can listen there; null if something can. */
async function refusalOf(host: string, port: number): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const server = createServer()
  server.once('error', cause => resolve('code' in cause ? String(cause.code) : cause.message))
  server.listen({ host, port }, () => server.close(() => resolve(null)))
  return promise
}
