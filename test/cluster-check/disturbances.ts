// What goes wrong in a round, chosen by a seed.
import type { Chance } from '@trunkline/testkit/crash/chance'
import { LINK_FAULTS, type LinkFault, type LinkName } from './links.ts'
import type { CheckedNode } from './node.ts'
import type { Stop } from './parties.ts'
import type { Stage } from './stage.ts'

export interface Disturbance {
  readonly kind: Kind
  readonly title: string
  /** The node that it keeps from its users, if it does: others take them over. */
  readonly node: number | null
  /** After the beginning of the round. Milliseconds. */
  readonly startMs: number
  readonly holdMs: number
  readonly begin: (stage: Stage) => void | Promise<void>
  readonly end: (stage: Stage) => void | Promise<void>
}

const START_MS_MAX = 1_200
/** A lease lasts three seconds. */
const LONG_PAUSE_MS = [3_300, 4_500] as const
const SHORT_PAUSE_MS = [300, 2_200] as const
const LINK_MS = [400, 4_000] as const
/** Longer than a lease and the time in which two nodes may both read a stream: a node that ignores the end of its lease is seen. */
const LONG_LINK_MS = 8_000
const NATS_MS = [0, 1_500] as const
const DATABASE_MS = [0, 900] as const
const CLOCK_MINUTES_MAX = 10

/**
 * What a link with the brokers held for longer is lost with its connections: the service looks for an order for the `absence` of three
 * seconds, and one that arrives later than that would be found by nobody (decision 3).
 */
const ARRIVES_MS_MAX = 2_500

/** So long that a user whom nobody owns until then is found. */
const VERY_LONG_MS = 15_000

/** How long a link is impaired: a quarter of them for long. */
function linkMs(chance: Chance): number {
  return chance.happens(0.25) ? LONG_LINK_MS : chance.whole(...LINK_MS)
}

function perhapsVeryLong(chance: Chance, ms: number): number {
  return chance.happens(0.15) ? VERY_LONG_MS : ms
}

type Make = (chance: Chance) => Pick<Disturbance, 'title' | 'holdMs' | 'begin' | 'end'> & Partial<Pick<Disturbance, 'node'>>

const nothing = () => undefined

function aNode(chance: Chance): number {
  return chance.whole(1, 3)
}

function nodeOf({ nodes }: Stage, number: number): CheckedNode {
  const node = nodes[number - 1]
  if (node === undefined) throw new Error(`there is no node ${number}`)
  return node
}

function linkFault(name: LinkName, number: number, fault: LinkFault, holdMs: number): Pick<Disturbance, 'begin' | 'end'> {
  return {
    begin(stage) {
      const node = nodeOf(stage, number)
      if (name === 'brokers') node.disturbed('brokers link')
      if (name === 'database') node.disturbLease('database link')
      stage.links[number - 1]?.impair(name, fault)
    },
    end(stage) {
      const node = nodeOf(stage, number)
      if (name === 'brokers') node.free('brokers link')
      if (name === 'database') node.freeLease('database link')
      if (name === 'brokers' && fault !== 'slow' && holdMs > ARRIVES_MS_MAX) stage.links[number - 1]?.impair(name, 'cut')
      stage.links[number - 1]?.clear(name)
    }
  }
}

function linkOf(name: LinkName, faults: readonly LinkFault[] = LINK_FAULTS): Make {
  return chance => {
    const [number, fault] = [aNode(chance), chance.oneOf(faults) ?? 'cut']
    const title = `node ${number}'s link with ${name} ${fault}`
    const ms = linkMs(chance)
    if (name !== 'database' || fault === 'slow') return { title, holdMs: ms, ...linkFault(name, number, fault, ms) }
    const holdMs = perhapsVeryLong(chance, ms)
    return { title, node: number, holdMs, ...linkFault(name, number, fault, holdMs) }
  }
}

function pause([low, high]: readonly [number, number], isBeyondLease: boolean): Make {
  return chance => {
    const number = aNode(chance)
    const ms = chance.whole(low, high)
    return {
      ...{ title: `node ${number} paused`, holdMs: isBeyondLease ? perhapsVeryLong(chance, ms) : ms, node: isBeyondLease ? number : null },
      begin: stage => nodeOf(stage, number).pause(),
      end: stage => nodeOf(stage, number).resume()
    }
  }
}

const MAKES = {
  kill(chance) {
    const number = aNode(chance)
    return { node: number, title: `node ${number} killed`, holdMs: 0, begin: stage => nodeOf(stage, number).kill(), end: nothing }
  },
  'pause beyond the lease': pause(LONG_PAUSE_MS, true),
  'short pause': pause(SHORT_PAUSE_MS, false),
  'stop and join'(chance) {
    const number = aNode(chance)
    return { title: `node ${number} stopped`, holdMs: 0, begin: stage => nodeOf(stage, number).terminate(), end: nothing }
  },
  'link with the database': linkOf('database'),
  'link with NATS': linkOf('nats'),
  'link with the brokers': linkOf('brokers'),
  'link with another node': chance => linkOf(chance.oneOf(['next node', 'last node']) ?? 'next node')(chance),
  'NATS unreachable'(chance) {
    const fault = chance.oneOf(['cut', 'held'] as const) ?? 'cut'
    const holdMs = linkMs(chance)
    const all = [1, 2, 3].map(number => linkFault('nats', number, fault, holdMs))
    return {
      ...{ title: `NATS ${fault} for all nodes`, holdMs },
      begin: stage => all.forEach(({ begin }) => void begin(stage)),
      end: stage => all.forEach(({ end }) => void end(stage))
    }
  },
  'NATS wiped': chance => ({
    ...{ title: 'NATS wiped', holdMs: chance.whole(...NATS_MS) },
    begin: stage => stage.stopNats(),
    end: stage => stage.startNats()
  }),
  'PostgreSQL restarted'(chance) {
    const how: Stop = chance.oneOf(['fast', 'immediate'] as const) ?? 'fast'
    return {
      ...{ title: `PostgreSQL stopped (${how}) and started`, holdMs: chance.whole(...DATABASE_MS) },
      begin(stage) {
        for (const node of stage.nodes) node.disturbLease('PostgreSQL')
        return stage.database.stop(how)
      },
      async end(stage) {
        await stage.database.run()
        for (const node of stage.nodes) node.freeLease('PostgreSQL')
      }
    }
  },
  'clock moved'(chance) {
    const [number, minutes] = [aNode(chance), chance.whole(-CLOCK_MINUTES_MAX, CLOCK_MINUTES_MAX)]
    return {
      ...{ title: `node ${number}'s clock set ${minutes} minutes ahead`, holdMs: 0 },
      begin: stage => nodeOf(stage, number).setClock(minutes * 60_000),
      end: nothing
    }
  }
} as const satisfies Readonly<Record<string, Make>>

export type Kind = keyof typeof MAKES
const KINDS_OF_DISTURBANCE = Object.keys(MAKES).filter((name): name is Kind => name in MAKES)

/** Of parts of names, those that no disturbance has. */
export function unknownOf(only: readonly string[]): readonly string[] {
  return only.filter(part => part === '' || !KINDS_OF_DISTURBANCE.some(kind => kind.includes(part)))
}

/** The kinds there are. */
export const DISTURBANCES: readonly string[] = KINDS_OF_DISTURBANCE

/** One to three, of different kinds. @param only parts of the names of those that may come */
export function disturbancesOf(chance: Chance, only: readonly string[]): readonly Disturbance[] {
  const count = chance.whole(1, 3)
  return chance
    .shuffled(KINDS_OF_DISTURBANCE)
    .filter(kind => only.length === 0 || only.some(part => kind.includes(part)))
    .slice(0, count)
    .map(kind => {
      const make: Make = MAKES[kind]
      return { kind, node: null, startMs: chance.whole(0, START_MS_MAX), ...make(chance) }
    })
}
