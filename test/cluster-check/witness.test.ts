// The witness of the check finds two owners, and takes nothing else for that.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Witness } from './witness.ts'

const LOOK_MS = 100

/** Three nodes, whose connections to the brokers come from the ports 1001 and up, 2001 and up, 3001 and up. */
class Scene {
  nowMs = 100_000
  readonly disturbedAt: number[][] = [[], [], []]
  readonly witness: Witness
  readonly #proxies = [1, 2, 3].map(node => ({
    isPeer: (port: number) => Math.floor(port / 1_000) === node,
    onSent: (_link: object, _chunk: Buffer): void => undefined
  }))
  #readers: readonly number[] = []

  constructor() {
    const nodes = this.disturbedAt.map(disturbedAt => ({ disturbedAt }))
    const control = async () => ({ items: [{ on: 'account', login: 'ada', peers: this.#readers.map(node => node * 1_000 + 1) }] })
    this.witness = new Witness({ sandbox: { control }, nodes, brokers: this.#proxies, nowMs: () => this.nowMs })
  }

  /** These nodes read the account stream for so long. */
  async reading(ms: number, ...nodes: readonly number[]): Promise<void> {
    this.#readers = nodes
    for (let passed = 0; passed < ms; passed += LOOK_MS) {
      await this.witness.look()
      this.nowMs += LOOK_MS
    }
  }

  disturb(node: number): void {
    this.disturbedAt[node - 1]?.push(this.nowMs)
  }

  /** In two pieces, after a request that is no order. */
  sends(node: number, quantity: number): void {
    const body = JSON.stringify({ symbol: 'AAPL', quantity: String(quantity) })
    const order = `POST /api/v1/orders HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const bytes = Buffer.from(`GET /api/v1/orders HTTP/1.1\r\nhost: broker\r\n\r\n${order}`)
    const link = {}
    for (const piece of [bytes.subarray(0, 90), bytes.subarray(90)]) this.#proxies[node - 1]?.onSent(link, piece)
  }

  faults(): readonly string[] {
    return this.witness.takeFaults(() => 'ada')
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
})

test('an order from a node while another one reads the account stream is found', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  scene.sends(1, 7)
  scene.sends(3, 8)
  await scene.reading(1_000, 1)
  assert.deepEqual(scene.faults(), ['node 3 sent order 8 while node 1 read the stream of ada'])
})

test('an order after a handover is no finding', async () => {
  const scene = new Scene()
  await scene.reading(8_000, 1)
  scene.sends(2, 7)
  await scene.reading(1_000, 2)
  assert.deepEqual(scene.faults(), [])
})
