/**
 * A broker's settings, as data. Each adapter has its own table, and decides from the values where to connect: to the broker itself, or to
 * the sandbox that emulates it. The server reads the environment, documents it and protects its secrets, for all brokers.
 */

import type { BrokerId } from '@trunkline/core/domain/ids'
import type { BrokerCapabilities, BrokerDefinition } from '@trunkline/core/ports/broker'
import type { BrokerDeps } from './deps.ts'
import type { MarketHours } from './market-hours.ts'

/** One variable of the environment. */
export interface BrokerSetting {
  /** `TRUNKLINE_<BROKER>_…`. */
  readonly env: string
  readonly about: string
  /** The default, as it would be written in the environment; empty: no value. */
  readonly fallback: string
  /** Allowed values; absent: any text. */
  readonly allowed?: readonly [string, ...string[]]
  /** Never printed, never logged. */
  readonly secret?: true
}

export type BrokerTable = Readonly<Record<string, BrokerSetting>>

/** The values, by the names of the table: one of the allowed values, or a text that may be empty. */
export type SettingValues<T extends BrokerTable> = {
  readonly [Name in keyof T]: T[Name] extends { readonly allowed: readonly (infer Value extends string)[] } ? Value : string
}

/** Host name of the sandbox that the service starts beside itself: its address changes at each start, its accounts do not. */
const LOCAL_HOST = 'local'

/** The host of a {@link BrokerDefinition}. */
export function hostOf(environment: BrokerDefinition['environment'], ordersUrl: string): string {
  return environment === 'sandbox' ? LOCAL_HOST : new URL(ordersUrl).host
}

/** How to reach the sandbox, and our client there. URLs without a trailing slash. */
export interface SandboxAccess {
  /** Its host name; absent: the sandbox that the service started beside itself. */
  readonly host?: string
  readonly url: string
  /** The origin that browsers see. */
  readonly publicUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** When its markets are open. */
  readonly hours: MarketHours
}

/** Where an adapter connects. */
export type Choice<S> =
  | (Destination & { readonly at: 'broker'; readonly settings: S })
  | { readonly at: 'sandbox'; readonly settings: (sandboxAccess: SandboxAccess) => S }

/** The broker's environment, and the URL that orders go to. */
export interface Destination {
  readonly environment: 'paper' | 'live'
  readonly ordersUrl: string
}

/** A table, and the choice that follows from its values. `choose` throws {@link SettingMissing} for inconsistent values. */
export interface BrokerSettings<S, T extends BrokerTable = BrokerTable> {
  readonly table: T
  readonly choose: (values: SettingValues<T>) => Choice<S>
}

/** A broker of the registry before anything is set. */
export interface Adapter {
  readonly capabilities: BrokerCapabilities
  readonly settings: readonly BrokerSetting[]
  /**
   * Where it connects. `textOf` returns the text of a variable, or its default; a text that is not allowed counts as the default.
   * @throws SettingMissing
   */
  offer(textOf: (env: string) => string): Offer
}

/** A broker whose settings are known. */
export type Offer = { readonly id: BrokerId } & (
  | (Destination & { readonly at: 'broker'; open(deps: BrokerDeps): OpenedBroker })
  | { readonly at: 'sandbox'; open(deps: BrokerDeps, sandboxAccess: SandboxAccess): OpenedBroker }
)

export type OpenedBroker = BrokerDefinition & AsyncDisposable

/** A setting that others require or exclude. The message continues the variable's name: "must be set …". */
export class SettingMissing extends Error {
  override readonly name = 'SettingMissing'
  readonly env: string

  constructor(env: string, message: string) {
    super(message)
    this.env = env
  }
}

/** One entry of the registry. */
export function adapter<S, T extends BrokerTable>(
  capabilities: BrokerCapabilities,
  { table, choose }: BrokerSettings<S, T>,
  open: (settings: S, deps: BrokerDeps) => OpenedBroker
): Adapter {
  const { id } = capabilities
  return {
    capabilities,
    settings: Object.values(table),
    offer(textOf) {
      const choice = choose(valuesOf(table, textOf))
      if (choice.at === 'sandbox') return { id, at: 'sandbox', open: (deps, sandboxAccess) => open(choice.settings(sandboxAccess), deps) }
      const { at, environment, ordersUrl, settings } = choice
      return { id, at, environment, ordersUrl, open: deps => open(settings, deps) }
    }
  }
}

type ClientTable = Readonly<Record<'clientId' | 'clientSecret' | 'environment', BrokerSetting>>

/** The two variables of an OAuth client. */
export interface ClientValues {
  readonly clientId: string
  readonly clientSecret: string
}

/** Our client at the broker; null: none, so the sandbox is used. @throws SettingMissing when only half of it is set. */
export function clientOf(table: ClientTable, { clientId, clientSecret }: ClientValues): ClientValues | null {
  if (clientId === '' && clientSecret === '') return null
  if (clientSecret === '') throw new SettingMissing(table.clientSecret.env, `must be set, because ${table.clientId.env} is`)
  if (clientId === '') throw new SettingMissing(table.clientId.env, `must be set, because ${table.clientSecret.env} is`)
  return { clientId, clientSecret }
}

/**
 * For a broker that the sandbox emulates: an environment of the broker itself was set without a client for it.
 * @throws SettingMissing
 */
export function demandNoEnvironment(table: ClientTable, { environment }: { readonly environment: string }): void {
  const { env, fallback } = table.environment
  if (environment === fallback) return
  throw new SettingMissing(
    table.clientId.env,
    `must be set, because ${env} is ${environment}; leave both out, and the sandbox brokerage stands in for the broker`
  )
}

/** What the settings of every broker with an OAuth client have that the sandbox emulates. */
export interface ClientSettings extends ClientValues {
  readonly environment: BrokerDefinition['environment']
  /** REST, with its version. Addresses are without a trailing slash. */
  readonly apiUrl: string
  /** When its markets are open: those of the exchanges, but for a sandbox. */
  readonly hours: MarketHours
  /** Plain `http:` and `ws:` are allowed: the sandbox brokerage runs beside us. */
  readonly plain: boolean
}

/** The variables of the client and of the broker's environment; `id` is that of the broker, `practice` its name of what is not `live`. */
export function clientTable<const Practice extends string>(id: string, name: string, practice: Practice, about: string) {
  const env = `TRUNKLINE_${id}_`
  return {
    clientId: { env: `${env}CLIENT_ID`, fallback: '', about: `OAuth client id at ${name}. Empty: the sandbox brokerage emulates ${name}.` },
    clientSecret: { env: `${env}CLIENT_SECRET`, fallback: '', about: `OAuth client secret at ${name}.`, secret: true },
    environment: { env: `${env}ENV`, fallback: 'live', allowed: ['live', practice], about: `${name}’s environment: ${about}.` }
  } as const satisfies BrokerTable
}

/** The broker itself if there is a client for it, otherwise the sandbox. @throws SettingMissing */
export function clientChoice<Own extends { readonly apiUrl: string }>(
  table: ClientTable,
  values: ClientValues & { readonly environment: string },
  { atBroker, atSandbox }: { readonly atBroker: Own & Pick<Destination, 'environment'>; readonly atSandbox: (access: SandboxAccess) => Own }
): Choice<Own & ClientSettings> {
  const client = clientOf(table, values)
  if (client !== null) {
    const settings = { ...atBroker, ...client, hours: 'exchange', plain: false } as const
    return { at: 'broker', environment: atBroker.environment, ordersUrl: atBroker.apiUrl, settings }
  }
  demandNoEnvironment(table, values)
  return {
    at: 'sandbox',
    settings: access => {
      const { clientId, clientSecret, hours } = access
      return { ...atSandbox(access), ...({ environment: 'sandbox', clientId, clientSecret, hours, plain: true } as const) }
    }
  }
}

/** The address of the same host and path for WebSockets. */
export function webSocketUrl(url: string): string {
  return url.replace(/^http/, 'ws')
}

function valuesOf<T extends BrokerTable>(table: T, textOf: (env: string) => string): SettingValues<T> {
  const values = Object.entries(table).map(([name, { env, allowed, fallback }]) => {
    const text = textOf(env)
    return [name, allowed === undefined || allowed.includes(text) ? text : fallback]
  })
  // Every name of the table has its text, and a setting with allowed values has one of them.
  return Object.fromEntries(values) as SettingValues<T>
}
