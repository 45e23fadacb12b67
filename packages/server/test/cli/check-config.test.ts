// check-config reports everything that is wrong, at once, and changes nothing.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { preflight, refusal } from '../../src/preflight/index.ts'
import { directory, keysIn } from '../admin/support.ts'
import { answerOf, cli } from './terminal.ts'

interface Finding {
  readonly level: string
  readonly about: string
  readonly message: string
}

/** Another program of this machine may have the usual port. */
const ANY_PORT = { TRUNKLINE_PORT: '0' }

async function findings(env: Readonly<Record<string, string>>, level?: string): Promise<readonly Finding[]> {
  const found: readonly Finding[] = answerOf(await cli({ ...ANY_PORT, ...env }, 'check-config', '--json')).findings
  return level === undefined ? found : found.filter(finding => finding.level === level)
}

test('an empty environment is valid', async context => {
  const dataDir = join(directory(context), 'data')
  const { code, out } = await cli({ ...ANY_PORT, TRUNKLINE_DATA_DIR: dataDir }, 'check-config')
  assert.equal(code, 0)
  assert.match(out, /0 faults, 0 warnings\.\n$/)
  assert.throws(() => readdirSync(dataDir))
})

test('faults of settings, keys, directories, brokers and names are reported together', async context => {
  const dataDir = directory(context)
  keysIn(dataDir)
  chmodSync(join(dataDir, 'master-keys'), 0o644)
  chmodSync(dataDir, 0o755)
  const env = {
    TRUNKLINE_DATA_DIR: dataDir,
    TRUNKLINE_PORT: '-1',
    TRUNKLINE_LOG_LEVEL: 'chatty',
    TRUNKLINE_LOG_FILE: dataDir,
    TRUNKLINE_BROKERS: 'SANDBOX,NOBODY',
    TRUNKLINE_PROT: '9000',
    TRUNKLINE_SOMETHING_ELSE_ENTIRELY: '1',
    TRUNKLINE_TEST_DATABASE_URL: 'ignored'
  }
  const { code, out } = await cli(env, 'check-config')
  assert.equal(code, 1)
  const faults = [
    /fault +TRUNKLINE_PORT .*whole number/,
    /fault +TRUNKLINE_LOG_LEVEL .*one of debug/,
    /fault +TRUNKLINE_LOG_FILE .*is a directory/,
    /fault +TRUNKLINE_MASTER_KEYS .*chmod 600/,
    /fault +TRUNKLINE_BROKERS +names NOBODY, which is not known here/,
    /warning +TRUNKLINE_PROT .*is TRUNKLINE_PORT meant/,
    /warning +TRUNKLINE_SOMETHING_ELSE_ENTIRELY +is no setting and has no effect\n/,
    /warning +TRUNKLINE_DATA_DIR .*chmod 700/,
    /5 faults, 3 warnings\.\n$/
  ]
  for (const pattern of faults) assert.match(out, pattern)
  assert.doesNotMatch(out, /TRUNKLINE_TEST/)
})

test('check-config says where the orders of each broker go', async context => {
  const TRUNKLINE_DATA_DIR = join(directory(context), 'data')
  const client = { TRUNKLINE_TRADIER_CLIENT_ID: 'us', TRUNKLINE_TRADIER_CLIENT_SECRET: 'canary', TRUNKLINE_TRADIER_ENV: 'sandbox' }
  const { out } = await cli({ ...ANY_PORT, TRUNKLINE_DATA_DIR, ...client, TRUNKLINE_BROKERS: 'ALPACA,TRADIER' }, 'check-config')
  assert.match(out, /ALPACA offered, in the sandbox brokerage\n/)
  assert.match(out, /TRADIER offered, for paper accounts at sandbox\.tradier\.com\n/)
  assert.ok(!out.includes('canary'))
})

test('keys of the environment are checked and not shown', async context => {
  const TRUNKLINE_DATA_DIR = directory(context)
  const good = (await cli({}, 'keys', 'generate')).out.trim()
  const [id = '', encoded = ''] = good.split(':')
  const [fine] = (await findings({ TRUNKLINE_DATA_DIR, TRUNKLINE_MASTER_KEYS: good })).filter(
    ({ about }) => about === 'TRUNKLINE_MASTER_KEYS'
  )
  assert.equal(fine?.level, 'ok')
  assert.ok(fine.message.includes(id) && !fine.message.includes(encoded))
  const [bad] = await findings({ TRUNKLINE_DATA_DIR, TRUNKLINE_MASTER_KEYS: `${good},other:${encoded.slice(0, 30)}` }, 'fault')
  assert.match(bad?.message ?? '', /master key 2 must be id:base64/)
  assert.ok(!bad?.message.includes(encoded.slice(0, 30)))
})

test('a data directory that is a file, or that cannot be created, is a fault', async context => {
  const folder = directory(context)
  writeFileSync(join(folder, 'file'), '')
  const [isFile] = await findings({ TRUNKLINE_DATA_DIR: join(folder, 'file') }, 'fault')
  assert.match(isFile?.message ?? '', /file is a file, not a folder/)
  const [nowhere] = await findings({ TRUNKLINE_DATA_DIR: join(folder, 'file', 'data') }, 'fault')
  assert.match(nowhere?.message ?? '', /cannot be created/)
  const [log] = await findings({ TRUNKLINE_DATA_DIR: folder, TRUNKLINE_LOG_FILE: join(folder, 'file', 'a.log') }, 'fault')
  assert.match(log?.message ?? '', /cannot be written/)
})

test('a service that is reachable from outside gets warnings about what it exposes', async context => {
  const TRUNKLINE_DATA_DIR = directory(context)
  mkdirSync(join(TRUNKLINE_DATA_DIR, 'x'))
  const about = async (env: Readonly<Record<string, string>>) =>
    (await findings({ TRUNKLINE_DATA_DIR, ...env }, 'warning')).map(finding => finding.about)
  assert.deepEqual(await about({ TRUNKLINE_HOST: '127.0.0.1' }), [])
  assert.deepEqual(await about({ TRUNKLINE_HOST: '0.0.0.0' }), ['TRUNKLINE_PUBLIC_URL', 'TRUNKLINE_BROKERS'])
  assert.deepEqual(await about({ TRUNKLINE_PUBLIC_URL: 'http://api.example.com', TRUNKLINE_BROKERS: 'SANDBOX' }), [
    'TRUNKLINE_PUBLIC_URL',
    'TRUNKLINE_BROKERS'
  ])
  assert.deepEqual(await about({ TRUNKLINE_PUBLIC_URL: 'https://api.example.com' }), ['TRUNKLINE_TRUSTED_PROXIES', 'TRUNKLINE_BROKERS'])
})

test('the current instance key is printed as an item for the settings', async context => {
  const TRUNKLINE_DATA_DIR = directory(context)
  const [old, fresh] = [(await cli({}, 'keys', 'generate')).out.trim(), (await cli({}, 'keys', 'generate')).out.trim()]
  const printed = async (keys: string) =>
    (await cli({ TRUNKLINE_DATA_DIR, TRUNKLINE_MASTER_KEYS: keys }, 'keys', 'generate', '--instance')).out.trim()
  const instance = await printed(old)
  assert.match(instance, /^instance:[A-Za-z0-9+/]{43}=$/)
  assert.equal(await printed(`${fresh},${old}`), instance)
  assert.notEqual(await printed(fresh), instance)
  assert.equal(await printed(`${fresh},${instance}`), instance)
  const { ring } = keysIn(TRUNKLINE_DATA_DIR)
  const ofFile = (await cli({ TRUNKLINE_DATA_DIR }, 'keys', 'generate', '--instance')).out.trim()
  assert.equal(ofFile, `instance:${Buffer.from(ring.instanceKey()).toString('base64')}`)
})

test('a demo platform on a service that is not for practice is reported with a remedy', async context => {
  const dataDir = directory(context)
  const secret = `sk_${'s'.repeat(43)}`
  writeFileSync(join(dataDir, 'demo-platform.json'), JSON.stringify({ client_id: 'pk_demo', client_secret: secret }), { mode: 0o600 })
  const local = { TRUNKLINE_DATA_DIR: dataDir }
  const about = async (env: Readonly<Record<string, string>>) =>
    (await findings({ ...local, ...env }, 'warning')).filter(finding => finding.about.endsWith('demo-platform.json'))
  assert.deepEqual(await about({}), [])
  for (const env of [{ TRUNKLINE_PUBLIC_URL: 'https://api.example.com' }, { TRUNKLINE_HOST: '0.0.0.0' }]) {
    const [finding] = await about(env)
    assert.match(
      finding?.message ?? '',
      /holds the secret of a demo platform, and TRUNKLINE_\w+ .*rotate-secret pk_demo, and delete the file/
    )
    assert.ok(!finding?.message.includes(secret))
  }
})

test('a data directory that is a broken link, or is in a place where none can be created, is a fault', async context => {
  const folder = directory(context)
  symlinkSync(join(folder, 'gone'), join(folder, 'link'))
  const [link] = await findings({ TRUNKLINE_DATA_DIR: join(folder, 'link') }, 'fault')
  assert.match(link?.message ?? '', /link is a symbolic link to .*gone, which does not exist/)
  const nowhere = existsSync('/proc/self') ? '/proc/trunkline' : '/dev/null/trunkline'
  const [made] = await findings({ TRUNKLINE_DATA_DIR: nowhere }, 'fault')
  assert.match(made?.message ?? '', /cannot be created/)
})

test('the settings of the sandbox are checked where one is started, and only there', async context => {
  const TRUNKLINE_DATA_DIR = directory(context)
  const wrong = {
    ...{ SANDBOX_CALENDAR: 'lunar', SANDBOX_SPEED: 'fast', SANDBOX_MARKET: 'replay:/nowhere?when=now', SANDBOX_SEDE: '1' },
    SANDBOX_CLIENT_ID: 'ours'
  }
  const about = async (env: Readonly<Record<string, string>>) =>
    (await findings({ TRUNKLINE_DATA_DIR, ...wrong, ...env }))
      .filter(finding => finding.about.startsWith('SANDBOX_'))
      .map(finding => `${finding.level} ${finding.about}`)
      .sort()
  assert.deepEqual(await about({}), [
    ...['fault SANDBOX_CALENDAR', 'fault SANDBOX_MARKET', 'fault SANDBOX_SPEED'],
    ...['warning SANDBOX_CLIENT_ID', 'warning SANDBOX_SEDE']
  ])
  assert.deepEqual(await about({ TRUNKLINE_SANDBOX_URL: 'http://127.0.0.1:8090' }), ['fault SANDBOX_CALENDAR', 'warning SANDBOX_SEDE'])
  const live = { TRUNKLINE_ALPACA_CLIENT_ID: 'us', TRUNKLINE_ALPACA_CLIENT_SECRET: 'canary', TRUNKLINE_BROKERS: 'ALPACA' }
  assert.deepEqual(await about(live), ['warning SANDBOX_SEDE'])
  const [gone] = await findings({ TRUNKLINE_DATA_DIR, SANDBOX_MARKET: 'replay:/nowhere' }, 'fault')
  assert.match(gone?.message ?? '', /names the folder \/nowhere, which does not exist/)
})

test('a port in use is a fault, unless the service of this data directory may use it', async context => {
  const dataDir = directory(context)
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  context.after(() => holder.close())
  const address = holder.address()
  assert.ok(typeof address === 'object' && address !== null)
  const port = String(address.port)
  const env = { TRUNKLINE_DATA_DIR: dataDir, TRUNKLINE_PORT: port }
  const [taken, twice] = await findings({ ...env, TRUNKLINE_METRICS_PORT: port }, 'fault')
  assert.deepEqual([taken?.about, twice?.about], ['TRUNKLINE_PORT', 'TRUNKLINE_METRICS_PORT'])
  assert.match(taken?.message ?? '', /of 127\.0\.0\.1 is taken by another program/)
  assert.match(twice?.message ?? '', /is that of TRUNKLINE_PORT, too/)
  const [elsewhere] = await findings({ ...env, TRUNKLINE_PORT: '9', TRUNKLINE_HOST: '192.0.2.1' }, 'fault')
  assert.equal(elsewhere?.about, 'TRUNKLINE_HOST')

  const service = createServer().listen(join(dataDir, 'admin.sock'))
  await once(service, 'listening')
  context.after(() => service.close())
  assert.deepEqual(await findings(env, 'fault'), [])
  const { findings: toStart } = await preflight(env, true)
  const [inTheWay, ...more] = toStart.filter(({ level }) => level === 'fault')
  assert.match(inTheWay?.message ?? '', /has a service running on it\. Stop that one/)
  assert.deepEqual(more, [])
})

test('a refused start lists every fault and warning, one on a line', () => {
  const text = refusal([
    { level: 'fault', about: 'TRUNKLINE_PORT', message: 'is wrong' },
    { level: 'ok', about: 'database', message: 'is fine' },
    { level: 'warning', about: 'TRUNKLINE_PROT', message: 'is odd' },
    { level: 'fault', about: 'SANDBOX_MARKET', message: 'too' }
  ])
  const [warning, head, ...lines] = text.split('\n')
  assert.deepEqual([warning, head], ['warning: TRUNKLINE_PROT is odd', 'trunkline did not start:'])
  assert.deepEqual(lines.slice(0, 2), ['  TRUNKLINE_PORT  is wrong', '  SANDBOX_MARKET  too'])
})
