/** The cost of past bars for the whole service: for each query to a newly started process, its processor time and its longest block. */

import { parseArgs } from 'node:util'
import { InvalidOptions } from '../harness/errors.ts'
import { type Figure, Figures } from '../harness/figures.ts'
import { freePort } from '../harness/heap.ts'
import { WITH_USAGE } from '../harness/processes.ts'
import { ENGINES, type Engine, openHome, type RunningService, type ServiceOptions, startService } from '../harness/service.ts'
import { type ConnectedUser, connectedUser, startSandbox } from '../harness/stage.ts'
import { until } from '../harness/wait.ts'
import { Front } from './front.ts'
import { QUERIES, type Query } from './queries.ts'
import { type Access, barsOf, Session } from './reader.ts'

const PROCESSOR_MS_MAX = 500
/** A newly started process is idle when it has used no more than this in an interval. */
const CALM = { everyMs: 400, processorMs: 12 }
const SMALL = { what: 'ten bars', by: 'subscribe', interval: '1m', session: 'BrokerDefault', count: 10 } as const

export async function history(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: { engine: { type: 'string', default: 'postgres' }, only: { type: 'string' }, profile: { type: 'string' } }
  })
  const engine = ENGINES.find(name => name === values.engine)
  if (engine === undefined) throw new InvalidOptions(`--engine takes ${ENGINES.join(' or ')}, not ${values.engine}`)
  const selected = QUERIES.filter(({ what, by }) => values.only === undefined || `${by}: ${what}`.includes(values.only))
  if (selected.length === 0)
    throw new InvalidOptions(`--only takes a part of one of: ${QUERIES.map(({ what, by }) => `${by}: ${what}`).join('; ')}`)
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  const found = new Figures(['Found'])
  const record = (figure: Figure) => found.add('Found', figure)
  await using scene = await openScene(engine, flags)
  for (const query of selected) await scene.cold(async started => record(await costOf(started, query)))
  if (values.only === undefined) await scene.cold(async started => record(await besideOf(started)))
  process.stdout.write(`\n${found.table()}`)
}

interface Started {
  readonly running: RunningService
  readonly access: Access
}

interface Scene extends AsyncDisposable {
  /** Runs this at a newly started service that has read no bars. */
  cold(work: (started: Started) => Promise<void>): Promise<void>
}

async function openScene(engine: Engine, flags: readonly string[]): Promise<Scene> {
  await using undone = new AsyncDisposableStack()
  const front = undone.use(await Front.open())
  const port = await freePort()
  front.leadTo(port)
  // Shares have the exchange's hours, as at any broker.
  const sandbox = undone.use(
    await startSandbox({ SANDBOX_CALENDAR: 'exchange', SANDBOX_PORT: String(port), SANDBOX_PUBLIC_URL: front.url })
  )
  const home = undone.use(await openHome(engine))
  const serviceOptions = { ...sandbox.serviceOptions, sandboxUrl: front.url }
  const user = await userOf(engine, sandbox.controlUrl, { ...serviceOptions, home })
  await front.lookBack(await tokenAt(sandbox.controlUrl, user.username))
  const parts = undone.move()
  return {
    async cold(work) {
      await using running = await startService(engine, { ...serviceOptions, home, flags: [...flags, ...WITH_USAGE] })
      await work({ running, access: await accessOf(running, user) })
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync()
  }
}

async function userOf(engine: Engine, controlUrl: string, options: ServiceOptions): Promise<ConnectedUser> {
  await using running = await startService(engine, options)
  return await connectedUser(running.platform, controlUrl)
}

async function tokenAt(controlUrl: string, username: string): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const made = await fetch(`${controlUrl}/logins/${username}/token`, init)
  return String(Object(await made.json()).access_token)
}

async function accessOf({ platform: { baseUrl } }: RunningService, { headers }: ConnectedUser): Promise<Access> {
  const read = async (path: string) => Object(await fetch(baseUrl + path, { headers }).then(answer => answer.json()))
  const [connection] = await read('/connections')
  const connectionId = String(connection.connection_id)
  const { access_token: token } = await read(`/connections/${connectionId}/token`)
  return { baseUrl, connectionId, headers, token: String(token) }
}

async function calm({ service }: RunningService): Promise<void> {
  await service.usage()
  let last = 0
  await until('the service is idle', 60, async () => {
    const now = performance.now()
    if (now - last < CALM.everyMs) return false
    last = now
    return (await service.usage()).processorMs <= CALM.processorMs
  })
}

async function costOf({ running, access }: Started, query: Query): Promise<Figure> {
  await calm(running)
  const bars = await barsOf(access, query)
  const { processorMs, blockedMs } = await running.service.usage()
  return {
    what: `${query.by}: ${query.what}`,
    found: `${processorMs.toFixed(0)} ms of processor, event loop blocked for at most ${blockedMs.toFixed(0)} ms (${bars} bars)`,
    target: `at most ${PROCESSOR_MS_MAX} ms`,
    reached: processorMs <= PROCESSOR_MS_MAX
  }
}

/** A small subscription alone, and directly after the most expensive one of the same session. */
async function besideOf({ running, access }: Started): Promise<Figure> {
  await calm(running)
  using session = await Session.open(access)
  const small = async () => {
    const began = performance.now()
    await session.bars(SMALL)
    return performance.now() - began
  }
  await small()
  const alone = await small()
  const dear = QUERIES.find(({ by, interval }) => by === 'subscribe' && interval === '4m')
  if (dear === undefined || dear.by === 'REST') throw new Error('the query is missing')
  const began = performance.now()
  const whole = session.bars(dear).then(() => performance.now() - began)
  const beside = await small()
  return {
    what: 'ten bars, alone → directly after the most expensive of the same session',
    found: `${alone.toFixed(0)} → ${beside.toFixed(0)} ms (the most expensive took ${(await whole).toFixed(0)} ms)`,
    target: '',
    reached: null
  }
}
