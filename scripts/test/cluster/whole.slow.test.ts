// `npm run cluster` as a whole: real PostgreSQL, NATS, sandbox and nodes, a failover by command, and a start over the same data.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findNatsServer, NATS_VARIABLE } from '@trunkline/testkit/nats/program'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { temporaryFolder, unprivilegedUser } from '@trunkline/testkit/postgres/binaries'
import { INHERITED } from '@trunkline/testkit/short-lived'
import { until } from '@trunkline/testkit/until'
import { portsOf } from '../../cluster/options.ts'
import { assertFree } from '../../cluster/ports-free.ts'
import { freePort } from './stage.ts'

const MAIN = resolve(import.meta.dirname, '..', '..', 'cluster', 'main.ts')
const CLI = resolve(import.meta.dirname, '..', '..', '..', 'packages', 'server', 'src', 'cli.ts')
const NODES = 3

interface Cluster {
  readonly url: string
  readonly output: () => string
  /** Sends a command and waits for a line. */
  command(line: string, answer: RegExp): Promise<void>
  /** Ctrl-C; resolves to the exit code. */
  stop(): Promise<number | null>
}

/** A port with free ones above it. Below those that systems give to connections, which other tests may get meanwhile. */
async function freePorts(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = 10_000 + ((await freePort()) % 20_000)
    const isFree = await assertFree(portsOf({ port, nodes: NODES })).then(
      () => true,
      () => false
    )
    if (isFree) return port
  }
  throw new Error('no free ports were found')
}

async function start(t: TestContext, port: number, dataDir: string): Promise<Cluster> {
  const args = [MAIN, '--nodes', String(NODES), '--port', String(port), '--data-dir', dataDir]
  const child = spawn(process.execPath, args, {
    env: { ...INHERITED, [NATS_VARIABLE]: findNatsServer() ?? '' },
    stdio: ['pipe', 'pipe', 'pipe']
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const exited = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const waitFor = (pattern: RegExp) =>
    until(() => {
      assert.equal(child.exitCode, null, output)
      return pattern.test(output)
    }, `it printed ${pattern}`)
  await waitFor(/^Commands: status/m)
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    command: async (line, answer) => {
      child.stdin.write(`${line}\n`)
      await waitFor(answer)
    },
    stop: async () => {
      child.kill('SIGINT')
      const [code] = await exited
      return code
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a cluster starts, serves through the balancer, outlives a node, ends everything, and starts again over its data', async t => {
  const dataDir = mkdtempSync(join(temporaryFolder(unprivilegedUser()), 'trunkline-cluster-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  // PostgreSQL runs as another user than root.
  chmodSync(dataDir, 0o711)
  const port = await freePorts()
  const demo = () => JSON.parse(readFileSync(join(dataDir, 'demo-platform.json'), 'utf8'))
  const brokers = async (url: string) => {
    const { client_id: id, client_secret: secret } = demo()
    // On a connection of its own.
    const request = get(`${url}/brokers`, { headers: { 'client-id': id, 'client-secret': secret }, agent: false })
    const [response] = await once(request, 'response')
    response.resume()
    return response.statusCode
  }

  const first = await start(t, port, dataDir)
  assert.match(first.output(), /Trunkline is ready at http:\/\/127\.0\.0\.1:\d+ /)
  assert.ok(!first.output().includes(demo().client_secret), 'no secret is printed where no terminal is')
  assert.equal(demo().base_url, first.url)
  assert.ok(demo().sandbox_logins.length > 0)
  assert.equal(await brokers(first.url), 200)
  assert.ok(first.output().includes(`npm run demo -- --data-dir ${dataDir}`), first.output())
  const cli = `. ${join(dataDir, 'settings.sh')}; exec "${process.execPath}" "${CLI}" cluster nodes`
  assert.equal(execFileSync('/bin/sh', ['-c', cli], { encoding: 'utf8', env: INHERITED }).match(/ living$/gm)?.length, NODES)
  assert.doesNotMatch(readFileSync(join(dataDir, 'logs', 'node-1.log'), 'utf8'), /"route":"\/readyz","status":200/)
  await first.command('status', new RegExp(`^node ${NODES} +ready +\\d+ .* ready, \\d+ connections$`, 'm'))
  const again = spawnSync(process.execPath, [MAIN, '--data-dir', dataDir, '--port', '1'], { encoding: 'utf8', env: INHERITED })
  assert.match(again.stderr, new RegExp(`a cluster runs in ${dataDir} already \\(process \\d+, at ${first.url}\\)`))
  assert.equal(again.status, 1)
  const pids = [...first.output().matchAll(/^(?:PostgreSQL|NATS|the sandbox|node \d) +ready +(\d+) /gm)].map(([, pid]) => Number(pid))
  assert.ok(pids.length >= 3 + NODES && pids.every(isRunning))
  await first.command('kill 1', /^node 1 was killed\./m)
  // What cannot connect to the dead node is connected to another.
  for (let count = 0; count < NODES; count++) assert.equal(await brokers(first.url), 200)
  await first.command('start 1', /^node 1 is ready after [\d.]+ s\.$/m)
  await first.command('pause 2', /^node 2 is paused\./m)
  const isSilent = async () => {
    await first.command('status', /./)
    return /^node 2 +paused .* silent, 0 connections$/m.test(first.output())
  }
  await until(isSilent, 'the balancer has noticed that node 2 is silent', PATIENCE_MS, 500)
  // Its lease has ended meanwhile: it may do nothing more, and its supervisor starts it again.
  await first.command('start 2', /^node 2 ended by itself \(exit code 69;/m)
  await first.command('', /^node 2 is ready after [\d.]+ s\.$/m)
  await first.command('drain 3', /^node 3 gives its users to the other nodes now/m)
  const drained = () => execFileSync('/bin/sh', ['-c', cli], { encoding: 'utf8', env: INHERITED })
  await until(() => / 0 +- +draining$/m.test(drained()), 'node 3 has no users')
  await first.command('stop 3', /^node 3 ended gracefully/m)
  assert.equal(await brokers(first.url), 200)
  assert.equal(await first.stop(), 0, first.output())
  assert.deepEqual(pids.filter(isRunning), [])
  const { client_id: before } = demo()

  const second = await start(t, port, dataDir)
  assert.equal(demo().client_id, before)
  assert.equal(await brokers(second.url), 200)
  assert.equal(await second.stop(), 0, second.output())
})
