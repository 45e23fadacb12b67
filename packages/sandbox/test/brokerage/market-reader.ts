/** Reads a market stream, and compares its items with the history. */

import assert from 'node:assert/strict'
import { type Customer, control, type Listener, type Wire } from './support.ts'

export const add = (n: number, channel: string, symbols: readonly string[], more: object = {}) => ({
  op: 'add',
  n,
  channel,
  symbols,
  ...more
})
export const bars = (n: number, ...symbols: string[]) => add(n, 'bars', symbols, { interval: '1m' })

export async function answered(stream: Listener, n: number): Promise<Wire> {
  const mine = (message: Wire) => message.n === n && message.ev !== undefined
  await stream.until(messages => messages.some(mine))
  return stream.messages.find(mine)
}

export const ofKind = (stream: Listener, kind: string, symbol?: string) =>
  stream.items.filter(({ t, s }) => t === kind && (symbol === undefined || s === symbol))

export const numbersOf = (stream: Listener) => stream.messages.filter(({ items }) => items !== undefined).map(({ seq }) => seq)

export async function toMinute(brokerage: Wire): Promise<bigint> {
  const { clock } = await control(brokerage, 'GET', '/clock')
  const next = new Date(Math.ceil((Date.parse(clock.sandbox_time) + 1) / 60_000) * 60_000)
  await control(brokerage, 'PUT', '/clock', { set: next.toISOString() })
  return BigInt(next.getTime()) * 1_000_000n
}

export async function barsOf(customer: Customer, symbol: string, from: bigint, to?: bigint): Promise<readonly Wire[]> {
  const time = (at: bigint) => new Date(Number(at / 1_000_000n)).toISOString()
  const until = to === undefined ? '' : `&to=${time(to)}`
  const answer = await customer.call('GET', `/bars?symbol=${encodeURIComponent(symbol)}&interval=1m&from=${time(from)}${until}&limit=5000`)
  return answer.body.items
}

/** An item of the stream and a bar of the history. */
export function assertSame(item: Wire, bar: Wire): void {
  const start = String(BigInt(Date.parse(bar.start)) * 1_000_000n)
  assert.deepEqual([item.at, item.o, item.h, item.l, item.c, item.v], [start, bar.open, bar.high, bar.low, bar.close, bar.volume])
}
