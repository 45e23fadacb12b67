/**
 * `npm run demo` runs a whole scenario at a broker, against the running service. `-- --broker ALPACA` chooses another broker than SANDBOX;
 * `-- --replay <folder>` uses a recorded day.
 */

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { demoBroker } from './broker.ts'
import { Client, listOf, recordOf, textOf } from './client.ts'
import { outsideSpread, recordedSpread } from './recorded-spread.ts'
import { runScenario } from './scenario.ts'
import { startService } from './service.ts'
import type { Stage } from './stage.ts'

const RECORDED = { symbol: 'SPY', day: '2013-10-07', at: '10:30' }

const USAGE = 'usage: npm run demo -- [--broker ALPACA] [--login 1] [--data-dir FOLDER], or npm run demo -- --replay FOLDER'
const ABOUT = `${USAGE}

Runs a whole scenario at a broker through the public REST API: a user, a connection, orders, balances, positions, transactions, market data.
  --broker    a broker that the service offers in the sandbox; default SANDBOX
  --login     the index of one of the sandbox's logins, from 0
  --data-dir  of the running service; default TRUNKLINE_DATA_DIR or .data. Start the service in another terminal: npm start
  --replay    a folder of recorded data: runs the scenario on a recorded day, with a separate service`

const print = (text: string) => process.stdout.write(`${text}\n`)
const values = choices()

try {
  if (values === null) process.exitCode = 2
  else if (values.help) print(ABOUT)
  else if (values.replay === undefined) await live(values)
  else await recorded(values, resolve(values.replay))
} catch (cause) {
  print(`\nThe demo stopped: ${cause instanceof Error ? cause.message : String(cause)}`)
  process.exitCode = 1
}

interface Choices {
  readonly broker: string
  readonly 'data-dir': string
  readonly login: string
  readonly help: boolean
  readonly replay?: string
}

/** The parsed arguments; null, after printing the usage, when they are invalid. */
function choices(): Choices | null {
  try {
    return parseArgs({
      options: {
        replay: { type: 'string' },
        broker: { type: 'string', default: 'SANDBOX' },
        'data-dir': { type: 'string', default: process.env.TRUNKLINE_DATA_DIR ?? '.data' },
        login: { type: 'string', default: '0' },
        help: { type: 'boolean', short: 'h', default: false }
      }
    }).values
  } catch (cause) {
    print(`${cause instanceof Error ? `${cause.message}\n` : ''}${USAGE}`)
    return null
  }
}

async function live(options: Choices): Promise<void> {
  const stage = await stageOf(options, options['data-dir'])
  print(`Running against the service at ${stage.platform.baseUrl}, with synthetic prices\n`)
  await runScenario(stage)
  print(`\nEverything above used the public API. Its reference: ${stage.platform.baseUrl}/docs`)
}

/** Runs a separate service on the recorded day, and compares every fill with the spread recorded at that time. */
async function recorded(options: Choices, folder: string): Promise<void> {
  const { symbol, day, at } = RECORDED
  print(`${symbol} as recorded on ${day}, from ${at} New York time\n`)
  const spread = await recordedSpread(folder, symbol, day)
  await using service = await startService({ SANDBOX_MARKET: `replay:${folder}?date=${day}&at=${at}&symbols=${symbol}` })
  const stage = await stageOf(options, service.dataDir)
  const orders = await runScenario({
    ...stage,
    login: await wealthyLogin(service.dataDir),
    symbol,
    day,
    thin: { symbol, quantity: '60000' }
  })
  const fills = orders.flatMap(order => listOf(order, 'fills'))
  const strays = fills.filter(fill => outsideSpread(spread, textOf(fill, 'time'), textOf(fill, 'price')))
  for (const fill of strays) print(`  outside the recorded spread: ${textOf(fill, 'price')} at ${textOf(fill, 'time')}`)
  print(`\n${fills.length - strays.length} of ${fills.length} fills lie inside the spread recorded at their moment.`)
  if (strays.length > 0 || fills.length === 0) process.exitCode = 1
}

async function stageOf({ login: which, broker }: Choices, dataDir: string): Promise<Stage> {
  const path = join(resolve(dataDir), 'demo-platform.json')
  const demo = readDemo(path)
  const logins = listOf(demo, 'sandbox_logins')
  const login = logins[Number(which)] ?? logins[0]
  if (login === undefined) throw new Error(`${path} names no sandbox login; start the service with its own sandbox: npm start`)
  const platform = {
    baseUrl: textOf(demo, 'base_url'),
    clientId: textOf(demo, 'client_id'),
    clientSecret: textOf(demo, 'client_secret')
  }
  return {
    platform,
    marketUrl: textOf(demo, 'market_data_stream_url'),
    login: { username: textOf(login, 'username'), password: textOf(login, 'password') },
    broker: await demoBroker(new Client(platform), broker.toUpperCase()),
    symbol: 'AAPL',
    thin: { symbol: 'THIN', quantity: '400' },
    day: null,
    print
  }
}

/** Creates a customer of the sandbox, through its control API, who has enough cash to buy more than is offered. */
async function wealthyLogin(dataDir: string): Promise<Stage['login']> {
  const control = textOf(readDemo(join(dataDir, 'demo-platform.json')), 'sandbox_control_url')
  const body = JSON.stringify({ username: 'sam', accounts: [{ kind: 'margin', cash: '20000000' }] })
  const response = await fetch(`${control}/logins`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const answer = recordOf(await response.json())
  const login = recordOf(answer.login ?? answer)
  return { username: textOf(login, 'username'), password: textOf(answer, 'password') || textOf(login, 'password') }
}

function readDemo(path: string): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new Error(`${path} cannot be read; is the service running? Start it in another terminal: npm start`, { cause })
  }
}
