/** `npm run bench -- <scenario>`: measures a part of the service beside a floor, in one run on one machine, and prints both. */

import { abuse } from './abuse/abuse.ts'
import { adapters } from './adapters/adapters.ts'
import { client } from './client/client.ts'
import { cluster } from './cluster/cluster.ts'
import { InvalidOptions, NotInstalled } from './harness/errors.ts'
import { history } from './history/history.ts'
import { market } from './market/market.ts'
import { rest } from './rest/rest.ts'
import { stream } from './stream/stream.ts'
import { webhooks } from './webhooks/webhooks.ts'

const SCENARIOS: Readonly<Record<string, (options: readonly string[]) => Promise<void>>> = {
  rest,
  stream,
  market,
  history,
  abuse,
  cluster,
  client,
  webhooks,
  adapters
}

const USAGE = `npm run bench -- <scenario> [options]

  rest       reads, orders, memory, growth    --engine embedded|postgres  --seconds 10  --stored 1000000  --only reads,cost,latency,…
                                              --at-once 1,16,64  --profile FOLDER
  stream     the broker stream                --engine embedded|postgres  --seconds 10  --only fanout,pipeline,idle,mirrored  --profile FOLDER
  market     the market data stream           --engine embedded|postgres  --seconds 10  --only throughput,latency,snapshot,memory,parsers
                                              --recorded FOLDER  --profile FOLDER
  history    the cost of past bars            --engine embedded|postgres  --only '40 yearly'  --profile FOLDER
  abuse      orders beside others' abuse       --engine embedded|postgres  --seconds 5
  cluster    several nodes: the cost of an order, moves   --nodes 3  --seconds 10  --only cost,moves,shares  --profile FOLDER
                                              --rounds 20  --kinds stop,join,drain,kill,freeze  --rate 40  --logs FOLDER
  client     orders of the TypeScript client, most answers lost   --engine embedded|postgres  --answers 100000  --seed N
  webhooks   from an order to its message, beside dead endpoints   --engine embedded|postgres  --seconds 10  --rounds 3
                                              --rate 50  --users 50  --profile FOLDER
  adapters   reading brokers' messages        --seconds 20

market's parsers and adapters measure other programs too, which are installed once:
  npm ci --prefix bench/market/parsers
  npm ci --prefix bench/adapters/others
`

const [name = '', ...options] = process.argv.slice(2)
const scenario = SCENARIOS[name]
if (process.argv.includes('--help') || process.argv.includes('-h')) process.stdout.write(USAGE)
else if (scenario === undefined) {
  process.stderr.write(USAGE)
  process.exitCode = 2
} else await measured(() => scenario(options))

/** Invalid options and missing programs are reported as a message; a stack trace means a fault of the bench. */
async function measured(scene: () => Promise<void>): Promise<void> {
  try {
    await scene()
  } catch (cause) {
    if (!isUsageError(cause)) throw cause
    process.stderr.write(`${cause.message}\n\n${cause instanceof NotInstalled ? '' : USAGE}`)
    process.exitCode = cause instanceof NotInstalled ? 1 : 2
  }
}

function isUsageError(cause: unknown): cause is Error {
  if (!(cause instanceof Error)) return false
  return (
    cause instanceof NotInstalled || cause instanceof InvalidOptions || ('code' in cause && String(cause.code).startsWith('ERR_PARSE_ARGS'))
  )
}
