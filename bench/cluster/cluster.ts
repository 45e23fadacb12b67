import { parseArgs } from 'node:util'
import { costs } from './costs.ts'
import { moves } from './moves/moves.ts'
import { shares } from './shares.ts'

export async function cluster(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      seconds: { type: 'string', default: '10' },
      nodes: { type: 'string', default: '3' },
      only: { type: 'string', default: 'cost,moves' },
      /** A directory for processor profiles of the nodes, while costs are measured. */
      profile: { type: 'string' },
      rounds: { type: 'string', default: '20' },
      kinds: { type: 'string', default: 'stop,join,drain,kill,freeze' },
      rate: { type: 'string', default: '40' },
      logs: { type: 'string' }
    }
  })
  const parts = values.only.split(',')
  if (parts.includes('cost')) await costs(Number(values.seconds), Number(values.nodes), values.profile)
  if (parts.includes('shares')) await shares(Number(values.rounds), Number(values.nodes))
  const { kinds, logs = null } = values
  if (parts.includes('moves')) await moves({ rounds: Number(values.rounds), kinds, rate: Number(values.rate), logs })
}
