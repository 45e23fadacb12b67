/**
 * The official SDK and `ccxt`, pointed at a sandbox: by the options and addresses they offer for that, with not a line of theirs changed.
 */

import { createRequire } from 'node:module'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { control, type Wire } from '../../brokerage/support.ts'
import { judgesInstalled } from './installed.ts'

/** The API key of a login, as anyone who uses these programs would have it. */
async function keysOf(brokerage: Brokerage, username: string): Promise<{ readonly keyId: string; readonly secret: string }> {
  const { items } = await control(brokerage, 'GET', '/logins')
  const { key_id: keyId, secret_key: secret } = items.find((item: Wire) => item.username === username).keys.alpaca
  return { keyId, secret }
}

/** Installed beside this file only, and only where a judge is asked: so it is known by name, and read as by a program without types. */
const program: (name: string) => Wire = createRequire(import.meta.url)

const HOSTS = [
  ['https://paper-api.alpaca.markets', '/alpaca/api'],
  ['https://data.alpaca.markets', '/alpaca/data']
] as const

/** Its own hosts are written into the SDK; it takes another `fetch`, which goes to the sandbox instead. */
function fetchAt(brokerage: Brokerage): typeof fetch {
  return (input, init) => {
    const url = String(input)
    const [host, path] = HOSTS.find(([known]) => url.startsWith(known)) ?? []
    if (host === undefined) throw new Error(`the SDK asks for ${url}, which is no address of Alpaca's that is known`)
    return fetch(`${brokerage.url}${path}${url.slice(host.length)}`, init)
  }
}

/** The official SDK's client, and the addresses of its streams. */
export async function officialSdk(brokerage: Brokerage, username = 'alex'): Promise<{ readonly alpaca: Wire; readonly streams: string }> {
  await judgesInstalled()
  const { Alpaca } = program('@alpacahq/alpaca-trade-api')
  const alpaca = new Alpaca({ ...(await keysOf(brokerage, username)), paper: true, fetchApi: fetchAt(brokerage), timeoutMs: 5_000 })
  return { alpaca, streams: `${brokerage.url.replace('http', 'ws')}/alpaca` }
}

/** The class with streams; `urls` is ccxt's own field for another host. */
export async function ccxtAlpaca(brokerage: Brokerage, username = 'alex'): Promise<Wire> {
  await judgesInstalled()
  const { pro } = program('ccxt')
  const { keyId, secret } = await keysOf(brokerage, username)
  const exchange = new pro.alpaca({ apiKey: keyId, secret, enableRateLimit: false })
  const [http, ws] = [`${brokerage.url}/alpaca`, `${brokerage.url.replace('http', 'ws')}/alpaca`]
  exchange.urls.api = {
    trader: `${http}/api`,
    market: `${http}/data`,
    ws: { crypto: `${ws}/data-stream/v1beta3/crypto/us`, trading: `${ws}/api/stream` }
  }
  // As ccxt wants it before it opens an address of plain `ws:`.
  await exchange.loadHttpProxyAgent()
  return exchange
}
