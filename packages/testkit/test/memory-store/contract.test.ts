// The store in memory keeps the promises of the port that the databases keep.
import { randomUUID } from 'node:crypto'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { MemoryStore } from '../../src/memory-store/index.ts'
import { storeContract } from '../../src/store-contract/index.ts'
import { START_MS } from '../../src/store-contract/records.ts'

storeContract(
  'memory',
  async () => {
    let reads = 0
    // No two reads of the clock give the same time.
    const clock = { now: () => timestampOfMs(START_MS + ++reads), monotonicMs: () => reads }
    const store = new MemoryStore({ clock, ids: { uuid: <Id extends string>() => randomUUID() as Id } })
    return { store, beside: store, sql: null, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
  },
  { sql: false }
)
