// An installation as `deploy/compose.yaml` describes it, without its containers: its secrets, its roles, its migration, a node with its
// settings.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { NatsServer } from '@trunkline/testkit/nats/index'
import { startPostgres } from '@trunkline/testkit/postgres/index'
import { INHERITED } from '@trunkline/testkit/short-lived'
import { until } from '@trunkline/testkit/until'
import { Client } from 'pg'
import { parse } from 'yaml'
import { freePort } from './stage.ts'

const ROOT = resolve(import.meta.dirname, '..', '..', '..')
const IMAGE = join(ROOT, 'deploy', 'image')
const compose = parse(readFileSync(join(ROOT, 'deploy', 'compose.yaml'), 'utf8'), { merge: true })

type Environment = Readonly<Record<string, string | undefined>>

/** The environment of a service of compose.yaml, with files of `folder` in place of mounted ones. */
function environmentOf(service: string, folder: string): Environment {
  const entries = Object.entries<string>(compose.services[service].environment).map(([name, value]) => [
    name,
    value.replace('/run/secrets/', `${folder}/`).replaceAll(/\$\{(\w+):[^}]*\}/g, (_, variable) => CHOSEN[variable] ?? '')
  ])
  return { ...INHERITED, ...Object.fromEntries(entries), NODE_OPTIONS: `--import=${join(IMAGE, 'secret-files.mjs')}` }
}

const CHOSEN: Readonly<Record<string, string>> = {
  DOMAIN: 'trading.example.com',
  BROKERS: 'ALPACA',
  ALPACA_CLIENT_ID: 'a-client',
  ALPACA_ENV: 'paper'
}

/** Runs the statements of `roles.sh`, which psql would read. */
async function makeRoles(url: string, folder: string): Promise<void> {
  const [, script = ''] = /<<'SQL'\n([\s\S]*)\nSQL/.exec(readFileSync(join(ROOT, 'deploy/postgres/roles.sh'), 'utf8')) ?? []
  const secrets = new Map(
    [...script.matchAll(/^\\set (\w+) `cat \/run\/secrets\/([\w-]+)`$/gm)].map(([, name, file = '']) => [
      name,
      readFileSync(join(folder, file), 'utf8')
    ])
  )
  const statements = script.replaceAll(/^\\set.*$/gm, '').replaceAll(/:'(\w+)'/g, (_, name) => `'${secrets.get(name)?.trim()}'`)
  const client = new Client({ connectionString: url })
  await client.connect()
  // One by one: a database is not made inside a transaction.
  for (const statement of statements.split(';').filter(text => text.trim() !== '')) await client.query(statement)
  await client.end()
}

function secretsIn(folder: string, host: string): void {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'deploy/make-secrets.mjs'), folder], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  for (const name of ['database-url', 'database-owner-url']) replace(join(folder, name), text => text.replace('@postgres/', `@${host}/`))
  replace(join(folder, 'alpaca-client-secret'), () => 'a-secret\n')
}

/** With the configuration that NATS has in its container, except for the ports. */
async function startNats(folder: string): Promise<NatsServer> {
  replace(join(folder, 'nats.conf'), text => text.replace(/^listen.*$/m, '').replace(/^http.*$/m, ''))
  const server = await NatsServer.start(['--config', join(folder, 'nats.conf')])
  replace(join(folder, 'nats-url'), text => text.replace('@nats:4222', `@127.0.0.1:${server.port}`))
  return server
}

/** They are read-only. */
function replace(file: string, edit: (text: string) => string): void {
  const text = edit(readFileSync(file, 'utf8'))
  rmSync(file)
  writeFileSync(file, text)
}

async function startNode(t: TestContext, env: Environment): Promise<{ output: () => string; stop: () => Promise<number | null> }> {
  const [program] = JSON.parse(/^CMD (.*)$/m.exec(readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8'))?.[1] ?? '[]')
  const child = spawn(process.execPath, [join(ROOT, program)], { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const exited = once(child, 'exit')
  t.after(() => child.kill('SIGKILL'))
  await until(() => {
    assert.equal(child.exitCode, null, output)
    return output.includes('Trunkline is ready')
  }, 'the node was ready')
  return {
    output: () => output,
    stop: async () => {
      child.kill('SIGTERM')
      const [code] = await exited
      return code
    }
  }
}

test('secrets, roles, migration and settings of compose.yaml make a node that is ready', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-installation-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await using server = await startPostgres()
  secretsIn(folder, new URL(server.url).host)
  await makeRoles(server.url, folder)
  await using _nats = await startNats(folder)

  const migrate = environmentOf('migrate', folder)
  const [cli, ...args] = compose.services.migrate.command
  const own = { TRUNKLINE_DATA_DIR: join(folder, 'data') }
  const migrated = spawnSync(process.execPath, [join(ROOT, cli), ...args], { encoding: 'utf8', env: { ...migrate, ...own } })
  assert.equal(migrated.status, 0, migrated.stdout + migrated.stderr)

  const [port, between] = [await freePort(), await freePort()]
  const addresses = {
    ...{ TRUNKLINE_PORT: String(port), TRUNKLINE_NODE_PORT: String(between), TRUNKLINE_NODE_URL: `http://127.0.0.1:${between}` },
    ...{ TRUNKLINE_HOST: '0.0.0.0', TRUNKLINE_NODE_HOST: '127.0.0.1' }
  }
  const node = await startNode(t, { ...environmentOf('node-1', folder), ...own, ...addresses })
  assert.doesNotMatch(node.output(), /is no setting|"level":[456]0/)
  const metrics = (headers: Readonly<Record<string, string>>) => fetch(`http://127.0.0.1:${port}/metrics`, { headers })
  const token = readFileSync(join(folder, 'metrics-token'), 'utf8').trim()
  assert.equal((await metrics({ authorization: `Bearer ${token}` })).status, 200)
  assert.equal((await metrics({})).status, 404)
  const healthy = spawnSync(process.execPath, [join(IMAGE, 'ready.mjs')], { env: { TRUNKLINE_PORT: String(port) } })
  assert.equal(healthy.status, 0)
  assert.equal(await node.stop(), 0, node.output())
  const stopped = spawnSync(process.execPath, [join(IMAGE, 'ready.mjs')], { env: { TRUNKLINE_PORT: String(port) } })
  assert.equal(stopped.status, 1)
})
