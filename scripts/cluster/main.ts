// `npm run cluster`: a whole cluster on this machine, to watch what happens when a node fails.
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { KernelLock } from '@trunkline/files/kernel-lock'
import { watchNpm } from '@trunkline/server/ops/npm-parent'
import { welcome } from '@trunkline/server/ops/welcome'
import { Backends } from './backends.ts'
import { Balancer } from './balancer.ts'
import { type CommandTargets, readCommands, runCommand } from './commands.ts'
import { demoFileOf, shareDemo } from './demo.ts'
import { drainNode } from './draining.ts'
import { assertNoSingleProcess } from './files.ts'
import { startGuard } from './guard.ts'
import { type Layout, layoutOf } from './layout.ts'
import { holdFolder } from './one-run.ts'
import { type Options, optionsOf, portsOf, USAGE } from './options.ts'
import { assertFree } from './ports-free.ts'
import type { Program } from './program.ts'
import { quoted, writeSettings } from './settings-file.ts'
import { statusTable } from './status.ts'
import { Supervisor } from './supervisor.ts'

const began = performance.now()
const isTerminal = process.stdout.isTTY === true
const print = (text: string) => void process.stdout.write(`${text}\n`)

watchNpm(process.env, () => process.kill(process.pid, 'SIGTERM'), 'cluster')
const options = optionsOrExit()
if (options !== null) await run(options)

function optionsOrExit(): Options | null {
  try {
    const parsed = optionsOf(process.argv.slice(2))
    if (parsed === null) process.stdout.write(USAGE)
    return parsed
  } catch (cause) {
    process.stderr.write(`${messageOf(cause)}\n\n${USAGE}`)
    process.exitCode = 2
    return null
  }
}

async function run({ nodes, port, dataDir: folder }: Options): Promise<void> {
  const dataDir = resolve(folder)
  const ports = portsOf({ port, nodes })
  const backends = new Backends(
    ports.nodes.map(({ http }, index) => ({ name: String(index + 1), host: '127.0.0.1', port: http })),
    (name, health) => {
      if (health === 'silent') balancer.closeConnectionsOf(name)
    }
  )
  const balancer = new Balancer(() => backends.candidates())
  let layout: Layout
  let hold: KernelLock
  try {
    assertNoSingleProcess(dataDir)
    mkdirSync(dataDir, { recursive: true })
    hold = holdFolder(dataDir, port)
    await assertFree(ports)
    layout = layoutOf(dataDir, ports, process.env, name => backends.healthOf(name) === 'ready')
  } catch (cause) {
    process.stderr.write(`The cluster did not start: ${messageOf(cause)}\n`)
    process.exitCode = 1
    return
  }
  await serve(layout, { dataDir, port, backends, balancer, hold })
}

interface Site {
  readonly dataDir: string
  readonly port: number
  readonly backends: Backends
  readonly balancer: Balancer
  /** Of the data directory; the kernel ends it with this process, and the collector of memory if nothing refers to it. */
  readonly hold: KernelLock
}

async function serve(layout: Layout, { dataDir, port, backends, balancer, hold }: Site): Promise<void> {
  const guard = startGuard()
  const supervisor = new Supervisor(layout.groups, {
    print,
    began: guard.began,
    ended: (pid, { name }) => {
      guard.ended(pid)
      backends.ended(name)
    }
  })
  const nodes = layout.groups.slice(1).flat()
  const names = new Set(nodes.map(({ name }) => name))
  const traffic = { healthOf: (name: string) => backends.healthOf(name), connectionsOf: (name: string) => balancer.connectionsOf(name) }
  const status = () => statusTable(supervisor.status(), names, traffic)

  const targets: CommandTargets = {
    kill: name => supervisor.kill(name),
    pause: name => supervisor.pause(name),
    stop: name => supervisor.stop(name),
    drain: name => drainNode(name, nodes),
    start: name => supervisor.start(name)
  }

  // Clients are served until the last node has ended, and nodes have what they use until then.
  const stopAll = async () => {
    await Promise.all([supervisor.stopGroup(2), supervisor.stopGroup(1)])
    backends.stop()
    await balancer.stop()
    await supervisor.stopGroup(0)
    guard.stop()
    hold.close()
  }
  let stopping: Promise<void> | null = null
  let closeCommands = () => {}
  const stop = (code: number) => {
    if (stopping !== null) return
    closeCommands()
    stopping = stopAll()
      .then(() => print('Stopped.'))
      .finally(() => process.exit(code))
  }
  onSignals(isSecond => {
    if (isSecond) process.exit(1)
    print('\nStopping the nodes, then the sandbox, NATS and PostgreSQL. Again: at once.')
    stop(0)
  })
  try {
    print(`Starting PostgreSQL, NATS and the sandbox; data and logs are in ${dataDir}.`)
    await supervisor.startGroup(0)
    await layout.database.prepare()
    backends.start()
    await balancer.listen({ host: '127.0.0.1', port })
    print(`Starting ${nodes.length} nodes.`)
    await supervisor.startGroup(1)
    await supervisor.startGroup(2)
    if (stopping !== null) return
    print(`${await page(layout, nodes, dataDir)}\n${status()}\n`)
    closeCommands = readCommands(process.stdin, line => runCommand(line, targets, status), print)
    print('Commands: status, kill 2, pause 2, stop 2, drain 2, start 2; Ctrl-C ends everything.')
  } catch (cause) {
    if (stopping !== null) return
    process.stderr.write(`The cluster did not start: ${messageOf(cause)}\n`)
    stop(1)
  }
}

async function page({ publicUrl, settings, sandbox }: Layout, nodes: readonly Program[], dataDir: string): Promise<string> {
  const demo = shareDemo(dataDir, nodes[0]?.address ?? publicUrl, sandbox.ready())
  const brokers = settings.offers.map(offer => ({ id: offer.id, environment: offer.at === 'sandbox' ? 'sandbox' : offer.environment }))
  const startedInMs = Math.round(performance.now() - began)
  const { path: file } = demoFileOf(dataDir)
  const commands = { onPort9000: 'npm run cluster -- --port 9000', runDemo: `npm run demo -- --data-dir ${quoted(dataDir)}` }
  const first = await welcome({ url: publicUrl, brokers, demo }, { startedInMs, isTerminal, file, ...commands })
  const settingsFile = writeSettings(dataDir, nodes[0]?.env ?? {})
  return `${first}\nThe command line, in another terminal\n  (. ${quoted(settingsFile)}; npm run cli -- cluster nodes)\n`
}

function onSignals(listener: (isSecond: boolean) => void): void {
  let count = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => listener(count++ > 0))
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
