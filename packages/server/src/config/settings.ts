import type { Offer } from '@trunkline/brokers/registry'
import { BROKER_SETTINGS, readOffers } from './broker-settings.ts'
import { CLUSTER_SETTINGS, clusterFaults } from './cluster-settings.ts'
import { OIDC_SETTINGS, oidcFaults } from './oidc-settings.ts'
import {
  brokerNames,
  flag,
  inspectSettings,
  integer,
  networks,
  numericNetworks,
  oneOf,
  optionalDatabaseUrl,
  optionalInteger,
  optionalOrigin,
  optionalText,
  optionalToken,
  origins,
  type Read,
  type SettingFault,
  SettingsInvalid,
  type Table,
  text
} from './setting.ts'

/** Every setting of the service except those of brokers: type, default, environment name, description, and whether it is secret. */
export const SETTINGS = {
  host: { group: 'Serving', env: 'TRUNKLINE_HOST', parse: text, fallback: '127.0.0.1', about: 'Address to listen on.' },
  port: {
    group: 'Serving',
    env: 'TRUNKLINE_PORT',
    parse: integer(0, 65_535),
    fallback: '8080',
    about: 'Port to listen on; `0` picks a free one.'
  },
  metricsPort: {
    group: 'Serving',
    env: 'TRUNKLINE_METRICS_PORT',
    parse: optionalInteger(0, 65_535),
    fallback: '',
    about:
      'Serves `/metrics` on this port of the loopback interface without a token, and no longer on the public port. Empty: on the public port, with the token.'
  },
  metricsToken: {
    group: 'Serving',
    env: 'TRUNKLINE_METRICS_TOKEN',
    parse: optionalToken,
    fallback: '',
    about:
      'Token for `/metrics` on the public port, sent as `Authorization: Bearer …`; without it the answer is 404. Empty: generated at the first start and stored in `metrics-token` in the data directory.',
    secret: true
  },
  publicUrl: {
    group: 'Serving',
    env: 'TRUNKLINE_PUBLIC_URL',
    parse: optionalOrigin,
    fallback: '',
    about: 'Origin at which platforms and browsers reach the service, used in links and redirects. Empty: the listen address.'
  },
  trustedProxies: {
    group: 'Serving',
    env: 'TRUNKLINE_TRUSTED_PROXIES',
    parse: networks,
    fallback: '',
    about: 'Comma-separated addresses or networks whose `X-Forwarded-For` is trusted.'
  },
  dataDir: {
    group: 'Storage',
    env: 'TRUNKLINE_DATA_DIR',
    parse: text,
    fallback: '.data',
    about: 'Directory of the embedded database, generated keys and the sandbox’s state.'
  },
  databaseUrl: {
    group: 'Storage',
    env: 'TRUNKLINE_DATABASE_URL',
    parse: optionalDatabaseUrl,
    fallback: '',
    about: 'PostgreSQL to use. Empty: the embedded database in the data directory.',
    secret: true
  },
  databaseOwnerUrl: {
    group: 'Storage',
    env: 'TRUNKLINE_DATABASE_OWNER_URL',
    parse: optionalDatabaseUrl,
    fallback: '',
    about:
      'The same PostgreSQL database with the role that owns its schema, used for migrations only. The role of `TRUNKLINE_DATABASE_URL` is then granted only what the service needs: it cannot change the audit log. Preferably set for `database migrate` only.',
    secret: true
  },
  databasePoolMax: {
    group: 'Storage',
    env: 'TRUNKLINE_DATABASE_POOL_MAX',
    parse: integer(2, 200),
    fallback: '10',
    about: 'Most connections to PostgreSQL.'
  },
  databaseWaitSeconds: {
    group: 'Storage',
    env: 'TRUNKLINE_DATABASE_WAIT_SECONDS',
    parse: integer(0, 3_600),
    fallback: '30',
    about: 'How long a start waits for PostgreSQL to come up, or for another process of the service to release it.'
  },
  unsafeDurability: {
    group: 'Storage',
    env: 'TRUNKLINE_ALLOW_UNSAFE_DURABILITY',
    parse: flag,
    fallback: '0',
    about: '`1` allows a PostgreSQL that can lose acknowledged orders in a power cut (fsync, full_page_writes or synchronous_commit off).'
  },
  eventsDays: {
    group: 'Storage',
    env: 'TRUNKLINE_EVENTS_DAYS',
    parse: integer(1, 36_500),
    fallback: '30',
    about:
      'Days for which events are stored, for `GET /events` and for `after` on the broker stream. Older ones are erased; orders, positions and balances stay.'
  },
  masterKeys: {
    group: 'Storage',
    env: 'TRUNKLINE_MASTER_KEYS',
    parse: optionalText,
    fallback: '',
    about:
      'Master keys as `id:base64` (32 bytes each), comma-separated, the current one first. Empty: generated at the first start and stored in `master-keys` in the data directory.',
    secret: true
  },
  masterKeysCommand: {
    group: 'Storage',
    env: 'TRUNKLINE_MASTER_KEYS_COMMAND',
    parse: optionalText,
    fallback: '',
    about:
      'A command that prints master keys in the format of `TRUNKLINE_MASTER_KEYS`, for use with a key management service. It runs once at the start, without a shell, its arguments separated by spaces; it may take 15 seconds and print 64 KiB. Its output is never logged.'
  },
  keysBesideData: {
    group: 'Storage',
    env: 'TRUNKLINE_ALLOW_KEYS_BESIDE_DATA',
    parse: flag,
    fallback: '0',
    about:
      '`1` allows master keys in the data directory although the service serves other machines or live accounts. A stolen copy of that directory then exposes every broker login in it.'
  },
  brokers: {
    group: 'Brokers',
    env: 'TRUNKLINE_BROKERS',
    parse: brokerNames,
    fallback: 'SANDBOX,ALPACA,TRADIER,TRADESTATION',
    about: 'Brokers offered, comma-separated, in the order in which users see them.'
  },
  sandboxUrl: {
    group: 'Brokers',
    env: 'TRUNKLINE_SANDBOX_URL',
    parse: optionalOrigin,
    fallback: '',
    about: 'A sandbox brokerage that is already running. Empty: the service starts one beside itself if an offered broker needs it.'
  },
  sandboxClientId: {
    group: 'Brokers',
    env: 'TRUNKLINE_SANDBOX_CLIENT_ID',
    parse: text,
    fallback: 'trunkline',
    about: 'OAuth client id at the sandbox.'
  },
  sandboxClientSecret: {
    group: 'Brokers',
    env: 'TRUNKLINE_SANDBOX_CLIENT_SECRET',
    parse: optionalText,
    fallback: '',
    about: 'OAuth client secret at the sandbox. Empty: generated for the sandbox that the service starts beside itself.',
    secret: true
  },
  rateLimitPlatform: {
    group: 'Serving',
    env: 'TRUNKLINE_RATE_LIMIT_PLATFORM',
    parse: integer(1, 1_000_000),
    fallback: '2000',
    about:
      'Requests per second of one platform, over all its keys; twice that in a burst. The last quarter is reserved for keys that use little.'
  },
  rateLimitUser: {
    group: 'Serving',
    env: 'TRUNKLINE_RATE_LIMIT_USER',
    parse: integer(1, 1_000_000),
    fallback: '200',
    about: 'Requests per second of one user; twice that in a burst.'
  },
  connectionsMax: {
    group: 'Serving',
    env: 'TRUNKLINE_CONNECTIONS_MAX',
    parse: integer(16, 1_000_000),
    fallback: '15000',
    about:
      'Most TCP connections at once, WebSockets included; at most half of the process’s limit of open files. Beyond it, a connection without a request, or an idle keep-alive connection, is closed.'
  },
  marketSessionsMax: {
    group: 'Serving',
    env: 'TRUNKLINE_MARKET_SESSIONS_MAX',
    parse: integer(1, 1_000_000),
    fallback: '10000',
    about:
      'Most authenticated sessions of the market data stream at one node. The last fifth is reserved for platforms that hold less than an equal share.'
  },
  marketSessionsPerUser: {
    group: 'Serving',
    env: 'TRUNKLINE_MARKET_SESSIONS_PER_USER',
    parse: integer(1, 1_000_000),
    fallback: '50',
    about: 'Most sessions of the market data stream for one user, and so for one token.'
  },
  marketSessionsPerAddress: {
    group: 'Serving',
    env: 'TRUNKLINE_MARKET_SESSIONS_PER_ADDRESS',
    parse: integer(1, 1_000_000),
    fallback: '1000',
    about: 'The same from one IPv4 address or IPv6 /64, over all nodes. Raise it where platforms relay the stream for their users.'
  },
  marketPlatformPercent: {
    group: 'Serving',
    env: 'TRUNKLINE_MARKET_PLATFORM_PERCENT',
    parse: integer(1, 100),
    fallback: '50',
    about: 'Largest share of these sessions for one platform, in percent. `100` suits a service with a single platform.'
  },
  streamOrigins: {
    group: 'Serving',
    env: 'TRUNKLINE_STREAM_ORIGINS',
    parse: origins,
    fallback: '',
    about:
      'Comma-separated origins whose web pages may open the broker stream; `*` allows all. Servers send no origin and need none. Empty: only the origin of the public URL.'
  },
  marketOrigins: {
    group: 'Serving',
    env: 'TRUNKLINE_MARKET_ORIGINS',
    parse: origins,
    fallback: '*',
    about: 'The same for the market data stream, which browsers use with their user’s token.'
  },
  webhookNetworks: {
    group: 'Serving',
    env: 'TRUNKLINE_WEBHOOK_NETWORKS',
    parse: numericNetworks,
    fallback: '',
    about:
      'Comma-separated addresses or networks to which webhooks may be sent although they are not public, by `http` too and to every port. Each platform can then reach what is there. Empty: only public addresses, by `https`.'
  },
  answerWithinMs: {
    group: 'Orders and reads',
    env: 'TRUNKLINE_ANSWER_WITHIN_MS',
    parse: integer(10, 60_000),
    fallback: '5000',
    about: 'How long an order request waits for the broker’s answer before it responds with the known state.'
  },
  commandMs: {
    group: 'Orders and reads',
    env: 'TRUNKLINE_COMMAND_MS',
    parse: integer(10, 300_000),
    fallback: '30000',
    about: 'How long a command waits for the broker’s answer before its outcome counts as unknown.'
  },
  absenceSeconds: {
    group: 'Orders and reads',
    env: 'TRUNKLINE_ABSENCE_SECONDS',
    parse: integer(1, 86_400),
    fallback: '60',
    about:
      'How long look-ups must consistently report an order without an answer as absent before it counts as never received, at a broker that finds orders by our id. At other brokers it takes two to five times as long. In a cluster it must be longer than `TRUNKLINE_COMMAND_MS`.'
  },
  freshMs: {
    group: 'Orders and reads',
    env: 'TRUNKLINE_FRESH_MS',
    parse: integer(0, 600_000),
    fallback: '2000',
    about: 'A record that the broker confirmed within this time is fresh enough for a read.'
  },
  ...CLUSTER_SETTINGS,
  ...OIDC_SETTINGS,
  shutdownSeconds: {
    group: 'Running',
    env: 'TRUNKLINE_SHUTDOWN_SECONDS',
    parse: integer(1, 300),
    fallback: '25',
    about: 'How long a shutdown may take before the process is forced to end.'
  },
  logLevel: {
    group: 'Running',
    env: 'TRUNKLINE_LOG_LEVEL',
    parse: oneOf('debug', 'info', 'warn', 'error'),
    fallback: 'info',
    about: 'Lowest log level written: `debug`, `info`, `warn` or `error`.'
  },
  logFile: {
    group: 'Running',
    env: 'TRUNKLINE_LOG_FILE',
    parse: optionalText,
    fallback: '',
    about: 'Log file. Empty: standard output, or `trunkline.log` in the data directory when standard output is a terminal.'
  },
  accessLog: {
    group: 'Running',
    env: 'TRUNKLINE_ACCESS_LOG',
    parse: oneOf('all', 'problems', 'none'),
    fallback: 'all',
    about: 'Which requests are logged: `all`, `none`, or `problems` (refused, failed, or slow: a second or more).'
  },
  docs: {
    group: 'Serving',
    env: 'TRUNKLINE_DOCS',
    parse: flag,
    fallback: '1',
    about: '`1` serves the API reference at `/docs`, `/docs/live`, `/openapi.json` and `/asyncapi.json`.'
  }
} as const satisfies Table

/** Every setting, once. */
export const ALL_SETTINGS: Table = { ...SETTINGS, ...BROKER_SETTINGS }

/** The settings of the service, and the brokers it offers. Settings of brokers are included by their environment names. */
export type Settings = Read<typeof SETTINGS> & { readonly offers: readonly Offer[] }

/** Reads the settings, once, in `main`. @throws SettingsInvalid with every fault at once. */
export function settingsOf(env: Readonly<Record<string, string | undefined>>): Settings {
  const { values, faults } = inspectEnvironment(env)
  if (faults.length > 0) throw new SettingsInvalid(faults)
  // Without a fault every key is present.
  return values as Settings
}

/** The settings as far as they can be read, with every fault. */
export function inspectEnvironment(env: Readonly<Record<string, string | undefined>>): {
  readonly values: Partial<Settings>
  readonly faults: readonly SettingFault[]
} {
  const own = inspectSettings(SETTINGS, env)
  const ofBrokers = inspectSettings(BROKER_SETTINGS, env)
  const { offers, faults } = readOffers(own.values.brokers ?? [], ofBrokers.values)
  const together = [...clusterFaults(own.values), ...oidcFaults(own.values)]
  return { values: { ...own.values, ...ofBrokers.values, offers }, faults: [...own.faults, ...together, ...ofBrokers.faults, ...faults] }
}

/** Environment names whose values must never be shown. */
export const SECRET_SETTINGS: readonly string[] = Object.values(ALL_SETTINGS).flatMap(({ secret, env }) => (secret === true ? [env] : []))

/** The settings by all their names, in the environment and in the code. */
export const SECRET_NAMES: readonly string[] = Object.entries(ALL_SETTINGS).flatMap(([name, { secret, env }]) =>
  secret === true ? [name, env] : []
)

/** The values of the secret settings and their revealing parts (a password, a key), for redaction. */
export function secretValuesOf(settings: Settings): readonly string[] {
  const held: Readonly<Record<string, unknown>> = settings
  return Object.entries(ALL_SETTINGS).flatMap(([name, { secret }]) => {
    const value = held[name]
    return secret === true && typeof value === 'string' && value !== '' ? [value, ...partsOf(value)] : []
  })
}

function partsOf(value: string): readonly string[] {
  const items = value.split(/[\s,]+/)
  const keys = items.map(item => item.slice(item.indexOf(':') + 1))
  const passwords = [value, ...items].map(passwordOf)
  return [...passwords, ...passwords.map(safeDecode), ...keys].filter(part => part !== '')
}

/** At NATS a user without a password is a token. */
function passwordOf(text: string): string {
  const url = URL.parse(text)
  if (url === null) return ''
  return url.password === '' && (url.protocol === 'nats:' || url.protocol === 'tls:') ? url.username : url.password
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
