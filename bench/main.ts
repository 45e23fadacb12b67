/** `npm run bench -- <scenario>`: measures a part of the service beside a floor, in one run on one machine, and prints both. */

import { adapters } from './adapters/adapters.ts'
import { market } from './market/market.ts'
import { rest } from './rest/rest.ts'
import { stream } from './stream/stream.ts'

const SCENARIOS: Readonly<Record<string, (options: readonly string[]) => Promise<void>>> = { rest, stream, market, adapters }

const [name = '', ...options] = process.argv.slice(2)
const scenario = SCENARIOS[name]
if (scenario === undefined) {
  process.stderr.write(`usage: npm run bench -- <${Object.keys(SCENARIOS).join(' | ')}> [options]\n`)
  process.exitCode = 2
} else {
  await scenario(options)
}
