import { textOf } from '../harness/stage.ts'
import { type Spread, spreadOf } from '../harness/stats.ts'
import { until } from '../harness/wait.ts'
import { MarketClient } from '../market/client/session.ts'
import { Session } from '../stream/client/session.ts'
import type { ClusterLoad } from './load.ts'
import type { ClusterStage } from './stage.ts'

const ARRIVAL_SECONDS = 30
const SYMBOLS = ['AAPL', 'MSFT', 'SPY', 'QQQ', 'NVDA', 'TSLA', 'AMZN', 'META']
/** When each node's session received something, by what it is. */
type Arrivals = readonly Map<string, number>[]

/** From sending an order until the session on each node has the update that it is filled: all nodes but one do not own the user. */
export async function updateLatency(
  { nodes }: ClusterStage,
  load: ClusterLoad,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number }
): Promise<Spread> {
  using undone = new DisposableStack()
  const arrivals: Arrivals = nodes.map(() => new Map())
  const userIds = load.users.map(({ username }) => username)
  for (const [index, { platform }] of nodes.entries()) {
    const url = `${platform.baseUrl.replace(/^http/, 'ws')}/stream`
    const plan = { url, localAddress: '127.0.0.1', subscription: { ...platform, topics: ['orders'], userIds } }
    const note = (bytes: Buffer, start: number, end: number) => {
      const { data } = Object(JSON.parse(bytes.toString('utf8', start, end)))
      if (data.normalized_status === 'filled') arrivals[index]?.set(String(data.cl_order_id), performance.now())
    }
    undone.use(await Session.open(plan, note))
  }
  await load.atRate('followed-warm', perSecond, 2)
  const orders = await load.atRate('followed', perSecond, seconds)
  const expected = orders.length + 2 * perSecond
  await until('every update arrives', ARRIVAL_SECONDS, async () => arrivals.every(({ size }) => size >= expected))
  const latencies = [...lastOf(arrivals)].flatMap(([clOrderId, at]) => {
    const [, number] = /-followed-(\d+)$/.exec(clOrderId) ?? []
    const order = number === undefined ? undefined : orders[Number(number)]
    return order === undefined ? [] : at - order.dueAt
  })
  return spreadOf(latencies)
}

/** How much later the last node's market data session has a trade than the first's: only the owner's is not passed through. */
export async function passedTrades({ nodes }: ClusterStage, load: ClusterLoad, seconds: number): Promise<Spread> {
  using undone = new DisposableStack()
  const [user] = load.users
  if (user === undefined) throw new Error('there is no user')
  const [connection] = await user.client.list('/connections')
  const { access_token: token } = await user.client.get(`/connections/${textOf(connection ?? {}, 'connection_id')}/token`)
  const arrivals: Arrivals = nodes.map(() => new Map())
  for (const [index, { platform }] of nodes.entries()) {
    const url = `${platform.baseUrl.replace(/^http/, 'ws')}/market-data/stream`
    const note = (bytes: Buffer, start: number, end: number) =>
      void arrivals[index]?.set(bytes.toString('utf8', start, end), performance.now())
    const client = undone.use(await MarketClient.open(url, String(token), note))
    await client.subscribe(SYMBOLS.map(symbol => ({ channel: 'trades', symbol })))
  }
  const begun = performance.now()
  await until('trades arrive', ARRIVAL_SECONDS + seconds, async () => performance.now() - begun >= 1_000 * seconds)
  const [first, last] = [firstOf(arrivals), lastOf(arrivals)]
  return spreadOf([...last].map(([trade, at]) => at - (first.get(trade) ?? Number.NaN)))
}

/** Of what every session has, the latest arrival. */
function lastOf(arrivals: Arrivals): ReadonlyMap<string, number> {
  return inAll(arrivals, Math.max)
}

function firstOf(arrivals: Arrivals): ReadonlyMap<string, number> {
  return inAll(arrivals, Math.min)
}

function inAll(arrivals: Arrivals, pick: (...times: readonly number[]) => number): ReadonlyMap<string, number> {
  const [some, ...others] = arrivals
  const found = [...(some ?? [])].flatMap(([key, at]): (readonly [string, number])[] => {
    const times = others.flatMap(other => other.get(key) ?? [])
    return times.length < others.length ? [] : [[key, pick(at, ...times)]]
  })
  return new Map(found)
}
