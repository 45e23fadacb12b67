// What may happen next in a simulated day. Each action is one entry: how often it comes, and what it does.
import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { deleteUser } from '@trunkline/core/app/users/users'
import { GAP_CAUSES } from '@trunkline/core/ports/gap'
import type { BrokerFaults } from './broker-faults.ts'
import type { Chance } from './chance.ts'
import type { EnvironmentFaults } from './environment-faults.ts'
import type { Fleet } from './fleet.ts'
import type { Life } from './life.ts'
import { happen, type MarketAction } from './market.ts'
import type { Platform } from './platform.ts'
import type { Login, Scene } from './scene.ts'
import type { Service } from './service.ts'
import type { StreamClient } from './stream-client.ts'

/** What an action is about: one login and one client, by chance, and everything around them. */
export interface Stage {
  readonly scene: Scene
  readonly chance: Chance
  readonly login: Login
  readonly client: StreamClient
  readonly brokerFaults: BrokerFaults
  readonly platform: Platform
  readonly environment: EnvironmentFaults
  readonly fleet: Fleet
  /** Goes on once a single process is there again. */
  whenReady(work: Promise<void>): Promise<void>
}

interface Action {
  readonly weight: number
  /** A day knows about half of these only, so that each kind of fault is met alone and in company. */
  readonly isFault?: true
  /** Only where there are several nodes. */
  readonly ofNodes?: true
  readonly run: (stage: Stage) => Promise<void> | void
}

const VANISHED_MAX = 3
const vanished = new WeakMap<Scene, number>()

export const ACTIONS: Readonly<Record<string, Action>> = {
  place: { weight: 24, run: ({ platform, login }) => platform.place(login) },
  cancel: { weight: 12, run: ({ platform, login }) => platform.cancel(login) },
  modify: { weight: 10, run: ({ platform, login }) => platform.modify(login) },
  read: { weight: 8, run: ({ platform, login }) => platform.read(login.owner) },

  fill: { weight: 18, run: stage => market(stage, 'fill') },
  begin: { weight: 3, run: stage => market(stage, 'begin') },
  expire: { weight: 2, run: stage => market(stage, 'expire') },
  cancelOutside: { weight: 2, run: stage => market(stage, 'cancelOutside') },
  placeOutside: { weight: 3, run: stage => market(stage, 'placeOutside') },

  toggle: { weight: 3, run: ({ client, login }) => client.toggle(login.owner.user.userId) },
  repeat: { weight: 5, run: ({ client, login }) => client.repeat(login.owner.user.userId) },
  ping: { weight: 2, run: ({ client }) => client.ping() },
  babble: { weight: 0.5, run: ({ client }) => client.babble() },
  wait: { weight: 0.5, run: ({ scene, chance }) => scene.clock.advance(chance.whole(20_000, 200_000)) },
  connectLate: { weight: 3, run: ({ scene, fleet }) => connectLate(scene, fleet.some()) },

  leave: { weight: 3, isFault: true, run: ({ client }) => client.leave(true) },
  vanish: {
    weight: 1,
    isFault: true,
    run: ({ scene, client }) => {
      const count = vanished.get(scene) ?? 0
      vanished.set(scene, count + 1)
      if (count < VANISHED_MAX) client.leave(false)
    }
  },
  pause: {
    weight: 4,
    isFault: true,
    run: stage => forAWhile(stage, [100, 20_000], `${stage.client.name} reads nothing`, stage.client.pause())
  },

  streamDown: {
    weight: 4,
    isFault: true,
    run: stage => {
      const { streams, capabilities } = stage.login.broker
      const cause = stage.chance.oneOf(GAP_CAUSES) ?? 'lost'
      streams.down(stage.chance.happens(0.5), cause)
      forAWhile(stage, [100, 40_000], `${capabilities.id}’s stream is down (${cause})`, () => streams.up())
    }
  },
  gap: {
    weight: 3,
    isFault: true,
    run: ({ scene, chance, login: { broker } }) => {
      const cause = chance.oneOf(GAP_CAUSES) ?? 'lost'
      scene.trace.note(`${broker.capabilities.id}’s stream has a gap (${cause})`)
      broker.streams.down(true, cause)
      broker.streams.up()
    }
  },
  streamFails: {
    weight: 1,
    isFault: true,
    run: ({ login: { broker } }) => broker.streams.fail(new Error('the simulated adapter breaks its port'))
  },
  readsFail: {
    weight: 4,
    isFault: true,
    run: ({ chance, brokerFaults }) => brokerFaults.fail(chance.whole(500, 30_000), chance.happens(0.7) ? 'unreachable' : 'rate_limited')
  },
  revoke: {
    weight: 0.8,
    isFault: true,
    run: ({ scene, login: { broker } }) => {
      scene.trace.note(`${broker.capabilities.id} revokes the login`)
      broker.reject()
    }
  },

  storeFails: {
    weight: 5,
    isFault: true,
    run: ({ chance, environment }) => environment.failWrites(chance.happens(0.7) ? chance.whole(1, 1_500) : chance.whole(1_500, 20_000))
  },
  storeReadsFail: { weight: 4, isFault: true, run: ({ chance, environment }) => environment.failReads(chance.whole(10, 8_000)) },
  storeSlow: { weight: 3, isFault: true, run: ({ chance, environment }) => environment.slowDown(chance.whole(100, 10_000)) },
  storePrunes: { weight: 1, isFault: true, run: ({ scene }) => scene.store.prune() },
  busDisturbed: { weight: 4, isFault: true, run: ({ chance, environment }) => environment.disturbBus(chance.whole(500, 20_000)) },
  clockJump: { weight: 2, isFault: true, run: ({ environment, fleet }) => environment.jump(fleet.someMachine().index) },
  restart: { weight: 1.5, isFault: true, run: ({ fleet, whenReady }) => whenReady(fleet.restart(fleet.someMachine())) },
  kill: {
    weight: 2,
    isFault: true,
    run: ({ fleet, whenReady }) => {
      fleet.kill(fleet.someMachine())
      return whenReady(Promise.resolve())
    }
  },

  removeConnection: {
    weight: 0.8,
    isFault: true,
    run: ({ scene, platform, login: { owner, connection } }) => {
      scene.doomed.add(connection.connectionId)
      const ask = (app: Service['app']) => deleteConnection(app, owner.caller, connection.connectionId)
      platform.begin({ owner, what: `delete ${connection.broker}`, hasEffect: true, ask }, () => 'deleted')
    }
  },
  removeUser: {
    weight: 0.5,
    isFault: true,
    run: ({ scene, platform, login: { owner } }) => {
      scene.doomed.add(owner.user.userKey)
      const ask = (app: Service['app']) => deleteUser(app, owner.caller, owner.user.userId)
      platform.begin({ owner, what: `delete ${owner.user.userId}`, hasEffect: true, ask }, () => 'deleted')
    }
  },

  nodeStandsStill: {
    weight: 4,
    isFault: true,
    ofNodes: true,
    run: stage => toANode(stage, [50, 30_000], 'stands still', life => life.pause())
  },
  nodeWithoutStore: {
    weight: 2,
    isFault: true,
    ofNodes: true,
    run: stage =>
      toANode(stage, [200, 10_000], 'does not reach the store', life => {
        life.isCutFromStore = true
      })
  },
  nodeApart: {
    weight: 2,
    isFault: true,
    ofNodes: true,
    run: stage =>
      toANode(stage, [200, 20_000], 'does not reach the other nodes', life => {
        life.isCutFromNodes = true
      })
  }
}

function market({ scene, chance, login, brokerFaults }: Stage, action: MarketAction): void {
  const brokerAccountId = happen(action, login, chance, scene.trace)
  if (brokerAccountId !== null && chance.happens(0.4)) brokerFaults.pushPositions(brokerAccountId)
}

/** A login at one more broker is completed, as the portal does it. */
async function connectLate(scene: Scene, service: Service): Promise<void> {
  const login = scene.logins.find(({ isConnected }) => !isConnected)
  if (login === undefined) return
  const { userKey } = login.owner.user
  if (!(await login.connect())) return
  scene.trace.note(`${login.connection.broker} is connected`)
  service.app.bus.publish({ type: 'connection_changed', userKey, connectionId: login.connection.connectionId })
}

/** Something befalls one of the nodes, and passes. */
function toANode(stage: Stage, range: readonly [number, number], what: string, befall: (life: Life) => void): void {
  const { name, service } = stage.fleet.someMachine()
  befall(service.life)
  forAWhile(stage, range, `${name} ${what}`, () => stage.fleet.healNode(service))
}

function forAWhile({ scene, chance }: Stage, [least, most]: readonly [number, number], what: string, end: () => void): void {
  const ms = chance.whole(least, most)
  scene.trace.note(`${what} for ${ms} ms`)
  void scene.clock.sleep(ms).then(end)
}
