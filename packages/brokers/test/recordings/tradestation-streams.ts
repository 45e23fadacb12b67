/** How a recorded account stream of TradeStation is put through its adapter. */

import type { ServerResponse } from 'node:http'
import { AccountEvents } from './collect.ts'
import { bookedFills, type Facts, orderFacts, positionFacts } from './facts.ts'
import { type Step, written } from './load.ts'
import { pathOf, type Replay } from './replay.ts'
import { signal } from './ticket.ts'
import type { Stage } from './tradestation-stage.ts'

const STREAM = { 'content-type': 'application/vnd.tradestation.streams.v3+json' }

/** Both streams of a login, of which one is recorded: its lines follow one by one. */
class Lines {
  readonly #open = new Map<string, ServerResponse>()

  constructor(replay: Replay, greeted: readonly string[]) {
    replay.on('GET /v3/brokerage/stream/accounts/*', ({ path }, response) => {
      const kind = pathOf(path).split('/').at(-1) ?? ''
      this.#open.set(kind, response)
      response.writeHead(200, STREAM)
      response.flushHeaders()
      if (greeted.includes(kind)) this.send(kind, JSON.stringify({ StreamStatus: 'EndSnapshot' }))
      return null
    })
  }

  isOpen(kind: string): boolean {
    return this.#open.has(kind)
  }

  send(kind: string, line: string): void {
    this.#open.get(kind)?.write(`${line}\r\n`)
  }
}

export async function ordersStream(stage: Stage): Promise<Facts> {
  const lines = new Lines(stage.replay, ['orders', 'positions'])
  await using events = new AccountEvents(stage.replay.broker)
  await events.live()
  const each: Facts[] = []
  for (const { payload } of stage.recording.steps) {
    const order = stage.completed(payload)
    // What is read again shows the same.
    stage.orders = [order]
    await events.after(() => lines.send('orders', written(order)))
    const last = events.reports.at(-1)
    each.push(last === undefined ? {} : orderFacts(last, bookedFills(events.reports)))
  }
  return { ...each.at(-1), order: each.at(-1), after_each: each }
}

/** What was there before the stream is live is read, and not published. */
export async function positionsStream(stage: Stage): Promise<Facts> {
  const { steps } = stage.recording
  const lines = new Lines(stage.replay, ['orders'])
  await using events = new AccountEvents(stage.replay.broker)
  const each: Facts[] = []
  stage.positions = steps.slice(0, steps.findIndex(isEnd)).map(({ payload }) => payload)
  await events.opens(() => lines.isOpen('positions'))
  for (const step of steps) {
    const more = await events.after(() => lines.send('positions', step.body))
    const { items } = await stage.replay.broker.positions(stage.account, signal())
    const list = more.flatMap(event => (event.type === 'positions' ? [event.positions.items] : [])).at(-1)
    const gap = more.find(event => event.type === 'gap')
    const refused = stage.replay.log.lines.findLast(({ fields }) => fields.account !== undefined)
    each.push({
      ...{ positions: (list ?? items).map(positionFacts), snapshot_complete: events.isLive, alive: events.isLive && gap === undefined },
      ...{ fault: gap?.cause ?? null, account: refused?.fields.account ?? null }
    })
  }
  return { ...each.at(-1), after_each: each }
}

function isEnd({ payload }: Step): boolean {
  return payload.StreamStatus === 'EndSnapshot'
}
