// One connection that is open for as long as any topic wants it, and a little longer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { SharedStream } from '../../src/kit/shared-stream.ts'
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
  const received: string[] = []
  const refusals: BrokerFault[] = []
  const stream = new SharedStream({
    connection: {
      clock: lingering.clock,
      fraction: () => 0.5,
      log: new MemoryLog(),
      connectLimiters: { first: rate(1_000), again: rate(1_000) },
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
        onFrame: () => {
          received.push('live')
          return [{ type: 'live', heartbeatMs: 10_000 }]
        }
      }
    },
    lost: cause => received.push(`lost ${cause}`),
    stopped: () => received.push('stopped')
  })
  return {
    ...{ venue, lingering, stream, received, refusals },
    receives: (count: number) => until(() => received.length >= count, `${count} were received so far ${received.join(', ')}`),
    async [Symbol.asyncDispose]() {
      await stream[Symbol.asyncDispose]()
      await venue[Symbol.asyncDispose]()
    }
  }
}

test('it outlives its last topic by a moment, and who comes back in it keeps it', async () => {
  await using stage = await start()
  const { stream, lingering, venue, received } = stage
  stream.release()
  assert.equal(lingering.isWaiting, false, 'nothing to close')
  stream.open()
  stream.open()
  await stage.receives(1)
  assert.equal(venue.sockets.length, 1)
  stream.release()
  assert.equal(lingering.isWaiting, true)
  stream.hold()
  assert.equal(lingering.isWaiting, false)
  stream.release()
  lingering.pass()
  assert.deepEqual(received, ['live', 'stopped'])
  await until(() => venue.server.clients.size === 0, 'the socket is gone')
  stream.open()
  await stage.receives(3)
  assert.deepEqual(received, ['live', 'stopped', 'live'])
})

test('what keeps it down is known to who comes meanwhile', async () => {
  await using stage = await start()
  const { stream, venue, received } = stage
  const cause = () => stream.outage?.cause ?? null
  assert.equal(cause(), null)
  stream.open()
  await stage.receives(1)
  assert.equal(cause(), null)
  venue.greeting = ''
  venue.last.terminate()
  await stage.receives(2)
  assert.equal(cause(), 'lost')
  await until(() => venue.sockets.length === 2, 'it is opened again')
  venue.last.send('live')
  await stage.receives(3)
  assert.deepEqual(received, ['live', 'lost lost', 'live'])
  await until(() => cause() === null, 'there is no outage')
})

test('a login that is refused is not tried again until a new request', async () => {
  await using stage = await start()
  const { stream, received, refusals } = stage
  refusals.push(new BrokerFault('credentials_rejected', 'the login is over'))
  stream.open()
  await stage.receives(1)
  assert.deepEqual([received, stream.outage], [['lost token'], { cause: 'token', reason: 'the login is over' }])
  stream.open()
  assert.deepEqual(stream.outage, { cause: 'token', reason: 'the login is over' }, 'nothing was begun')
  stream.mayOpen()
  stream.open()
  assert.equal(stream.outage, null)
  await stage.receives(2)
  assert.deepEqual(received, ['lost token', 'live'])
})

test('after it was closed nothing is published, and the sockets are gone', async () => {
  await using stage = await start()
  const { stream, received, venue } = stage
  stream.open()
  await stage.receives(1)
  await stream[Symbol.asyncDispose]()
  await until(() => venue.server.clients.size === 0, 'the socket is gone')
  assert.deepEqual(received, ['live', 'stopped'])
})
