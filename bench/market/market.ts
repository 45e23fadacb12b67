/**
 * The cost of market data: from the sandbox's feed to the client, compared with a floor, delays, memory, snapshots; and the adapter's
 * parser compared with other libraries.
 */

import { parseArgs } from 'node:util'
import { InvalidOptions } from '../harness/errors.ts'
import { type Figure, Figures } from '../harness/figures.ts'
import { pin } from '../harness/pinning.ts'
import { ENGINES } from '../harness/service.ts'
import { latency } from './latency.ts'
import { memory } from './memory.ts'
import { parsers } from './parsers/parsers.ts'
import { openScene } from './scene.ts'
import { snapshots } from './snapshots.ts'
import { throughput } from './throughput.ts'

const PARTS: readonly string[] = ['throughput', 'latency', 'snapshot', 'memory', 'parsers']
const SYMBOLS = 20
/** Memory is measured in this many services; in only one if few seconds are specified, because that is a trial run. */
const MEMORY_TIMES = 3
const FEW_SECONDS = 5

export async function market(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      only: { type: 'string' },
      engine: { type: 'string', default: 'postgres' },
      seconds: { type: 'string', default: '10' },
      /** A folder of recorded data in the LEAN format, for the messages of the parsers; without it they are generated from a seed. */
      recorded: { type: 'string' },
      /** A directory for processor profiles of the measured processes. */
      profile: { type: 'string' }
    }
  })
  const seconds = Number(values.seconds)
  const only = values.only?.split(',') ?? PARTS
  const engine = ENGINES.find(name => name === values.engine)
  const strange = only.filter(part => !PARTS.includes(part))
  if (strange.length > 0) throw new InvalidOptions(`--only takes ${PARTS.join(', ')}, not ${strange.join(', ')}`)
  if (engine === undefined) throw new InvalidOptions(`--engine takes ${ENGINES.join(' or ')}, not ${values.engine}`)
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  if (!pin(process.pid, 'others')) process.stdout.write('nothing is pinned to a core: that takes a second one, and taskset\n')
  const found = new Figures(['Found'])
  const record = (figure: Figure) => found.add('Found', figure)
  if (only.some(part => ['throughput', 'latency', 'snapshot'].includes(part))) {
    await using scene = await openScene({ engine, flags, symbols: SYMBOLS })
    const part = { scene, seconds, flags, record }
    if (only.includes('throughput')) await throughput(part)
    if (only.includes('latency')) await latency(part)
    if (only.includes('snapshot')) await snapshots(part)
  }
  if (only.includes('memory')) await memory({ engine, times: seconds < FEW_SECONDS ? 1 : MEMORY_TIMES, record })
  if (only.includes('parsers')) await parsers({ seconds, recorded: values.recorded ?? null, record })
  process.stdout.write(`\n${found.table()}`)
}
