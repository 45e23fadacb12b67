import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Platform, recordOf, textOf } from '../../packages/server/src/demo/client.ts'
import { createDatabase, startPostgres } from '../../packages/testkit/src/postgres/index.ts'
import { type Program, scratch, startProgram } from './processes.ts'

export type Engine = 'postgres' | 'embedded'
export const ENGINES: readonly Engine[] = ['postgres', 'embedded']

/** The service as a program, on a database of its own, and the platform it made at its first start. */
export interface RunningService extends AsyncDisposable {
  readonly engine: Engine
  readonly service: Program
  readonly platform: Platform
  readonly dataDir: string
  /** Null on the embedded engine. */
  readonly databaseUrl: string | null
}

export interface ServiceOptions {
  /** The brokerage that SANDBOX is. */
  readonly houseUrl: string
  readonly houseSecret: string
  /** Node's own. */
  readonly flags?: readonly string[]
}

/** Rates far above what a benchmark asks for: limits are not what is measured. */
const UNLIMITED = {
  TRUNKLINE_RATE_LIMIT_PLATFORM: '1000000',
  TRUNKLINE_RATE_LIMIT_USER: '1000000',
  TRUNKLINE_MARKET_SESSIONS_PER_USER: '10000',
  TRUNKLINE_MARKET_SESSIONS_PER_ADDRESS: '10000',
  TRUNKLINE_MARKET_PLATFORM_PERCENT: '100',
  TRUNKLINE_ACCESS_LOG: 'none',
  TRUNKLINE_LOG_LEVEL: 'warn'
}

export async function startService(engine: Engine, { houseUrl, houseSecret, flags = [] }: ServiceOptions): Promise<RunningService> {
  await using undone = new AsyncDisposableStack()
  const { path } = undone.use(scratch())
  const url = engine === 'postgres' ? await freshDatabase(undone) : null
  const env = {
    ...UNLIMITED,
    TRUNKLINE_PORT: '0',
    TRUNKLINE_DATA_DIR: path,
    TRUNKLINE_SANDBOX_URL: houseUrl,
    TRUNKLINE_SANDBOX_CLIENT_SECRET: houseSecret,
    TRUNKLINE_LOG_FILE: join(path, 'trunkline.log'),
    ...(url === null ? {} : { TRUNKLINE_DATABASE_URL: url })
  }
  const service = undone.use(await startProgram('packages/server/src/main.ts', 'Trunkline is ready', env, flags))
  const demo = recordOf(JSON.parse(readFileSync(join(path, 'demo-platform.json'), 'utf8')))
  const platform = { baseUrl: textOf(demo, 'base_url'), clientId: textOf(demo, 'client_id'), clientSecret: textOf(demo, 'client_secret') }
  const parts = undone.move()
  return { engine, service, platform, dataDir: path, databaseUrl: url, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

async function freshDatabase(parts: AsyncDisposableStack): Promise<string> {
  const server = parts.use(await startPostgres())
  return (await createDatabase(server.url)).url
}
