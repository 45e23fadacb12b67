/** The cost of the broker stream: fan-out compared with bare `ws` servers, the path from a broker's message to a session, and memory. */

import { parseArgs } from 'node:util'
import { InvalidOptions } from '../harness/errors.ts'
import { type Figure, Figures } from '../harness/figures.ts'
import { ENGINES } from '../harness/service.ts'
import { fanout } from './fanout/fanout.ts'
import { idle } from './idle.ts'
import { mirrored } from './mirrored.ts'
import { pipeline } from './pipeline.ts'

/** Memory is measured in this many services; in only one if few seconds are specified, because that is a trial run. */
const MEMORY_TIMES = 3
const FEW_SECONDS = 5

const PARTS: readonly string[] = ['fanout', 'pipeline', 'idle', 'mirrored']

export async function stream(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      only: { type: 'string' },
      engine: { type: 'string' },
      seconds: { type: 'string', default: '10' },
      /** A directory for processor profiles of the measured processes. */
      profile: { type: 'string' }
    }
  })
  const seconds = Number(values.seconds)
  const only = values.only?.split(',') ?? PARTS
  const engines = ENGINES.filter(name => values.engine === undefined || values.engine === name)
  const strange = only.filter(part => !PARTS.includes(part))
  if (strange.length > 0) throw new InvalidOptions(`--only takes ${PARTS.join(', ')}, not ${strange.join(', ')}`)
  if (engines.length === 0) throw new InvalidOptions(`--engine takes ${ENGINES.join(' or ')}, not ${values.engine}`)
  const wanted = (part: string) => only.includes(part)
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  const shared = new Figures(['Found'])
  if (wanted('fanout')) await fanout({ seconds, flags, record: figure => shared.add('Found', figure) })
  const ofEngines = new Figures([...ENGINES])
  for (const engine of engines) {
    process.stdout.write(`\n${engine}\n`)
    const record = (figure: Figure) => ofEngines.add(engine, figure)
    if (wanted('pipeline')) await pipeline({ engine, seconds, flags, record })
    if (wanted('idle')) await idle({ engine, times: seconds < FEW_SECONDS ? 1 : MEMORY_TIMES, record })
    if (wanted('mirrored')) await mirrored({ engine, record })
  }
  process.stdout.write(`\n${shared.table()}\n${ofEngines.table()}`)
}
