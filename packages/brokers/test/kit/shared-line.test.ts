// One connection that is there for as long as anybody wants it, and a little longer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { SharedLine } from '../../src/kit/shared-line.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryLog } from '../support/log.ts'
import { rate, Venue } from './venue.ts'

const LINGER_MS = 5_000

/** The time after the last topic passes when the test says so. */
class Lingering {
  readonly clock = {
    ...systemClock,
    alarm: (ms: number, ring: () => void): Disposable => {
      if (ms !== LINGER_MS) return systemClock.alarm(ms, ring)
      this.#ring = ring
      return {
        [Symbol.dispose]: () => {
          if (this.#ring === ring) this.#ring = null
        }
      }
    }
  }
  #ring: (() => void) | null = null

  get isWaiting(): boolean {
    return this.#ring !== null
  }

  pass(): void {
    this.#ring?.()
  }
}

async function start() {
  const venue = await Venue.start()
  const lingering = new Lingering()
  const told: string[] = []
  const refusals: BrokerFault[] = []
  const line = new SharedLine({
    line: {
      clock: lingering.clock,
      fraction: () => 0.5,
      log: new MemoryLog(),
      connects: { first: rate(1_000), again: rate(1_000) },
      backoff: { firstMs: 5, longestMs: 20 },
      steadyMs: 10_000,
      handshakeMs: 30_000,
      frameMax: 1_000
    },
    begin: async () => {
      const refusal = refusals.pop()
      if (refusal !== undefined) throw refusal
      return {
        url: venue.url,
        hello: [],
        hear: () => {
          told.push('live')
          return [{ type: 'live', heartbeatMs: 10_000 }]
        }
      }
    },
    lost: cause => told.push(`lost ${cause}`),
    stopped: () => told.push('stopped')
  })
  return {
    ...{ venue, lingering, line, told, refusals },
    hears: (count: number) => until(() => told.length >= count, `${count} were told, so far ${told.join(', ')}`),
    async [Symbol.asyncDispose]() {
      await line[Symbol.asyncDispose]()
      await venue[Symbol.asyncDispose]()
    }
  }
}

test('it outlives its last topic by a moment, and who comes back in it keeps it', async () => {
  await using stage = await start()
  const { line, lingering, venue, told } = stage
  line.release()
  assert.equal(lingering.isWaiting, false, 'nothing to close')
  line.open()
  line.open()
  await stage.hears(1)
  assert.equal(venue.sockets.length, 1)
  line.release()
  assert.equal(lingering.isWaiting, true)
  line.hold()
  assert.equal(lingering.isWaiting, false)
  line.release()
  lingering.pass()
  assert.deepEqual(told, ['live', 'stopped'])
  await until(() => venue.server.clients.size === 0, 'the socket is gone')
  line.open()
  await stage.hears(3)
  assert.deepEqual(told, ['live', 'stopped', 'live'])
})

test('what keeps it down is known to who comes meanwhile', async () => {
  await using stage = await start()
  const { line, venue, told } = stage
  const cause = () => line.outage?.cause ?? null
  assert.equal(cause(), null)
  line.open()
  await stage.hears(1)
  assert.equal(cause(), null)
  venue.greeting = ''
  venue.last.terminate()
  await stage.hears(2)
  assert.equal(cause(), 'lost')
  await until(() => venue.sockets.length === 2, 'it is opened again')
  venue.last.send('live')
  await stage.hears(3)
  assert.deepEqual(told, ['live', 'lost lost', 'live'])
  await until(() => cause() === null, 'there is no outage')
})

test('a login that is refused is not tried again until somebody asks anew', async () => {
  await using stage = await start()
  const { line, told, refusals } = stage
  refusals.push(new BrokerFault('credentials_rejected', 'the login is over'))
  line.open()
  await stage.hears(1)
  assert.deepEqual([told, line.outage], [['lost token'], { cause: 'token', reason: 'the login is over' }])
  line.open()
  assert.deepEqual(line.outage, { cause: 'token', reason: 'the login is over' }, 'nothing was begun')
  line.mayOpen()
  line.open()
  assert.equal(line.outage, null)
  await stage.hears(2)
  assert.deepEqual(told, ['lost token', 'live'])
})

test('after it was closed nothing is told, and the sockets are gone', async () => {
  await using stage = await start()
  const { line, told, venue } = stage
  line.open()
  await stage.hears(1)
  await line[Symbol.asyncDispose]()
  await until(() => venue.server.clients.size === 0, 'the socket is gone')
  assert.deepEqual(told, ['live', 'stopped'])
})
