// S61 and C22 on both databases: keys are rotated while the service works, and a rotation that was killed is finished by the next.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { openCredentials, StoredCredentials } from '@trunkline/core/app/broker-access/credentials'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import type { User } from '@trunkline/core/domain/account'
import { soon } from '@trunkline/testkit/patience'
import { createDatabase, type PostgresServer, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { isWhole } from '@trunkline/testkit/search'
import { SHORT_LIVED } from '@trunkline/testkit/short-lived'
import { until } from '@trunkline/testkit/until'
import { openStore, type SqlStore, type StoreSettings } from '../../src/store/index.ts'
import { EnvelopeVault, sealedKeyId } from '../../src/vault/envelope.ts'
import type { KeyRing } from '../../src/vault/master-keys.ts'
import { copyStore } from '../store/template.ts'
import {
  adminOver,
  type ConnectionKey,
  clock,
  connect,
  createUsers,
  directory,
  ENDPOINT,
  entry,
  ids,
  keysIn,
  opened,
  quiet,
  run
} from './support.ts'

const CHILD = new URL('children/rotate.ts', import.meta.url).pathname
const CONNECTIONS = 120
const IN_CRASH_TEST = 20
const DEATHS = [0, 7, IN_CRASH_TEST]

let server: PostgresServer
before(async () => {
  server = await sharedPostgres()
})
after(() => server.stop())

type Make = (context: TestContext, dataDir: string) => Promise<StoreSettings>
const ENGINES: readonly (readonly [string, Make])[] = [
  [
    'embedded',
    async (_, dataDir) => {
      await copyStore(join(dataDir, 'database'))
      return { kind: 'embedded', dataDir: join(dataDir, 'database') }
    }
  ],
  [
    'PostgreSQL',
    async context => {
      const database = await createDatabase(server.url)
      context.after(() => database.drop())
      return { kind: 'postgres', url: database.url, poolMax: 8 }
    }
  ]
]

for (const [engine, make] of ENGINES) {
  test(`${engine}: keys are rotated and retired under load, and no read, refresh, connect or removal fails [S61]`, async context => {
    const dataDir = directory(context)
    const settings = await make(context, dataDir)
    const store = await opened(context, settings)
    const keys = keysIn(dataDir)
    // On a shared database there is a second node, with its own view of the key file.
    const second = settings.kind === 'postgres' ? await opened(context, settings) : store
    const secondKeys = settings.kind === 'postgres' ? keysIn(dataDir) : keys
    const users = await createUsers(store, 6)
    const load = new Load([
      { store, ring: keys.ring },
      { store: second, ring: secondKeys.ring }
    ])
    await load.connect(users, CONNECTIONS)
    const working = load.start()
    await until(() => load.done > 200, 'the load runs')
    const first = keys.ring.current().id

    const admin = adminOver(store, keys, { clock })
    const rotated = await admin.perform('keys.rotate', { mode: 'add', retire: 'no' }, run())
    const during = load.done
    await until(() => load.done > during + 200, 'the load goes on under the new key')
    const retired = await admin.perform('keys.rotate', { mode: 'finish', retire: 'now' }, run())
    const after = load.done
    await until(() => load.done > after + 200, 'the load goes on without the old key')
    load.stop()
    await working

    assert.deepEqual(load.failures, [])
    assert.ok(rotated.rewrapped > 0)
    assert.deepEqual(retired.retired, [first])
    assert.equal(secondKeys.ring.current().id, rotated.keyId)
    const fresh = keysIn(dataDir).ring
    assert.deepEqual(fresh.ids(), [rotated.keyId])
    for (const [connection, token] of load.expected) {
      const value = await store.connections.credentials(connection.connectionId)
      assert.ok(value !== null)
      assert.equal(sealedKeyId(value.sealed), rotated.keyId)
      assert.deepEqual(openCredentials(new EnvelopeVault(fresh), connection, value, ENDPOINT), { refreshToken: token })
    }
  })

  // The deaths before the first swap and after the last are PostgreSQL's: what they leave is in the key file and the rows, not in the
  // engine.
  for (const dieAfter of isWhole || engine === 'PostgreSQL' ? DEATHS : DEATHS.slice(1, 2)) {
    test(`C22 ${engine}: killed after ${dieAfter} of ${IN_CRASH_TEST} swaps, everything opens and the next run finishes`, async context => {
      const dataDir = directory(context)
      const settings = await make(context, dataDir)
      const connections = await filled(settings, dataDir)
      const url = settings.kind === 'postgres' ? settings.url : ''
      assert.equal(await killed([dataDir, url, String(dieAfter)]), 'SIGKILL')

      const store = await opened(context, settings)
      const keys = keysIn(dataDir)
      assert.equal(keys.ring.ids().length, 2)
      const keyIds = await keyIdsOf(store, connections, keys.ring)
      const swapped = keyIds.filter(id => id === keys.ring.current().id).length
      assert.ok(swapped >= dieAfter && swapped <= dieAfter + 4, `${swapped} swapped`)
      const done = await adminOver(store, keys).perform('keys.rotate', { mode: 'add', retire: 'now' }, run())
      // Unless the work was done already, the key of the killed run is used and no further one is made.
      assert.equal(done.resumed, swapped < IN_CRASH_TEST)
      assert.equal(done.added, swapped === IN_CRASH_TEST)
      assert.deepEqual(keysIn(dataDir).ring.ids(), [done.keyId])
      assert.deepEqual(new Set(await keyIdsOf(store, connections, keysIn(dataDir).ring)), new Set([done.keyId]))
    })
  }
}

interface Node {
  readonly store: SqlStore
  readonly ring: KeyRing
}

/** Reads, refreshes, connects and removes, on every node at once, and remembers what must be stored in the end. */
class Load {
  readonly expected = new Map<ConnectionKey, string>()
  readonly failures: unknown[] = []
  done = 0
  readonly #nodes: readonly Node[]
  #users: readonly User[] = []
  #stopped = false

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes
  }

  async connect(users: readonly User[], count: number): Promise<void> {
    this.#users = users
    const [node] = this.#nodes
    for (let i = 0; i < count && node !== undefined; i++) {
      const user = users[i % users.length]
      if (user !== undefined) this.expected.set(await connect(node.store, new EnvelopeVault(node.ring), user, 'rt-0'), 'rt-0')
    }
  }

  async start(): Promise<void> {
    const connections = [...this.expected.keys()]
    await Promise.all(
      this.#nodes.flatMap((node, index) => {
        const ours = connections.filter((_, n) => n % this.#nodes.length === index)
        return [
          this.#loop(n => this.#read(node, connections, n)),
          this.#loop(n => this.#renew(node, ours, n)),
          this.#loop(n => this.#comeAndGo(node, n))
        ]
      })
    )
  }

  stop(): void {
    this.#stopped = true
  }

  async #loop(work: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      try {
        await work(n)
        this.done += 1
      } catch (cause) {
        this.failures.push(cause)
        if (this.failures.length > 10) return
      }
    }
  }

  async #read({ store, ring }: Node, connections: readonly ConnectionKey[], n: number): Promise<void> {
    const connection = connections[n % connections.length]
    if (connection === undefined) return
    const { refreshToken } = await new StoredCredentials(
      { store, vault: new EnvelopeVault(ring), clock, ids, ownership: soleOwnership },
      connection,
      ENDPOINT
    ).read(soon())
    assert.match(refreshToken ?? '', /^rt-\d+$/)
  }

  /** Each connection is refreshed by one node only, so that it is known which token must be the stored one. */
  async #renew({ store, ring }: Node, ours: readonly ConnectionKey[], n: number): Promise<void> {
    const connection = ours[n % ours.length]
    if (connection === undefined) return
    const signal = soon()
    const holder = new StoredCredentials(
      { store, vault: new EnvelopeVault(ring), clock, ids, ownership: soleOwnership },
      connection,
      ENDPOINT
    )
    const next = `rt-${n + 1}`
    const got = await holder.renew(await holder.read(signal), async () => ({ refreshToken: next }), signal)
    assert.deepEqual(got, { refreshToken: next })
    this.expected.set(connection, next)
  }

  async #comeAndGo({ store, ring }: Node, n: number): Promise<void> {
    const user = this.#users[n % this.#users.length]
    if (user === undefined) return
    const connection = await connect(store, new EnvelopeVault(ring), user)
    assert.equal(await store.connections.remove(connection.connectionId, clock.now(), entry('connection.delete')), true)
    for (const due of await store.connections.dueRevocations(clock.now(), 3)) {
      openCredentials(new EnvelopeVault(ring), due, due.credentials, ENDPOINT)
      await store.connections.finishRevocation(due.connectionId)
    }
  }
}

async function filled(settings: StoreSettings, dataDir: string): Promise<readonly ConnectionKey[]> {
  await using store = await openStore(settings, { clock, ids, log: quiet })
  const [user] = await createUsers(store, 1)
  assert.ok(user !== undefined)
  const vault = new EnvelopeVault(keysIn(dataDir).ring)
  const connections: ConnectionKey[] = []
  for (let i = 0; i < IN_CRASH_TEST; i++) connections.push(await connect(store, vault, user))
  return connections
}

/** Opens every credential, and gives the keys they are under. */
async function keyIdsOf(store: SqlStore, connections: readonly ConnectionKey[], ring: KeyRing): Promise<readonly string[]> {
  const found: string[] = []
  for (const connection of connections) {
    const value = await store.connections.credentials(connection.connectionId)
    assert.ok(value !== null)
    assert.deepEqual(openCredentials(new EnvelopeVault(ring), connection, value, ENDPOINT), { refreshToken: 'rt-1' })
    found.push(sealedKeyId(value.sealed))
  }
  return found
}

function killed(args: readonly string[]): Promise<NodeJS.Signals | number | null> {
  const child = spawn(process.execPath, [...SHORT_LIVED, CHILD, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise(resolve => child.once('close', (code, signal) => resolve(signal ?? code)))
}
