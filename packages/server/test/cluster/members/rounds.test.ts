// Members that join, are drained, paused, killed and cut from the database at random, with writers at work: no two own a partition at once,
// fences only grow, and no write under an old fence passes. A failing round names its seed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ALL_PARTITIONS, type Partition } from '@trunkline/core/domain/partition'
import { SeededChance } from '@trunkline/testkit/chance'
import { ofSearch } from '@trunkline/testkit/search'
import { division } from '../../../src/cluster/members/rendezvous.ts'
import { Scene, SceneDatabase, type SceneNode, userOf } from './scene.ts'

const STEPS = 60
const NODES_MAX = 4
const SEEDS_FROM = Number(process.env.TRUNKLINE_SEED ?? 1)
const WRITE = 'insert into virtual.writes (partition, fence) select $1, $2 where holds_fence($1, $2)'

const database = await SceneDatabase.open()
after(() => database[Symbol.asyncDispose]())

/** A write that was prepared under a fence, and may arrive much later. */
interface Prepared {
  readonly partition: Partition
  readonly fence: number
}

class Round {
  readonly scene: Scene
  readonly chance: SeededChance
  readonly #prepared: Prepared[] = []
  readonly #drained = new Set<SceneNode>()
  readonly #stopped = new Set<SceneNode>()
  #names = 0

  constructor(scene: Scene, chance: SeededChance) {
    this.scene = scene
    this.chance = chance
  }

  async run(): Promise<void> {
    this.#join()
    for (let step = 0; step < STEPS; step += 1) {
      this.#disturb()
      await this.scene.clock.advance(this.chance.whole(1, 700))
      await this.#write()
      await this.scene.check()
    }
    await this.#heal()
    await this.#judge()
  }

  get #living(): readonly SceneNode[] {
    return this.scene.nodes.filter(node => !node.isDead && !this.#stopped.has(node) && node.lost === null)
  }

  /** Those that are not drained, or not yet. */
  get #takers(): readonly SceneNode[] {
    return this.#living.filter(node => !this.#drained.has(node))
  }

  #join(): void {
    this.#names += 1
    this.scene.add(`n${this.#names}`)
  }

  #drain(node: SceneNode): void {
    this.#drained.add(node)
    void node.member.drain()
  }

  #stop(node: SceneNode): void {
    this.#stopped.add(node)
    void node.member.stop()
  }

  #disturb(): void {
    const { chance } = this
    const node = chance.oneOf(this.#living)
    const dice = chance.fraction()
    if (this.#living.length < NODES_MAX && dice < 0.15) this.#join()
    else if (node === undefined) this.#join()
    else if (dice < 0.3) node.pause()
    else if (dice < 0.5) for (const other of this.#living) other.resume()
    else if (dice < 0.55) node.kill()
    else if (dice < 0.6) this.#drain(node)
    else if (dice < 0.65) this.#stop(node)
    else if (dice < 0.72) node.isCut = true
    else if (dice < 0.82) for (const other of this.#living) other.isCut = false
    else if (dice < 0.87) node.isAnnouncedTo = !node.isAnnouncedTo
  }

  /** Nodes prepare writes under the fences that they have; some are executed only after a while, as those of a paused node. */
  async #write(): Promise<void> {
    const { chance, scene } = this
    for (const node of scene.nodes.filter(({ isPaused }) => !isPaused)) {
      const partition = chance.oneOf(node.owned)
      const fence = partition === undefined ? null : node.member.fenceOf(userOf(partition))
      if (partition !== undefined && fence !== null) this.#prepared.push({ partition, fence })
    }
    while (this.#prepared.length > 0 && chance.happens(0.5)) {
      const [write] = this.#prepared.splice(chance.whole(0, this.#prepared.length - 1), 1)
      if (write !== undefined) await scene.query(WRITE, [write.partition, write.fence])
    }
  }

  async #heal(): Promise<void> {
    this.scene.options = {}
    if (this.#takers.length < 2) this.#join()
    for (const node of this.scene.nodes) {
      node.isCut = false
      node.isAnnouncedTo = true
      node.resume()
    }
    await this.scene.clock.advance(12_000)
    await this.scene.check()
  }

  async #judge(): Promise<void> {
    const { scene } = this
    const rows = await scene.partitions()
    const shares = division(this.#takers.map(({ nodeId }) => nodeId))
    assert.deepEqual(
      rows.map(({ owner }) => owner),
      ALL_PARTITIONS.map(partition => shares.get(partition) ?? null),
      `the partitions are not divided among ${this.#takers.map(({ name }) => name)} at ${scene.clock.monotonicMs()} ms: ${scene.description}`
    )
    const gained = new Map<string, string>()
    for (const node of scene.nodes)
      for (const { partition, fence, atMs } of node.gains) {
        const who = `${node.name} at ${atMs} ms`
        const before = gained.get(`${partition} ${fence}`)
        assert.equal(before, undefined, `partition ${partition} was gained with fence ${fence} by ${before}, and by ${who}`)
        gained.set(`${partition} ${fence}`, who)
      }
    // A write is numbered while it holds the partition's lock.
    const writes = await scene.query<{ partition: number; fence: string }>('select partition, fence from virtual.writes order by id')
    const newest = new Map<number, number>()
    for (const { partition, fence } of writes) {
      assert.ok(Number(fence) >= (newest.get(partition) ?? 0), `a write under fence ${fence} of partition ${partition} passed too late`)
      newest.set(partition, Number(fence))
    }
  }
}

test('no two members own a partition at once, fences grow, and old ones are refused, whatever happens', async t => {
  const seeds = Array.from({ length: ofSearch(200, 6) }, (_, index) => SEEDS_FROM + index)
  for (const seed of seeds) {
    const chance = new SeededChance(seed)
    await using scene = await Scene.open(database, {
      latencyMs: () => (chance.happens(0.1) ? chance.whole(1, 900) : chance.whole(0, 20)),
      releaseMs: () => (chance.happens(0.1) ? 1_000 : chance.whole(0, 200))
    })
    await new Round(scene, chance).run().catch((cause: unknown) => {
      throw new Error(`seed ${seed} (TRUNKLINE_SEED=${seed} runs it first)`, { cause })
    })
  }
  t.diagnostic(`seeds ${seeds[0]} to ${seeds.at(-1)}`)
})
