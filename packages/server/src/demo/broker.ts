import { type Client, recordOf, textOf } from './client.ts'

/** What the demo needs of a broker in `GET /brokers`. */
export interface DemoBroker {
  readonly id: string
  readonly name: string
  /** `sandbox`, `paper` or `live`. */
  readonly environment: string
  readonly timesInForce: readonly string[]
  readonly canModify: boolean
  readonly hasTransactions: boolean
  readonly channels: readonly string[]
}

/** @throws Error if the broker is not offered, naming those that are, or if the demo must not trade there. */
export async function demoBroker(platform: Client, id: string): Promise<DemoBroker> {
  const brokers = await platform.list('/brokers')
  const found = brokers.find(row => textOf(row, 'broker') === id)
  if (found === undefined)
    throw new Error(`${id} is not offered by this service; it offers ${brokers.map(row => textOf(row, 'broker')).join(', ')}`)
  const environment = textOf(found, 'environment')
  // The demo sends market orders, and the sandbox's logins do not work at a real broker.
  if (environment !== 'sandbox')
    throw new Error(
      `${id} is connected to its ${environment} accounts, and the demo sends market orders, so it runs only in the sandbox. For a paper account use: npm run test:live -- ${id}`
    )
  if (textOf(found, 'login') !== 'oauth')
    throw new Error(
      `${id} needs API keys from its users in this service, but the demo logs in as a customer of the sandbox: start the service without TRUNKLINE_${id}_API_KEYS`
    )
  return {
    id,
    name: textOf(found, 'name'),
    environment,
    timesInForce: stringsOf(recordOf(found.times_in_force).STK),
    canModify: textOf(found, 'replace') !== 'none',
    hasTransactions: found.transactions === true,
    channels: stringsOf(recordOf(found.market_data).channels)
  }
}

/** The account that the demo trades in: a margin account, else the first. */
export function tradingAccount(accounts: Awaited<ReturnType<Client['list']>>): string {
  const account = accounts.find(row => textOf(row, 'account_type').toLowerCase() === 'margin') ?? accounts[0]
  if (account === undefined) throw new Error('the connection has no account to trade in')
  return textOf(account, 'account_id')
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
