import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { scratch, startProgram } from '../harness/processes.ts'
import type { ConnectedUser, Stage } from '../harness/stage.ts'
import { line, median } from '../harness/stats.ts'

const CONNECTIONS = 20
const ROUNDS = 3
const ROUTES = [
  { name: 'accounts', path: '/accounts', share: 0.35 },
  { name: 'orders', path: '/orders?limit=50', share: 0.15 }
]

/** Requests per second of the service and of the floor, alternately, so that both meet the same machine. */
export async function reads(stage: Stage, seconds: number): Promise<readonly string[]> {
  const user = await stage.user()
  await fill(user)
  using folder = scratch()
  const files: string[] = []
  for (const { name, path } of ROUTES) {
    const body = await fetch(stage.platform.baseUrl + path, { headers: user.headers }).then(response => response.text())
    writeFileSync(join(folder.path, name), body)
    files.push(`${name}=${join(folder.path, name)}`)
  }
  await using floor = await startProgram('bench/harness/floor.ts', 'floor ', { FLOOR_FILES: files.join(',') })
  const floorUrl = `http://127.0.0.1:${floor.ready.split(' ')[1]}`
  const lines: string[] = []
  for (const { name, path, share } of ROUTES) {
    const found = { floor: [] as number[], service: [] as number[] }
    for (let round = 0; round < ROUNDS; round += 1) {
      found.floor.push(await rate(`${floorUrl}/${name}`, {}, seconds / ROUNDS))
      found.service.push(await rate(stage.platform.baseUrl + path, user.headers, seconds / ROUNDS))
    }
    const [ours, bare] = [median(found.service), median(found.floor)]
    const figures = `${ours.toFixed(0)}/s of ${bare.toFixed(0)}/s, ${((100 * ours) / bare).toFixed(0)} %`
    lines.push(
      line(`GET ${path}`, figures, `at least ${100 * share} % of the floor`, stage.engine === 'postgres' ? ours >= share * bare : null)
    )
  }
  return lines
}

/** At least fifty orders, so that a page is full. */
async function fill({ client, accountId }: ConnectedUser): Promise<void> {
  for (let index = 0; index < 60; index += 1) {
    await client.post('/orders', {
      account_id: accountId,
      cl_order_id: `fill-${index}`,
      broker: 'SANDBOX',
      side: 'BUY',
      order_type: 'MKT',
      order_tif: 'DAY',
      symbol: 'AAPL',
      order_qty: '1'
    })
  }
}

async function rate(url: string, headers: Readonly<Record<string, string>>, seconds: number): Promise<number> {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: seconds })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} answers were not 2xx, ${result.errors} requests failed`)
  return result.requests.average
}
