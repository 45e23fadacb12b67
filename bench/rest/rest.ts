/**
 * The cost of the REST API: reads compared with a bare route with the same bytes, orders compared with the sandbox called directly, memory,
 * and growth.
 */

import { parseArgs } from 'node:util'
import { ENGINES } from '../harness/service.ts'
import { openStage } from '../harness/stage.ts'
import { orderCost, updateCost } from './cost.ts'
import { growth } from './growth.ts'
import { memory } from './memory.ts'
import { orderLatency, sustained } from './orders.ts'
import { reads } from './reads.ts'

export async function rest(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      engine: { type: 'string' },
      seconds: { type: 'string', default: '10' },
      /** Orders stored before the end of the growth measurement. */
      stored: { type: 'string', default: '1000000' },
      only: { type: 'string' },
      /** A directory for processor profiles of the service. */
      profile: { type: 'string' },
      /** How many orders at once the cost is measured with. */
      'at-once': { type: 'string', default: '1,16,64' }
    }
  })
  const seconds = Number(values.seconds)
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  const wanted = (part: string) => values.only === undefined || values.only.split(',').includes(part)
  for (const engine of ENGINES.filter(name => values.engine === undefined || values.engine === name)) {
    print(`\n${engine}`)
    if (wanted('cost')) print(await updateCost(engine, seconds))
    await using stage = await openStage(engine, { flags })
    if (wanted('memory')) print(await memory(stage))
    if (wanted('reads')) print(await reads(stage, seconds))
    if (wanted('cost')) print(await orderCost(stage, seconds, values['at-once'].split(',').map(Number)))
    if (wanted('latency')) print(await orderLatency(stage, seconds))
    if (wanted('sustained')) print(await sustained(stage, seconds))
    if (wanted('growth') && engine === 'postgres') print(await growth(stage, Number(values.stored)))
  }
}

function print(lines: string | readonly string[]): void {
  process.stdout.write(`${[lines].flat().join('\n')}\n`)
}
