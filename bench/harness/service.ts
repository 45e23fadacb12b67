import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Platform, recordOf, textOf } from '../../packages/server/src/demo/client.ts'
import { createDatabase, startPostgres } from '../../packages/testkit/src/postgres/index.ts'
import { type Program, scratch, startProgram } from './processes.ts'

export type Engine = 'postgres' | 'embedded'
export const ENGINES: readonly Engine[] = ['postgres', 'embedded']

/** The service as a program, on a separate database, and the platform created at its first start. */
export interface RunningService extends AsyncDisposable {
  readonly engine: Engine
  readonly service: Program
  readonly platform: Platform
  readonly dataDir: string
  /** Null on the embedded engine. */
  readonly databaseUrl: string | null
}

export interface ServiceOptions {
  /** The brokerage for SANDBOX. */
  readonly sandboxUrl: string
  readonly sandboxSecret: string
  /** Node's flags. */
  readonly flags?: readonly string[]
  /** The data of an earlier start, to continue with; by default the service has new data. */
  readonly home?: ServiceHome
  /** Settings besides those of every bench, or instead of them. */
  readonly env?: Readonly<Record<string, string>>
}

/** The remains of a service that ended. */
export interface ServiceHome extends AsyncDisposable {
  readonly dataDir: string
  /** Null on the embedded engine. */
  readonly databaseUrl: string | null
}

/** Rates far above those of a benchmark: the limits are not measured. */
const UNLIMITED = {
  TRUNKLINE_RATE_LIMIT_PLATFORM: '1000000',
  TRUNKLINE_RATE_LIMIT_USER: '1000000',
  TRUNKLINE_MARKET_SESSIONS_PER_USER: '10000',
  TRUNKLINE_MARKET_SESSIONS_PER_ADDRESS: '10000',
  TRUNKLINE_MARKET_PLATFORM_PERCENT: '100',
  TRUNKLINE_ACCESS_LOG: 'none',
  TRUNKLINE_LOG_LEVEL: 'warn'
}

export async function openHome(engine: Engine): Promise<ServiceHome> {
  await using undone = new AsyncDisposableStack()
  const { path: dataDir } = undone.use(scratch())
  const databaseUrl = engine === 'postgres' ? await freshDatabase(undone) : null
  const parts = undone.move()
  return { dataDir, databaseUrl, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

export async function startService(engine: Engine, options: ServiceOptions): Promise<RunningService> {
  const { sandboxUrl, sandboxSecret, flags = [], home } = options
  await using undone = new AsyncDisposableStack()
  const { dataDir, databaseUrl } = home ?? undone.use(await openHome(engine))
  const env = {
    ...UNLIMITED,
    TRUNKLINE_PORT: '0',
    TRUNKLINE_DATA_DIR: dataDir,
    TRUNKLINE_SANDBOX_URL: sandboxUrl,
    TRUNKLINE_SANDBOX_CLIENT_SECRET: sandboxSecret,
    TRUNKLINE_LOG_FILE: join(dataDir, 'trunkline.log'),
    ...(databaseUrl === null ? {} : { TRUNKLINE_DATABASE_URL: databaseUrl }),
    ...options.env
  }
  const service = undone.use(await startProgram('packages/server/src/main.ts', 'Trunkline is ready', env, flags))
  const demo = recordOf(JSON.parse(readFileSync(join(dataDir, 'demo-platform.json'), 'utf8')))
  const platform = { baseUrl: textOf(demo, 'base_url'), clientId: textOf(demo, 'client_id'), clientSecret: textOf(demo, 'client_secret') }
  const parts = undone.move()
  return { engine, service, platform, dataDir, databaseUrl, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

async function freshDatabase(parts: AsyncDisposableStack): Promise<string> {
  const server = parts.use(await startPostgres())
  return (await createDatabase(server.url)).url
}
