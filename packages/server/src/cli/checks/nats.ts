import { accessSync, constants } from 'node:fs'
import type { ProbeFailure } from '../../bus/nats-probe.ts'
import { parseNatsServers } from '../../config/nats-servers.ts'
import type { Finding, Known } from '../../preflight/finding.ts'
import { explain } from '../explain.ts'

const about = 'TRUNKLINE_NATS_URL'
const WITHOUT = 'nodes run without NATS, but updates at other nodes than the user’s are up to two seconds late'

/** Tries each NATS server. One that cannot be used is a fault where no other can. */
export async function checkNats({ natsUrl, natsCredentials, natsCa }: Known): Promise<readonly Finding[]> {
  if (natsUrl == null || natsCredentials === undefined || natsCa === undefined) return []
  const files = [...unreadable('TRUNKLINE_NATS_CREDENTIALS', natsCredentials), ...unreadable('TRUNKLINE_NATS_CA', natsCa)]
  if (files.length > 0) return files
  const servers = parseNatsServers(natsUrl)
  const { probeNats } = await import('../../bus/nats-probe.ts')
  const probes = await Promise.all(
    servers.addresses.map(async address => ({
      address,
      failure: await probeNats({ servers, credentialsFile: natsCredentials, caFile: natsCa }, address)
    }))
  )
  const level = probes.some(({ failure }) => failure === null) ? 'warning' : 'fault'
  return probes.map(({ address, failure }) =>
    failure === null
      ? { level: 'ok', about, message: `NATS at ${address} can be used` }
      : { level, about, message: `NATS at ${address} ${describe(failure, natsCredentials)}; ${WITHOUT}` }
  )
}

function describe({ at, cause }: ProbeFailure, credentialsFile: string | null): string {
  const why = explain(cause)
  switch (at) {
    case 'address':
      return `cannot be reached: ${why}. Start it, or correct the address`
    case 'credentials':
      return `refuses the credentials: ${why}. Correct ${credentialsFile ?? 'the user and password, or the token, in this setting'}`
    case 'connect':
      return `answers, but cannot be used: ${why}. If it is about TLS, set TRUNKLINE_NATS_CA and use the name in the certificate`
  }
}

function unreadable(env: string, file: string | null): readonly Finding[] {
  try {
    if (file !== null) accessSync(file, constants.R_OK)
    return []
  } catch (cause) {
    return [{ level: 'fault', about: env, message: `the file ${file} cannot be read: ${explain(cause)}. Correct the path or its mode` }]
  }
}
