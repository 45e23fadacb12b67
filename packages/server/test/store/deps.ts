// What the store is given in its tests: a real clock, random ids, and a log that keeps quiet.
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Brand } from '@trunkline/core/domain/brand'
import { parseUuid } from '@trunkline/core/domain/ids'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Log } from '@trunkline/core/ports/log'
import type { StoreDeps } from '../../src/store/index.ts'

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }

export function testDeps(log: Log = quiet): StoreDeps {
  return {
    clock: {
      now: () => timestampOfMs(performance.timeOrigin + performance.now()),
      monotonicMs: () => performance.now(),
      sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
      alarm: (ms, ring) => setTimeout(ring, ms),
      nextTurn: () => turn()
    },
    ids: {
      uuid: <Id extends Brand<string, string>>() => parseUuid<Id>(randomUUID(), 'id'),
      secret: prefix => `${prefix}${randomBytes(32).toString('base64url')}`,
      fraction: () => Math.random()
    },
    log
  }
}
