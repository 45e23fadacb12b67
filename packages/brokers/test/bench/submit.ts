/** What the adapter costs per order, beside a bare undici pool doing the same exchange: `node packages/brokers/test/bench/submit.ts`. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Pool } from 'undici'
import { sandbox } from '../../src/sandbox/definition.ts'
import { submitRequest } from '../../src/sandbox/orders.ts'
import { fixture, MARGIN, TICKET } from '../sandbox/fixtures.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'

/** One round stays below the adapter's own rate limit, and the pause fills it again. */
const ROUND = 1_800
const PAUSE_MS = 1_200
const ROUNDS = 5

const ANSWER = JSON.stringify(fixture('submit.open').body)
const SERVER = `
const { createServer } = require('node:http')
const answer = Buffer.from(process.argv[1])
const head = { 'content-type': 'application/json', 'content-length': answer.length }
createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(201, head).end(answer))
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
process.stdin.resume().on('end', () => process.exit())`

const child = spawn(process.execPath, ['-e', SERVER, ANSWER], { stdio: ['pipe', 'pipe', 'inherit'] })
const [port] = await once(child.stdout, 'data')
const origin = `http://127.0.0.1:${String(port).trim()}`

const deps = { clock: systemClock, fraction: () => 0.5, log: new MemoryLog(), meter: new MemoryMeter() }
const definition = sandbox({ baseUrl: origin, clientId: 'us', clientSecret: 'secret' }, deps)
const broker = definition.open(new MemoryHolder({ access_token: 'at' }))
const pool = new Pool(origin, { connections: 64, pipelining: 1 })

const order = { ...TICKET, brokerAccountId: MARGIN, brokerClOrdId: 'fix2' }
const { path, headers, body = '' } = submitRequest(order)

async function bare(): Promise<void> {
  const reply = await pool.request({ path, method: 'POST', headers: [...headers, 'authorization', 'Bearer at'], body })
  await reply.body.text()
}

async function adapter(): Promise<void> {
  assert.equal((await broker.submit(order, AbortSignal.timeout(10_000))).kind, 'accepted')
}

async function round(work: () => Promise<void>, atOnce: number) {
  let left = ROUND
  const times: number[] = []
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left > 0) {
        left -= 1
        const from = performance.now()
        await work()
        times.push((performance.now() - from) * 1_000)
      }
    })
  )
  const { user, system } = process.cpuUsage(before)
  return { medianUs: middle(times), cpuUs: (user + system) / ROUND }
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

for (const atOnce of [1, 16])
  for (const [name, work] of Object.entries({ bare, adapter })) {
    const rounds = []
    for (let index = 0; index < ROUNDS; index += 1) {
      await systemClock.sleep(PAUSE_MS)
      rounds.push(await round(work, atOnce))
    }
    const medianUs = Math.round(middle(rounds.map(each => each.medianUs)))
    const cpuUs = Math.round(middle(rounds.map(each => each.cpuUs)))
    process.stdout.write(`${String(atOnce).padStart(2)} at once, ${name.padEnd(8)} median ${medianUs} µs, processor ${cpuUs} µs an order\n`)
  }

await broker[Symbol.asyncDispose]()
await definition[Symbol.asyncDispose]()
await pool.close()
child.stdin.end()
