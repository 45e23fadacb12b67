// Rounds of the check: disturbances under load, everything whole again, and the judge.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Chance } from '@trunkline/testkit/crash/chance'
import { Follower } from '@trunkline/testkit/crash/follower'
import { BrokerView } from './broker-view.ts'
import { type Disturbance, disturbancesOf, type Kind } from './disturbances.ts'
import { Judge } from './judge.ts'
import { Ledger } from './ledger.ts'
import { LIMITS, type Now, TOO_LATE_MS, Wait } from './limits.ts'
import { Load } from './load.ts'
import { marketFault } from './market-view.ts'
import type { CheckedNode } from './node.ts'
import { Stage } from './stage.ts'
import { UNJUDGED_MS, Witness } from './witness.ts'

/** The average pause between two operations of a client; each user has two. */
const PAUSE_MS = 300
/** The load goes on for so long after the last disturbance. */
const AFTER_MS = 500
const POLL_MS = 20
const CALM_EVERY_MS = 100
const SHOWN_MAX = 10
/** What the nodes wrote before a finding is kept here. */
const OUTPUTS = resolve(import.meta.dirname, '../../test-results/cluster-check')

/** So often a cluster may end before its first round because the machine is too late. */
const NOT_JUDGED_MAX = 3

type Verdict = 'agrees' | 'differs' | 'unknown'

export interface RoundsOptions {
  readonly seed: number
  readonly rounds: number
  /** Each has a login at every broker. */
  readonly users: number
  /** Parts of the names of the disturbances that may come; empty: all. */
  readonly only: readonly string[]
  /** The number of the first round, for what is printed. */
  readonly first: number
  readonly print: (text: string) => void
}

export interface Outcome {
  rounds: number
  /** Rounds on a machine too late to judge times. */
  notTimed: number
  /** Ends of clusters on a machine so late that their nodes could not be asked: they show nothing, and are no rounds. */
  notJudged: number
  readonly findings: string[]
  readonly kinds: Map<Kind, number>
  /** From the end of a killed node to the first accepted order, for each user that it owned. Milliseconds. */
  readonly waitsMs: number[]
  readonly answers: Map<string, number>
  readonly ends: Map<string, number>
  /** Orders of which nothing could prove what became of them. */
  unproved: number
}

export function emptyOutcome(): Outcome {
  return {
    rounds: 0,
    notTimed: 0,
    notJudged: 0,
    findings: [],
    kinds: new Map(),
    waitsMs: [],
    answers: new Map(),
    ends: new Map(),
    unproved: 0
  }
}

/** A cluster, with its users, sessions and judge, for as many rounds as it is whole. */
export class Check implements AsyncDisposable {
  readonly #options: RoundsOptions
  readonly #chance: Chance
  readonly #marketChance: Chance
  readonly #outcome: Outcome
  readonly #stage: Stage
  readonly #ledger = new Ledger()
  readonly #load: Load
  readonly #followers: readonly Follower[]
  /** Behind a load balancer: each connection is to any node. */
  readonly #away: Follower
  readonly #moving: Follower
  readonly #judge: Judge
  readonly #witness: Witness
  readonly #watching: AsyncDisposable
  readonly #faults: string[]
  /** In this round. */
  #found = 0

  private constructor(
    options: RoundsOptions,
    outcome: Outcome,
    chance: Chance,
    stage: Stage,
    followers: readonly Follower[],
    faults: string[]
  ) {
    const [away, moving] = followers
    if (away === undefined || moving === undefined) throw new Error('there are no sessions')
    this.#options = options
    this.#outcome = outcome
    // Of its own: which disturbances come follows from the seed alone.
    this.#chance = new Chance(options.seed)
    this.#marketChance = chance.apart()
    this.#stage = stage
    this.#followers = followers
    this.#away = away
    this.#moving = moving
    this.#faults = faults
    const view = new BrokerView(stage.sandbox)
    this.#load = new Load(stage, this.#ledger, view, chance.apart())
    this.#judge = new Judge(stage, this.#ledger, view, followers, chance.apart())
    const { sandbox, nodes, machine } = stage
    const brokers = stage.links.map(links => links.proxy('brokers'))
    this.#witness = new Witness({ sandbox, nodes, machine, brokers, nowMs: () => performance.now() })
    this.#watching = this.#witness.watch()
  }

  static async open(options: RoundsOptions, outcome: Outcome): Promise<Check> {
    const chance = new Chance(options.seed).apart()
    const faults: string[] = []
    const stage = await Stage.open(options.users, chance.apart().fraction, what => faults.push(what))
    try {
      const follow = async (name: string, url: () => string) => {
        const credentials = await stage.key(name)
        const users = stage.users.map(({ userId }) => userId)
        return new Follower({ name, users, demo: () => ({ ...credentials, base_url: url() }), fraction: chance.apart().fraction })
      }
      const anyNode = () => anyOf(chance, stage.nodes).url
      const followers = [await follow('the session that stays away', anyNode), await follow('the session that moves', anyNode)]
      for (const { number, url } of stage.nodes) followers.push(await follow(`the session at node ${number}`, () => url))
      return new Check(options, outcome, chance, stage, followers, faults)
    } catch (cause) {
      await stage[Symbol.asyncDispose]()
      throw cause
    }
  }

  /** Plays the rounds. Gives whether the cluster can go on. */
  async run(): Promise<boolean> {
    if ((await this.#verdict('before the first round', performance.now())) !== 'agrees') return false
    for (let index = 0; index < this.#options.rounds; index += 1) {
      const number = this.#options.first + index
      if (!(await this.#round(number))) return false
    }
    await delay(UNJUDGED_MS)
    this.#ledger.attempts = []
    this.#witnessed('after the last round')
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watching[Symbol.asyncDispose]()
    for (const follower of this.#followers) await follower[Symbol.asyncDispose]()
    this.#outcome.unproved += this.#judge.unproved.size
    for (const [answer, count] of this.#ledger.answers) add(this.#outcome.answers, answer, count)
    for (const node of this.#stage.nodes) for (const [end, count] of node.ends) add(this.#outcome.ends, end, count)
    await this.#stage[Symbol.asyncDispose]()
  }

  async #round(number: number): Promise<boolean> {
    const began = performance.now()
    const disturbances = disturbancesOf(this.#chance, this.#options.only)
    const title = `round ${number}, seed ${this.#options.seed}: ${disturbances.map(shown).join('; ')}`
    for (const { kind } of disturbances) add(this.#outcome.kinds, kind, 1)
    this.#ledger.attempts = []
    this.#found = 0
    const over = new AbortController()
    this.#away.leave()
    const load = this.#load.run(PAUSE_MS, over.signal)
    const calm = setInterval(() => this.#stage.calm.look(), CALM_EVERY_MS)
    const waits = (await Promise.all(disturbances.map(disturbance => this.#play(title, disturbance)))).flat().map(ms => Math.round(ms))
    this.#moving.hangUp()
    await delay(AFTER_MS)
    over.abort()
    this.#away.comeBack()
    const disturbedMs = performance.now() - began
    const isWhole = await this.#isWhole(title)
    await load
    clearInterval(calm)
    const wholeMs = performance.now() - began
    const verdict = isWhole ? await this.#verdict(title, began) : 'differs'
    const agrees = verdict === 'agrees'
    const market = agrees ? await marketFault(this.#stage, this.#marketChance) : null
    if (market !== null) this.#find(title, market)
    this.#witnessed(title)
    for (const what of [...this.#ledger.takeFaults(), ...this.#faults.splice(0)]) this.#find(title, what)
    await this.#stage.refillMarket()
    if (verdict !== 'unknown') this.#outcome.rounds += 1
    const times = [disturbedMs, wholeMs, performance.now() - began].map(ms => (ms / 1_000).toFixed(1))
    const end = agrees ? `whole after ${times[1]} s, and all agree after ${times[2]} s` : verdict === 'unknown' ? 'not judged' : 'NOT WHOLE'
    const lateMs = this.#stage.machine.lateMs(began)
    if (lateMs > TOO_LATE_MS) this.#outcome.notTimed += 1
    const late = `; the machine was up to ${Math.round(lateMs)} ms late${lateMs > TOO_LATE_MS ? ', too late to judge times' : ''}`
    this.#options.print(
      `${title} (${times[0]} s): ${end}${late}${waits.length > 0 ? `; orders accepted again after ${waits.join(' ')} ms` : ''}`
    )
    return agrees
  }

  /** Gives how long each user that the struck node owned waited for an accepted order. */
  async #play(title: string, { kind, startMs, holdMs, begin, end, node }: Disturbance): Promise<readonly number[]> {
    const { calm } = this.#stage
    await delay(startMs)
    let isGoing = true
    const areOthersGoing = () => calm.going > (isGoing ? 1 : 0)
    const accepted = node === null ? [] : this.#ownedBy(node).map(userId => this.#acceptedAgain(title, userId, node, areOthersGoing))
    calm.began()
    await begin(this.#stage)
    await delay(holdMs)
    await end(this.#stage)
    calm.ended()
    isGoing = false
    const waitsMs = (await Promise.all(accepted)).filter(ms => ms !== null)
    if (kind === 'kill') this.#outcome.waitsMs.push(...waitsMs)
    return waitsMs
  }

  /** Whose orders the node was to send. */
  #ownedBy(node: number): readonly string[] {
    const owned = this.#stage.users.filter(({ accounts }) => accounts.some(({ loginId }) => this.#witness.holderOf(loginId) === node))
    return owned.map(({ userId }) => userId)
  }

  /** How long until an order was accepted for a user of a struck node; null: for too long. */
  async #acceptedAgain(title: string, userId: string, node: number, areOthersGoing: () => boolean): Promise<number | null> {
    const { nodes } = this.#stage
    const at = performance.now()
    const wait = new Wait(LIMITS.ownerless, at)
    for (;;) {
      const first = this.#ledger.attempts.find(attempt => attempt.userId === userId && attempt.at > at && attempt.isAccepted)
      if (first !== undefined) return first.endedAt - at
      // Another disturbance may be the reason, or that there is no node that could take over.
      const isExcused = areOthersGoing() || !nodes.some(({ number, isReady }) => number !== node && isReady)
      const now = this.#now()
      if (wait.isTooLong(now, isExcused)) {
        this.#find(title, `no order of ${userId} was accepted for ${Math.round(wait.passedMs(now))} ms after node ${node} was struck`)
        return null
      }
      await delay(POLL_MS)
    }
  }

  #now(): Now {
    return { ms: performance.now(), lateMs: since => this.#stage.machine.lateMs(since) }
  }

  #witnessed(title: string): void {
    const accounts = this.#stage.users.flatMap(({ accounts: own }) => own)
    const byBroker = Map.groupBy(accounts, ({ broker }) => broker)
    const streams = new Map([...byBroker].map(([broker, group]) => [broker, group.map(({ loginId }) => loginId)]))
    const orders = this.#ledger.attempts.flatMap(({ sent }) => (sent === null ? [] : [sent]))
    const loginOf = (quantity: number) => this.#ledger.accountOf(quantity)?.loginId ?? null
    for (const what of this.#witness.takeFaults(loginOf, { streams, orders })) this.#find(title, what)
  }

  async #isWhole(title: string): Promise<boolean> {
    const { nodes } = this.#stage
    const isSo = async () => {
      if (!nodes.every(({ isReady }) => isReady)) return false
      const ready = await Promise.all(
        nodes.map(({ url }) =>
          fetch(`${url}/readyz`)
            .then(({ ok }) => ok)
            .catch(() => false)
        )
      )
      return ready.every(Boolean)
    }
    const wait = new Wait(LIMITS.whole, performance.now())
    while (!(await isSo())) {
      await delay(POLL_MS)
      const now = this.#now()
      if (!wait.isTooLong(now)) continue
      const states = nodes.map(({ number, isReady, output }) => `node ${number} is ${isReady ? '' : 'not '}ready: ${output.slice(-1_500)}`)
      const ms = Math.round(wait.passedMs(now))
      this.#find(title, `not every node was ready ${ms} ms after the last disturbance:\n${states.join('\n')}`)
      return false
    }
    return true
  }

  /** Unknown: the machine was so late that nodes, which end themselves then, could not be asked. */
  async #verdict(title: string, since: number): Promise<Verdict> {
    const { found, areOfSources } = await this.#judge.differences()
    const faults = this.#judge.faults()
    if (found.length === 0 && faults.length === 0) return 'agrees'
    if (!areOfSources && faults.length === 0 && this.#stage.machine.lateMs(since) > TOO_LATE_MS) {
      this.#outcome.notJudged += 1
      this.#options.print(`not judged: ${title}\n    ${found[0]}`)
      return 'unknown'
    }
    for (const what of [...faults, ...found]) this.#find(title, what)
    return 'differs'
  }

  #find(title: string, what: string): void {
    this.#outcome.findings.push(`${title}\n    ${what}`)
    this.#found += 1
    if (this.#found === 1) save(join(OUTPUTS, `seed-${this.#options.seed}-${this.#outcome.rounds}`), this.#stage.nodes)
    if (this.#found <= SHOWN_MAX) this.#options.print(`FOUND in ${title}\n    ${what}`)
  }
}

/** A node that a load balancer would choose. */
function anyOf(chance: Chance, nodes: readonly CheckedNode[]): CheckedNode {
  const ready = nodes.filter(({ isReady }) => isReady)
  const node = chance.oneOf(ready.length > 0 ? ready : nodes)
  if (node === undefined) throw new Error('there are no nodes')
  return node
}

/** What the nodes wrote, for the first finding of each round. */
function save(folder: string, nodes: readonly CheckedNode[]): void {
  mkdirSync(folder, { recursive: true })
  for (const { number, output } of nodes) writeFileSync(join(folder, `node-${number}.log`), output)
}

function shown({ title, startMs, holdMs }: Disturbance): string {
  return `${title} at ${startMs}${holdMs > 0 ? ` for ${holdMs}` : ''}`
}

function add<K>(counts: Map<K, number>, key: K, more: number): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}

export type WholeRun = Omit<RoundsOptions, 'first'>

/** Rounds that share a cluster: a new one begins with fresh files, and its seed plays the same again. */
export const ROUNDS_PER_CLUSTER = 100

/** Plays so many rounds, in as many clusters as that takes. The seeds follow each other. */
export async function check({ seed, rounds, users, only, print }: WholeRun): Promise<Outcome> {
  const outcome = emptyOutcome()
  for (let next = seed; outcome.rounds < rounds; next += 1) {
    const first = outcome.rounds + 1
    const options = { seed: next, rounds: Math.min(ROUNDS_PER_CLUSTER, rounds - outcome.rounds), users, only, first, print }
    await using cluster = await Check.open(options, outcome)
    await cluster.run()
    // A cluster that never began to play would be tried for ever.
    if (outcome.rounds < first && (outcome.findings.length > 0 || outcome.notJudged > NOT_JUDGED_MAX)) break
  }
  return outcome
}
