/** The sandbox's settings: one table gives the environment names, the defaults, the checks and what `--help` prints. */

import { parseMarketSetting } from './market/setting.ts'

/** The settings of the sandbox. Times in milliseconds unless the name says otherwise. */
export interface SandboxConfig {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** 0 picks a free port. Always bound to 127.0.0.1. */
  readonly controlPort: number
  /** The origin browsers and clients see, without a trailing slash; null: the address listened on. */
  readonly publicUrl: string | null
  /** `synthetic`, or `replay:<folder>` with recorded data in the LEAN format; `market/setting.ts` says what may follow. */
  readonly market: string
  /** `always`: the share market never closes. `exchange`: real hours. */
  readonly calendar: 'always' | 'exchange'
  /** Sandbox time per real time in a replay that does not say it itself. */
  readonly speed: number
  /** Any text: the same seed gives the same customers and the same synthetic prices. */
  readonly seed: string
  /** Where state and grants are stored; null: in memory only. */
  readonly dataDir: string | null
  readonly clientId: string
  /** null: the sandbox makes one up. */
  readonly clientSecret: string | null
  /** Exact redirect addresses; on loopback hosts the port may differ. */
  readonly redirectUris: readonly string[]
  readonly accessTtlS: number
  readonly refreshGraceMs: number
  readonly heartbeatMs: number
  /** The sandbox ends when this process does. */
  readonly parentPid: number | null
  /** The sandbox ends when its standard input is closed. */
  readonly endWithStdin: boolean
}

interface Setting<T> {
  readonly env: string
  readonly fallback: () => T
  readonly parse: (text: string) => T
  readonly about: string
}

type Settings = { readonly [Key in keyof SandboxConfig]: Setting<SandboxConfig[Key]> }

/** Between heartbeats of the sandbox's own streams. */
export const DEFAULT_HEARTBEAT_MS = 5_000

const LOOPBACK_CALLBACKS = ['127.0.0.1', 'localhost', '[::1]'].map(host => `http://${host}/connect/callback/sandbox`)

const SETTINGS: Settings = {
  host: { env: 'SANDBOX_HOST', fallback: () => '127.0.0.1', parse: text => text, about: 'listen address of the public port' },
  port: {
    env: 'SANDBOX_PORT',
    fallback: () => 8090,
    parse: integer(0, 65_535),
    about: 'public port (0: any free one, as for the sandbox beside the service)'
  },
  controlPort: {
    env: 'SANDBOX_CONTROL_PORT',
    fallback: () => 0,
    parse: integer(0, 65_535),
    about: 'control port, loopback only (0: any free one)'
  },
  publicUrl: {
    env: 'SANDBOX_PUBLIC_URL',
    fallback: () => null,
    parse: origin,
    about: 'the address that browsers see, if it is not the listen address'
  },
  market: {
    env: 'SANDBOX_MARKET',
    fallback: () => 'synthetic',
    parse: marketName,
    about: 'source of prices: synthetic, or replay:FOLDER?date=…&at=…&speed=… with recorded data'
  },
  calendar: {
    env: 'SANDBOX_CALENDAR',
    fallback: () => 'always',
    parse: calendarName,
    about: 'when the share market is open: always, or exchange for real hours'
  },
  speed: {
    env: 'SANDBOX_SPEED',
    fallback: () => 1,
    parse: integer(1, 100_000),
    about: 'how many times faster than real time a replay runs'
  },
  seed: { env: 'SANDBOX_SEED', fallback: () => 'practice', parse: text => text, about: 'determines prices, customers and their passwords' },
  dataDir: {
    env: 'SANDBOX_DATA_DIR',
    fallback: () => null,
    parse: text => text,
    about: 'where state and grants are stored; empty: in memory'
  },
  clientId: { env: 'SANDBOX_CLIENT_ID', fallback: () => 'trunkline', parse: text => text, about: 'the registered OAuth client' },
  clientSecret: {
    env: 'SANDBOX_CLIENT_SECRET',
    fallback: () => null,
    parse: secret,
    about: 'secret of the OAuth client; empty: a new one at every start'
  },
  redirectUris: {
    env: 'SANDBOX_REDIRECT_URIS',
    fallback: () => LOOPBACK_CALLBACKS,
    parse: redirects,
    about: 'redirect addresses of the OAuth client, comma-separated; on loopback hosts any port'
  },
  accessTtlS: { env: 'SANDBOX_ACCESS_TTL_S', fallback: () => 600, parse: integer(1, 86_400), about: 'life of an access token in seconds' },
  refreshGraceMs: {
    env: 'SANDBOX_REFRESH_GRACE_MS',
    fallback: () => 0,
    parse: integer(0, 3_600_000),
    about: 'how long a rotated refresh token still works, in milliseconds'
  },
  heartbeatMs: {
    env: 'SANDBOX_HEARTBEAT_MS',
    fallback: () => DEFAULT_HEARTBEAT_MS,
    parse: integer(50, 60_000),
    about:
      'time between heartbeats of a stream, in milliseconds; a value other than the default applies to dialects too, instead of their broker’s own'
  },
  parentPid: {
    env: 'SANDBOX_PARENT_PID',
    fallback: () => null,
    parse: integer(1, 2_147_483_647),
    about: 'id of a process; the sandbox ends when that process has ended'
  },
  endWithStdin: {
    env: 'SANDBOX_END_WITH_STDIN',
    fallback: () => false,
    parse: flag,
    about: '1: the sandbox ends when standard input closes'
  }
}

/** Every setting for customers to read: its default as its text would be written, empty where there is none. */
export const SETTING_ROWS: readonly { readonly env: string; readonly fallback: string; readonly about: string }[] = Object.values(
  SETTINGS
).map(({ env, fallback, about }) => ({ env, fallback: textOf(fallback()), about }))

/** Every setting, by its name in the environment. */
export const SETTING_NAMES: readonly string[] = SETTING_ROWS.map(({ env }) => env)

/** One line per setting, for customers. */
export function settingsHelp(): string {
  return SETTING_ROWS.map(({ env, about }) => `  ${env.padEnd(26)} ${about}`).join('\n')
}

function textOf(value: SandboxConfig[keyof SandboxConfig]): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return value === null ? '' : String(value)
}

/** A whole configuration from parts: what is left out has its default, with any free ports. */
export function sandboxConfig(parts: Partial<SandboxConfig> = {}): SandboxConfig {
  return { ...readConfig({}), port: 0, ...parts }
}

/** One setting that is wrong. The message goes on where its name ends: "must be …". */
export interface ConfigFault {
  readonly env: string
  readonly message: string
}

/** @throws Error naming every setting that is wrong, all at once. Empty texts count as absent. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): SandboxConfig {
  const { config, faults } = inspectConfig(env)
  if (faults.length > 0)
    throw new Error(`the sandbox's settings are wrong:\n${faults.map(fault => `  ${fault.env} ${fault.message}`).join('\n')}`)
  return config
}

/** The folder of recorded data that is played; null: prices are synthetic. */
export function recordedFolder({ market }: SandboxConfig): string | null {
  const setting = parseMarketSetting(market)
  return setting.kind === 'replay' ? setting.folder : null
}

/** The configuration with defaults where a setting is wrong, and everything that is. */
export function inspectConfig(env: Readonly<Record<string, string | undefined>>): {
  readonly config: SandboxConfig
  readonly faults: readonly ConfigFault[]
} {
  const faults: ConfigFault[] = []
  function read<T>(setting: Setting<T>): T {
    const text = env[setting.env]
    if (text === undefined || text === '') return setting.fallback()
    try {
      return setting.parse(text)
    } catch (error) {
      faults.push({ env: setting.env, message: error instanceof Error ? error.message : String(error) })
      return setting.fallback()
    }
  }
  const config: SandboxConfig = {
    host: read(SETTINGS.host),
    port: read(SETTINGS.port),
    controlPort: read(SETTINGS.controlPort),
    publicUrl: read(SETTINGS.publicUrl),
    market: read(SETTINGS.market),
    calendar: read(SETTINGS.calendar),
    speed: read(SETTINGS.speed),
    seed: read(SETTINGS.seed),
    dataDir: read(SETTINGS.dataDir),
    clientId: read(SETTINGS.clientId),
    clientSecret: read(SETTINGS.clientSecret),
    redirectUris: read(SETTINGS.redirectUris),
    accessTtlS: read(SETTINGS.accessTtlS),
    refreshGraceMs: read(SETTINGS.refreshGraceMs),
    heartbeatMs: read(SETTINGS.heartbeatMs),
    parentPid: read(SETTINGS.parentPid),
    endWithStdin: read(SETTINGS.endWithStdin)
  }
  return { config, faults }
}

function integer(least: number, most: number): (text: string) => number {
  return text => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new Error(`must be a whole number from ${least} to ${most}, was ${JSON.stringify(text)}`)
  }
}

function origin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '') return url.origin
  throw new Error(`must be an http or https origin such as https://sandbox.example.com, was ${JSON.stringify(text)}`)
}

function marketName(text: string): string {
  try {
    parseMarketSetting(text)
    return text
  } catch (cause) {
    throw new Error(`is not understood: ${cause instanceof Error ? cause.message : 'invalid'}`)
  }
}

function calendarName(text: string): 'always' | 'exchange' {
  if (text === 'always' || text === 'exchange') return text
  throw new Error(`must be always or exchange, was ${JSON.stringify(text)}`)
}

function secret(text: string): string {
  if (/^[\x21-\x7e]{16,256}$/.test(text)) return text
  throw new Error('must be 16 to 256 printable characters without spaces')
}

function redirects(text: string): readonly string[] {
  const uris = text.split(',').map(uri => uri.trim())
  for (const uri of uris) {
    const url = URL.canParse(uri) ? new URL(uri) : null
    if (url === null || !/^https?:$/.test(url.protocol) || url.hash !== '')
      throw new Error(`must be absolute http or https addresses without a fragment, found ${JSON.stringify(uri)}`)
  }
  return uris
}

function flag(text: string): boolean {
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new Error(`must be 1 or 0, was ${JSON.stringify(text)}`)
}
