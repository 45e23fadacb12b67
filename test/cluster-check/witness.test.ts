// The witness of the check finds two owners, and takes nothing else for that.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Demanded, type Disturbed, Witness } from './witness.ts'

const LOOK_MS = 100

/** What nothing is demanded of. */
const NOTHING = { streams: new Map(), orders: [] }
const TOKEN = 'Bearer of-ada'

/** Three nodes, whose connections to the brokers come from the ports 1001 and up, 2001 and up, 3001 and up. */
class Scene {
  nowMs = 100_000
  lateMs = 0
  isBlind = false
  readonly disturbances: Disturbed[][] = [[], [], []]
  readonly witness: Witness
  readonly #proxies = [1, 2, 3].map(node => ({
    isPeer: (port: number) => Math.floor(port / 1_000) === node,
    onSent: (_link: object, _chunk: Buffer): void => undefined
  }))
  readonly #ports = [1_001, 2_001, 3_001]
  #readers: readonly number[] = []

  constructor() {
    const nodes = this.disturbances.map(disturbances => ({ disturbances }))
    const sandbox = { control: async () => this.#streams() }
    const machine = { lateMs: () => this.lateMs }
    this.witness = new Witness({ sandbox, nodes, machine, brokers: this.#proxies, nowMs: () => this.nowMs })
  }

  /** These nodes read the account stream for so long. */
  async reading(ms: number, ...nodes: readonly number[]): Promise<void> {
    this.#readers = nodes
    for (let passed = 0; passed < ms; passed += LOOK_MS) {
      await this.witness.look().catch(() => undefined)
      this.nowMs += LOOK_MS
    }
  }

  /** Another connection takes the place of the one of this node. */
  reconnects(node: number): void {
    this.#ports[node - 1] = (this.#ports[node - 1] ?? 0) + 1
  }

  disturb(node: number): void {
    this.disturbances[node - 1]?.push({ from: this.nowMs, to: this.nowMs })
  }

  /** In two pieces, after a request that is no command. */
  sends(node: number, quantity: number | null, line = 'POST /api/v1/orders'): void {
    const body = quantity === null ? '' : JSON.stringify({ symbol: 'AAPL', quantity: String(quantity) })
    const command = `${line} HTTP/1.1\r\nauthorization: ${TOKEN}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const bytes = Buffer.from(`GET /api/v1/orders HTTP/1.1\r\nhost: broker\r\n\r\n${command}`)
    const link = {}
    for (const piece of [bytes.subarray(0, 90), bytes.subarray(90)]) this.#proxies[node - 1]?.onSent(link, piece)
  }

  faults(demanded: Demanded = NOTHING): readonly string[] {
    return this.witness.takeFaults(() => 'ada', demanded).map(what => what.replace(/ \(-?\d+ to .* ms from it, its own: .*\)$/, ''))
  }

  #streams(): { readonly items: readonly object[] } {
    if (this.isBlind) throw new Error('the sandbox does not answer')
    return { items: [{ on: 'account', login: 'ada', peers: this.#readers.map(node => this.#ports[node - 1]) }] }
  }
}

test('one reader after the other is one owner at a time, and a short overlap is a handover', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  assert.equal(scene.witness.holderOf('ada'), 1)
  await scene.reading(1_500, 1, 2)
  assert.equal(scene.witness.holderOf('ada'), null)
  await scene.reading(8_000, 2)
  assert.deepEqual(scene.faults(), [])
})

test('two nodes that both read an account stream are found, unless one was kept from its work', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  await scene.reading(3_000, 1, 2)
  assert.equal(scene.faults().length, 1)
  const disturbed = new Scene()
  await disturbed.reading(8_000, 1)
  disturbed.disturb(1)
  await disturbed.reading(5_000, 1, 2)
  await disturbed.reading(8_000, 2)
  assert.deepEqual(disturbed.faults(), [])
  const late = new Scene()
  late.lateMs = 400
  await late.reading(8_000, 1)
  await late.reading(3_000, 1, 2)
  await late.reading(8_000, 2)
  assert.deepEqual(late.faults(), [])
})

/** Without the times. */
const FOUND = 'node 1 sent POST /api/v1/orders, quantity 7, while node 2 read the stream of ada'

test('an order from a node while another one reads the account stream is found', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  scene.sends(1, 7)
  scene.sends(3, 8)
  await scene.reading(4_000, 1)
  assert.deepEqual(scene.faults(), ['node 3 sent POST /api/v1/orders, quantity 8, while node 1 read the stream of ada'])
})

/** The owner is stopped for so long that another node takes over, wakes, and sends. Its sockets stay open while it stands still. */
async function wakes(line: string, quantity: number | null, ...whileStill: readonly number[]): Promise<readonly string[]> {
  const scene = new Scene()
  await scene.reading(1_000, 1)
  scene.sends(1, 7)
  await scene.reading(8_000, 1)
  scene.disturb(1)
  await scene.reading(3_000, ...whileStill)
  await scene.reading(1_500, ...whileStill, 2)
  scene.disturb(1)
  scene.sends(1, quantity, line)
  await scene.reading(4_000, 2)
  return scene.faults()
}

for (const whileStill of [[], [1]]) {
  const title = `its stream ${whileStill.length === 0 ? 'gone' : 'still open'}`
  test(`a command from an owner of before that wakes is found, ${title}`, async () => {
    assert.deepEqual(await wakes('POST /api/v1/orders', 7, ...whileStill), [FOUND])
    for (const [line, quantity] of [
      ['PATCH /v2/orders/1', 7],
      ['PUT /v1/accounts/A1/orders/1', 7],
      ['PUT /v1/accounts/A1/orders/1', null],
      ['DELETE /v2/orders/1', null]
    ] as const) {
      const found = await wakes(line, quantity, ...whileStill)
      assert.deepEqual([found.length, found[0]?.startsWith(`node 1 sent ${line}`)], [1, true], line)
    }
  })
}

test('an owner of before that wakes and opens its stream again is found: the next owner never left', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  scene.disturb(1)
  await scene.reading(4_000, 1, 2)
  scene.disturb(1)
  scene.reconnects(1)
  await scene.reading(200, 1, 2)
  scene.sends(1, 7)
  await scene.reading(5_000, 2)
  assert.deepEqual(scene.faults(), [FOUND])
})

test('a node that goes on after the end of its lease, cut off from the database, is found', async () => {
  const scene = new Scene()
  await scene.reading(11_000, 1)
  for (let sent = 0; sent < 9; sent += 1) {
    scene.sends(1, 7)
    await scene.reading(200, 1, 2)
  }
  await scene.reading(4_000, 2)
  assert.ok(scene.faults().includes(FOUND))
})

test('an order after a handover is no finding', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  scene.sends(2, 7)
  await scene.reading(1_000, 2)
  scene.sends(2, 8)
  await scene.reading(4_000, 2)
  assert.deepEqual(scene.faults(), [])
})

test('an order of a new owner while the stream of the one before is still open is no finding', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  scene.sends(1, 6)
  await scene.reading(800, 1, 2)
  scene.sends(2, 7)
  await scene.reading(800, 1, 2)
  await scene.reading(4_000, 2)
  assert.deepEqual(scene.faults(), [])
})

test('what was sent just now is judged the next time', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  scene.sends(3, 8)
  assert.deepEqual(scene.faults(), [])
  await scene.reading(4_000, 1)
  assert.equal(scene.faults().length, 1)
  assert.deepEqual(scene.faults(), [])
})

test('a witness that saw nothing is a finding', async () => {
  const demanded: Demanded = { streams: new Map([['ALPACA', ['ada']]]), orders: [7] }
  const seeing = new Scene()
  await seeing.reading(1_000, 1)
  seeing.sends(1, 7)
  await seeing.reading(4_000, 1)
  assert.deepEqual(seeing.faults(demanded), [])
  const idle = new Scene()
  await idle.reading(5_000)
  assert.deepEqual(idle.faults(demanded), ['no account stream of ALPACA was read', 'no node was seen to send the orders 7'])
  const blind = new Scene()
  blind.isBlind = true
  await blind.reading(5_000, 1)
  assert.deepEqual(blind.faults(), ['nobody looked at the streams for 5000 ms'])
})

test('the quantity of a change is not that of another order, and its token shows whose it is', async () => {
  const scene = new Scene()
  const loginOf = (quantity: number) => (quantity === 7 ? 'ada' : 'bob')
  scene.sends(1, 7)
  await scene.reading(8_000, 1)
  scene.sends(1, 3, 'PATCH /v2/orders/1')
  scene.sends(1, 3, 'POST /api/v1/orders/1/amend')
  await scene.reading(4_000, 1)
  assert.deepEqual(scene.witness.takeFaults(loginOf, NOTHING), [])
  scene.sends(1, 3)
  await scene.reading(4_000, 1)
  const found = 'node 1 sent POST /api/v1/orders, quantity 3 of bob with the token of ada'
  assert.deepEqual(scene.witness.takeFaults(loginOf, NOTHING), [found])
})

test('a command whose login nobody knows is a finding', async () => {
  const scene = new Scene()
  scene.sends(1, null, 'DELETE /v2/orders/1')
  await scene.reading(4_000, 1)
  assert.deepEqual(scene.faults(), ['node 1 sent DELETE /v2/orders/1 for a login that is not known'])
})
