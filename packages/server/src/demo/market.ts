import { recordOf, textOf } from './client.ts'

type Json = Readonly<Record<string, unknown>>

const PATIENCE_MS = 20_000
const SHOWN_MAX = 110
/** Subscription parameters of each channel. */
const PARAMETERS: Readonly<Record<string, Json>> = {
  bars: { interval: '1m', backfill_nbars: 3 },
  trades: {},
  quotes: {},
  depth: { n_levels: 3 },
  options_chain: { greeks: true }
}

/**
 * The first message of each channel for a symbol, as received, in the order of `channels`; the service's error message where the broker
 * does not support it. @throws Error if a channel sends nothing.
 */
export async function firstMessages(
  url: string,
  accessToken: string,
  symbol: string,
  channels: readonly string[]
): Promise<readonly (readonly [string, string])[]> {
  const socket = new WebSocket(url)
  const received = new Map<string, string>()
  const subscriptions = new Map<string, string>()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const send = (message: Json) => socket.send(JSON.stringify(message))
  const take = (message: Json, text: string) => {
    const [type, requestId, subId] = ['type', 'request_id', 'sub_id'].map(name => textOf(message, name))
    if (type === 'error' && channels.includes(requestId ?? '')) received.set(requestId ?? '', textOf(message, 'message'))
    else if (type === 'error') reject(new Error(textOf(message, 'message')))
    if (type === 'subscription_success' && requestId !== undefined) subscriptions.set(subId ?? '', requestId)
    const channel = type === '' || type === 'depth_update' ? subscriptions.get(subId ?? '') : undefined
    if (channel !== undefined && !received.has(channel)) received.set(channel, text)
    if (received.size === channels.length) resolve()
  }
  socket.onopen = () => {
    send({ action: 'authenticate', access_token: accessToken, request_id: 'authenticate' })
    for (const channel of channels)
      send({ action: 'subscribe', channel, symbol, ...PARAMETERS[channel], ...expirationOf(channel), request_id: channel })
  }
  socket.onmessage = ({ data }) => take(recordOf(JSON.parse(String(data))), String(data))
  socket.onclose = ({ code }) => reject(new Error(`the market data stream closed: ${code}`))
  const patience = setTimeout(() => {
    const silent = channels.filter(channel => !received.has(channel))
    reject(new Error(`no ${silent.join(', no ')} of ${symbol} within ${PATIENCE_MS} ms`))
  }, PATIENCE_MS)
  try {
    await promise
  } finally {
    clearTimeout(patience)
    socket.close()
  }
  return channels.map(channel => [channel, cut(received.get(channel) ?? '')])
}

/** The next third Friday of a month at least two weeks away, when the most traded options expire. */
function expirationOf(channel: string): Json {
  if (channel !== 'options_chain') return {}
  let day = Temporal.Now.plainDateISO('America/New_York').add({ days: 14 })
  while (day.dayOfWeek !== 5 || day.day < 15 || day.day > 21) day = day.add({ days: 1 })
  return { expiration: day.toString() }
}

function cut(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}
