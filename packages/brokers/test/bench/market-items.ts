/**
 * How many items of the market stream one core reads and hands on, by kind and by how many come in a message; the floor is `JSON.parse`
 * alone. Run it with `node packages/brokers/test/bench/market-items.ts`.
 */

import { parseDay } from '@trunkline/core/domain/timestamp'
import type { TopicSink } from '@trunkline/core/ports/market'
import { Sequence } from '../../src/kit/sequence.ts'
import { BARS_PAGE, parseBarsPage } from '../../src/sandbox/market.ts'
import { dispatch, SinkTables } from '../../src/sandbox/market-stream.ts'

const SYMBOLS = 20
const ITEMS = 400_000
const AT = 1_796_137_200_000_000_000n

let received = 0
const countOne = () => {
  received += 1
}
const sink: TopicSink = {
  live: countOne,
  lost: countOne,
  refused: countOne,
  trade: countOne,
  quote: countOne,
  depth: countOne,
  bar: countOne,
  chain: countOne
}

const symbols = Array.from({ length: SYMBOLS }, (_, index) => `SYM${index}`)

const level = (index: number) => [`${500 + index}.25`, '1200', '7', 'XNAS', `${AT}`]
const ladder = Array.from({ length: 10 }, (_, index) => level(index))

const MESSAGES: { readonly [kind: string]: (index: number) => object } = {
  trade: index => ({
    t: 'trade',
    s: symbols[index % SYMBOLS],
    p: `${500 + (index % 97)}.${10 + (index % 83)}`,
    z: `${1 + (index % 900)}`,
    x: 'XNAS',
    at: `${AT + BigInt(index) * 1_733n}`,
    k: index % 7 === 0 ? 'volume' : 'all'
  }),
  quote: index => ({ t: 'quote', s: symbols[index % SYMBOLS], b: '500.01', bz: `${index % 900}`, a: '500.02', az: '300', at: `${AT}` }),
  depth: index => ({ t: 'depth', s: symbols[index % SYMBOLS], bids: ladder, asks: ladder, at: `${AT}` }),
  bar: index => ({
    t: 'bar',
    s: symbols[index % SYMBOLS],
    i: '1m',
    at: `${AT}`,
    o: '500.1',
    h: '501.2',
    l: '499.8',
    c: '500.75',
    v: `${index}`,
    closed: index % 2 === 0
  }),
  option: index => ({
    t: 'option',
    u: symbols[index % SYMBOLS],
    s: 'SPY261218C00660000',
    right: 'call',
    strike: '660',
    expiration: '2026-12-18',
    b: '4.10',
    bz: '12',
    a: '4.15',
    az: `${index % 99}`,
    last: '4.12',
    o: '4.00',
    h: '4.40',
    l: '3.95',
    c: null,
    pc: '4.05',
    v: '1200',
    delta: '0.4512',
    gamma: '0.0123',
    theta: '-0.1200',
    vega: '0.3300',
    rho: '0.1000',
    iv: '0.1834'
  })
}

const tables = new SinkTables()
for (const symbol of symbols) {
  for (const channel of ['trades', 'quotes', 'depth'] as const) tables.add({ channel, symbol }, sink)
  tables.add({ channel: 'bars', symbol, interval: '1m' }, sink)
  tables.add({ channel: 'options_chain', symbol, expiration: parseDay('2026-12-18', 'expiration') }, sink)
}

function frames(make: (index: number) => object, perFrame: number, total: number): readonly string[] {
  return Array.from({ length: Math.ceil(total / perFrame) }, (_, frame) =>
    JSON.stringify({ seq: frame + 1, items: Array.from({ length: perFrame }, (_unused, index) => make(frame * perFrame + index)) })
  )
}

function perSecond(count: number, work: () => void): string {
  work()
  const from = performance.now()
  work()
  return `${Math.round(count / (performance.now() - from)).toLocaleString('en')} k/s`
}

for (const [kind, make] of Object.entries(MESSAGES))
  for (const perFrame of [1, 50]) {
    const total = kind === 'depth' || kind === 'option' ? ITEMS / 10 : ITEMS
    const sent = frames(make, perFrame, total)
    const floor = perSecond(total, () => {
      for (const frame of sent) JSON.parse(frame)
    })
    const whole = perSecond(total, () => {
      const sequence = new Sequence<readonly unknown[]>(0, 8)
      for (const frame of sent) {
        const message = JSON.parse(frame)
        for (const items of sequence.offer(message.seq, message.items).items) dispatch(items, tables)
      }
    })
    console.log(`${kind}, ${perFrame} a message: ${whole} (JSON.parse alone ${floor})`)
  }

const page = JSON.stringify({
  as_of: '2026-12-01T15:00:00.000000Z',
  sandbox_time: '2026-12-01T15:00:00.000000Z',
  items: Array.from({ length: BARS_PAGE }, (_, index) => ({
    start: new Date(Number(AT / 1_000_000n) + index * 60_000).toISOString().replace('Z', '000Z'),
    open: '500.10',
    high: '501.20',
    low: '499.80',
    close: '500.75',
    volume: `${index * 13}`,
    closed: true
  })),
  next: null
})
const laps = Array.from({ length: 20 }, () => {
  const from = performance.now()
  parseBarsPage(page)
  return performance.now() - from
}).toSorted((a, b) => a - b)
console.log(`page of ${BARS_PAGE} bars: median ${laps[10]?.toFixed(1)} ms, worst ${laps[19]?.toFixed(1)} ms; published${received}`)
