// Encodes updates. The text of an event is made once for all subscribers; the subscription's number follows.
import type { Bar, ChainEntry, Depth, DepthLevel, Quote, Trade } from '@trunkline/core/domain/market/records'

/** The end of every update: the subscription's number. */
export function tailOf(subId: string): string {
  return `,"sub_id":"${subId}"}`
}

/** Caches the last text: the subscribers of a topic receive it one after the other. */
function once<Event extends object>(encode: (event: Event) => string): (event: Event) => string {
  let last: Event | null = null
  let text = ''
  return event => {
    if (event !== last) {
      text = encode(event)
      last = event
    }
    return text
  }
}

export const tradeText = once(({ price, size, venue, at }: Trade) => `{"p":"${price}","s":"${size}","n":"${venue}","ts":"${at}"`)

export const quoteText = once(
  ({ bidPrice, bidSize, askPrice, askSize, at }: Quote) =>
    `{"bp":${figure(bidPrice)},"bs":${figure(bidSize)},"ap":${figure(askPrice)},"as":${figure(askSize)},"ts":"${at}"`
)

/** A bar without its closing brace, for updates and snapshots. */
export const barText = once(
  ({ open, high, low, close, volume, startMs, closed }: Bar) =>
    `{"o":"${open}","h":"${high}","l":"${low}","c":"${close}","v":"${volume}","ts":"${startMs}000000","st":"${closed ? 'c' : 'o'}"`
)

const DEPTH_TEXTS = Array.from({ length: 11 }, (_, levels) =>
  once(({ bids, asks }: Depth) => `{"type":"depth_update","b":${side(bids, levels)},"a":${side(asks, levels)}`)
)

export function depthText(depth: Depth, levels: number): string {
  return DEPTH_TEXTS[levels]?.(depth) ?? ''
}

const plainChain = once((entry: ChainEntry) => `{${contract(entry)}`)
const greekChain = once((entry: ChainEntry) => `{${greeksOf(entry)},${contract(entry)}`)

export function chainText(entry: ChainEntry, greeks: boolean): string {
  return greeks ? greekChain(entry) : plainChain(entry)
}

function greeksOf({ greeks }: ChainEntry): string {
  const { delta, gamma, theta, rho, vega, iv } = greeks ?? UNKNOWN
  return `"delta":${figure(delta)},"gamma":${figure(gamma)},"theta":${figure(theta)},"rho":${figure(rho)},"vega":${figure(vega)},"iv":${figure(iv)}`
}

const UNKNOWN = { delta: null, gamma: null, theta: null, rho: null, vega: null, iv: null }

function contract(entry: ChainEntry): string {
  const kind = entry.right === 'C' ? 'Call' : 'Put'
  return [
    `"ask":${figure(entry.ask)}`,
    `"bid":${figure(entry.bid)}`,
    `"mid":${figure(entry.mid)}`,
    `"ask_size":${figure(entry.askSize)}`,
    `"bid_size":${figure(entry.bidSize)}`,
    `"close":${figure(entry.close)}`,
    `"high":${figure(entry.high)}`,
    `"last":${figure(entry.last)}`,
    `"low":${figure(entry.low)}`,
    `"net_change":${figure(entry.netChange)}`,
    `"net_change_pct":${figure(entry.netChangePct)}`,
    `"open":${figure(entry.open)}`,
    `"previous_close":${figure(entry.previousClose)}`,
    `"volume":${figure(entry.volume)}`,
    `"side":"${kind}"`,
    `"legs":[{"sym":"${entry.symbol}","strike_price":"${entry.strike}","expiration":"${entry.expiration}T00:00:00.000000Z","option_type":"${kind}","asset_type":"OPT"}]`
  ].join(',')
}

function figure(value: string | null): string {
  return value === null ? 'null' : `"${value}"`
}

function side(levels: readonly DepthLevel[], count: number): string {
  let text = '['
  for (let index = 0; index < levels.length && index < count; index += 1) {
    const level = levels[index]
    if (level === undefined) break
    const { price, size, orders, venue, at } = level
    text += `${index === 0 ? '' : ','}["${price}","${size}","${orders ?? ''}","${venue}","${at}"]`
  }
  return `${text}]`
}
