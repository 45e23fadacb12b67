/**
 * `npm run test:live -- ALPACA`: rehearses an adapter at the broker's own practice accounts. Never part of the tests: it needs an account.
 * docs/guides/brokers.md says what to set.
 */

import { parseArgs } from 'node:util'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { ADAPTERS, type Adapter, openBrokers, SettingMissing } from '../../src/registry.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { credentialsFor } from './credentials.ts'
import { rehearse } from './rehearsal.ts'

const LOGIN_MS = 600_000
const USAGE = 'usage: npm run test:live -- BROKER [--symbol F] [--account NUMBER] [--callback URL] [--force-live]'

const print = (text: string) => process.stdout.write(`${text}\n`)
const complain = (fields: unknown) => process.stderr.write(`${JSON.stringify(fields)}\n`)
const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string, fields = {}) => complain({ warn: message, ...fields }),
  error: (message: string, fields = {}) => complain({ error: message, ...fields })
}

try {
  process.exitCode = await main()
} catch (cause) {
  const variable = cause instanceof SettingMissing ? `${cause.env} ` : ''
  print(`The run stopped: ${variable}${cause instanceof Error ? cause.message : String(cause)}`)
  process.exitCode = 1
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      symbol: { type: 'string', default: 'F' },
      account: { type: 'string' },
      callback: { type: 'string' },
      'force-live': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  if (values.help) {
    print(`${USAGE}\nBROKER is one of ${practised().join(', ')}. What to set before is in docs/guides/brokers.md.`)
    return 0
  }
  const name = (positionals[0] ?? '').toUpperCase()
  const adapter = ADAPTERS.find(({ capabilities, settings }) => capabilities.id === name && settings.length > 0)
  if (adapter === undefined) return refused(`${USAGE}\nBROKER is one of ${practised().join(', ')}`)
  const offer = adapter.offer(set => textOf(adapter, set))
  if (offer.at === 'sandbox')
    return refused(
      `No setting says how to reach ${name}: set TRUNKLINE_${name}_CLIENT_ID and its secret, or TRUNKLINE_TEST_${name}_ACCESS_TOKEN (docs/guides/brokers.md)`
    )
  await using brokers = openBrokers([offer], { clock: systemClock, log, meter: { count() {}, observe() {} }, fraction: Math.random }, null)
  const [definition] = brokers.values()
  if (definition === undefined) return refused(`${name} could not be opened`)
  if (definition.environment === 'live' && !values['force-live'])
    return refused(
      `${name} is set to its live accounts, where this would order with real money. Set TRUNKLINE_${name}_ENV, or use --force-live`
    )
  return await tried(definition, {
    symbol: values.symbol,
    accountNumber: values.account ?? null,
    callbackUrl: values.callback ?? `http://localhost:8080/connect/callback/${name.toLowerCase()}/${definition.environment}`
  })
}

async function tried(
  definition: BrokerDefinition,
  { callbackUrl, ...options }: { readonly symbol: string; readonly accountNumber: string | null; readonly callbackUrl: string }
): Promise<number> {
  print(`${definition.capabilities.name}, ${definition.environment} accounts`)
  const signal = AbortSignal.timeout(LOGIN_MS)
  const credentials = await credentialsFor(definition, { env: process.env, callbackUrl, print, signal })
  await using broker = definition.open(new MemoryHolder(credentials))
  const faults = await rehearse({ definition, broker, clock: systemClock, print, ...options })
  print(faults.length === 0 ? 'All as it should be.' : `${faults.length} faults:\n${faults.map(fault => `  ${fault}`).join('\n')}`)
  return faults.length === 0 ? 0 : 1
}

/**
 * As the service reads it, but with practice accounts where nothing is set, and with keys where there is no client. A user with a token of
 * their own, as single users of a broker do, needs no client.
 */
function textOf({ settings, capabilities: { id } }: Adapter, name: string): string {
  const given = process.env[name]?.trim() ?? ''
  const setting = settings.find(({ env }) => env === name)
  if (given !== '') {
    if (setting?.allowed !== undefined && !setting.allowed.includes(given))
      throw new Error(`${name} must be one of ${setting.allowed.join(', ')}`)
    return given
  }
  const isGiven = (env: string) => (process.env[env]?.trim() ?? '') !== ''
  const hasToken = isGiven(`TRUNKLINE_TEST_${id}_ACCESS_TOKEN`)
  const takesKeys = settings.some(({ env }) => env === `TRUNKLINE_${id}_API_KEYS`)
  // Where no setting leads to the broker, nothing is stated about its environments either.
  if (name === `TRUNKLINE_${id}_ENV` && (hasToken || takesKeys || isGiven(`TRUNKLINE_${id}_CLIENT_ID`)))
    return setting?.allowed?.find(value => value !== 'live') ?? ''
  if (hasToken && (name === `TRUNKLINE_${id}_CLIENT_ID` || name === `TRUNKLINE_${id}_CLIENT_SECRET`)) return 'none'
  if (hasToken) return setting?.fallback ?? ''
  if (name === `TRUNKLINE_${id}_API_KEYS`) return isGiven(`TRUNKLINE_${id}_CLIENT_ID`) ? '0' : '1'
  return setting?.fallback ?? ''
}

function practised(): readonly string[] {
  return ADAPTERS.filter(({ settings }) => settings.length > 0).map(({ capabilities }) => capabilities.id)
}

function refused(why: string): number {
  process.stderr.write(`${why}\n`)
  return 2
}
