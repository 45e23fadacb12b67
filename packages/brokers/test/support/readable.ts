/** Reading the records of a list, for tests of parsers. */

import type { Wire } from '../../src/kit/parse.ts'
import { type Items, RecordLists } from '../../src/kit/record-lists.ts'
import type { ListContext } from '../../src/kit/runtime/read-definitions.ts'
import type { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { VirtualClock } from './clocks.ts'
import { MemoryLog } from './log.ts'
import { MemoryMeter } from './meter.ts'

/** None is left out. */
export const strictly: ListContext['readable'] = (_kind, records, read) => ({ known: records.map(read), leftOut: [] })

/** As for a command: only a record with an unknown value is left out, any other that cannot be read is a fault. */
export function readKnown<T>(
  unknownValues: UnknownValueCounter,
  records: readonly Wire[],
  read: (record: Wire) => T,
  idKey: string | null
): Items<T> {
  const [log, meter, clock] = [new MemoryLog(), new MemoryMeter(), new VirtualClock()]
  return new RecordLists({ broker: 'TEST', log, meter, clock, unknownValues }).strictly('orders', records, read, idKey)
}
