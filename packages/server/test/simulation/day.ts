// A random day: a platform and its streams, a market that moves, and brokers, a store, a bus, a clock and a process that fail in between.
import { GAP_CAUSES } from '@trunkline/core/ports/broker'
import { BrokerMischief, TRAVEL_MS_MAX, type Temper } from './broker-mischief.ts'
import type { Chance } from './chance.ts'
import { decide, happen, MARKET_ACTS, type MarketAct } from './market.ts'
import { Platform } from './platform.ts'
import type { Login, Scene } from './scene.ts'
import { type Conditions, Service } from './service.ts'
import { type Habits, StreamClient } from './stream-client.ts'
import { Trouble } from './trouble.ts'
import { Witness } from './witness.ts'

/** What may happen next, and how often of a hundred times or so. */
const USUAL = {
  place: 24,
  cancel: 12,
  modify: 10,
  read: 8,
  fill: 18,
  begin: 3,
  expire: 2,
  cancelOutside: 2,
  placeOutside: 3,
  toggle: 2,
  repeat: 3,
  ping: 2,
  babble: 0.5
} as const

/** Each day knows about half of these, so that every kind of trouble is met alone and in company. */
const TROUBLES = {
  streamDown: 4,
  gap: 3,
  readsFail: 4,
  storeFails: 5,
  storeReadsFail: 2,
  storeSlow: 3,
  busTroubled: 4,
  restart: 1.5,
  kill: 2,
  clockJump: 2,
  leave: 3,
  vanish: 1,
  pause: 4
} as const

type Act = keyof typeof USUAL | keyof typeof TROUBLES

const VANISHED_MAX = 3
const STOP_MS_MAX = 120_000

export interface DayOptions {
  readonly steps: number
  readonly clients: readonly Habits[]
  readonly sabotage?: Conditions['sabotage']
}

export class Day {
  readonly scene: Scene
  readonly clients: readonly StreamClient[]
  readonly platform: Platform
  /** Every life of the service, the present one last. */
  readonly services: Service[] = []
  readonly witness = new Witness()
  readonly #steps: number
  readonly #chance: Chance
  readonly #trouble: Trouble
  readonly #conditions: Conditions
  readonly #mischief: ReadonlyMap<Login, BrokerMischief>
  readonly #weights: Readonly<Record<Act, number>>
  #vanished = 0
  #failure: { readonly cause: unknown } | null = null

  constructor(scene: Scene, options: DayOptions) {
    this.scene = scene
    this.#steps = options.steps
    this.#chance = scene.chance.apart('day')
    this.#trouble = new Trouble(scene, scene.chance.apart('trouble'))
    const { skewMs, route } = this.#trouble
    this.#conditions = { skewMs, route, ...(options.sabotage && { sabotage: options.sabotage }) }
    this.#mischief = new Map(scene.logins.map(login => [login, this.#mischiefOf(login)]))
    const known = Object.entries(TROUBLES).map(([name, weight]) => [name, this.#chance.happens(0.5) ? weight : 0])
    this.#weights = { ...USUAL, ...TROUBLES, ...Object.fromEntries(known) }
    const surroundings = { scene, service: () => this.service, witness: this.witness, fail: (cause: unknown) => this.#fail(cause) }
    this.platform = new Platform({ ...surroundings, chance: scene.chance.apart('platform') })
    this.clients = options.clients.map(
      habits => new StreamClient(habits, { ...surroundings, chance: scene.chance.apart(habits.name) })
    )
  }

  get service(): Service {
    const service = this.services.at(-1)
    if (service === undefined) throw new Error('the service has not begun')
    return service
  }

  /** @throws what went wrong first. */
  async run(): Promise<void> {
    await this.#begin()
    for (const client of this.clients) client.connect()
    for (let step = 0; step < this.#steps; step += 1) {
      await this.#act(this.#chance.weighted(this.#weights))
      await this.scene.clock.advance(this.#chance.happens(0.7) ? this.#chance.whole(0, 700) : this.#chance.whole(700, 12_000))
      this.assertWell()
    }
  }

  /** Everything behaves again, and there is time for it. */
  async end(): Promise<void> {
    const { clock, logins, trace } = this.scene
    trace.note('all is well from here on')
    this.#trouble.heal()
    for (const mischief of this.#mischief.values()) mischief.heal()
    for (const client of this.clients) client.read(true)
    await clock.until(() => !this.platform.isWaiting || this.#failure !== null, 'every request is answered')
    // All that travels arrives, and what the brokers began they end.
    await clock.advance(2 * TRAVEL_MS_MAX)
    for (const login of logins) decide(login)
    await clock.until(() => this.#isSettled() || this.#failure !== null, 'every order’s fate is known and every client has all it wants', 7_200_000)
    await clock.advance(70_000)
    this.assertWell()
  }

  /** @throws what went wrong first, wherever it was. */
  assertWell(): void {
    if (this.#failure !== null) throw this.#failure.cause
  }

  async stop(): Promise<void> {
    this.#trouble.heal()
    const stopped = this.service.stop()
    await this.given(stopped, 'the service has stopped')
  }

  #isSettled(): boolean {
    return this.service.app.resolver.watched === 0 && this.clients.every(client => client.isSettled)
  }

  async #act(act: Act): Promise<void> {
    const chance = this.#chance
    const login = chance.oneOf(this.scene.logins)
    const client = chance.oneOf(this.clients)
    if (login === undefined || client === undefined) return
    if (isMarketAct(act)) return this.#move(act, login)
    switch (act) {
      case 'place':
        return this.platform.place(login)
      case 'cancel':
        return this.platform.cancel(login)
      case 'modify':
        return this.platform.modify(login)
      case 'read':
        return this.platform.read(login.owner)
      case 'toggle':
        return client.toggle(login.owner.user.userId)
      case 'repeat':
        return client.repeat(login.owner.user.userId)
      case 'ping':
        return client.ping()
      case 'babble':
        return client.babble()
      case 'restart':
        return this.#restart()
      case 'kill':
        return this.#kill()
      default:
        return this.#trouble_(act, login, client)
    }
  }

  #trouble_(act: Exclude<Act, keyof typeof USUAL | 'restart' | 'kill'>, login: Login, client: StreamClient): void {
    const chance = this.#chance
    const { trace } = this.scene
    const { streams, capabilities } = login.broker
    const note = (what: string) => trace.note(what)
    switch (act) {
      case 'streamDown': {
        const cause = chance.oneOf(GAP_CAUSES) ?? 'lost'
        const ms = chance.whole(100, 40_000)
        streams.down(chance.happens(0.5), cause)
        note(`${capabilities.id}’s stream is down (${cause}) for ${ms} ms`)
        void this.scene.clock.sleep(ms).then(() => streams.up())
        return
      }
      case 'gap': {
        const cause = chance.oneOf(GAP_CAUSES) ?? 'lost'
        note(`${capabilities.id}’s stream has a gap (${cause})`)
        streams.down(true, cause)
        return streams.up()
      }
      case 'readsFail': {
        const ms = chance.whole(500, 30_000)
        note(`${capabilities.id} answers no read for ${ms} ms`)
        return this.#mischief.get(login)?.fail(ms, chance.happens(0.7) ? 'unreachable' : 'rate_limited')
      }
      case 'storeFails':
        return this.#trouble.failWrites(chance.whole(1, 4))
      case 'storeReadsFail':
        return this.#trouble.failReads(chance.whole(10, 3_000))
      case 'storeSlow':
        return this.#trouble.slowDown(chance.whole(100, 10_000))
      case 'busTroubled':
        return this.#trouble.troubleBus(chance.whole(500, 20_000))
      case 'clockJump':
        return this.#trouble.jump()
      case 'leave':
        return client.leave(true)
      case 'vanish':
        this.#vanished += 1
        if (this.#vanished <= VANISHED_MAX) client.leave(false)
        return
      case 'pause': {
        const ms = chance.whole(100, 20_000)
        note(`${client.name} reads nothing for ${ms} ms`)
        client.read(false)
        void this.scene.clock.sleep(ms).then(() => client.read(true))
        return
      }
    }
  }

  #move(act: MarketAct, login: Login): void {
    const brokerAccountId = happen(act, login, this.#chance, this.scene.trace)
    if (brokerAccountId !== null && this.#chance.happens(0.4)) this.#mischief.get(login)?.tellRecords(brokerAccountId)
  }

  async #begin(): Promise<void> {
    const service = new Service(this.scene, this.#conditions)
    this.services.push(service)
    // A process whose start fails is started again by whoever looks after it.
    const started = service.start().catch((cause: unknown) => {
      this.scene.trace.note(`the start fails: ${cause}`)
      return 'failed' as const
    })
    if ((await this.given(started, 'the service has started')) !== 'failed') return
    service.kill()
    await this.scene.clock.advance(1_000)
    await this.#begin()
  }

  async #restart(): Promise<void> {
    this.scene.trace.note('the service stops')
    await this.given(this.service.stop(), 'the service has stopped')
    this.service.life.kill()
    this.scene.trace.note('the service starts')
    await this.#begin()
  }

  async #kill(): Promise<void> {
    this.scene.trace.note('the service is killed')
    this.service.kill()
    await this.scene.clock.advance(this.#chance.whole(0, 20_000))
    this.scene.trace.note('the service starts')
    await this.#begin()
  }

  async given<T>(work: Promise<T>, what: string): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    await this.scene.clock.until(() => isDone || this.#failure !== null, what, STOP_MS_MAX)
    this.assertWell()
    return await work
  }

  #mischiefOf(login: Login): BrokerMischief {
    const chance = this.scene.chance.apart(`broker ${login.broker.capabilities.id}`)
    const some = (most: number) => (chance.happens(0.3) ? 0 : chance.fraction() * most)
    const temper: Temper = { commands: some(0.8), reads: some(0.25), lists: some(1), stream: some(0.6) }
    return new BrokerMischief(this.scene, login, chance, temper)
  }

  #fail(cause: unknown): void {
    this.#failure ??= { cause }
    this.scene.trace.note(`failed: ${cause}`)
  }
}

function isMarketAct(act: Act): act is MarketAct {
  return MARKET_ACTS.some(known => known === act)
}
